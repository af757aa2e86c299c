// One transaction to the pool, sent by anybody: `spend` needs no role and cannot be paused.
import { encodeSpend, type Groth16Proof, type SpendCall, simulateCall } from '@pool/contracts';
import type { Secret } from '@pool/core';
import { concat, type JsonRpcProvider, Wallet } from 'ethers';
import type { ExitFile } from './files.ts';

/** @throws Error with the contract's own reason, before anything is sent */
export async function submitWithdrawal(
  provider: JsonRpcProvider,
  chain: ExitFile['chain'],
  withdrawal: {
    readonly call: SpendCall;
    readonly proof: Groth16Proof;
    readonly sealedNotes: readonly string[];
    /** Pays the gas. Its address is public beside the withdrawal, so it must not be the holder's. */
    readonly gasKey: Secret;
  },
): Promise<{ readonly hash: string; readonly costWei: bigint }> {
  const { call, proof, sealedNotes, gasKey } = withdrawal;
  const wallet = new Wallet(gasKey.reveal(), provider);
  const data = encodeSpend({ operation: call, proof, sealedNotes: concat(sealedNotes) });
  const transaction = { from: wallet.address, to: chain.pool, data };
  const outcome = await simulateCall(provider, { ...transaction, gasLimit: 3_000_000n });
  if (outcome.kind !== 'success') {
    const reason = outcome.kind === 'reverted' ? outcome.reason.message : 'it needs too much gas';
    throw new Error(`the pool refuses the withdrawal: ${reason}`);
  }
  const gasLimit = ((await provider.estimateGas(transaction)) * 125n) / 100n;
  const sent = await wallet.sendTransaction({ ...transaction, gasLimit });
  return { hash: sent.hash, costWei: gasLimit * (sent.maxFeePerGas ?? 0n) };
}
