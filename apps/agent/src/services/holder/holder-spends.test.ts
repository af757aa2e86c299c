// The spends of an agent: what its configuration decides. Dry runs with a mock prover go through the checks and the choice of notes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  bigintToHex32,
  chainFamilies,
  type EvmChainSettings,
  parseEvmAddress,
  Secret,
  type SpendOperationName,
} from '@pool/core';
import { createMemoryStore } from '@pool/idempotency';
import { createNoteScanner, type NoteScanner } from '@pool/notes';
import { assertSigns, createLocalKeyHolder, openHolder } from '@pool/signers';
import {
  createFakeClock,
  createFakeHolder,
  createFakeNotePool,
  createFakePlatform,
  createFakePoolChain,
  type FakeNotePool,
  fakeEvidenceDomain,
} from '@pool/testkit';
import { type ArchivedSpend, createEvidenceVerifier, createKeyLock } from '@pool/wallet';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createHolderNotes } from '../../../../../packages/wallet/src/node/holder/holder-notes.ts';
import { createHolderSpends } from '../../../../../packages/wallet/src/node/spends/holder-spends.ts';
import { openSpendOwners } from '../../../../../packages/wallet/src/node/spends/spend-owner.ts';
import { writeRestoreMark } from '../../../../../packages/wallet/src/node/store/restored-state.ts';
import { openSpendArchive } from '../../../../../packages/wallet/src/node/store/spend-archive.ts';
import { parseConfig } from '../../config/config.ts';
import { createConfigSource, goodEnvironment } from '../../fixtures/config-world.ts';
import { requireRoleToken } from '../signers/role-tokens.ts';

const [anna, bob] = [1, 2].map((index) => createFakeHolder(index)) as [
  ReturnType<typeof createFakeHolder>,
  ReturnType<typeof createFakeHolder>,
];
const address = parseEvmAddress('0x70997970c51812dc3a010c7d01b50e0d17dc79c8');

const anvil: EvmChainSettings = {
  family: 'evm',
  chainId: 31337,
  rpcUrl: 'http://127.0.0.1:9',
  pool: parseEvmAddress('0x5fbdb2315678afecb367f032d93f642f64180aa3'),
  registry: parseEvmAddress('0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0'),
  deployedAtBlock: 5,
  finality: { kind: 'depth', blocks: 1 },
  maxRecipients: 3,
  tokens: {
    USDC: { address: parseEvmAddress('0xe7f1725e7734ce288f8367e1bb143e90bb3f0512'), decimals: 6 },
  },
};
const base: EvmChainSettings = { ...anvil, chainId: 8453 };
const settingsOf = new Map([
  ['anvil', anvil],
  ['base', base],
]);

const tokens = {
  DISBURSE_CHAIN: 'anvil',
  DISBURSE_TRANSFER_TOKEN: 'pool_live_transfer',
  DISBURSE_SEND_TOKEN: 'pool_live_send',
};

let scanner: NoteScanner;
beforeAll(async () => {
  scanner = await createNoteScanner({ threads: 1 });
});
afterAll(() => scanner.close());

type Variables = Readonly<Record<string, string>>;
type Changes = { readonly encryptionPublicKey?: string; readonly home?: string };

/** An agent whose holder has 100 base units on anvil and 9 on base. */
function start(variables: Variables = tokens, changes: Changes = {}) {
  const { holder } = parseConfig(createConfigSource({ ...goodEnvironment, ...variables }), {
    values: {},
  });
  const clock = createFakeClock();
  const [{ pool, tokens: listed }] = [anvil];
  const token = listed['USDC']?.address ?? pool;
  const platform = createFakePlatform(createFakePoolChain({ clock, pool, token, funder: pool }));
  platform.enroll(bob);
  const pools = new Map<string, FakeNotePool>();
  for (const [key, settings] of settingsOf) {
    pools.set(key, createFakeNotePool({ asset: settings }));
  }
  pools.get('anvil')?.fund([{ holder: anna, amount: 100n }]);
  pools.get('base')?.fund([{ holder: anna, amount: 9n }]);
  const poolOf = (key: string): FakeNotePool => pools.get(key) ?? createFakeNotePool({});
  const warnings: unknown[] = [];
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (fields: unknown) => void warnings.push(fields),
    error: () => undefined,
  };
  const chains = new Map([...settingsOf].map(([key, settings]) => [key, { key, settings }]));
  const findChain = () => ({ key: 'anvil', settings: anvil });
  const notes = createHolderNotes({
    home: undefined,
    log,
    openHolder: () =>
      changes.encryptionPublicKey === undefined
        ? Promise.resolve({
            signer: createLocalKeyHolder({
              privateKey: new Secret(anna.wallet.privateKey as `0x${string}`),
            }),
            family: chainFamilies.evm,
            walletPub: anna.walletPub,
            address: anna.address,
            viewingKey: new Secret(anna.viewingKey),
            encryptionPublicKey: anna.encryptionPublicKey,
            earlier: [],
          })
        : openHolder({
            chain: undefined,
            chainsFile: '/nonexistent',
            holder: {
              ...holder,
              privateKey: new Secret(anna.wallet.privateKey),
              viewingKey: new Secret(`0x${anna.viewingKey.toString(16).padStart(64, '0')}`),
              encryptionPublicKey: changes.encryptionPublicKey,
            },
          }),
    findChain,
    createDeliveries: (key) => poolOf(key).deliveries,
    createHistory: ({ chainId }) => poolOf(chainId === 8453 ? 'base' : 'anvil').history,
    createScanner: async () => ({ ...scanner, close: async () => undefined }),
  });
  const refuse = () => Promise.reject(new Error('nothing may be asked here'));
  let look: () => void = () => undefined;
  const looked = new Promise<void>((resolve) => {
    look = resolve;
  });
  const spends = createHolderSpends({
    home: changes.home,
    log,
    settings: holder,
    requireRoleToken: (operation) => requireRoleToken(operation, holder),
    assertSigns: () => assertSigns(holder, 'spend'),
    retentionDays: 30,
    keepOpenings: async () => undefined,
    journal: createMemoryStore(),
    onFaultPoint: async () => undefined,
    openHolder: notes.holder,
    findChain,
    chains,
    notes,
    lookup: platform,
    evidence: createEvidenceVerifier({
      domain: fakeEvidenceDomain,
      pins: { pinAll: async (evidence) => evidence.map(() => true) },
      nowMs: clock.nowMs,
    }),
    gates: { isConfigured: () => true, port: () => undefined },
    prover: { mode: 'mock', prove: refuse, verify: refuse },
    locks: createKeyLock(),
    createEdge: () => ({ postSpend: refuse, getSpend: async () => undefined }),
    createChain: () => ({
      fetchHeadTimestamp: async () => Math.floor(clock.nowMs() / 1000),
      fetchFinalBlockNumber: refuse,
      fetchGraceSeconds: async () => 60,
      // No note is used.
      async fetchNullifierState(nullifiers) {
        look();
        return {
          finalBlock: { number: 100, timestampSeconds: 0 },
          outRoots: nullifiers.map(() => undefined),
          pending: false,
        };
      },
      fetchSpentTransaction: refuse,
      fetchFinalEligibilityRoot: refuse,
      isEligibilityRootAccepted: refuse,
      fetchReceipt: refuse,
      fetchCarriedOutRoot: refuse,
      fetchRevertReason: refuse,
      close: () => undefined,
    }),
  });
  onTestFinished(async () => {
    await spends.close();
    await notes.close();
  });
  const run = (operation: SpendOperationName, request: object, chain?: string) =>
    spends.spend({
      operation,
      key: 'k',
      body: { token: 'USDC', dryRun: true, ...request },
      ...(chain === undefined ? {} : { chain }),
    });
  return {
    spends,
    looked,
    warnings,
    transfer: (amount: string, chain?: string) =>
      run('transfer', { recipients: [{ walletPub: bob.walletPub, amount }] }, chain),
    send: (request: object, chain?: string) => run('send', request, chain),
  };
}

describe('a spend of an agent that was killed before anything left', () => {
  const spend: ArchivedSpend = {
    ...{ version: 1, operation: 'send', chain: 'anvil', chainId: anvil.chainId, pool: anvil.pool },
    outRoot: bigintToHex32(7n),
    inputNullifiers: [bigintToHex32(8n)],
    deadline: Math.floor(Date.now() / 1_000) + 900,
    ...{ changeAmount: '0', createdAtMs: 1, state: { kind: 'archived', isAsked: true } },
  };

  /** @param findOwner - of the spend that the archive has when the agent starts */
  async function restart(
    findOwner: (home: string) => ArchivedSpend['owner'] = () => undefined,
    isRestored = false,
  ) {
    const home = mkdtempSync(join(tmpdir(), 'pool-home-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const archive = openSpendArchive(join(home, 'spends.sqlite'));
    onTestFinished(() => archive.close());
    const owner = findOwner(home);
    await archive.add(owner === undefined ? spend : { ...spend, owner });
    if (isRestored) {
      const now = new Date().toISOString();
      writeRestoreMark(home, { version: 1, restoredAt: now, backupCreatedAt: now });
    }
    const { looked } = start({ ...tokens }, { home });
    // One look at the chain, and what follows it.
    await looked;
    await new Promise((resolve) => setTimeout(resolve, 50));
    return (await archive.get(spend.outRoot))?.state.kind;
  }

  it.each([
    ['no owner', () => undefined],
    ['an owner that does not run', () => 'earlier'],
  ])('is given up at the next start: %s', async (_, findOwner) => {
    expect(await restart(findOwner)).toBe('abandoned');
  });

  it('is kept while its process runs, in another container too', async () => {
    const findOwner = (home: string) => {
      const other = openSpendOwners(home);
      onTestFinished(() => other.close());
      return other.own;
    };
    expect(await restart(findOwner)).toBe('archived');
  });

  it('is kept after a restore: it may have left later than the backup', async () => {
    expect(await restart(() => undefined, true)).toBe('archived');
  });
});

describe('the spends of an agent', () => {
  it('check and plan a dry run of each operation', async () => {
    const { transfer, send } = start();
    expect(await transfer('30')).toMatchObject({ status: 'dry-run', changeAmount: '70' });
    expect(await send({ amount: '100' })).toMatchObject({ status: 'dry-run', changeAmount: '0' });
  });

  it('use the chain of the holder, or one of the agent’s own that is asked for [spend.no-chain, command.chain, spend-error.insufficient-funds]', async () => {
    const { transfer, send } = start();
    expect(await transfer('4', 'base')).toMatchObject({ changeAmount: '5' });
    await expect(send({ amount: '10' }, 'base')).rejects.toMatchObject({
      code: 'insufficient_funds',
      details: { spendable: '9' },
    });
    expect(await send({ amount: '10' })).toMatchObject({ changeAmount: '90' });
    for (const unknown of ['optimism', 'toString', '']) {
      await expect(transfer('4', unknown)).rejects.toMatchObject({
        code: 'invalid-chain',
        status: 400,
        message: expect.stringContaining('anvil, base'),
      });
    }
  });

  it.each([
    ['transfer', 'DISBURSE_TRANSFER_TOKEN'],
    ['send', 'DISBURSE_SEND_TOKEN'],
  ] as const)(
    'need the key of their own role: %s [variable.transfer-token, variable.send-token]',
    async (operation, name) => {
      const others = Object.fromEntries(
        Object.entries(tokens).filter(([variable]) => variable !== name),
      );
      const agent = start(others);
      const spend = operation === 'send' ? agent.send({ amount: '1' }) : agent.transfer('1');
      await expect(spend).rejects.toMatchObject({
        code: 'holder_unavailable',
        status: 503,
        message: expect.stringMatching(`^${name} is required .*holder\\.${operation}`),
      });
    },
  );

  it('take ceilings from DISBURSE_TRANSFER_MAX_AMOUNT and DISBURSE_SEND_MAX_AMOUNT [variable.ceilings, limit.spend-ceiling]', async () => {
    const { transfer, send } = start({
      ...tokens,
      DISBURSE_TRANSFER_MAX_AMOUNT: '30',
      DISBURSE_SEND_MAX_AMOUNT: '40',
    });
    expect(await transfer('30')).toMatchObject({ status: 'dry-run' });
    expect(await send({ amount: '40' })).toMatchObject({ status: 'dry-run' });
    for (const spend of [() => transfer('31'), () => send({ amount: '41' })]) {
      await expect(spend()).rejects.toMatchObject({ code: 'ceiling_exceeded', status: 403 });
    }
  });

  it('take destinations from DISBURSE_SEND_DESTINATIONS, and without it only the own wallet [send.own-wallet, send.label-only, command.send-own-wallet, variable.destinations]', async () => {
    const pinned = start({ ...tokens, DISBURSE_SEND_DESTINATIONS: `bank=${address}` });
    expect(await pinned.send({ amount: '1', to: 'bank' })).toMatchObject({ status: 'dry-run' });
    for (const { send } of [pinned, start()]) {
      expect(await send({ amount: '1' })).toMatchObject({ status: 'dry-run' });
      await expect(send({ amount: '1', to: address })).rejects.toMatchObject({
        code: 'unpinned_destination',
      });
      await expect(send({ amount: '1', to: 'vault' })).rejects.toMatchObject({
        code: 'unpinned_destination',
      });
    }
  });

  it('do not start if the viewing key does not give DISBURSE_HOLDER_ENCRYPTION_PUBKEY [variable.encryption-pubkey]', async () => {
    const right = start(tokens, { encryptionPublicKey: anna.encryptionPublicKey });
    expect(await right.transfer('1')).toMatchObject({ status: 'dry-run' });
    const wrong = start(tokens, { encryptionPublicKey: bob.encryptionPublicKey });
    await expect(wrong.transfer('1')).rejects.toMatchObject({
      code: 'holder_unavailable',
      message: expect.stringContaining('DISBURSE_HOLDER_ENCRYPTION_PUBKEY'),
    });
  });

  it('warn at start of a registry whose grace period is too short for a transfer', async () => {
    const { warnings, transfer } = start();
    await transfer('1');
    expect(warnings).toMatchObject([
      { chain: 'anvil', graceSeconds: 60 },
      { chain: 'base', graceSeconds: 60 },
    ]);
    const { DISBURSE_TRANSFER_TOKEN: _, ...sendOnly } = tokens;
    const sender = start(sendOnly);
    await sender.send({ amount: '1' });
    expect(sender.warnings).toEqual([]);
  });

  it('tell how far a spend is while it runs', async () => {
    const { spends, transfer } = start();
    const running = transfer('1');
    expect(spends.progress('transfer', 'k')).toMatchObject({ isRunning: true, stage: 'checking' });
    expect(spends.progress('send', 'k')).toEqual({ isRunning: false });
    await running;
    expect(spends.progress('transfer', 'k')).toEqual({ isRunning: false });
  });
});
