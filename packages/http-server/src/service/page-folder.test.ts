import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { createShell } from '../shell/shell.ts';
import { createLog } from './log.ts';
import { addPageFolder } from './page-folder.ts';

const root = mkdtempSync(join(tmpdir(), 'pool-pages-'));
const folder = join(root, 'page');
mkdirSync(join(folder, 'assets'), { recursive: true });
writeFileSync(join(root, 'secret.txt'), 'outside');
writeFileSync(join(folder, 'index.html'), '<p>page</p>');
writeFileSync(join(folder, 'audit.html'), '<p>audit</p>');
writeFileSync(join(folder, 'assets/page-Ab12.js'), 'run()');
writeFileSync(join(folder, 'assets/page-Ab12.js.br'), brotliCompressSync('run()'));
writeFileSync(join(folder, 'assets/kernel.wasm'), Uint8Array.of(0, 97, 115, 109));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const app = createShell({ log: createLog('silent', 'test'), allowedHosts: [], allowedOrigins: [] });
addPageFolder(app, {
  path: '/payee',
  folder,
  connectTo: ['https://rpc.example'],
  readersPage: 'audit.html',
});

async function ask(path: string, method = 'GET'): Promise<Response> {
  return await app.request(path, { method });
}

describe('a folder with a page', () => {
  it('is served with its types, at its path only', async () => {
    const page = await ask('/payee/');
    expect([page.status, await page.text()]).toEqual([200, '<p>page</p>']);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const script = await ask('/payee/assets/page-Ab12.js');
    expect(script.headers.get('content-type')).toMatch(/^text\/javascript/);
    const wasm = await ask('/payee/assets/kernel.wasm');
    expect(wasm.headers.get('content-type')).toBe('application/wasm');
    // To a browser that takes it, the compressed file.
    for (const [accepted, encoding] of [
      ['gzip, br', 'br'],
      ['gzip', null],
    ] as const) {
      const headers = { 'accept-encoding': accepted };
      const sent = await app.request('/payee/assets/page-Ab12.js', { headers });
      expect(sent.headers.get('content-encoding')).toBe(encoding);
      expect(sent.headers.get('content-type')).toMatch(/^text\/javascript/);
    }
    const moved = await ask('/payee');
    expect([moved.status, moved.headers.get('location')]).toEqual([308, '/payee/']);
    expect((await ask('/payees/')).status).toBe(404);
    expect((await ask('/index.html')).status).toBe(404);
    expect((await ask('/payee/', 'POST')).status).toBe(404);
  });

  it('allows scripts of its own files only, and no frame, and is isolated', async () => {
    for (const path of ['/payee/', '/payee/assets/page-Ab12.js']) {
      const { headers } = await ask(path);
      const policy = headers.get('content-security-policy')?.split('; ');
      expect(policy).toEqual([
        "default-src 'none'",
        "script-src 'self' 'wasm-unsafe-eval'",
        "worker-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self' https://rpc.example",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        'trusted-types default',
      ]);
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(headers.get('cross-origin-embedder-policy')).toBe('require-corp');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('lets only the page of a reader ask every node', async () => {
    const sourcesOf = async (path: string) =>
      /connect-src ([^;]*)/.exec(
        (await ask(path)).headers.get('content-security-policy') ?? '',
      )?.[1];
    const any = "'self' https: http://127.0.0.1:* http://localhost:*";
    expect(await sourcesOf('/payee/audit.html')).toBe(any);
    for (const path of ['/payee/', '/payee/index.html', '/payee/assets/page-Ab12.js']) {
      expect(await sourcesOf(path)).toBe("'self' https://rpc.example");
    }
  });

  it('lets browsers keep only what never changes under its name', async () => {
    const cached = async (path: string) => (await ask(path)).headers.get('cache-control');
    expect(await cached('/payee/')).toBe('no-cache');
    expect(await cached('/payee/assets/page-Ab12.js')).toMatch(/immutable/);
    expect(await cached('/payee/assets/missing.js')).toBe('no-store');
  });

  it.each([
    '/payee/../secret.txt',
    '/payee/%2e%2e/secret.txt',
    '/payee/..%2fsecret.txt',
    '/payee/assets/..%5c..%5csecret.txt',
    '/payee//secret.txt',
    '/payee/missing.html',
    '/payee/assets',
  ])('does not answer %s', async (path) => {
    const answer = await ask(path);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: 'not_found' });
  });
});
