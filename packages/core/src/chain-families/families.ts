/**
 * The families of chains that are recognised.
 *
 * @module
 */
import type { ChainFamily, ChainFamilyName } from './chain-family.ts';
import { evmFamily } from './evm.ts';
import { solanaFamily } from './solana.ts';
import { stellarFamily } from './stellar.ts';

export const chainFamilies = {
  evm: evmFamily,
  solana: solanaFamily,
  stellar: stellarFamily,
} as const satisfies Readonly<Record<ChainFamilyName, ChainFamily>>;

/** Undefined: no such platform is supported here. */
export function findChainFamily(name: string): ChainFamily | undefined {
  return Object.values(chainFamilies).find((family) => family.name === name);
}
