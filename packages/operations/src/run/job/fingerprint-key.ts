/**
 * The key of the request fingerprints that agents of one employer compare (docs/decisions/0008). It is created in the
 * agent directory at first start, unless `DISBURSE_FINGERPRINT_KEY` contains the key of another agent.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PoolError, Secret } from '@pool/core';
import { createDurableFile, isCode } from '@pool/storage';

export function fingerprintKeyPath(home: string): string {
  return join(home, 'fingerprint.key');
}

/** The configured key, else the key in the directory, which is created if it is missing. */
export function ensureFingerprintKey(home: string, configured: Secret | undefined): Secret {
  const known = configured ?? findFingerprintKey(home);
  if (known !== undefined) {
    return known;
  }
  createDurableFile(fingerprintKeyPath(home), `0x${randomBytes(32).toString('hex')}\n`);
  const made = findFingerprintKey(home);
  if (made === undefined) {
    throw createDamaged(home);
  }
  return made;
}

/**
 * @returns undefined when the directory has no key
 * @throws PoolError `store_damaged`
 */
export function findFingerprintKey(home: string): Secret | undefined {
  let content: string;
  try {
    content = readFileSync(fingerprintKeyPath(home), 'utf8').trim();
  } catch (cause) {
    if (isCode(cause, 'ENOENT')) {
      return undefined;
    }
    throw createDamaged(home, cause);
  }
  if (!/^0x[0-9a-f]{64}$/.test(content)) {
    throw createDamaged(home);
  }
  return new Secret(content);
}

function createDamaged(home: string, cause?: unknown): PoolError {
  return new PoolError(
    'store_damaged',
    `${fingerprintKeyPath(home)} cannot be read or is not 32 bytes of hex: restore it from a backup. If there is no backup, delete it: Idempotency-Keys that were already paid then end as settled_elsewhere if this job store is lost`,
    { cause },
  );
}
