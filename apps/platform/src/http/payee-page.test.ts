/** The payee's page beside the routes of the platform. packages/http-server tests how a folder is served. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveHttp } from '@pool/http-server';
import { hasBrowser, openBrowser, openPage } from '@pool/testkit/browser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { createTestPlatform } from '../fixtures/test-platform.ts';

describe('the page of the payees', () => {
  let database: TestDatabase;
  let root: string;
  beforeAll(async () => {
    database = await openTestDatabase();
    root = mkdtempSync(join(tmpdir(), 'pool-page-'));
    mkdirSync(join(root, 'page', 'assets'), { recursive: true });
    writeFileSync(join(root, 'control.json'), 'a secret beside the page');
    writeFileSync(join(root, 'page', 'index.html'), '<p>page</p>');
    writeFileSync(join(root, 'page', 'audit.html'), '<p>audit</p>');
    writeFileSync(join(root, 'page', 'chains.json'), '{}');
    writeFileSync(join(root, 'page', 'assets', 'page-Ab12.js'), 'run()');
  });
  afterAll(async () => {
    rmSync(root, { recursive: true, force: true });
    await database.close();
  });

  it('is served with the policy that its nodes need, and isolated', async () => {
    const { app } = createTestPlatform(database, {
      payeePage: { folder: join(root, 'page'), connectTo: ['https://rpc.example'] },
    });
    const page = await app.request('/payee/');
    expect([page.status, await page.text()]).toEqual([200, '<p>page</p>']);
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; .*connect-src 'self' https:\/\/rpc\.example; .*frame-ancestors 'none'/,
    );
    const audit = await app.request('/payee/audit.html');
    expect(audit.headers.get('content-security-policy')).toContain("connect-src 'self' https: ");
    expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(page.headers.get('cross-origin-embedder-policy')).toBe('require-corp');
    const cached = async (path: string) =>
      (await app.request(`/payee/${path}`)).headers.get('cache-control');
    expect(await cached('')).toBe('no-cache');
    expect(await cached('chains.json')).toBe('no-cache');
    expect(await cached('assets/page-Ab12.js')).toMatch(/immutable/);
    for (const path of ['/payee/../control.json', '/payee/%2e%2e/control.json', '/control.json']) {
      expect((await app.request(path)).status).toBe(404);
    }
    expect((await app.request('/api/auth/nonce')).status).toBe(200);
  });

  it.skipIf(!hasBrowser)(
    'keeps its secrets from the scripts of the page of the routes, which sends nothing (without Chromium it is skipped)',
    { timeout: 180_000 },
    async () => {
      const { app } = createTestPlatform(database, {
        payeePage: { folder: join(root, 'page'), connectTo: [] },
      });
      const server = await serveHttp((request) => app.fetch(request), {
        ...{ host: '127.0.0.1', port: 0, onRefused: () => undefined },
      });
      const browser = await openBrowser();
      try {
        const { page, errors } = await openPage(browser, `${server.url}/agent-edge/docs`);
        const route = page.locator('#operations-default-bootstrap');
        await route.getByRole('button').first().click();
        await route.getByText('Responses').first().waitFor();
        expect(await page.getByRole('button', { name: 'Try it out' }).count()).toBe(0);
        expect(errors).toEqual([]);
        expect(await page.evaluate('origin')).toBe('null');
        await expect(page.evaluate('localStorage.length')).rejects.toThrow(/sandboxed/);
        await expect(page.evaluate("fetch('/livez')")).rejects.toThrow(/fetch/);
      } finally {
        await browser.close();
        await server.close();
      }
    },
  );

  it('is absent where no folder is configured', async () => {
    const { app } = createTestPlatform(database);
    expect((await app.request('/payee/')).status).toBe(404);
  });
});
