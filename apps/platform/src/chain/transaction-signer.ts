/**
 * Builds and signs transactions of one platform key (relayer, gate publisher). Signing and sending are
 * apart on purpose: the signed bytes are stored before they leave, so that a crash after the broadcast
 * can only repeat the identical transaction, never a second one.
 *
 * @module
 */
import type { Secret } from '@pool/core';
import { type JsonRpcProvider, keccak256, Transaction, Wallet } from 'ethers';
import { type Fees, raiseFees } from './replacement.ts';

export type SignedTransaction = {
  readonly nonce: number;
  readonly rawTransaction: string;
  readonly txHash: string;
};

export type ReplacementPurpose = 'same-call' | 'cancel';

export type TransactionSigner = {
  readonly address: string;
  /** @param nonce - decided by the caller, who serialises them */
  sign(call: { to: string; data: string; nonce: number }): Promise<SignedTransaction>;
  /**
   * The same nonce again with higher fees: `same-call` repeats the call, `cancel` pays 0 to this address, which
   * frees the nonce when nothing else is worth sending.
   * @param rawTransaction - bytes that this signer signed
   */
  signReplacement(rawTransaction: string, purpose: ReplacementPurpose): Promise<SignedTransaction>;
  /** Next nonce by the chain's last block; transactions stored as open come on top. */
  fetchNonce(): Promise<number>;
  /** Hands the bytes to the chain. A node that has them already, or used the nonce, is no error. */
  broadcast(rawTransaction: string): Promise<void>;
};

// The note tree grows while a transaction waits, so the gas it needs can grow too.
const gasMarginPercent = 130n;
const gasMargin = 50_000n;

export function createTransactionSigner(
  provider: JsonRpcProvider,
  chainId: number,
  privateKey: Secret,
): TransactionSigner {
  const wallet = new Wallet(privateKey.reveal());

  async function fetchFees(): Promise<Fees> {
    const fees = await provider.getFeeData();
    const maxPriorityFeePerGas = fees.maxPriorityFeePerGas ?? 1_000_000_000n;
    return {
      maxPriorityFeePerGas,
      maxFeePerGas: fees.maxFeePerGas ?? fees.gasPrice ?? maxPriorityFeePerGas,
    };
  }

  async function estimateGas(to: string, data: string): Promise<bigint> {
    const estimate = await provider.estimateGas({ from: wallet.address, to, data });
    return (estimate * gasMarginPercent) / 100n + gasMargin;
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
      const [gasLimit, fees] = await Promise.all([estimateGas(call.to, call.data), fetchFees()]);
      return await signAs(call, gasLimit, fees);
    },
    async signReplacement(rawTransaction, purpose) {
      const old = Transaction.from(rawTransaction);
      const fees = raiseFees(
        {
          maxFeePerGas: old.maxFeePerGas ?? 0n,
          maxPriorityFeePerGas: old.maxPriorityFeePerGas ?? 0n,
        },
        await fetchFees(),
      );
      const { nonce, data, gasLimit } = old;
      const { address } = wallet;
      // The old gas limit stands: an estimate now could refuse a call that is worth trying.
      return purpose === 'same-call'
        ? await signAs({ to: old.to ?? address, data, nonce }, gasLimit, fees)
        : await signAs({ to: address, data: '0x', nonce }, await estimateGas(address, '0x'), fees);
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

function isAlreadyThere(error: unknown): boolean {
  const text = error instanceof Error ? error.message : '';
  return /already known|already imported|nonce too low|nonce has already been used/i.test(text);
}
