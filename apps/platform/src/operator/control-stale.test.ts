// A control file of a dead process, whose port now belongs to another process.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockDirectory } from '@pool/database';
import { placeEmptyCluster } from '@pool/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { createLog } from '../../../../packages/http-server/src/service/log.ts';
import { testCredentials } from '../fixtures/test-platform.ts';
import { startControl } from './control.ts';
import { withControl } from './edge-token-command.ts';

describe('a control file', () => {
  const token = 'CANARY-of-a-dead-platform';
  let directory: string;
  let database: TestDatabase;
  let stranger: Server;
  let heard: string[];
  let answer: (path: string) => unknown;
  const read = async (request: IncomingMessage): Promise<string> => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) {
      chunks.push(chunk as Uint8Array);
    }
    return [request.url, ...request.rawHeaders, Buffer.concat(chunks).toString()].join('\n');
  };

  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pool-control-'));
    await placeEmptyCluster(directory);
    heard = [];
    answer = () => ({ edgeTokens: [], revoked: true });
    stranger = createServer((request, response) => {
      void read(request).then((text) => {
        heard.push(text);
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(answer(request.url ?? '')));
      });
    });
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    stranger.closeAllConnections();
    await new Promise((resolve) => stranger.close(resolve));
    await rm(directory, { recursive: true, force: true });
  });
  const leaveFile = async (url?: string): Promise<void> => {
    const { port } = stranger.address() as AddressInfo;
    const content = { url: url ?? `http://127.0.0.1:${port}`, token };
    await writeFile(join(directory, 'control.json'), JSON.stringify(content), { mode: 0o600 });
  };
  const config = () =>
    ({
      dataDirectory: directory,
      database: { kind: 'embedded', directory },
    }) as const;
  const list = () => withControl(config(), (call) => call('GET', '/edge-tokens'));
  const revoke = () => withControl(config(), (call) => call('DELETE', '/edge-tokens/7'));

  it('does not send its token to another process that listens on the port now', async () => {
    await leaveFile();
    expect(await list()).toEqual({ edgeTokens: [] });
    expect(heard).toHaveLength(1);
    expect(heard.join('\n')).not.toContain('CANARY');
    expect(heard.join('\n').toLowerCase()).not.toContain('authorization');
  });

  it('does not accept the answer of another process to a revocation', async () => {
    await leaveFile();
    await expect(revoke()).rejects.toMatchObject({ code: 'not_found' });
    answer = () => ({ proof: '0'.repeat(64) });
    await expect(revoke()).rejects.toMatchObject({ code: 'not_found' });
    answer = () => 'x'.repeat(100_000);
    await expect(revoke()).rejects.toMatchObject({ code: 'not_found' });
  });

  it('names the remedy when the directory is in use and its file leads to another process', async () => {
    await leaveFile();
    const lock = lockDirectory(directory);
    await expect(list()).rejects.toMatchObject({
      code: 'control_file_stale',
      message: expect.stringMatching(/nothing was sent.*restart the platform/s),
    });
    lock.release();
    expect(heard.join('\n')).not.toContain('CANARY');
  });

  it.each(['http://198.51.100.7:80', 'http://127.0.0.1.evil.test', 'file:///etc/passwd', 'x'])(
    'is ignored if it names %s',
    async (url) => {
      await leaveFile(url);
      expect(await list()).toEqual({ edgeTokens: [] });
    },
  );

  it.each(['', '{', '{"url":1}', 'null'])(
    'with the content %j counts as missing',
    async (content) => {
      await writeFile(join(directory, 'control.json'), content);
      expect(await list()).toEqual({ edgeTokens: [] });
    },
  );

  it('makes no database where a replica of a server is down', async () => {
    await rm(join(directory, 'database'), { recursive: true });
    await expect(list()).rejects.toMatchObject({
      code: 'platform_not_running',
      message: expect.stringContaining('set DATABASE_URL'),
    });
    expect(await readdir(directory)).toEqual([]);
    await leaveFile();
    await expect(list()).rejects.toMatchObject({ code: 'control_file_stale' });
    expect(await readdir(directory)).toEqual(['control.json']);
  });

  it('connects to the platform that wrote it', async () => {
    const control = await startControl(directory, {
      db: database.db,
      credentials: testCredentials,
      log: createLog('silent', 'test'),
      nowMs: Date.now,
    });
    const lock = lockDirectory(directory);
    expect(await list()).toEqual({ edgeTokens: [] });
    const content = JSON.parse(await readFile(join(directory, 'control.json'), 'utf8')) as object;
    expect(content).toMatchObject({ pid: process.pid });
    lock.release();
    await control.close();
    await expect(readFile(join(directory, 'control.json'))).rejects.toThrow();
  });
});
