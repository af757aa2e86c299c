/**
 * Keys in the agent's own process, for development. A funder's key needs no `DISBURSE_SIGNER`.
 *
 * @module
 */
import { type ConfigVariable, privateKey } from '@pool/configuration';
import type { Secret } from '@pool/core';
import { createLocalEd25519Holder } from '../holder/local-ed25519-holder.ts';
import { createLocalKeyHolder } from '../holder/local-key-holder.ts';
import type { LocalHolderRole } from './signer-role.ts';

function keyVariable(
  name: string,
  role: string,
  purpose: string,
  whenUnset = 'none',
): ConfigVariable<Secret> {
  const credential = { fields: ['privateKey'] };
  return { name, role, purpose, kind: privateKey, whenUnset, credential };
}

/** By curve. */
export const funderKeys = {
  secp256k1: keyVariable(
    'DISBURSE_FUNDER_PRIVATE_KEY',
    'disburse',
    "the funder's key, for development",
    'the agent can pay on no chain',
  ),
  ed25519: keyVariable(
    'DISBURSE_FUNDER_ED25519_KEY',
    'disburse',
    "the funder's key on Solana and Stellar (seed of RFC 8032); no pool is there yet",
  ),
} as const;

export const localKeyHolder = {
  place: 'local',
  curve: 'secp256k1',
  key: keyVariable(
    'DISBURSE_HOLDER_PRIVATE_KEY',
    'holder, identity',
    "the holder's key for `local-key`, for development",
  ),
  open: createLocalKeyHolder,
} as const satisfies LocalHolderRole;

export const localEd25519Holder = {
  place: 'local',
  curve: 'ed25519',
  key: keyVariable(
    'DISBURSE_HOLDER_ED25519_KEY',
    'holder, identity',
    "the holder's key for `local-ed25519`, for development (seed of RFC 8032)",
  ),
  open: createLocalEd25519Holder,
} as const satisfies LocalHolderRole;

/** By curve. */
export const holderKeys = {
  secp256k1: localKeyHolder.key,
  ed25519: localEd25519Holder.key,
} as const;
