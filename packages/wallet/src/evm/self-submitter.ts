/**
 * Submits spends to the pool directly, with a key of the holder's own that pays the gas. `spend()` needs no role and cannot be paused
 * (protocol §8), so this takes nobody's leave. It has the interface of the platform's spend routes, so a spend takes the same steps with
 * either of them.
 *
 * One transaction carries a spend. While it can be mined, it is sent again, or replaced at its own nonce with higher fees. Another nonce is
 * used only when a final block shows that the first one is lost. Several transactions could never pay twice: the nullifiers of a spend
 * are used once.
 *
 * @module
 */
import { encodeSpend, simulateCall, unknownRevertReason } from '@pool/contracts';
import {
  type ErrorBody,
  type EvmAddress,
  errorCodeOf,
  type Hex32,
  PoolError,
  parseEvmAddress,
  parseHex,
  parseHex32,
  type Secret,
} from '@pool/core';
import {
  broadcastTransaction,
  createTransactionSigner,
  decideFees,
  estimateGasLimit,
  fetchNonceOutcome,
  type NonceOutcome,
  type SignedTransaction,
  sendAgain,
  type TransactionSigner,
} from '@pool/evm-sender';
import { computeAddress, concat, ZeroAddress } from 'ethers';
import { createKeyLock } from '../key-lock.ts';
import type { SpendPlatformPort, SpendRow, SpendSubmission } from '../spend/spend-ports.ts';
import type { GasChain } from './gas-chain.ts';
import type { SentTransaction, SentTransactions } from './sent-transactions.ts';

/** What a withdrawal would cost now, in wei. Public. */
export type GasQuote = {
  readonly from: EvmAddress;
  readonly balanceWei: bigint;
  /** The expected cost of a withdrawal from at most two notes. Undefined: the chain asks for more than the cap allows. */
  readonly expectedWei: bigint | undefined;
  /** No transaction is sent that could cost more. */
  readonly capWei: bigint;
};

export type SelfSubmitterOptions = {
  readonly chain: GasChain;
  /** Pays the gas. Its address becomes public beside the withdrawal. */
  readonly gasKey: Secret;
  /** Wei for all gas of one transaction. */
  readonly capWei: bigint;
  readonly store: SentTransactions;
  readonly nowMs: () => number;
  /** Milliseconds that nobody sets. */
  readonly steadyMs: () => number;
  /** How long the first transaction of a nonce waits to be mined before it is replaced. */
  readonly replaceAfterMs?: number;
  /** After each transaction that a node has. */
  readonly onSent?: (sent: SentTransaction & { readonly maxCostWei: bigint }) => void;
};

export type SelfSubmitter = SpendPlatformPort & {
  readonly address: EvmAddress;
  /** @throws PoolError `chain_unreachable` (retryable) */
  quote(): Promise<GasQuote>;
};

/** Measured gas of a withdrawal of two notes (packages/contracts/gas.snapshot), rounded up. The quote only. */
const expectedGas = 500_000n;

/** The most that a call may need here: the larger circuit in a full note tree, with a costly token. */
const gasCeiling = 3_000_000n;

const defaultReplaceAfterMs = 45_000;

/** Pause before bytes that a node has are sent again: it may have dropped them. */
const rebroadcastMs = 15_000;

const keyForm = /^spend-(0x[0-9a-f]{64})$/;

export function createSelfSubmitter(options: SelfSubmitterOptions): SelfSubmitter {
  const { chain, capWei, store, nowMs, steadyMs } = options;
  const { replaceAfterMs = defaultReplaceAfterMs, onSent = () => undefined } = options;
  const address = parseEvmAddress(computeAddress(options.gasKey.reveal()));
  /** When this process last sent the bytes, by hash, in the time of `steadyMs`. */
  const sentAtMs = new Map<string, number>();
  /** Spends that are posted at once get nonces one after the other: the node counts a transaction when it has it. */
  const locks = createKeyLock();
  const never = new AbortController().signal;

  async function postSpend(_key: string, submission: SpendSubmission): Promise<SpendRow> {
    const { outRoot } = submission.spend;
    const known = await readRow(outRoot);
    if (known !== undefined && known.state !== 'reverted') {
      return known;
    }
    const data = encodeSubmission(submission);
    const refusal = await simulate(data);
    if (refusal !== undefined) {
      return { state: 'reverted', outRoot, error: refusal };
    }
    const gasLimit = await chain.call((provider) =>
      estimateGasLimit(provider, address, { to: chain.pool, data }, gasCeiling),
    );
    await assertFunded(gasLimit);
    const release = await locks.acquire('nonce', never);
    try {
      const nonce = await chain.call((provider) =>
        provider.getTransactionCount(address, 'pending'),
      );
      const signed = await signing((signer) =>
        signer.sign({ to: chain.pool, data, gasLimit }, nonce),
      );
      await store.add(describeSent(outRoot, signed));
      await broadcast(signed);
      announce(outRoot, signed);
      return { state: 'submitted', outRoot, txHash: parseHex32(signed.txHash) };
    } finally {
      release();
    }
  }

  /** Uses the gas key. @throws PoolError `fee_cap_reached` (retryable) */
  async function signing<T>(work: (signer: TransactionSigner) => Promise<T>): Promise<T> {
    try {
      return await chain.call((provider) =>
        work(
          createTransactionSigner(provider, chain.chainId, options.gasKey, { maxCostWei: capWei }),
        ),
      );
    } catch (error) {
      throw errorCodeOf(error) === 'fee_cap_reached' ? feeCapReached(capWei) : error;
    }
  }

  function describeSent(outRoot: Hex32, signed: SignedTransaction): SentTransaction {
    return {
      ...{ outRoot, chainId: chain.chainId, from: address, nonce: signed.nonce },
      txHash: parseHex32(signed.txHash),
      rawTransaction: parseHex(signed.rawTransaction),
      createdAtMs: nowMs(),
    };
  }

  function announce(outRoot: Hex32, signed: SignedTransaction): void {
    const maxCostWei = signed.gasLimit * signed.maxFeePerGas;
    onSent({ ...describeSent(outRoot, signed), maxCostWei });
  }

  async function broadcast({
    rawTransaction,
    txHash,
  }: Pick<SignedTransaction, 'rawTransaction' | 'txHash'>): Promise<void> {
    if (steadyMs() - (sentAtMs.get(txHash) ?? Number.NEGATIVE_INFINITY) < rebroadcastMs) {
      return;
    }
    const outcome = await chain.call((provider) => broadcastTransaction(provider, rawTransaction));
    if (outcome.kind === 'unfunded') {
      throw unfunded(address, outcome.cause);
    }
    if (outcome.kind === 'refused-for-good') {
      throw new PoolError(
        'transaction_rejected',
        'the node refuses the transaction of the withdrawal; use another RPC of the chain',
        { cause: outcome.cause },
      );
    }
    sentAtMs.set(txHash, steadyMs());
  }

  /** What became of the transactions of a spend. Undefined: none is under way, and a new one may be signed. */
  async function readRow(outRoot: Hex32): Promise<SpendRow | undefined> {
    const all = (await store.list(outRoot)).filter(({ chainId }) => chainId === chain.chainId);
    const [newest] = all;
    if (newest === undefined) {
      return undefined;
    }
    // Only the newest nonce counts: it was used after the ones before it were lost.
    const sent = all.filter(({ nonce, from }) => nonce === newest.nonce && from === newest.from);
    const outcome = await readOutcome(newest, sent);
    switch (outcome.kind) {
      case 'replaced':
        return undefined;
      case 'mined':
        return { state: 'submitted', outRoot, txHash: newest.txHash };
      case 'final': {
        const txHash = parseHex32(outcome.txHash);
        if (outcome.receipt.succeeded) {
          return { state: 'settled', outRoot, txHash };
        }
        const error = await readRevertReason(txHash);
        return { state: 'reverted', outRoot, txHash, error };
      }
      case 'pending':
        return {
          state: 'submitted',
          outRoot,
          txHash: await resend(newest, sent.length),
        };
    }
  }

  async function readOutcome(
    { nonce, from }: SentTransaction,
    sent: readonly SentTransaction[],
  ): Promise<NonceOutcome> {
    const finalBlock = await chain.fetchFinalBlock();
    const txHashes = sent.map(({ txHash }) => txHash);
    return chain.call(() =>
      fetchNonceOutcome(
        {
          fetchNonceAt: (block) =>
            chain.call((provider) => provider.getTransactionCount(from, block)),
          fetchReceipt: chain.fetchReceipt,
        },
        { nonce, txHashes },
        finalBlock,
      ),
    );
  }

  /** Sends the stored bytes, or at their nonce the same call with higher fees. @returns the hash of the newest */
  async function resend(newest: SentTransaction, count: number): Promise<Hex32> {
    if (newest.from !== address) {
      await broadcast(newest);
      return newest.txHash;
    }
    const { nonce, rawTransaction, createdAtMs: signedAtMs, outRoot } = newest;
    let replacement: SignedTransaction | undefined;
    await sendAgain(
      { nonce, rawTransaction, signedAtMs, count },
      {
        ...{ nowMs, replaceAfterMs },
        fetchNonce: () => signing((signer) => signer.fetchNonce()),
        sign: () => signing((signer) => signer.signReplacement(rawTransaction, 'same-call')),
        async store(signed) {
          await store.add(describeSent(outRoot, signed));
          replacement = signed;
          return true;
        },
        broadcast: () => broadcast(replacement ?? newest),
      },
    );
    if (replacement === undefined) {
      return newest.txHash;
    }
    announce(outRoot, replacement);
    return parseHex32(replacement.txHash);
  }

  async function simulate(data: string): Promise<ErrorBody | undefined> {
    const outcome = await chain.call((provider) =>
      simulateCall(provider, { from: address, to: chain.pool, data, gasLimit: gasCeiling }),
    );
    switch (outcome.kind) {
      case 'success':
        return undefined;
      case 'out-of-gas':
        return { code: 'out_of_gas', message: `the call needs more than ${gasCeiling} gas` };
      case 'reverted':
        return outcome.reason;
    }
  }

  // Nodes prune the state of old blocks. The revert counts without its reason too.
  async function readRevertReason(txHash: Hex32): Promise<ErrorBody> {
    return chain.fetchRevertReason(txHash).catch(() => unknownRevertReason);
  }

  /** @throws PoolError `fee_cap_reached` (retryable), `gas_key_unfunded` */
  async function assertFunded(gasLimit: bigint): Promise<void> {
    const { balanceWei, fees } = await signing((signer) => signer.fetchFunds(gasLimit));
    if (fees === undefined) {
      throw feeCapReached(capWei);
    }
    const missingWei = gasLimit * fees.maxFeePerGas - balanceWei;
    if (missingWei > 0n) {
      throw unfunded(address, undefined, missingWei);
    }
  }

  return {
    address,
    postSpend,
    async getSpend(key) {
      const outRoot = keyForm.exec(key)?.[1];
      return outRoot === undefined ? undefined : readRow(parseHex32(outRoot));
    },
    async quote() {
      const [balanceWei, asked] = await Promise.all([
        chain.call((provider) => provider.getBalance(address)),
        chain.fetchFees(),
      ]);
      const isAffordable = decideFees(asked, capWei / expectedGas) !== undefined;
      const expectedWei = isAffordable ? expectedGas * asked.needed : undefined;
      return { from: address, balanceWei, expectedWei, capWei };
    },
  };
}

/** Calldata of `spend`. */
function encodeSubmission({ spend, proof, sealedNotes }: SpendSubmission): string {
  const { digest, withdrawAmount, recipient, deadline, ...rest } = spend;
  return encodeSpend({
    operation: {
      ...rest,
      withdrawAmount: BigInt(withdrawAmount),
      recipient: recipient ?? ZeroAddress,
      deadline: BigInt(deadline),
      D: digest,
    },
    proof,
    sealedNotes: concat(sealedNotes.map(({ sealed }) => sealed)),
  });
}

function feeCapReached(capWei: bigint): PoolError {
  return new PoolError(
    'fee_cap_reached',
    `the chain asks for more than the cap of ${capWei} wei for one withdrawal; wait for lower fees, or raise the cap (DISBURSE_GAS_MAX_COST_COIN of an agent)`,
  );
}

function unfunded(address: EvmAddress, cause: unknown, missingWei?: bigint): PoolError {
  const missing = missingWei === undefined ? 'more coin' : `at least ${missingWei} wei more`;
  return new PoolError(
    'gas_key_unfunded',
    `the account that pays the gas, ${address}, needs ${missing}; send coin of the chain to it, and the withdrawal continues until its deadline`,
    cause === undefined ? {} : { cause },
  );
}
