// `disburse-agent console`: a login for the console of the running agent, over its real server.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@pool/core';
import { serveHttp } from '@pool/http-server';
import { textOf } from '@pool/testkit';
import { expect, it, onTestFinished } from 'vitest';
import type { Config } from '../../config/config.ts';
import { createTestApp, loopbackToken } from '../../fixtures/test-app.ts';
import { addConsole } from '../../http/console.ts';
import { runConsole } from './console-command.ts';

async function serve() {
  const home = mkdtempSync(join(tmpdir(), 'pool-console-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const { app } = createTestApp();
  const config = {
    home,
    host: '127.0.0.1',
    port: 1,
    jobs: { url: 'memory:' },
    holder: {},
  } as Config;
  addConsole(app, { config, loopbackToken: new Secret(loopbackToken) });
  const server = await serveHttp((request, from) => app.fetch(request, from), {
    ...{ host: '127.0.0.1', port: 0, onRefused: () => undefined },
  });
  onTestFinished(() => server.close());
  const envFile = join(home, 'agent.env');
  writeFileSync(envFile, `DISBURSE_HOME=${home}\nDISBURSE_PORT=${new URL(server.url).port}\n`);
  return { home, envFile, url: server.url };
}

it('prints a login that opens the console once', async () => {
  const { home, envFile, url } = await serve();
  writeFileSync(join(home, 'loopback.token'), `${loopbackToken}\n`);
  const printed: string[] = [];
  const output = {
    out: (outcome: string | object) => void printed.push(textOf(outcome)),
    terminal: { isTty: false, write: (text: string) => void printed.push(text) },
  };
  expect(await runConsole({ envFile, json: true }, output)).toBe(0);
  const login = new URL((JSON.parse(printed[0] ?? '') as { url: string }).url);
  expect(login.origin).toBe(url);
  expect((await fetch(login)).status).toBe(200);
  const enter = () =>
    fetch(`${url}/console/login`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: url },
      body: new URLSearchParams({ token: login.pathname.split('/').at(-1) ?? '' }),
    });
  const opened = await enter();
  const path = opened.headers.get('location') ?? '';
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  const page = await fetch(`${url}${path}`, { headers: { cookie } });
  expect(await page.text()).toContain('No pay run is in this list');
  expect((await enter()).status).toBe(401);
  expect(await runConsole({ envFile }, output)).toBe(0);
  expect(printed.join('')).toContain('within 2 minutes');
});

it('gives a login to the loopback token only', async () => {
  const { url } = await serve();
  for (const authorization of [undefined, 'Bearer x', `Bearer ${'cd'.repeat(32)}`]) {
    const answer = await fetch(`${url}/console/logins`, {
      method: 'POST',
      headers: authorization === undefined ? {} : { authorization },
    });
    expect(answer.status).toBe(401);
  }
});
