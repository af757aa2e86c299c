/**
 * A stored manifest by what an operator types.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { Ledger, StoredManifest } from '@pool/policy';

/**
 * @param text - the digest, or its first characters if they name one manifest only
 * @throws PoolError `manifest_unknown`
 */
export function findStored(ledger: Ledger, text: string): StoredManifest {
  const prefix = text.startsWith('0x') ? text.toLowerCase() : `0x${text.toLowerCase()}`;
  const found =
    prefix.length >= 10
      ? ledger.listManifests().filter(({ manifestDigest }) => manifestDigest.startsWith(prefix))
      : [];
  const [only] = found;
  if (only !== undefined && found.length === 1) {
    return only;
  }
  throw new PoolError(
    'manifest_unknown',
    found.length === 0
      ? 'no stored manifest has this digest; "pool-approve manifests" lists them'
      : `${found.length} manifests begin with this; give more characters`,
  );
}
