/**
 * Builds and signs transactions of one platform key (relayer, gate publisher). Signing and sending are
 * apart on purpose: the signed bytes are stored before they leave, so that a crash after the broadcast
 * can only repeat the identical transaction, never a second one.
 *
 * @module
 */
import { PoolError, type Secret } from '@pool/core';
import { type JsonRpcProvider, keccak256, Transaction, Wallet } from 'ethers';
import { capFees, type Fees, raiseFeesWithin } from './replacement.ts';

export type SignedTransaction = {
  readonly nonce: number;
  readonly rawTransaction: string;
  readonly txHash: string;
};

export type Call = { readonly to: string; readonly data: string };

export type ReplacementPurpose = 'same-call' | 'cancel' | Call;

/** What the account has, and what a transaction would offer now. */
export type Purse = {
  /** Wei of the chain's own coin at the head. */
  readonly balanceWei: bigint;
  /** Undefined: the chain asks for more than the cap allows. */
  readonly fees: Fees | undefined;
};

export type TransactionSigner = {
  readonly address: string;
  /**
   * @param nonce - decided by the caller, who serialises them
   * @throws PoolError `fee_cap_reached` (retryable) when the chain asks for more than the cap allows
   */
  sign(call: { to: string; data: string; nonce: number }): Promise<SignedTransaction>;
  /**
   * The same nonce again with higher fees: `same-call` repeats the call, `cancel` pays 0 to this address, which
   * frees the nonce when nothing else is worth sending; another call takes the place of the old one.
   * @param rawTransaction - bytes that this signer signed
   * @throws PoolError `fee_cap_reached` (retryable) when nothing within the cap would be mined in its place
   */
  signReplacement(rawTransaction: string, purpose: ReplacementPurpose): Promise<SignedTransaction>;
  fetchPurse(): Promise<Purse>;
  /** Next nonce by the chain's last block; transactions stored as open come on top. */
  fetchNonce(): Promise<number>;
  /** Hands the bytes to the chain. A node that has them already, or used the nonce, is no error. */
  broadcast(rawTransaction: string): Promise<void>;
};

// The note tree grows while a transaction waits, so the gas it needs can grow too.
const gasMarginPercent = 130n;
const gasMargin = 50_000n;

/** @param maxFeePerGas - wei for each unit of gas that no transaction offers more than; undefined: no cap */
export function createTransactionSigner(
  provider: JsonRpcProvider,
  chainId: number,
  privateKey: Secret,
  maxFeePerGas?: bigint,
): TransactionSigner {
  const wallet = new Wallet(privateKey.reveal());

  /** @returns undefined when a transaction within the cap would not be mined now */
  async function fetchFees(): Promise<Fees | undefined> {
    const [fees, head] = await Promise.all([provider.getFeeData(), provider.getBlock('latest')]);
    const maxPriorityFeePerGas = fees.maxPriorityFeePerGas ?? 1_000_000_000n;
    const asked = {
      maxPriorityFeePerGas,
      maxFeePerGas: fees.maxFeePerGas ?? fees.gasPrice ?? maxPriorityFeePerGas,
    };
    // Twice the base fee is asked for, in case it rises; once is what it takes now.
    const baseFee = head?.baseFeePerGas ?? undefined;
    const needed = baseFee === undefined ? asked.maxFeePerGas : baseFee + maxPriorityFeePerGas;
    return maxFeePerGas !== undefined && needed > maxFeePerGas ? undefined : asked;
  }

  async function estimateGas(to: string, data: string): Promise<bigint> {
    return addMargin(await provider.estimateGas({ from: wallet.address, to, data }));
  }

  // Nodes that estimate on pending transactions would let the call meet the very one that it replaces.
  async function estimateGasAtHead(call: Call): Promise<bigint> {
    const request = [{ from: wallet.address, ...call }, 'latest'];
    return addMargin(BigInt(String(await provider.send('eth_estimateGas', request))));
  }

  async function signAs(
    call: { to: string; data: string; nonce: number },
    gasLimit: bigint,
    fees: Fees,
  ): Promise<SignedTransaction> {
    const transaction = Transaction.from({
      type: 2,
      chainId,
      value: 0n,
      gasLimit,
      ...call,
      ...fees,
    });
    const rawTransaction = await wallet.signTransaction(transaction);
    return { nonce: call.nonce, rawTransaction, txHash: keccak256(rawTransaction) };
  }

  return {
    address: wallet.address,
    async sign(call) {
      const [gasLimit, asked] = await Promise.all([estimateGas(call.to, call.data), fetchFees()]);
      return await signAs(call, gasLimit, capFees(assertWithinCap(asked), maxFeePerGas));
    },
    async signReplacement(rawTransaction, purpose) {
      const old = Transaction.from(rawTransaction);
      const asked = assertWithinCap(await fetchFees());
      const fees = assertWithinCap(
        raiseFeesWithin(
          {
            maxFeePerGas: old.maxFeePerGas ?? 0n,
            maxPriorityFeePerGas: old.maxPriorityFeePerGas ?? 0n,
          },
          asked,
          maxFeePerGas,
        ),
      );
      const { nonce, data, gasLimit } = old;
      const { address } = wallet;
      if (purpose === 'same-call') {
        // The old gas limit stands: an estimate now could refuse a call that is worth trying.
        return await signAs({ to: old.to ?? address, data, nonce }, gasLimit, fees);
      }
      const call = purpose === 'cancel' ? { to: address, data: '0x' } : purpose;
      return await signAs({ ...call, nonce }, await estimateGasAtHead(call), fees);
    },
    async fetchPurse() {
      const [balanceWei, asked] = await Promise.all([
        provider.getBalance(wallet.address),
        fetchFees(),
      ]);
      return { balanceWei, fees: asked === undefined ? undefined : capFees(asked, maxFeePerGas) };
    },
    fetchNonce: () => provider.getTransactionCount(wallet.address, 'latest'),
    async broadcast(rawTransaction) {
      try {
        await provider.send('eth_sendRawTransaction', [rawTransaction]);
      } catch (error) {
        if (!isAlreadyThere(error)) {
          throw error;
        }
      }
    },
  };
}

function addMargin(estimate: bigint): bigint {
  return (estimate * gasMarginPercent) / 100n + gasMargin;
}

function assertWithinCap(fees: Fees | undefined): Fees {
  if (fees === undefined) {
    throw new PoolError('fee_cap_reached', 'the chain asks for higher fees than the cap allows', {
      retryable: true,
      status: 503,
    });
  }
  return fees;
}

function isAlreadyThere(error: unknown): boolean {
  const text = error instanceof Error ? error.message : '';
  return /already known|already imported|nonce too low|nonce has already been used/i.test(text);
}
