/**
 * A fake EVM chain with one pool, one registry and one token. It applies the rules that matter to callers: a funder
 * uses a batchNonce once, an allowance is spent, a deadline passes, blocks become final later. It checks no signature
 * and no proof.
 *
 * @module
 */
import type { FundBatchWire, PermitWire } from '@pool/api';
import {
  bytesToHex,
  computeBatchId,
  type ErrorBody,
  type EvmAddress,
  fieldToHex,
  type Hex,
  type Hex32,
  parseEvmAddress,
  parseField,
  parseHex32,
} from '@pool/core';
import { keccak256, Transaction, toUtf8Bytes } from 'ethers';
import type { FakeClock } from './fake-clock.ts';

type Used = {
  readonly batchId: Hex32;
  readonly batchRoot: Hex32;
  readonly sealedNotesHash: Hex32;
  readonly commitments: readonly Hex32[];
  readonly txHash: Hex32;
  readonly blockNumber: number;
};

type Mined = {
  readonly reverted: boolean;
  readonly blockNumber: number;
  readonly error?: ErrorBody;
  /** Base units that `funder` paid into the pool. */
  readonly transferred: bigint;
  readonly funder?: EvmAddress;
  /** The batch of a `fund()` call. */
  readonly carried?: { readonly batchNonce: Hex32; readonly batchRoot: Hex32 };
};

export type FakePoolChain = ReturnType<typeof createFakePoolChain>;

export type FakeChainOptions = {
  readonly clock: FakeClock;
  readonly pool: EvmAddress;
  readonly token: EvmAddress;
  readonly funder: EvmAddress;
  /** Blocks under the head that are not final yet. One block a second. Default 0. */
  readonly finalityBlocks?: number;
};

export function createFakePoolChain(options: FakeChainOptions) {
  const { clock, pool, token, funder } = options;
  const startMs = clock.nowMs();
  const used = new Map<string, Used>();
  /** By nonce: the block in which it was withdrawn. */
  const voided = new Map<string, number>();
  const roots = new Set<string>();
  const mined = new Map<string, Mined>();
  let transactions = 0;
  let outages = 0;

  const chain = {
    allowance: 0n,
    balance: 10n ** 30n,
    /** Wei of the funder. */
    coin: 10n ** 18n,
    permitNonce: 0n,
    funderNonce: 0,
    /** Wei for each gas. An approval that pays less is not mined. */
    baseFee: 1_000_000n,
    /** Successful `fund()` calls with our funder's money. */
    funds: 0,
    approvals: [] as bigint[],
    /** This many next reads fail as if the RPC were down. */
    failReads(count: number): void {
      outages = count;
    },
    acceptRoot: (root: string): void => void roots.add(root),
    refuseRoot: (root: string): void => void roots.delete(root),
    /** Like the contract, it refuses to withdraw what has landed. */
    voidBatch(funderAddress: EvmAddress, batchNonce: string): void {
      const batchId = batchIdOf(funderAddress, batchNonce);
      if (!used.has(batchId) && !voided.has(batchId)) {
        voided.set(batchId, headNumber());
      }
    },

    /** Undefined: it would succeed now. */
    simulateFund(batch: FundBatchWire, permit: PermitWire | undefined): ErrorBody | undefined {
      const batchId = batchIdOf(parseEvmAddress(batch.funder), batch.batchNonce);
      const isOurs = batch.funder === funder;
      const allowance = isGoodPermit(permit) ? BigInt(permit.value) : chain.allowance;
      const total = BigInt(batch.total);
      const defects: [boolean, string][] = [
        [used.has(batchId), 'batch-nonce-used'],
        [voided.has(batchId), 'batch-is-voided'],
        [headSeconds() > batch.deadline, 'authorization-expired'],
        [!roots.has(batch.eligibilityRoot), 'eligibility-root-not-accepted'],
        [isOurs && allowance < total, 'erc20-insufficient-allowance'],
        [isOurs && chain.balance < total, 'erc20-insufficient-balance'],
      ];
      const code = defects.find(([isDefect]) => isDefect)?.[1];
      return code === undefined ? undefined : { code, message: `the call reverts: ${code}` };
    },
    /** Mines a `fund()`, for any result of its simulation. */
    mineFund(batch: FundBatchWire, permit: PermitWire | undefined) {
      const error = chain.simulateFund(batch, permit);
      const txHash = nextHash();
      const blockNumber = headNumber();
      mined.set(txHash, {
        reverted: error !== undefined,
        blockNumber,
        carried: { batchNonce: batch.batchNonce, batchRoot: batch.batchRoot },
        transferred: error === undefined ? BigInt(batch.total) : 0n,
        funder: parseEvmAddress(batch.funder),
        ...(error === undefined ? {} : { error }),
      });
      if (error === undefined) {
        if (batch.funder === funder) {
          collect(BigInt(batch.total), permit);
        }
        const batchId = batchIdOf(parseEvmAddress(batch.funder), batch.batchNonce);
        used.set(batchId, {
          batchId,
          batchRoot: batch.batchRoot,
          sealedNotesHash: batch.sealedNotesHash,
          commitments: batch.commitments,
          txHash,
          blockNumber,
        });
      }
      return { txHash, blockNumber, error };
    },

    /** The chain drops the block of a batch of our funder, and what the batch took is there again. */
    dropFund(batch: FundBatchWire): void {
      used.delete(batchIdOf(funder, batch.batchNonce));
      chain.allowance += BigInt(batch.total);
      chain.balance += BigInt(batch.total);
      chain.funds -= 1;
    },

    /** An approval of the funder that its custodian sends. */
    mineApproval(value: bigint, txHash: Hex32): void {
      chain.funderNonce += 1;
      chain.allowance = value;
      chain.approvals.push(value);
      mined.set(txHash, { reverted: false, blockNumber: headNumber(), transferred: 0n });
    },

    // What the pipeline reads.
    fetchNonceState: (funderAddress: EvmAddress, batchNonce: Hex32) =>
      read(() => {
        const batchId = batchIdOf(funderAddress, batchNonce);
        const number = finalNumber();
        const use = used.get(batchId);
        const isFinal = use !== undefined && use.blockNumber <= number;
        return {
          finalBlock: { number, timestampSeconds: secondsOf(number) },
          funded: isFinal ? use : undefined,
          voided: (voided.get(batchId) ?? Number.POSITIVE_INFINITY) <= number,
          pending: use !== undefined && !isFinal,
        };
      }),
    requirePool: () => Promise.resolve(),
    headSeconds,
    fetchHeadTimestamp: () => read(headSeconds),
    isEligibilityRootAccepted: (root: Hex32) => read(() => roots.has(root)),
    fetchAllowance: (_token: EvmAddress, _funder: EvmAddress) => read(() => chain.allowance),
    fetchTokenBalance: (_token: EvmAddress, _account: EvmAddress) => read(() => chain.balance),
    fetchCoinBalance: (_account: EvmAddress) => read(() => chain.coin),
    fetchPermitNonce: (_token: EvmAddress, _funder: EvmAddress) => read(() => chain.permitNonce),
    fetchReceipt: (txHash: Hex32) =>
      read(() => {
        const receipt = mined.get(txHash);
        return receipt === undefined
          ? undefined
          : {
              reverted: receipt.reverted,
              final: receipt.blockNumber <= finalNumber(),
              blockNumber: receipt.blockNumber,
              gasUsed: 500_000n,
            };
      }),
    fetchCarriedBatch: (txHash: Hex32) => read(() => mined.get(txHash)?.carried),
    fetchRevertReason: (txHash: Hex32) =>
      read(() => mined.get(txHash)?.error ?? { code: 'reverted', message: 'reverted' }),
    fetchTransferred: (txHash: Hex32, _token: EvmAddress, funderAddress: EvmAddress) =>
      read(() => {
        const { transferred = 0n, funder: payer } = mined.get(txHash) ?? {};
        const amount = payer === funderAddress ? transferred : 0n;
        return { amount, anyToken: amount > 0n };
      }),
    prepareApproval: (_token: EvmAddress, _funder: EvmAddress, value: bigint) =>
      read(() => ({
        chainId: 31337,
        nonce: chain.funderNonce,
        token,
        spender: pool,
        value,
        gasLimit: 60_000n,
        ...feesNow(),
      })),
    fetchFees: () => read(() => ({ baseFeePerGas: chain.baseFee, ...feesNow() })),
    fetchMinedNonce: (_account: EvmAddress) => read(() => chain.funderNonce),
    broadcast: (rawTransaction: Hex) =>
      read(() => {
        const transaction = Transaction.from(rawTransaction);
        const isPaying = (transaction.maxFeePerGas ?? 0n) >= chain.baseFee;
        if (transaction.from !== funder || transaction.nonce !== chain.funderNonce || !isPaying) {
          return;
        }
        const value = BigInt(`0x${transaction.data.slice(-64)}`);
        chain.mineApproval(value, parseHex32(keccak256(rawTransaction)));
      }),
  };

  function feesNow() {
    return { maxFeePerGas: 2n * chain.baseFee + 1n, maxPriorityFeePerGas: 1n };
  }

  function batchIdOf(funderAddress: EvmAddress, batchNonce: string): Hex32 {
    return fieldToHex(computeBatchId(funderAddress, parseField(batchNonce)));
  }

  /** Our funder pays. */
  function collect(total: bigint, permit: PermitWire | undefined): void {
    if (isGoodPermit(permit)) {
      chain.allowance = BigInt(permit.value);
      chain.permitNonce += 1n;
    }
    chain.allowance -= total;
    chain.balance -= total;
    chain.funds += 1;
  }

  function isGoodPermit(permit: PermitWire | undefined): permit is PermitWire {
    return permit !== undefined && permit.deadline >= headSeconds();
  }

  function headNumber(): number {
    return 100 + Math.floor((clock.nowMs() - startMs) / 1000);
  }

  function finalNumber(): number {
    return headNumber() - (options.finalityBlocks ?? 0);
  }

  /** Block n was mined n - 100 seconds after the start. */
  function secondsOf(blockNumber: number): number {
    return Math.floor(startMs / 1000) + blockNumber - 100;
  }

  function headSeconds(): number {
    return secondsOf(headNumber());
  }

  function nextHash(): Hex32 {
    transactions += 1;
    return parseHex32(keccak256(bytesToHex(toUtf8Bytes(`transaction ${transactions}`))));
  }

  async function read<T>(work: () => T): Promise<T> {
    if (outages > 0) {
      outages -= 1;
      throw Object.assign(new Error('the RPC is down'), {
        code: 'chain_unreachable',
        retryable: true,
        status: 503,
      });
    }
    return work();
  }

  return chain;
}
