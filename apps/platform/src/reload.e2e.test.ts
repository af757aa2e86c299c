/** SIGHUP at real processes on a real chain: the gate and the relayer get new keys, the relayer while a transaction of its old one is open. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fieldToHex, parseField, Secret } from '@pool/core';
import { computeWalletId } from '@pool/notes';
import { createEdgeClient, createGateClient, createSessionClient } from '@pool/platform-client';
import {
  createTestHolder,
  type ManagedProcess,
  startNodeProcess,
  type TestHolder,
  testEvidenceDomain,
  waitUntilReady,
} from '@pool/testkit';
import { id } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { proveSettlement } from '../../../packages/relayer/test/prove-settlement.ts';
import { startTestChain, type TestChain } from '../../../packages/relayer/test/test-chain.ts';
import { createTestSettlement } from '../../../packages/relayer/test/test-settlement.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
const metricsToken = 'metrics-'.padEnd(24, 'm');
const clientSecret = 'secret-of-the-client';

describe('new keys by SIGHUP', () => {
  let directory: string;
  let chain: TestChain;
  const processes: ManagedProcess[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pool-reload-'));
    chain = await startTestChain({ blockTimeSeconds: 0.4, fakeVerifier: false });
    const chains = { evidence: testEvidenceDomain, chains: { anvil: chain.settings } };
    await writeFile(join(directory, 'chains.json'), JSON.stringify(chains));
    await chain.fundFunder(1_000_000n);
  });
  afterAll(async () => {
    await Promise.all(processes.map((running) => running.stop()));
    await chain.stop();
    await rm(directory, { recursive: true, force: true });
  });

  type Role = Parameters<TestChain['wallet']>[0];
  async function writeKey(name: string, role: Role): Promise<string> {
    const path = join(directory, `${name}.key`);
    await writeFile(path, chain.key(role).reveal(), { mode: 0o600 });
    return path;
  }
  async function start(args: string[], env: Record<string, string>) {
    const running = startNodeProcess({
      ...{ name: args[0] ?? '', script: main, args, env },
      logPath: join(directory, `${args[0]}.log`),
    });
    processes.push(running);
    const url = await waitUntilReady(running, () =>
      Promise.resolve(/"event":"listening","url":"([^"]+)"/.exec(running.output())?.[1]),
    );
    return { url, running };
  }
  async function giveKey(running: ManagedProcess, name: string, role: Role): Promise<void> {
    await writeKey(name, role);
    process.kill(running.identity.pid, 'SIGHUP');
  }
  async function grant(on: 'pool' | 'registry', role: string, to: Role): Promise<void> {
    const contract = on === 'pool' ? chain.pool() : chain.registry('gate');
    const call = contract.connect(chain.wallet('deployer')).getFunction('grantRole');
    const sent: unknown = await call(id(role), chain.wallet(to).address);
    await (sent as { wait(): Promise<unknown> }).wait();
  }
  const countOf = (role: Role) =>
    chain.provider.getTransactionCount(chain.wallet(role).address, 'pending');
  const setMining = (seconds: number) => chain.provider.send('evm_setIntervalMining', [seconds]);

  it('changes the keys of gate and relayer: both settlements land, each from the account that signed it', async () => {
    const shared = { PLATFORM_DATA_DIR: join(directory, 'platform') };
    const gate = await start(['gate', 'serve'], {
      ...{ GATE_PORT: '0', GATE_DATA_DIR: join(directory, 'gate'), GATE_POLL_MS: '100' },
      ...{ GATE_CHAINS_FILE: join(directory, 'chains.json'), GATE_CHAIN: 'anvil' },
      GATE_PUBLISHER_KEY_FILE: await writeKey('gate', 'gate'),
      ...{ GATE_READ_CLIENT_ID: 'reader', GATE_READ_CLIENT_SECRET: `${clientSecret}-r` },
      ...{ GATE_WRITE_CLIENT_ID: 'writer', GATE_WRITE_CLIENT_SECRET: clientSecret },
    });
    const platform = await start(['serve'], {
      ...shared,
      ...{ PLATFORM_PORT: '0', PLATFORM_POLL_MS: '100', PLATFORM_DEFAULT_CHAIN: 'anvil' },
      PLATFORM_CHAINS_FILE: join(directory, 'chains.json'),
      PLATFORM_RELAYER_KEY_FILE: await writeKey('relayer', 'relayer'),
      PLATFORM_METRICS_TOKEN: metricsToken,
      ...{ PLATFORM_GATE_URL: gate.url, PLATFORM_GATE_WRITE_CLIENT_ID: 'writer' },
      PLATFORM_GATE_WRITE_CLIENT_SECRET: clientSecret,
    });
    async function enrol(holder: TestHolder): Promise<void> {
      const client = createSessionClient({ url: platform.url });
      await client.signIn({
        ...{ address: holder.address, ...testEvidenceDomain, chainId: chain.settings.chainId },
        signMessage: (message) => holder.wallet.signMessage(message),
        encryptionPublicKey: holder.encryptionPublicKey,
      });
      await client.register();
      const enrolled = await client.onboard(holder.walletPub, holder.encryptionPublicKey);
      expect(enrolled).toMatchObject({ readiness: 'ready' });
    }
    async function metrics(): Promise<string> {
      const headers = { authorization: `Bearer ${metricsToken}` };
      return await (await fetch(`${platform.url}/metrics`, { headers })).text();
    }

    // The gate: one publication from each account.
    const [a, b] = [await createTestHolder('a'), await createTestHolder('b')];
    const before = [await countOf('gate'), await countOf('stranger')];
    await enrol(a);
    await grant('registry', 'PUBLISHER_ROLE', 'stranger');
    await giveKey(gate.running, 'gate', 'stranger');
    await enrol(b);
    expect([await countOf('gate'), await countOf('stranger')]).toEqual(
      before.map((count) => count + 1),
    );

    // Two settlements under one root, proved before the chain stops.
    const oauth = { tokenUrl: `${gate.url}/oauth/token`, clientId: 'reader' } as const;
    const gateClient = createGateClient({
      url: gate.url,
      oauth: { ...oauth, clientSecret: new Secret(`${clientSecret}-r`), scope: 'gate.read' },
    });
    const eligibilityRoot = parseField((await gateClient.root()).root);
    const walletIds = [a, b].map(({ walletPub }) => fieldToHex(computeWalletId(walletPub)));
    const { paths } = await gateClient.paths(walletIds);
    const created = startNodeProcess({
      ...{ name: 'operator', script: main, env: shared, logPath: join(directory, 'operator.log') },
      args: ['edge-token', 'create', '--address', a.address],
    });
    processes.push(created);
    await created.exited;
    const { token } = JSON.parse(created.output()) as Record<string, string>;
    const edge = createEdgeClient({
      url: `${platform.url}/agent-edge`,
      token: new Secret(token ?? ''),
    });
    const requests = new Map<string, Awaited<ReturnType<typeof proveSettlement>>>();
    for (const jobKey of ['job-1', 'job-2']) {
      const settlement = await createTestSettlement(await chain.settlementTarget(), {
        ...{ eligibilityRoot, jobKey, holders: [a, b], amounts: [100n, 200n] },
      });
      requests.set(jobKey, await proveSettlement(settlement, paths));
    }
    async function post(jobKey: string): Promise<void> {
      const request = requests.get(jobKey);
      if (request === undefined) throw new Error('not proved');
      expect(await edge.postSettlement(jobKey, request)).toMatchObject({ state: 'accepted' });
    }

    // The relayer: a key without the role is refused; one with it waits for the open transaction.
    await grant('pool', 'RELAYER_ROLE', 'guardian');
    await setMining(0);
    const old = await countOf('relayer');
    await post('job-1');
    await expect.poll(() => countOf('relayer')).toBe(old + 1);
    await giveKey(platform.running, 'relayer', 'funder');
    await expect.poll(() => platform.running.output()).toContain('the new relayer key was refused');
    const fresh = await countOf('guardian');
    await giveKey(platform.running, 'relayer', 'guardian');
    await expect.poll(metrics).toContain('key_waits{chain="anvil"} 1');
    await post('job-2');
    await setMining(1);
    const poll = { interval: 200 };
    for (const [jobKey, role, nonce] of [
      ['job-1', 'relayer', old],
      ['job-2', 'guardian', fresh],
    ] as const) {
      await expect.poll(() => edge.getSettlement(jobKey), poll).toMatchObject({ state: 'settled' });
      const { txHash } = (await edge.getSettlement(jobKey)) ?? {};
      expect(await chain.provider.getTransaction(txHash ?? '')).toMatchObject({
        ...{ from: chain.wallet(role).address, nonce },
      });
    }
    expect(await metrics()).toContain('key_waits{chain="anvil"} 0');
    expect(await chain.pool().batchCount()).toBe(2n);
  });
});
