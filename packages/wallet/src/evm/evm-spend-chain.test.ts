// Spends against the real contracts on a real chain. Only the proofs are not real: the verifiers' code is replaced by one that accepts
// every proof, so these tests cover notes, roots, the masked signature, the call and what the agent reads back.
import { setTimeout as sleep } from 'node:timers/promises';
import { connectEligibilityRegistry, connectErc20, connectShieldedPool } from '@pool/contracts';
import {
  assertField,
  bigintToHex32,
  computeAssetId,
  type EvmAddress,
  type EvmChainSettings,
  type Field,
  fieldToHex,
  type Hex32,
  PoolError,
  parseHex32,
  zeroWord,
} from '@pool/core';
import {
  computeBatchRoot,
  computeCommitment,
  computeNotePath,
  computeNullifier,
  createLeanImt,
  decodeEncryptionPublicKey,
} from '@pool/notes';
import { type Anvil, startAnvil } from '@pool/testkit';
import { JsonRpcProvider, NonceManager, ZeroAddress } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { burnNonce } from '../fixtures/burn-nonce.ts';
import { createSpendWorld, vault } from '../fixtures/spend-world.ts';
import { deployTestChain, testAccounts, testWallet } from '../fixtures/test-chain.ts';
import { createSpender } from '../spend/perform-spend.ts';
import type { SpendDeps } from '../spend/spend-deps.ts';
import type {
  HolderNote,
  NullifierState,
  SpendRow,
  SpendSubmission,
} from '../spend/spend-ports.ts';
import { createEvmSpendChain, type EvmSpendChain } from './evm-spend-chain.ts';

const world = createSpendWorld();
let anvil: Anvil;
let provider: JsonRpcProvider;
let settings: EvmChainSettings;
let token: EvmAddress;
let chain: EvmSpendChain;
let relayer: NonceManager;
let commitments: readonly Field[];
let notes: readonly HolderNote[];
/** The nullifiers of each post, after its transaction was mined and before it was final. */
const unfinal: NullifierState[] = [];

beforeAll(async () => {
  anvil = await startAnvil();
  provider = new JsonRpcProvider(anvil.rpcUrl, anvil.chainId, {
    staticNetwork: true,
    cacheTimeout: -1,
    pollingInterval: 50,
  });
  settings = await deployTestChain(provider, anvil);
  token = settings.tokens['USDC']?.address ?? settings.pool;
  chain = createEvmSpendChain(settings);
  const funder = testWallet(provider, testAccounts.relayer);
  const registry = connectEligibilityRegistry(
    settings.registry,
    testWallet(provider, testAccounts.gate),
  );
  await (await registry.publish(fieldToHex(world.tree.root))).wait();
  notes = [600n, 300n, 200n].map(mintNote);
  commitments = [
    ...notes.map(({ commitment }) => commitment),
    ...Array.from({ length: 13 }, (_, slot) => assertField(BigInt(slot + 1))),
  ];
  await burnNonce({
    settings,
    funder,
    minter: testWallet(provider, testAccounts.deployer),
    batchNonce: bigintToHex32(5n),
    eligibilityRoot: fieldToHex(world.tree.root),
    total: 1_100n,
    commitments,
  });
  await mine(3);
  relayer = new NonceManager(testWallet(provider, testAccounts.relayer));
});

afterAll(async () => {
  chain.close();
  provider.destroy();
  await anvil.stop();
});

async function mine(blocks: number): Promise<void> {
  await provider.send('anvil_mine', [`0x${blocks.toString(16)}`]);
}

function mintNote(amount: bigint, index: number): HolderNote {
  const { viewingKey, walletId, encryptionPublicKey } = world.holder;
  const assetId = computeAssetId(settings.chainId, settings.pool, token);
  const nonce = assertField(70_000n + BigInt(index));
  const encryptionPoint = decodeEncryptionPublicKey(encryptionPublicKey);
  return {
    commitment: computeCommitment({ assetId, amount, nonce, walletId, encryptionPoint }),
    amount,
    nonce,
    nullifier: computeNullifier({ assetId, nonce, viewingKey, walletId }),
    encryptionPublicKey,
  };
}

/** Sends the call, without asking whether it will succeed. */
async function send({ spend, proof, sealedNotes }: SpendSubmission): Promise<Hex32> {
  const { recipient = ZeroAddress, withdrawAmount, deadline, digest, ...rest } = spend;
  const pool = connectShieldedPool(settings.pool, relayer);
  const operation = {
    ...rest,
    recipient,
    withdrawAmount: BigInt(withdrawAmount),
    deadline: BigInt(deadline),
    D: digest,
  };
  const sealed = `0x${sealedNotes.map((note) => note.sealed.slice(2)).join('')}`;
  const sent = await pool.spend(operation, proof, sealed, { gasLimit: 5_000_000 });
  await sent.wait().catch(() => undefined);
  return parseHex32(sent.hash);
}

/** The agent's deps on the real chain. */
function bootReal(posts: SpendSubmission[]): SpendDeps {
  const context = { key: 'anvil', settings, chain };
  const rows = new Map<string, SpendRow>();
  const lean = createLeanImt([computeBatchRoot(commitments)]);
  const platform = {
    async postSpend(key: string, submission: SpendSubmission): Promise<SpendRow> {
      posts.push(submission);
      const txHash = await send(submission);
      unfinal.push(await chain.fetchNullifierState(submission.spend.nullifiers));
      await mine(3);
      const row = { state: 'submitted' as const, outRoot: submission.spend.outRoot, txHash };
      rows.set(key, row);
      return row;
    },
    getSpend: async (key: string) => rows.get(key),
  };
  return world.boot({
    route: () => context,
    findChain: () => context,
    clock: {
      nowMs: () => Date.now(),
      steadyMs: () => performance.now(),
      sleep: async (milliseconds, signal) => {
        await sleep(milliseconds, undefined, { signal });
      },
    },
    pollMs: 50,
    platform: { transfer: platform, send: platform },
    notes: {
      listSpendable: async () => {
        const { outRoots } = await chain.fetchNullifierState(
          notes.map(({ nullifier }) => fieldToHex(nullifier)),
        );
        return notes.filter((_, index) => outRoots[index] === undefined);
      },
      computePaths: async (chosen) => ({
        noteRoot: lean.root,
        paths: chosen.map(({ commitment }) =>
          computeNotePath(commitments, commitments.indexOf(commitment), lean.path(0)),
        ),
      }),
      compareUses: async () => undefined,
    },
  }).deps;
}

describe('a spend on a real chain', () => {
  it('transfers, and is read back by nullifier, outRoot and transaction [transfer.route]', async () => {
    const posts: SpendSubmission[] = [];
    const [payee] = world.payees;
    const receipt = await createSpender(bootReal(posts)).spend({
      operation: 'transfer',
      key: 'transfer',
      body: { token: 'USDC', recipients: [{ walletPub: payee.walletPub, amount: '250' }] },
    });
    expect(receipt).toMatchObject({ status: 'success', changeAmount: '50' });
    const [sent] = posts;
    const state = await chain.fetchNullifierState(receipt.nullifiers);
    expect(state.outRoots).toEqual([sent?.spend.outRoot]);
    const txHash = receipt.txHash ?? zeroWord;
    const outRoot = sent?.spend.outRoot ?? zeroWord;
    const { blockNumber } = await chain.fetchSpentTransaction(outRoot);
    expect(await chain.fetchSpentTransaction(outRoot, blockNumber)).toEqual({
      txHash,
      blockNumber,
    });
    await expect(chain.fetchSpentTransaction(outRoot, blockNumber + 1)).rejects.toMatchObject({
      code: 'chain_unreachable',
    });
    expect(await chain.fetchFinalBlockNumber()).toBeGreaterThanOrEqual(blockNumber);
    expect(await chain.fetchCarriedOutRoot(txHash)).toBe(sent?.spend.outRoot);
    expect(await chain.fetchReceipt(txHash)).toMatchObject({ reverted: false, final: true });
    expect(await chain.fetchFinalEligibilityRoot()).toBe(fieldToHex(world.tree.root));
  });

  it('withdraws to a pinned destination [send.route]', async () => {
    const receipt = await createSpender(bootReal([])).spend({
      operation: 'send',
      key: 'send',
      body: { token: 'USDC', amount: '150', to: 'vault' },
    });
    expect(receipt).toMatchObject({ operation: 'send', status: 'success', changeAmount: '50' });
    expect(await connectErc20(token, provider).balanceOf(vault)).toBe(150n);
  });

  it('that is sent twice reverts the second time, for a reason that can be read', async () => {
    const posts: SpendSubmission[] = [];
    await createSpender(bootReal(posts)).spend({
      operation: 'send',
      key: 'twice',
      body: { token: 'USDC', amount: '100' },
    });
    const [sent] = posts;
    if (sent === undefined) {
      throw new PoolError('internal_error', 'nothing was sent');
    }
    const txHash = await send(sent);
    await mine(3);
    expect(await chain.fetchReceipt(txHash)).toMatchObject({ reverted: true, final: true });
    expect(await chain.fetchCarriedOutRoot(txHash)).toBe(sent.spend.outRoot);
    expect(await chain.fetchRevertReason(txHash)).toMatchObject({
      code: expect.stringMatching(/nullifier/),
    });
  });
});

describe('reads', () => {
  it('show an unused nullifier as unused, and a use that is not final as pending', async () => {
    const state = await chain.fetchNullifierState([bigintToHex32(123n)]);
    expect(state).toMatchObject({ outRoots: [undefined], pending: false });
    expect(unfinal).toHaveLength(3);
    for (const { outRoots, pending } of unfinal) {
      expect({ outRoots, pending }).toEqual({ outRoots: [undefined, undefined], pending: true });
    }
  });

  it('show how long the registry accepts a replaced root', async () => {
    expect(await chain.fetchGraceSeconds()).toBe(3_600);
  });

  it('find no spend in another transaction, and none that never happened', async () => {
    const other = await testWallet(provider, testAccounts.funder).sendTransaction({
      to: settings.pool,
      data: '0x12345678',
      gasLimit: 100_000,
    });
    await other.wait().catch(() => undefined);
    expect(await chain.fetchCarriedOutRoot(parseHex32(other.hash))).toBeUndefined();
    expect(await chain.fetchReceipt(bigintToHex32(99n))).toBeUndefined();
    await expect(chain.fetchSpentTransaction(bigintToHex32(99n))).rejects.toMatchObject({
      code: 'chain_unreachable',
      retryable: true,
    });
  });
});
