/**
 * The fingerprint of a request body: what tells the same payment from another under one Idempotency-Key.
 *
 * @module
 */
import {
  batchSizes,
  canonicalDigest,
  type Hex32,
  isPoolError,
  stepDisburseRequest,
} from '@pool/core';
import { computeInTurns, createPace } from './give-way.ts';

/** Nobody ever accepted more recipients in one call. */
const maxRecipients = Math.max(...batchSizes);

/**
 * SHA-256 of the canonical JSON; undefined for a body that no job can have been accepted for, whose size is
 * the caller's choice: hashing such a one would only keep the thread.
 */
export async function fingerprintRequest(body: unknown): Promise<Hex32 | undefined> {
  try {
    const { recipients } = await computeInTurns(stepDisburseRequest(body), createPace());
    return recipients.length > maxRecipients ? undefined : canonicalDigest(body);
  } catch (error) {
    if (isPoolError(error)) {
      return undefined;
    }
    throw error;
  }
}
