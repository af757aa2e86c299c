/** One chain whose node shows no contracts, as a node that lags does: that chain is closed, and the others go on. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LyingProxy, startLyingProxy, testEvidenceDomain } from '@pool/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../../packages/http-server/src/service/log.ts';
import { startTestChain, type TestChain } from '../../../packages/relayer/test/test-chain.ts';
import { parsePlatformConfig } from './config.ts';
import { type Served, servePlatform } from './serve-platform.ts';

describe('a platform of two chains', () => {
  let directory: string;
  let chain: TestChain;
  let lagging: LyingProxy;
  let served: Served;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pool-closed-chain-'));
    chain = await startTestChain({ fakeVerifier: false });
    lagging = await startLyingProxy(chain.anvil.rpcUrl, [{ path: /./, response: hideCode }]);
    const chainsFile = join(directory, 'chains.json');
    const chains = {
      honest: chain.settings,
      lagging: { ...chain.settings, rpcUrl: lagging.url },
    };
    await writeFile(chainsFile, JSON.stringify({ evidence: testEvidenceDomain, chains }));
    const config = parsePlatformConfig({
      PLATFORM_PORT: '0',
      PLATFORM_DATA_DIR: 'memory:',
      PLATFORM_CHAINS_FILE: chainsFile,
      PLATFORM_DEFAULT_CHAIN: 'honest',
      PLATFORM_RELAYER_KEY: chain.key('relayer').reveal(),
      PLATFORM_POLL_MS: '50',
      PLATFORM_METRICS_TOKEN: token,
    });
    served = await servePlatform(config, createLog('silent', 'test'));
  });
  afterAll(async () => {
    await served.close();
    await Promise.all([lagging.stop(), chain.stop()]);
    await rm(directory, { recursive: true, force: true });
  });

  const token = 'metrics-'.padEnd(24, 'm');
  async function readyz() {
    const answer = await fetch(`${served.url}/readyz`);
    const body = (await answer.json()) as { code?: string; message?: string };
    return { status: answer.status, ...body };
  }
  /** By chain; undefined: nothing was indexed yet. */
  async function indexedBlock(key: string): Promise<number | undefined> {
    const answer = await fetch(`${served.url}/metrics`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const found = new RegExp(`pool_index_block\\{chain="${key}"\\} (\\d+)`).exec(
      await answer.text(),
    );
    return found === null ? undefined : Number(found[1]);
  }

  it('says which chain is closed, works on the other one, and opens it once its node shows the contracts', async () => {
    expect(await readyz()).toMatchObject({
      status: 503,
      code: 'pool_code_differs',
      message: expect.stringContaining('chain lagging is closed'),
    });
    await expect.poll(() => indexedBlock('honest')).toBeGreaterThan(0);
    expect(await indexedBlock('lagging')).toBeUndefined();
    lagging.setLies([]);
    await expect.poll(readyz).toMatchObject({ status: 200 });
    await expect.poll(() => indexedBlock('lagging')).toBeGreaterThan(0);
  });
});

/** Every answer that is the code of a contract becomes the answer for an address without one. */
function hideCode(answer: Record<string, unknown>): Record<string, unknown> {
  const hide = (one: Record<string, unknown>) =>
    typeof one['result'] === 'string' && one['result'].length > 1_000
      ? { ...one, result: '0x' }
      : one;
  return Array.isArray(answer)
    ? (answer.map(hide) as unknown as Record<string, unknown>)
    : hide(answer);
}
