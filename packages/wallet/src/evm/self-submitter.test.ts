// Submits to a real chain. The pool is a contract that accepts or refuses every call, because nonces, fees and restarts are tested here;
// apps/sandbox/src/self-submit.e2e.test.ts submits to the real pool.

import { type Hex32, parseEvmAddress, parseHex32, Secret } from '@pool/core';
import { askChain } from '@pool/evm-sender';
import { computeEncryptionPublicKey } from '@pool/notes';
import { type Anvil, startAnvil } from '@pool/testkit';
import { HDNodeWallet, JsonRpcProvider, Transaction, Wallet } from 'ethers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SpendSubmission } from '../spend/spend-ports.ts';
import { createEvmGasChain, type GasChain } from './gas-chain.ts';
import { createSelfSubmitter, type SelfSubmitterOptions } from './self-submitter.ts';
import type { SentTransaction, SentTransactions } from './sent-transactions.ts';

const pool = parseEvmAddress('0x5fbdb2315678afecb367f032d93f642f64180aa3');
const accepting = '0x00';
const refusing = '0x60006000fd';
const coin = 10n ** 18n;
function word(value: number): Hex32 {
  return parseHex32(`0x${value.toString(16).padStart(64, '0')}`);
}

let anvil: Anvil;
let provider: JsonRpcProvider;
let chain: GasChain;
let gasKey: Wallet;
let keys = 0;
beforeAll(async () => {
  anvil = await startAnvil();
  provider = new JsonRpcProvider(anvil.rpcUrl, undefined, { cacheTimeout: -1 });
  provider.pollingInterval = 25;
  chain = createEvmGasChain({
    ...{ family: 'evm', chainId: 31337, rpcUrl: anvil.rpcUrl, pool, registry: pool },
    ...{
      deployedAtBlock: 0,
      finality: { kind: 'depth', blocks: 2 },
      maxRecipients: 64,
      tokens: {},
    },
  });
});
afterAll(async () => {
  chain.close();
  provider.destroy();
  await anvil.stop();
});
beforeEach(async () => {
  keys += 1;
  const { privateKey } = HDNodeWallet.fromPhrase(
    'test test test test test test test test test test test junk',
    undefined,
    `m/44'/60'/7'/0/${keys}`,
  );
  gasKey = new Wallet(privateKey, provider);
  await provider.send('anvil_setBalance', [gasKey.address, `0x${coin.toString(16)}`]);
  await provider.send('anvil_setCode', [pool, accepting]);
  await provider.send('evm_setAutomine', [false]);
});

function mine(blocks = 1): Promise<unknown> {
  return provider.send('anvil_mine', [`0x${blocks.toString(16)}`]);
}

function createSubmission(seed: number): SpendSubmission {
  const encryptionPublicKey = computeEncryptionPublicKey(9n);
  const sealed = { encryptionPublicKey, sealed: `0x${'05'.repeat(209)}` } as const;
  return {
    chain: 'anvil',
    spend: {
      token: parseEvmAddress('0xe7f1725e7734ce288f8367e1bb143e90bb3f0512'),
      withdrawAmount: '5',
      recipient: parseEvmAddress('0x70997970c51812dc3a010c7d01b50e0d17dc79c8'),
      deadline: 4_102_444_800,
      nullifiers: [word(1), word(2)],
      commitments: [word(1), word(2), word(3), word(4)],
      outRoot: word(1_000 + seed),
      ...{ noteRoot: word(1), eligibilityRoot: word(0), digest: word(1), maskedX: word(1) },
      ...{ maskedY: word(1), slope: word(1), maskedDigest: word(1), rSig: word(1), s: word(1) },
      parity: 0,
    },
    proof: {
      a: [word(1), word(1)],
      b: [
        [word(1), word(1)],
        [word(1), word(1)],
      ],
      c: [word(1), word(1)],
    },
    sealedNotes: [sealed, sealed, sealed, sealed],
  };
}

/** A chain that takes no transaction, as if the process died before it sent one. */
function withoutSending(): GasChain {
  return watchSending(() => {
    throw new Error('the process died here');
  });
}

/** Calls `before` before each transaction that is sent. */
function watchSending(before: () => void): GasChain {
  const watched = new Proxy(provider, {
    get(target, name) {
      if (name === 'send') {
        return async (method: string, parameters: unknown[]) => {
          if (method === 'eth_sendRawTransaction') {
            before();
          }
          return target.send(method, parameters);
        };
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { ...chain, call: (work) => askChain(() => work(watched)) };
}

function createStore() {
  const rows: SentTransaction[] = [];
  const store: SentTransactions = {
    list: async (outRoot) => rows.filter((row) => row.outRoot === outRoot).reverse(),
    async add(row) {
      rows.push(row);
    },
  };
  return { rows, store };
}

function create(changes: Partial<SelfSubmitterOptions> = {}) {
  const { rows, store } = createStore();
  let nowMs = 1_000_000;
  let steadyMs = 0;
  const boot = (more: Partial<SelfSubmitterOptions> = {}) =>
    createSelfSubmitter({
      chain,
      gasKey: new Secret(gasKey.privateKey),
      capWei: coin / 10n,
      store,
      nowMs: () => nowMs,
      steadyMs: () => steadyMs,
      ...changes,
      ...more,
    });
  return {
    rows,
    boot,
    advance(ms: number) {
      nowMs += ms;
      steadyMs += ms;
    },
    setClockBack(ms: number) {
      nowMs -= ms;
    },
  };
}

const submission = createSubmission(1);
const { outRoot } = submission.spend;
const key = `spend-${outRoot}`;
function nonceOf(): Promise<number> {
  return provider.getTransactionCount(gasKey.address, 'latest');
}

describe('a spend that is submitted with a key of the holder’s own', () => {
  it('and others that are posted at once have nonces one after the other', async () => {
    const { rows, boot } = create();
    const submitter = boot();
    const all = [11, 12, 13].map(createSubmission);
    await Promise.all(all.map((one) => submitter.postSpend(`spend-${one.spend.outRoot}`, one)));
    expect(rows.map(({ nonce }) => nonce).sort()).toEqual([0, 1, 2]);
    await mine();
    expect(await nonceOf()).toBe(3);
  });

  it('is one transaction, however often it is posted, and settled only when it is final', async () => {
    const { rows, boot } = create();
    const submitter = boot();
    expect(await submitter.getSpend(key)).toBeUndefined();
    const row = await submitter.postSpend(key, submission);
    expect(row).toEqual({ state: 'submitted', outRoot, txHash: rows[0]?.txHash });
    expect(await submitter.postSpend(key, submission)).toEqual(row);
    await mine();
    expect(await submitter.getSpend(key)).toMatchObject({ state: 'submitted' });
    await mine(2);
    expect(await submitter.getSpend(key)).toMatchObject({ state: 'settled', outRoot });
    expect(await submitter.postSpend(key, submission)).toMatchObject({ state: 'settled' });
    expect([rows.length, await nonceOf()]).toEqual([1, 1]);
  });

  it('is sent again after a pause that a set clock does not lengthen', async () => {
    let sends = 0;
    const { boot, advance, setClockBack } = create({
      chain: watchSending(() => {
        sends += 1;
      }),
    });
    const submitter = boot();
    await submitter.postSpend(key, submission);
    setClockBack(3_600_000);
    await submitter.getSpend(key);
    expect(sends).toBe(1);
    advance(15_000);
    await submitter.getSpend(key);
    expect(sends).toBe(2);
  });

  it('is the same transaction after the process died before it was sent', async () => {
    const { rows, boot } = create();
    await expect(
      boot({ chain: withoutSending() }).postSpend(key, submission),
    ).rejects.toMatchObject({
      code: 'chain_unreachable',
    });
    const [stored] = rows;
    expect(await provider.getTransaction(stored?.txHash ?? '')).toBeNull();
    expect(await boot().getSpend(key)).toMatchObject({ txHash: stored?.txHash });
    await mine(3);
    expect(await boot().getSpend(key)).toMatchObject({ state: 'settled' });
    expect(rows).toHaveLength(1);
  });

  it('is replaced at its own nonce with higher fees if it is not mined, within the cap', async () => {
    const { rows, boot, advance } = create();
    const submitter = boot();
    await submitter.postSpend(key, submission);
    advance(44_000);
    await submitter.getSpend(key);
    expect(rows).toHaveLength(1);
    advance(2_000);
    const replaced = await submitter.getSpend(key);
    const [first, second] = rows.map(({ rawTransaction }) => Transaction.from(rawTransaction));
    expect(second?.nonce).toBe(first?.nonce);
    expect(second?.data).toBe(first?.data);
    expect((second?.maxFeePerGas ?? 0n) * 8n).toBeGreaterThanOrEqual(
      (first?.maxFeePerGas ?? 0n) * 9n,
    );
    expect(replaced?.txHash).toBe(second?.hash);
    await mine(3);
    expect(await submitter.getSpend(key)).toMatchObject({ state: 'settled', txHash: second?.hash });
    expect(await nonceOf()).toBe(1);
  });

  it('never offers more than the cap, for the first transaction and for each replacement', async () => {
    const { rows, boot, advance } = create();
    const { gasLimit, maxFeePerGas } = await probe();
    // A little above what the first transaction offers: one replacement fits, the next does not.
    const capWei = (gasLimit * (maxFeePerGas ?? 0n) * 120n) / 100n;
    const submitter = boot({ capWei });
    await submitter.postSpend(key, submission);
    for (let pass = 0; pass < 4; pass += 1) {
      advance(2_000_000);
      await submitter.getSpend(key);
    }
    expect(rows).toHaveLength(2);
    for (const { rawTransaction } of rows) {
      const sent = Transaction.from(rawTransaction);
      expect(sent.gasLimit * (sent.maxFeePerGas ?? 0n)).toBeLessThanOrEqual(capWei);
    }
    // One wei less per unit of gas than the chain asks for.
    const { needed } = await chain.fetchFees();
    const poor = create().boot({ capWei: gasLimit * (needed - 1n) });
    await expect(poor.postSpend(key, createSubmission(2))).rejects.toMatchObject({
      code: 'fee_cap_reached',
      message: expect.stringContaining('DISBURSE_GAS_MAX_COST_COIN'),
    });
    await mine();
  });

  /** What a transaction of this spend is like, without sending one. */
  async function probe(): Promise<Transaction> {
    const { rows, boot } = create();
    await boot({ chain: withoutSending() })
      .postSpend(key, submission)
      .catch(() => undefined);
    return Transaction.from(rows[0]?.rawTransaction ?? '0x');
  }

  it('names the account that needs coin, and signs nothing without it', async () => {
    const { rows, boot } = create();
    await provider.send('anvil_setBalance', [gasKey.address, '0x10']);
    await expect(boot().postSpend(key, submission)).rejects.toMatchObject({
      code: 'gas_key_unfunded',
      message: expect.stringContaining(gasKey.address),
    });
    expect(rows).toEqual([]);
  });

  it('is not sent if the pool refuses it', async () => {
    const { rows, boot } = create();
    await provider.send('anvil_setCode', [pool, refusing]);
    expect(await boot().postSpend(key, submission)).toMatchObject({
      state: 'reverted',
      error: { code: expect.any(String) },
    });
    expect(rows).toEqual([]);
  });

  it('takes the next nonce when a final transaction of the same account used its own', async () => {
    const { rows, boot } = create();
    const submitter = boot();
    await submitter.postSpend(key, submission);
    const fees = Transaction.from(rows[0]?.rawTransaction ?? '0x');
    await gasKey.sendTransaction({
      ...{ to: gasKey.address, nonce: 0, gasLimit: 21_000n },
      maxFeePerGas: (fees.maxFeePerGas ?? 0n) * 2n,
      maxPriorityFeePerGas: (fees.maxPriorityFeePerGas ?? 0n) * 2n,
    });
    await mine();
    // Not final: the first transaction could still win in another block.
    expect(await submitter.postSpend(key, submission)).toMatchObject({ txHash: rows[0]?.txHash });
    await mine(3);
    expect(await submitter.getSpend(key)).toBeUndefined();
    await submitter.postSpend(key, submission);
    expect(rows.map(({ nonce }) => nonce)).toEqual([0, 1]);
    await mine(3);
    expect(await submitter.getSpend(key)).toMatchObject({ state: 'settled' });
  });

  it('can be sent again after a revert, and the revert is reported with its transaction', async () => {
    const { rows, boot } = create();
    const submitter = boot();
    await submitter.postSpend(key, submission);
    await provider.send('anvil_setCode', [pool, refusing]);
    await mine(3);
    expect(await submitter.getSpend(key)).toMatchObject({
      state: 'reverted',
      txHash: rows[0]?.txHash,
    });
    await provider.send('anvil_setCode', [pool, accepting]);
    await submitter.postSpend(key, submission);
    await mine(3);
    expect(await submitter.getSpend(key)).toMatchObject({
      state: 'settled',
      txHash: rows[1]?.txHash,
    });
    expect(await nonceOf()).toBe(2);
  });

  it('quotes the cost, the cap and the balance', async () => {
    const quote = await create().boot().quote();
    expect(quote).toMatchObject({ from: gasKey.address, balanceWei: coin, capWei: coin / 10n });
    expect(quote.expectedWei).toBeGreaterThan(0n);
    expect((await create({ capWei: 1n }).boot().quote()).expectedWei).toBeUndefined();
  });
});
