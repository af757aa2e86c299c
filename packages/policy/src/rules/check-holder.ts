/**
 * Rules for every request of a holder's wallet.
 *
 * @module
 */
import { computeWalletAddress, type EncryptionPublicKey } from '@pool/core';
import type { HolderRule } from '../policy/holder-rule.ts';
import { checkOrigin, checkRequest } from './check-request.ts';
import type { DecideInput } from './decision.ts';
import { type Finding, fail } from './findings.ts';

/** The policy's entry for the wallet that must sign. */
export function findHolder({ policy, request }: DecideInput): HolderRule | undefined {
  return policy.holders.find(
    ({ walletPub }) => computeWalletAddress(walletPub) === request.expectedSigner,
  );
}

/** @param encryptionPublicKey - the P that a sign-in text may list */
export function checkHolder(
  input: DecideInput,
  encryptionPublicKey?: EncryptionPublicKey,
): readonly Finding[] {
  const holder = findHolder(input);
  const common = checkRequest(input, encryptionPublicKey);
  return holder === undefined
    ? [fail('holder', 'holder-not-listed'), ...common]
    : [...common, ...checkOrigin(input, holder)];
}
