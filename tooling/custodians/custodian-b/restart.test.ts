import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createExample } from './example.ts';
import { call } from './fixtures/caller.ts';
import { startWorld, vectors } from './fixtures/world.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'custodian-b-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

it.each([
  ['approval', 1],
  ['signing', 2],
])('goes on after a restart at the %s stage, with the same request', async (_, hanging) => {
  const stateFile = join(directory, 'state.json');
  const first = await startWorld({
    reply: (_payload, count) => (count === hanging ? 'hang' : { action: 'APPROVE' }),
    config: { stateFile },
  });
  const id = await first.create();
  await expect.poll(() => first.handler?.received, { interval: 2 }).toHaveLength(hanging);
  await first.stop();
  const second = await startWorld({
    reply: () => ({ action: 'APPROVE' }),
    config: { stateFile },
  });
  try {
    await second.readUntil(id, 'COMPLETED');
    const { iat: _iat, exp: _exp, ...lost } = first.handler?.received.at(-1)?.payload ?? {};
    expect(second.handler?.received[0]?.payload).toStrictEqual(lost);
    expect(statSync(stateFile).mode & 0o777).toBe(0o600);
  } finally {
    await second.stop();
  }
});

it('leaves a transaction that ended as it is', async () => {
  const stateFile = join(directory, 'state.json');
  const first = await startWorld({ config: { stateFile } });
  const before = await first.readUntil(await first.create(), 'COMPLETED');
  await first.stop();
  const second = await startWorld({ reply: () => ({ action: 'REJECT' }), config: { stateFile } });
  try {
    expect(await second.readUntil(String(before['id']), 'COMPLETED')).toStrictEqual(before);
    expect(second.handler?.received).toStrictEqual([]);
  } finally {
    await second.stop();
  }
});

it('runs as a process: one line with its URL, and a clean end on SIGTERM', async () => {
  const example = createExample();
  const file = join(directory, 'config.json');
  writeFileSync(file, JSON.stringify(example.config), { mode: 0o600 });
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const child = spawn(process.execPath, ['--conditions=@pool/source', main], {
    env: { PATH: process.env['PATH'], CUSTODIAN_B_CONFIG: file },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { url } = JSON.parse(line.toString('utf8')) as { url: string };
  const { body } = await call(url, example.users.agent, vectors.address.path);
  expect(body).toMatchObject({ addresses: [{ address: example.address }] });
  child.kill('SIGTERM');
  expect(await exited).toStrictEqual([0, null]);
});
