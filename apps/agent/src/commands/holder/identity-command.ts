/**
 * `disburse-agent identity`: prints the holder's identity. It reads the configuration and chains.json, and sends nothing.
 *
 * @module
 */

import { exitCodes, type Output } from '@pool/pay-run';
import { openHolder } from '@pool/signers';
import { readKeepingSettings } from '../../config/config.ts';

export type IdentityOptions = { readonly envFile?: string };

/** @returns the exit code */
export async function printIdentity(
  { envFile }: IdentityOptions,
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const { family, address, walletPub, encryptionPublicKey, signer } = await openHolder(
    readKeepingSettings(envFile),
  );
  const identity = {
    platform: family.name,
    address,
    walletPub,
    encryptionPublicKey,
    signer: signer.name,
    deterministic: signer.deterministic,
  };
  out(JSON.stringify(identity, null, 2));
  return exitCodes.ok;
}
