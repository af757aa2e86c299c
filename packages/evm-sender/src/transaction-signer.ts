/**
 * Builds and signs transactions of one key (relayer, gate publisher, a holder's gas key). Signing and sending are separate: the
 * signed bytes are stored before they are sent, so a crash after the broadcast can only repeat the same transaction,
 * never send a second one.
 *
 * @module
 */

import { errorCodeOf, PoolError, type Secret } from '@pool/core';
import { BaseWallet, type JsonRpcProvider, keccak256, SigningKey, Transaction } from 'ethers';
import { type CallWithGas, cancelGasCeiling, estimateGasLimit } from './gas-estimate.ts';
import { broadcastTransaction } from './node-answer.ts';
import {
  decideFees,
  type Fees,
  fetchFees,
  isReplacementDue,
  raiseFeesWithin,
} from './replacement.ts';

// The next step for a nonce whose transactions are not mined. Whoever sends keeps the same order: store signed bytes, then send them.

/** The newest stored transaction of a nonce. */
export type StoredTransaction = {
  readonly nonce: number;
  readonly rawTransaction: string;
  readonly signedAtMs: number;
  /** How many transactions of this nonce are stored, at least 1. */
  readonly count: number;
};

export type SendAgainDeps = {
  readonly nowMs: () => number;
  /** How long the first transaction of a nonce waits to be mined before it is replaced. */
  readonly replaceAfterMs: number;
  /** Next nonce of its account by the chain's newest block. */
  readonly fetchNonce: () => Promise<number>;
  /** Sends stored bytes. */
  readonly broadcast: (rawTransaction: string) => Promise<void>;
  /** Signs another transaction for the nonce, with higher fees. @throws PoolError `fee_cap_reached` */
  readonly sign: () => Promise<SignedTransaction>;
  /** Stores what was signed. False: it must not be sent. */
  readonly store: (signed: SignedTransaction) => Promise<boolean>;
};

/** Sends the newest bytes again, or, after a long wait, a replacement that is stored first. */
export async function sendAgain(newest: StoredTransaction, deps: SendAgainDeps): Promise<void> {
  const { count, signedAtMs, nonce } = newest;
  // Not replaced: a transaction that waits behind another nonce, and one that the head has mined.
  const mayReplace =
    isReplacementDue(count, signedAtMs, deps.nowMs(), deps.replaceAfterMs) &&
    (await deps.fetchNonce()) === nonce;
  const signed = mayReplace ? await signWithinCap(deps.sign) : undefined;
  if (signed === undefined) {
    // Where the cap forbids higher fees, the sent bytes may still be mined when the chain asks for less.
    await deps.broadcast(newest.rawTransaction);
  } else if (await deps.store(signed)) {
    await deps.broadcast(signed.rawTransaction);
  }
}

export type SignedTransaction = {
  /** The account whose nonce it takes. */
  readonly sender: string;
  readonly nonce: number;
  readonly rawTransaction: string;
  readonly txHash: string;
  readonly gasLimit: bigint;
  /** Wei that it offers per unit of gas. */
  readonly maxFeePerGas: bigint;
};

export type ReplacementPurpose = 'same-call' | 'cancel' | CallWithGas;

/** Upper bounds on the cost of a transaction. Undefined: no cap. */
export type TransactionCaps = {
  /** Wei per unit of gas. */
  readonly maxFeePerGas?: bigint | undefined;
  /** Wei for all gas of a transaction. */
  readonly maxCostWei?: bigint | undefined;
};

/** What the account of a signer has, and the fees that a transaction would offer now. */
export type SenderFunds = {
  /** Wei of the chain's own coin at the head. */
  readonly balanceWei: bigint;
  /** Undefined: the chain asks for more than the cap allows. */
  readonly fees: Fees | undefined;
};

export type TransactionSigner = ReturnType<typeof createTransactionSigner>;

export function createTransactionSigner(
  provider: JsonRpcProvider,
  chainId: number,
  privateKey: Secret,
  caps: TransactionCaps = {},
) {
  let wallet = openKey(privateKey);

  async function signAs(
    { to, data, gasLimit }: CallWithGas,
    nonce: number,
    fees: Fees,
  ): Promise<SignedTransaction> {
    const transaction = Transaction.from({
      type: 2,
      chainId,
      value: 0n,
      to,
      data,
      gasLimit,
      nonce,
      ...fees,
    });
    const rawTransaction = await wallet.signTransaction(transaction);
    const { maxFeePerGas } = fees;
    const txHash = keccak256(rawTransaction);
    return { sender: wallet.address, nonce, rawTransaction, txHash, gasLimit, maxFeePerGas };
  }

  /**
   * @param nonce - decided by the caller, who serialises them
   * @throws PoolError `fee_cap_reached` (retryable) when the chain asks for more than the cap allows
   */
  async function sign(call: CallWithGas, nonce: number): Promise<SignedTransaction> {
    const cap = capFeePerGas(caps, call.gasLimit);
    return await signAs(call, nonce, assertWithinCap(decideFees(await fetchFees(provider), cap)));
  }

  async function describeCancel(): Promise<CallWithGas> {
    const call = { to: wallet.address, data: '0x' };
    const gasLimit = await estimateGasLimit(provider, wallet.address, call, cancelGasCeiling);
    return { ...call, gasLimit };
  }

  return {
    /** Of the key in use. */
    get address(): string {
      return wallet.address;
    },
    /** Signs with another key from now on. No transaction of the old one may still be mined. */
    useKey(other: Secret): void {
      wallet = openKey(other);
    },
    sign,
    /** Pays 0 to this address, to free a nonce whose transaction no node accepts. @throws PoolError as `sign` */
    signCancel: async (nonce: number) => await sign(await describeCancel(), nonce),
    /**
     * The same nonce again with higher fees: `same-call` repeats the call and its gas limit, `cancel` pays 0 to this
     * address, which frees the nonce when nothing else is worth sending; another call replaces the old one.
     * @param rawTransaction - bytes that this signer signed
     * @throws PoolError `fee_cap_reached` (retryable) when no fee within the cap would replace it
     */
    async signReplacement(
      rawTransaction: string,
      purpose: ReplacementPurpose,
    ): Promise<SignedTransaction> {
      const old = Transaction.from(rawTransaction);
      const call = await describeReplacement(old, purpose);
      const cap = capFeePerGas(caps, call.gasLimit);
      const asked = assertWithinCap(decideFees(await fetchFees(provider), cap));
      const fees = assertWithinCap(raiseFeesWithin(readFees(rawTransaction), asked, cap));
      return await signAs(call, old.nonce, fees);
    },
    /** @param gasLimit - of the transaction that the fees are for: the cap on the whole cost depends on it */
    async fetchFunds(gasLimit: bigint): Promise<SenderFunds> {
      const cap = capFeePerGas(caps, gasLimit);
      const [balanceWei, asked] = await Promise.all([
        provider.getBalance(wallet.address),
        fetchFees(provider),
      ]);
      return { balanceWei, fees: decideFees(asked, cap) };
    },
    /** Next nonce by the chain's newest block. Stored transactions that are not mined come after it. */
    fetchNonce: () => provider.getTransactionCount(wallet.address, 'latest'),
    /** Number of an account's transactions up to and with a block. Default: of the key in use. */
    fetchNonceAt: (block: number, account = wallet.address) =>
      provider.getTransactionCount(account, block),
    /**
     * Sends the bytes. Not an error: the node has them already, or the nonce is used.
     * @throws PoolError `transaction_rejected` when the node will never accept them
     */
    async broadcast(rawTransaction: string): Promise<void> {
      const outcome = await broadcastTransaction(provider, rawTransaction);
      if (outcome.kind === 'refused-for-good') {
        throw new PoolError(
          'transaction_rejected',
          'the node of this chain will never accept the transaction',
          { cause: outcome.cause },
        );
      }
      if (outcome.kind === 'unfunded') {
        throw outcome.cause;
      }
    },
  };

  async function describeReplacement(
    old: Transaction,
    purpose: ReplacementPurpose,
  ): Promise<CallWithGas> {
    if (purpose === 'cancel') {
      return await describeCancel();
    }
    // Keeps the old gas limit: an estimate now could refuse a call that is worth trying.
    return purpose === 'same-call'
      ? { to: old.to ?? wallet.address, data: old.data, gasLimit: old.gasLimit }
      : purpose;
  }
}

/** Not a `Wallet`, which brings words and encrypted files into a page. */
function openKey(privateKey: Secret): BaseWallet {
  return new BaseWallet(new SigningKey(privateKey.reveal()));
}

/** What a replacement has to outbid. */
export function readFees(rawTransaction: string): Fees & { readonly gasLimit: bigint } {
  const { gasLimit, maxFeePerGas, maxPriorityFeePerGas } = Transaction.from(rawTransaction);
  return {
    gasLimit,
    maxFeePerGas: maxFeePerGas ?? 0n,
    maxPriorityFeePerGas: maxPriorityFeePerGas ?? 0n,
  };
}

/** What a signer signed. Undefined: the chain asks for higher fees than the cap allows. */
export async function signWithinCap(
  sign: () => Promise<SignedTransaction>,
): Promise<SignedTransaction | undefined> {
  try {
    return await sign();
  } catch (error) {
    if (errorCodeOf(error) === 'fee_cap_reached') {
      return undefined;
    }
    throw error;
  }
}

/** Wei per unit of gas under both caps. */
function capFeePerGas(
  { maxFeePerGas, maxCostWei }: TransactionCaps,
  gasLimit: bigint,
): bigint | undefined {
  const byCost = maxCostWei === undefined ? undefined : maxCostWei / gasLimit;
  return byCost === undefined || (maxFeePerGas !== undefined && maxFeePerGas < byCost)
    ? maxFeePerGas
    : byCost;
}

function assertWithinCap(fees: Fees | undefined): Fees {
  if (fees === undefined) {
    throw new PoolError('fee_cap_reached', 'the chain asks for higher fees than the cap allows');
  }
  return fees;
}
