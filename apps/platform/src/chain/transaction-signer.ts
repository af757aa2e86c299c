/**
 * Builds and signs transactions of one platform key (relayer, gate publisher). Signing and sending are
 * apart on purpose: the signed bytes are stored before they leave, so that a crash after the broadcast
 * can only repeat the identical transaction, never a second one.
 *
 * @module
 */
import type { Secret } from '@pool/core';
import { type JsonRpcProvider, keccak256, Transaction, Wallet } from 'ethers';

export type SignedTransaction = {
  readonly nonce: number;
  readonly rawTransaction: string;
  readonly txHash: string;
};

export type TransactionSigner = {
  readonly address: string;
  /** @param nonce - decided by the caller, who serialises them */
  sign(call: { to: string; data: string; nonce: number }): Promise<SignedTransaction>;
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
  return {
    address: wallet.address,
    async sign({ to, data, nonce }) {
      const [estimate, fees] = await Promise.all([
        provider.estimateGas({ from: wallet.address, to, data }),
        provider.getFeeData(),
      ]);
      const maxPriorityFeePerGas = fees.maxPriorityFeePerGas ?? 1_000_000_000n;
      const transaction = Transaction.from({
        type: 2,
        chainId,
        nonce,
        to,
        data,
        value: 0n,
        gasLimit: (estimate * gasMarginPercent) / 100n + gasMargin,
        maxPriorityFeePerGas,
        maxFeePerGas: fees.maxFeePerGas ?? fees.gasPrice ?? maxPriorityFeePerGas,
      });
      const rawTransaction = await wallet.signTransaction(transaction);
      return { nonce, rawTransaction, txHash: keccak256(rawTransaction) };
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
