/**
 * The families of chains that are recognised. A new family is an entry here and its file.
 *
 * @module
 */
import type { ChainFamily, Ed25519SignInRules } from './chain-family.ts';
import { evmFamily } from './evm.ts';
import { solanaFamily } from './solana.ts';
import { stellarFamily } from './stellar.ts';

export const chainFamilies = {
  evm: evmFamily,
  solana: solanaFamily,
  stellar: stellarFamily,
} as const satisfies Readonly<Record<string, ChainFamily>>;

export type ChainFamilyName = keyof typeof chainFamilies;

/** The families whose ed25519 wallets sign in. */
export type Ed25519FamilyName = {
  [Name in ChainFamilyName]: (typeof chainFamilies)[Name] extends {
    readonly signIn: Ed25519SignInRules;
  }
    ? Name
    : never;
}[ChainFamilyName];

/** In the order of the registry. */
export const ed25519FamilyNames = Object.entries(chainFamilies).flatMap(([name, family]) =>
  'signIn' in family ? [name as Ed25519FamilyName] : [],
);

/** Undefined: no such platform is supported here. */
export function findChainFamily(name: string): ChainFamily | undefined {
  return Object.values(chainFamilies).find((family) => family.name === name);
}
