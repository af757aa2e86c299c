/**
 * What the chain says of all open nonces, read at once: a count for each account, then all receipts in one request for each hundred.
 *
 * @module
 */
import type { FinalBlock, NonceReads } from '@pool/evm-sender';
import type { RelayerDeps, SentNonce } from './sent-nonces.ts';

/** @returns the reads of one nonce. What failed fails there, so that it delays no other nonce */
export async function readOutcomes(
  { chain }: Pick<RelayerDeps, 'chain'>,
  open: readonly SentNonce[],
  final: FinalBlock,
): Promise<(sent: SentNonce) => NonceReads> {
  const senders = new Set(open.map(([{ sender }]) => sender));
  const counts = new Map(
    [...senders].map((sender) => [sender, chain.fetchNonceAt(final.number, sender)]),
  );
  // Before the receipts: one that is missing afterwards will never exist.
  await Promise.allSettled(counts.values());
  const hashes = open.flat().map(({ tx_hash }) => tx_hash);
  const receipts = new Map(hashes.map((txHash) => [txHash, chain.fetchReceipt(txHash)]));
  await Promise.allSettled(receipts.values());
  return ([{ sender }]) => ({
    fetchNonceAt: (block) => counts.get(sender) ?? chain.fetchNonceAt(block, sender),
    fetchReceipt: (txHash) => receipts.get(txHash) ?? chain.fetchReceipt(txHash),
  });
}
