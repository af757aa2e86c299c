/**
 * When two batches have the same roster: the same chain and token, and the same sum for each address. Order, memos, keys, job, pool,
 * funder and label do not matter, because the money is the same.
 *
 * @module
 */
import { canonicalDigest, type EvmAddress, type Hex32 } from '@pool/core';

/** @param payees - an address may be listed several times */
export function computeRosterDigest(
  chainId: number,
  token: EvmAddress,
  payees: readonly { readonly address: EvmAddress; readonly amount: bigint }[],
): Hex32 {
  const sums = new Map<EvmAddress, bigint>();
  for (const { address, amount } of payees) {
    sums.set(address, (sums.get(address) ?? 0n) + amount);
  }
  const lines = [...sums].map(([address, sum]) => `${address} ${sum}`).sort();
  return canonicalDigest(['pool/v1/roster', chainId, token, lines]);
}
