/**
 * The platform and the gate as real processes on a real chain: sign-in, enrolment, keys, a settled batch,
 * and the recipient's note opened from what the platform serves.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fieldToHex, parseField, Secret } from '@pool/core';
import { computeWalletId, openNote } from '@pool/notes';
import {
  createEdgeClient,
  createEdgeGate,
  createGateClient,
  createKeyVerifier,
  createSessionClient,
  type SessionClient,
} from '@pool/platform-client';
import {
  createTestHolder,
  type ManagedProcess,
  startNodeProcess,
  type TestHolder,
  testEvidenceDomain,
  waitUntilReady,
} from '@pool/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deployOwnedWallet } from '../../../packages/relayer/test/contract-wallet.ts';
import { proveSettlement } from '../../../packages/relayer/test/prove-settlement.ts';
import { startTestChain, type TestChain } from '../../../packages/relayer/test/test-chain.ts';
import { createTestSettlement } from '../../../packages/relayer/test/test-settlement.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
const readSecret = 'canary-read-client-secret';
const writeSecret = 'canary-write-client-secret';

describe('platform and gate as processes', () => {
  let directory: string;
  let chain: TestChain;
  let gate: ManagedProcess;
  let platform: ManagedProcess;
  let platformUrl: string;
  let gateUrl: string;
  const processes: ManagedProcess[] = [];
  const secrets: string[] = [readSecret, writeSecret];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pool-platform-'));
    chain = await startTestChain({
      blockTimeSeconds: 0.4,
      slotsInAnEpoch: 1,
      fakeVerifier: false,
      finality: { kind: 'finalized-tag' },
    });
    const chainsFile = join(directory, 'chains.json');
    const chains = { evidence: testEvidenceDomain, chains: { anvil: chain.settings } };
    await writeFile(chainsFile, JSON.stringify(chains));
    await chain.fundFunder(1_000_000n);
    gate = await startGate();
    platform = await startPlatform();
  });
  afterAll(async () => {
    await Promise.all(processes.map((running) => running.stop()));
    await chain.stop();
    await rm(directory, { recursive: true, force: true });
  });

  function start(name: string, args: string[], env: Record<string, string>): ManagedProcess {
    const running = startNodeProcess({
      name,
      script: main,
      args,
      env,
      logPath: join(directory, `${name}.log`),
    });
    processes.push(running);
    return running;
  }
  async function listening(running: ManagedProcess): Promise<string> {
    return await waitUntilReady(running, () =>
      Promise.resolve(/"event":"listening","url":"([^"]+)"/.exec(running.output())?.[1]),
    );
  }
  async function startGate(): Promise<ManagedProcess> {
    const key = chain.key('gate').reveal();
    secrets.push(key);
    const running = start('gate', ['gate', 'serve'], {
      GATE_PORT: '0',
      GATE_DATA_DIR: join(directory, 'gate'),
      GATE_CHAINS_FILE: join(directory, 'chains.json'),
      GATE_CHAIN: 'anvil',
      GATE_PUBLISHER_KEY: key,
      GATE_READ_CLIENT_ID: 'reader',
      GATE_READ_CLIENT_SECRET: readSecret,
      GATE_WRITE_CLIENT_ID: 'writer',
      GATE_WRITE_CLIENT_SECRET: writeSecret,
      GATE_POLL_MS: '100',
    });
    gateUrl = await listening(running);
    return running;
  }
  async function startPlatform(): Promise<ManagedProcess> {
    const key = chain.key('relayer').reveal();
    secrets.push(key);
    const running = start('platform', ['serve'], {
      ...platformEnv(),
      PLATFORM_PORT: '0',
      PLATFORM_CHAINS_FILE: join(directory, 'chains.json'),
      PLATFORM_DEFAULT_CHAIN: 'anvil',
      PLATFORM_RELAYER_KEY: key,
      PLATFORM_GATE_URL: gateUrl,
      PLATFORM_GATE_WRITE_CLIENT_ID: 'writer',
      PLATFORM_GATE_WRITE_CLIENT_SECRET: writeSecret,
      PLATFORM_POLL_MS: '100',
    });
    platformUrl = await listening(running);
    return running;
  }
  const platformEnv = () => ({ PLATFORM_DATA_DIR: join(directory, 'platform') });

  async function signIn(holder: TestHolder): Promise<SessionClient> {
    const client = createSessionClient({ url: platformUrl });
    const session = await client.signIn({
      address: holder.address,
      signMessage: (message) => holder.wallet.signMessage(message),
      ...testEvidenceDomain,
      chainId: chain.settings.chainId,
      encryptionPublicKey: holder.encryptionPublicKey,
    });
    expect(session.walletPub).toBe(holder.walletPub);
    return client;
  }
  /** Signs in and registers. */
  async function enter(holder: TestHolder): Promise<SessionClient> {
    const client = await signIn(holder);
    await client.register();
    return client;
  }
  async function operator(...args: string[]): Promise<Record<string, unknown>> {
    return await command('edge-token', ...args);
  }
  async function command(...args: string[]): Promise<Record<string, unknown>> {
    const running = start(`operator-${processes.length}`, args, platformEnv());
    expect((await running.exited).code).toBe(0);
    return JSON.parse(running.output()) as Record<string, unknown>;
  }

  it('pays a roster and serves each recipient its note, through kills of both processes [bootstrap.vends]', async () => {
    const holders = await Promise.all(['a', 'b', 'c', 'd'].map(createTestHolder));
    const before = await chain.provider.getTransactionCount(chain.wallet('gate').address);
    const sessions = await Promise.all(holders.map(enter));
    const enrolled = await Promise.all(
      holders.map(
        async ({ walletPub, encryptionPublicKey }, index) =>
          await sessions[index]?.onboard(walletPub, encryptionPublicKey),
      ),
    );
    expect(enrolled).toMatchObject(holders.map(() => ({ created: true, readiness: 'ready' })));
    // Four enrolments at once share publications: they do not wait for finality four times.
    const after = await chain.provider.getTransactionCount(chain.wallet('gate').address);
    expect(after - before).toBeLessThanOrEqual(2);

    const [payer] = holders;
    const [session] = sessions;
    if (payer === undefined || session === undefined) throw new Error('no payer');
    const { employerId } = await session.register();
    const created = await operator('create', '--address', payer.address);
    const edgeToken = new Secret(String(created['token']));
    secrets.push(edgeToken.reveal());
    const edge = () => createEdgeClient({ url: `${platformUrl}/agent-edge`, token: edgeToken });

    const bootstrap = await edge().bootstrap();
    expect(bootstrap).toMatchObject({ employerId, employerAddress: payer.address, chain: 'anvil' });
    const oauth = bootstrap.gate?.oauth;
    if (bootstrap.gate === undefined || oauth === undefined) throw new Error('no gate vended');
    const records = await edge().lookupRecipients(
      'anvil',
      holders.map(({ address }) => address.toLowerCase()),
    );
    expect(records.map(({ readiness }) => readiness)).toEqual(holders.map(() => 'ready'));

    const gateClient = createGateClient({
      url: bootstrap.gate.url,
      oauth: { ...oauth, clientSecret: new Secret(oauth.clientSecret) },
    });
    const { root, wallets } = await gateClient.root();
    expect(wallets).toBe(4);
    expect(await chain.registry('stranger').current()).toBe(root);
    // The same list through the platform, for a wallet that has no client of the gate.
    const ids = holders.map(({ walletPub }) => fieldToHex(computeWalletId(walletPub)));
    const { apiKey: transferKey } = await session.mintKey('holder.transfer', 'page');
    secrets.push(transferKey.reveal());
    const page = createEdgeClient({ url: `${platformUrl}/agent-edge`, token: transferKey });
    expect(await createEdgeGate('anvil', page).paths(ids.slice(1), root)).toEqual(
      await gateClient.paths(ids.slice(1), root),
    );

    const amounts = [100n, 200n, 300n, 400n];
    const settlement = await createTestSettlement(await chain.settlementTarget(), {
      eligibilityRoot: parseField(root),
      holders,
      amounts,
    });
    const { plan } = settlement;
    await expect(edge().postSettlement('job-1', settlement.request)).rejects.toMatchObject({
      code: 'proof_invalid',
    });
    const { paths } = await gateClient.paths(ids);
    const request = await proveSettlement(settlement, paths);
    expect((await edge().postSettlement('job-1', request)).state).toBe('accepted');

    // A crash right after the answer: the stored intent is finished by the next start.
    await platform.kill();
    platform = await startPlatform();
    await expect
      .poll(() => edge().getSettlement('job-1'), { interval: 200 })
      .toMatchObject({ state: 'settled' });
    expect(await chain.pool().batchCount()).toBe(1n);
    expect(await chain.poolBalance()).toBe(1_000n);

    for (const [index, holder] of holders.entries()) {
      const client = await signIn(holder);
      const { apiKey } = await client.mintKey('holder.read', 'test');
      secrets.push(apiKey.reveal());
      const served = await createEdgeClient({
        url: `${platformUrl}/agent-edge`,
        token: apiKey,
      }).getNotes({ chain: 'anvil', token: 'USDC' });
      expect(served.notes).toHaveLength(1);
      const note = served.notes[0];
      if (note === undefined) throw new Error('no note');
      const opened = openNote({
        viewingKey: holder.viewingKey,
        walletId: computeWalletId(holder.walletPub),
        assetId: plan.assetId,
        commitment: BigInt(note.commitment),
        sealed: note.sealed,
      });
      expect(opened).toMatchObject({ amount: amounts[index] });
    }
  });

  it('verifies a key until it is revoked [verify-key.for-agents]', async () => {
    const holder = await createTestHolder('a');
    const session = await signIn(holder);
    const minted = await session.mintKey('disburse', 'agent');
    const token = await operator('create', '--address', holder.address, '--name', 'second');
    const verifier = createKeyVerifier({
      verifyUrl: `${platformUrl}/api/employers/verify-key`,
      edgeToken: new Secret(String(token['token'])),
    });
    expect(await verifier.verify(minted.apiKey.reveal())).toMatchObject({
      valid: true,
      capability: 'disburse',
      address: holder.address,
      keyId: minted.id,
    });
    await session.revokeKey(minted.id);
    expect(await verifier.verify(minted.apiKey.reveal())).toEqual({ valid: false });
    await operator('revoke', String(token['id']));
    await expect(verifier.verify(minted.apiKey.reveal())).rejects.toMatchObject({
      code: 'verification_unavailable',
    });
  });

  it('allows a contract wallet to sign in and mint a disburse key, and not to enrol as a holder', async () => {
    const owner = await createTestHolder('owner of a treasury');
    const treasury = await deployOwnedWallet(chain.wallet('stranger'), owner.address);
    const client = createSessionClient({ url: platformUrl });
    const signIn = async (signer: TestHolder) =>
      await client.signIn({
        address: treasury,
        signMessage: (message) => signer.wallet.signMessage(message),
        ...testEvidenceDomain,
        chainId: chain.settings.chainId,
        encryptionPublicKey: owner.encryptionPublicKey,
      });
    await expect(signIn(await createTestHolder('a'))).rejects.toMatchObject({
      code: 'invalid_sign_in',
    });
    const session = await signIn(owner);
    expect([session.address, session.walletPub]).toEqual([treasury, undefined]);
    const { employerId } = await client.register('Treasury');
    const { apiKey } = await client.mintKey('disburse', 'agent');
    secrets.push(apiKey.reveal());
    const { chainId } = chain.settings;
    const account = ['--address', treasury, '--contract-chain-id', String(chainId)];
    const token = await operator('create', ...account);
    const edgeToken = new Secret(String(token['token']));
    secrets.push(edgeToken.reveal());
    const verifyUrl = `${platformUrl}/api/employers/verify-key`;
    expect(await createKeyVerifier({ verifyUrl, edgeToken }).verify(apiKey.reveal())).toMatchObject(
      {
        valid: true,
        employerId,
        address: treasury,
      },
    );
    await expect(client.onboard(owner.walletPub, owner.encryptionPublicKey)).rejects.toMatchObject({
      code: 'contract_wallet_unsupported',
      status: 403,
    });
    await operator('revoke', String(token['id']));
  });

  it('keeps the gate’s list when the gate is killed during a publication', async () => {
    const holder = await createTestHolder('late');
    const session = await enter(holder);
    const countSent = () =>
      chain.provider.getTransactionCount(chain.wallet('gate').address, 'pending');
    const before = await countSent();
    const pending = session.onboard(holder.walletPub, holder.encryptionPublicKey).catch(() => null);
    await expect.poll(countSent, { interval: 50 }).toBe(before + 1);
    await gate.kill();
    await pending;
    gate = await startGate();
    const reader = createGateClient({
      url: gateUrl,
      oauth: {
        tokenUrl: `${gateUrl}/oauth/token`,
        clientId: 'reader',
        clientSecret: new Secret(readSecret),
        scope: 'gate.read',
      },
    });
    await expect.poll(async () => (await reader.root()).wallets).toBe(5);
    expect(await chain.registry('stranger').current()).toBe((await reader.root()).root);
  });

  it('refuses a second process on the same data, and stops cleanly on a signal', async () => {
    const second = start('second', ['serve'], {
      ...platformEnv(),
      PLATFORM_PORT: '0',
      PLATFORM_CHAINS_FILE: join(directory, 'chains.json'),
      PLATFORM_DEFAULT_CHAIN: 'anvil',
      PLATFORM_RELAYER_KEY: chain.key('relayer').reveal(),
    });
    expect((await second.exited).code).toBe(1);
    expect(second.output()).toContain('data_directory_locked');
    await platform.stop(120_000);
    expect((await platform.exited).code).toBe(0);
    // The operator's commands work on the data of a stopped platform too.
    const { edgeTokens } = await operator('list');
    expect(edgeTokens).toMatchObject([{ refusedProofs: 1 }, {}, {}]);
    expect(await command('indexer', 'resume', '--chain', 'anvil')).toEqual({ resumed: false });
    expect(edgeTokens).toHaveLength(3);
    expect(JSON.stringify(edgeTokens)).not.toContain('hash');
  });

  it('writes each secret only to the files that are for it', async () => {
    for (const running of processes.filter(({ name }) => !name.startsWith('operator'))) {
      const text = await readFile(running.logPath, 'utf8');
      for (const secret of secrets) {
        expect(text).not.toContain(secret);
      }
    }
  });
});
