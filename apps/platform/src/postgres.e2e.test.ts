/**
 * Platform and gate as real processes on a real PostgreSQL server, which is killed in the middle of a settlement, and
 * then together with the platform: every acknowledged row is there afterwards, and the batch lands once.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fieldToHex, parseField, Secret } from '@pool/core';
import { computeWalletId } from '@pool/notes';
import {
  createEdgeClient,
  createGateClient,
  createKeyVerifier,
  createSessionClient,
  type SessionClient,
} from '@pool/platform-client';
import {
  createTestHolder,
  type ManagedProcess,
  type PostgresServer,
  startNodeProcess,
  startPostgres,
  type TestHolder,
  testEvidenceDomain,
  waitUntilReady,
} from '@pool/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { proveSettlement } from '../../../packages/relayer/test/prove-settlement.ts';
import { startTestChain, type TestChain } from '../../../packages/relayer/test/test-chain.ts';
import { createTestSettlement } from '../../../packages/relayer/test/test-settlement.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));

describe('platform and gate on a PostgreSQL server', () => {
  let directory: string;
  let chain: TestChain;
  let server: PostgresServer;
  let platformDatabase: string;
  let gateDatabase: string;
  let platform: ManagedProcess;
  let platformUrl: string;
  let gateUrl: string;
  const processes: ManagedProcess[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pool-postgres-e2e-'));
    // As an operator runs it: it waits for the disk.
    [server, chain] = await Promise.all([
      startPostgres({}),
      startTestChain({
        blockTimeSeconds: 0.4,
        slotsInAnEpoch: 1,
        fakeVerifier: false,
        finality: { kind: 'finalized-tag' },
      }),
    ]);
    [platformDatabase, gateDatabase] = [
      await server.createDatabase(),
      await server.createDatabase(),
    ];
    const chains = { evidence: testEvidenceDomain, chains: { anvil: chain.settings } };
    await writeFile(join(directory, 'chains.json'), JSON.stringify(chains));
    await writeFile(join(directory, 'database-url'), gateDatabase, { mode: 0o600 });
    await chain.fundFunder(1_000_000n);
    gateUrl = await listening(
      start('gate', ['gate', 'serve'], {
        GATE_PORT: '0',
        DATABASE_URL_FILE: join(directory, 'database-url'),
        GATE_CHAINS_FILE: join(directory, 'chains.json'),
        GATE_CHAIN: 'anvil',
        GATE_PUBLISHER_KEY: chain.key('gate').reveal(),
        GATE_READ_CLIENT_ID: 'reader',
        GATE_READ_CLIENT_SECRET: 'read',
        GATE_WRITE_CLIENT_ID: 'writer',
        GATE_WRITE_CLIENT_SECRET: 'write',
        GATE_POLL_MS: '100',
      }),
    );
    await startPlatform();
  });
  afterAll(async () => {
    await Promise.all(processes.map((running) => running.stop()));
    await Promise.all([chain.stop(), server.stop()]);
    await rm(directory, { recursive: true, force: true });
  });

  function start(name: string, args: string[], env: Record<string, string>): ManagedProcess {
    const logPath = join(directory, `${name}.log`);
    const running = startNodeProcess({ name, script: main, args, env, logPath });
    processes.push(running);
    return running;
  }
  async function listening(running: ManagedProcess): Promise<string> {
    return await waitUntilReady(running, () =>
      Promise.resolve(/"event":"listening","url":"([^"]+)"/.exec(running.output())?.[1]),
    );
  }
  const stored = (folder = 'platform') => ({
    PLATFORM_DATA_DIR: join(directory, folder),
    DATABASE_URL: platformDatabase,
  });
  const serving = (folder?: string) => ({
    ...stored(folder),
    PLATFORM_PORT: '0',
    PLATFORM_CHAINS_FILE: join(directory, 'chains.json'),
    PLATFORM_DEFAULT_CHAIN: 'anvil',
    PLATFORM_RELAYER_KEY: chain.key('relayer').reveal(),
    PLATFORM_GATE_URL: gateUrl,
    PLATFORM_GATE_WRITE_CLIENT_ID: 'writer',
    PLATFORM_GATE_WRITE_CLIENT_SECRET: 'write',
    PLATFORM_POLL_MS: '100',
  });
  async function startPlatform(): Promise<void> {
    platform = start('platform', ['serve'], serving());
    platformUrl = await listening(platform);
  }
  async function enrol(holder: TestHolder): Promise<SessionClient> {
    const client = createSessionClient({ url: platformUrl });
    await client.signIn({
      address: holder.address,
      signMessage: (message) => holder.wallet.signMessage(message),
      ...testEvidenceDomain,
      chainId: chain.settings.chainId,
      encryptionPublicKey: holder.encryptionPublicKey,
    });
    await client.register();
    const enrolled = await client.onboard(holder.walletPub, holder.encryptionPublicKey);
    expect(enrolled).toMatchObject({ readiness: 'ready' });
    return client;
  }
  async function mintEdgeToken(address: string): Promise<Secret> {
    const args = ['edge-token', 'create', '--address', address];
    const running = start(`operator-${processes.length}`, args, stored());
    expect((await running.exited).code).toBe(0);
    return new Secret(String((JSON.parse(running.output()) as { token: string }).token));
  }
  const databaseOf = (url: string) => new URL(url).pathname.slice(1);
  const ask = (text: string) => server.query(text, databaseOf(platformDatabase));
  const statusOf = async (path: string) => {
    const response = await fetch(`${platformUrl}${path}`);
    return [response.status, response.headers.get('retry-after')];
  };

  it('keeps everything that was acknowledged and pays once, through kills of the server and of the platform', async () => {
    const holders = await Promise.all(['a', 'b'].map(createTestHolder));
    const [payer] = holders;
    if (payer === undefined) throw new Error('no payer');
    const [session] = await Promise.all(holders.map(enrol));
    if (session === undefined) throw new Error('no session');
    const edgeToken = await mintEdgeToken(payer.address);
    const edge = () => createEdgeClient({ url: `${platformUrl}/agent-edge`, token: edgeToken });
    const oauth = { clientId: 'reader', clientSecret: new Secret('read'), scope: 'gate.read' };
    const reader = createGateClient({
      url: gateUrl,
      oauth: { ...oauth, tokenUrl: `${gateUrl}/oauth/token` },
    });
    const { root } = await reader.root();
    const settlement = await createTestSettlement(await chain.settlementTarget(), {
      eligibilityRoot: parseField(root),
      holders,
      amounts: [100n, 200n],
    });
    const { paths } = await reader.paths(
      holders.map(({ walletPub }) => fieldToHex(computeWalletId(walletPub))),
    );
    const request = await proveSettlement(settlement, paths);
    const revoked = await session.mintKey('disburse', 'agent');
    await session.revokeKey(revoked.id);

    expect((await edge().postSettlement('job-1', request)).state).toBe('accepted');
    await server.kill();
    await expect(edge().getSettlement('job-1')).rejects.toMatchObject({
      status: 503,
      retryable: true,
    });
    const isAway = [503, expect.stringMatching(/^[1-9]/)];
    await expect.poll(() => statusOf('/readyz'), { timeout: 10_000 }).toEqual(isAway);
    expect(await statusOf('/api/auth/nonce')).toEqual(isAway);
    expect(await statusOf('/livez')).toEqual([200, null]);
    await server.start();
    await expect.poll(() => statusOf('/readyz'), { timeout: 20_000 }).toEqual([200, null]);

    // Signed bytes are stored, and their outcome on the chain is not known here yet.
    await expect
      .poll(() => ask('select state from relayer_transactions'), { timeout: 20_000, interval: 20 })
      .toEqual([{ state: 'open' }]);
    await Promise.all([server.kill(), platform.kill()]);
    await server.start();
    await startPlatform();
    await expect
      .poll(() => edge().getSettlement('job-1'), { timeout: 60_000, interval: 200 })
      .toMatchObject({ state: 'settled', sealedNotes: request.sealedNotes });
    expect(await chain.pool().batchCount()).toBe(1n);
    expect(await chain.poolBalance()).toBe(300n);
    // The index calls a batch settled; the relayer records the outcome of its own transaction in its own pass.
    await expect
      .poll(() => ask('select state, purpose from relayer_transactions'), { timeout: 20_000 })
      .toEqual([{ state: 'succeeded', purpose: 'fund' }]);
    const verifyUrl = `${platformUrl}/api/employers/verify-key`;
    expect(
      await createKeyVerifier({ verifyUrl, edgeToken }).verify(revoked.apiKey.reveal()),
    ).toEqual({ valid: false });
    expect((await reader.root()).wallets).toBe(2);
  });

  it('refuses a second platform, and a gate on the platform’s database, with the reason', async () => {
    const second = start('second', ['serve'], serving('elsewhere'));
    expect((await second.exited).code).toBe(1);
    expect(second.output()).toContain('database_locked');
    await platform.stop();
    expect((await platform.exited).code).toBe(0);
    const gate = start('wrong-gate', ['gate', 'serve'], {
      DATABASE_URL: platformDatabase,
      GATE_CHAINS_FILE: join(directory, 'chains.json'),
      GATE_CHAIN: 'anvil',
      GATE_PUBLISHER_KEY: chain.key('gate').reveal(),
      GATE_READ_CLIENT_ID: 'reader',
      GATE_READ_CLIENT_SECRET: 'read',
      GATE_WRITE_CLIENT_ID: 'writer',
      GATE_WRITE_CLIENT_SECRET: 'write',
    });
    expect((await gate.exited).code).toBe(1);
    expect(gate.output()).toContain('database_refused');
  });

  it('writes the password of the database nowhere', async () => {
    for (const { logPath } of processes) {
      expect(await readFile(logPath, 'utf8')).not.toContain(server.password);
    }
  });
});
