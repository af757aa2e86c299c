// A copy of the payee's page, and the server that gives it beside the platform's routes.
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChainsFile } from '@pool/core';
import { addPageFolder, createLog, createShell, serveHttp } from '@pool/http-server';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { checkRelease, keepRelease, parseReleaseDigest } from './own-release.ts';
import { servePage } from './page-server.ts';

const log = createLog('silent', 'test');
const root = mkdtempSync(join(tmpdir(), 'pool-own-page-'));
const built = join(root, 'built');

function hash(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}

/** @returns its digest */
function build(files: Readonly<Record<string, string>>): string {
  rmSync(built, { recursive: true, force: true });
  mkdirSync(join(built, 'assets'), { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(built, name), content);
  const release = JSON.stringify({
    files: Object.fromEntries(Object.entries(files).map(([name, text]) => [name, hash(text)])),
  });
  writeFileSync(join(built, 'release.json'), release);
  return hash(release);
}

const asked: { path: string; origin: string | undefined; cookie: string | undefined }[] = [];
let platform: Awaited<ReturnType<typeof serveHttp>>;
let page: URL;
beforeAll(async () => {
  mkdirSync(built);
  const app = createShell({ log, allowedHosts: [], allowedOrigins: 'hosts' });
  app.all('/api/*', async (c) => {
    const { origin, cookie } = c.req.header();
    asked.push({ path: c.req.path + new URL(c.req.url).search, origin, cookie });
    c.header('set-cookie', 'sessionId=abc; Path=/; HttpOnly');
    return c.json({ got: c.req.method === 'POST' ? await c.req.json() : 'nothing' });
  });
  addPageFolder(app, { path: '/payee', folder: built });
  platform = await serveHttp((request, from) => app.fetch(request, from), {
    ...{ host: '127.0.0.1', port: 0, onRefused: () => undefined },
  });
  page = new URL('/payee/', platform.url);
});
afterAll(async () => {
  await platform.close();
  rmSync(root, { recursive: true, force: true });
});

const files = { 'index.html': '<p>own</p>', 'assets/index-Ab12.js': 'run()' };
let digest: string;
beforeEach(() => {
  digest = build(files);
});

describe('a copy of a release', () => {
  let folder: string;
  beforeEach(() => {
    folder = join(mkdtempSync(join(root, 'home-')), 'pages', digest);
  });

  it('is taken from the platform once, and compared each time', async () => {
    await keepRelease(folder, digest, page);
    expect(readFileSync(join(folder, 'assets/index-Ab12.js'), 'utf8')).toBe('run()');
    const nowhere = new URL('http://127.0.0.1:9/payee/');
    await keepRelease(folder, digest, nowhere);
    writeFileSync(join(folder, 'assets/index-Ab12.js'), 'steal()');
    await expect(keepRelease(folder, digest, nowhere)).rejects.toMatchObject({
      code: 'artifact_mismatch',
      message: expect.stringContaining('assets/index-Ab12.js has the digest'),
    });
  });

  it('is taken by two runs at once', async () => {
    await Promise.all([keepRelease(folder, digest, page), keepRelease(folder, digest, page)]);
    await checkRelease(folder, digest);
    expect(readdirSync(join(folder, '..'))).toEqual([digest]);
  });

  it('is refused when the platform has another release, or another file', async () => {
    const other = build({ ...files, 'index.html': '<p>other</p>' });
    const refused = { code: 'artifact_mismatch' };
    await expect(keepRelease(folder, digest, page)).rejects.toMatchObject(refused);
    writeFileSync(join(built, 'index.html'), '<p>changed</p>');
    await expect(keepRelease(folder, other, page)).rejects.toMatchObject(refused);
    await expect(checkRelease(folder, other)).rejects.toMatchObject({
      message: expect.stringContaining('cannot be read'),
    });
    const away = new URL('http://127.0.0.1:9/payee/');
    await expect(keepRelease(folder, digest, away)).rejects.toMatchObject({
      code: 'platform_unreachable',
    });
  });

  it.each(['../agent.env', '/etc/passwd', 'assets/../../x', 'a\\b', ''])(
    'has no file named %j',
    async (name) => {
      const release = JSON.stringify({ files: { [name]: hash('x') } });
      writeFileSync(join(built, 'release.json'), release);
      await expect(keepRelease(folder, hash(release), page)).rejects.toMatchObject({
        message: expect.stringContaining('is no list of a release'),
      });
    },
  );

  it('is named by a digest', () => {
    expect(parseReleaseDigest(`sha256:${'AB'.repeat(32)}`)).toBe('ab'.repeat(32));
    expect(() => parseReleaseDigest('latest')).toThrow('64 hexadecimal digits');
  });
});

describe('the server of the copy', () => {
  const chains = {
    chains: { anvil: { rpcUrl: 'http://127.0.0.1:8545/key' } },
  } as unknown as ChainsFile;

  async function serve(platformUrl = platform.url) {
    // A free port: the names that are served have it.
    const probe = await serveHttp(async () => new Response(), {
      ...{ host: '127.0.0.1', port: 0, onRefused: () => undefined },
    });
    const port = Number(new URL(probe.url).port);
    await probe.close();
    const server = await servePage({
      ...{ folder: built, port, platformUrl, chains, log },
      artifacts: async () => ({
        wasm: join(built, 'index.html'),
        zkey: join(built, 'assets/index-Ab12.js'),
        verificationKey: { protocol: 'groth16' },
      }),
    });
    onTestFinished(() => server.close());
    return `http://localhost:${port}`;
  }

  it('gives the page with the settings and keys of this machine', async () => {
    writeFileSync(join(built, 'chains.json'), '{"from":"elsewhere"}');
    const own = await serve();
    const index = await fetch(`${own}/payee/`);
    expect(await index.text()).toBe('<p>own</p>');
    expect(index.headers.get('content-security-policy')).toContain(
      "connect-src 'self' http://127.0.0.1:8545;",
    );
    const read = async (path: string) => (await fetch(`${own}/payee/${path}`)).text();
    expect(JSON.parse(await read('chains.json'))).toEqual(chains);
    expect(await read('circuits/spend-2x4/proving-key.pzky')).toBe('run()');
    expect(await read('circuits/spend-2x4/verification-key.json')).toContain('groth16');
    for (const path of ['circuits/fund-16/circuit.wasm', 'circuits/spend-2x4/other']) {
      expect((await fetch(`${own}/payee/${path}`)).status).toBe(404);
    }
  });

  it('passes calls of its own page to the platform, as the page of the platform', async () => {
    const own = await serve();
    asked.length = 0;
    const answer = await fetch(`${own}/api/auth/verify?a=1`, {
      method: 'POST',
      headers: { origin: own, cookie: 'sessionId=1', 'content-type': 'application/json' },
      body: '{"x":1}',
    });
    expect(await answer.json()).toEqual({ got: { x: 1 } });
    expect(answer.headers.get('set-cookie')).toContain('sessionId=abc');
    expect(asked).toEqual([
      { path: '/api/auth/verify?a=1', origin: platform.url, cookie: 'sessionId=1' },
    ]);
  });

  it('passes nothing of other pages on', async () => {
    const own = await serve();
    asked.length = 0;
    for (const origin of ['http://localhost:3000', 'https://evil.example', 'null']) {
      const answer = await fetch(`${own}/api/auth/logout`, { method: 'POST', headers: { origin } });
      expect([origin, answer.status]).toEqual([origin, 403]);
    }
    expect(asked).toEqual([]);
  });

  it('says when the platform does not answer', async () => {
    const own = await serve('http://127.0.0.1:9');
    const answer = await fetch(`${own}/api/auth/nonce`);
    expect(await answer.json()).toMatchObject({ code: 'platform_unreachable' });
  });
});
