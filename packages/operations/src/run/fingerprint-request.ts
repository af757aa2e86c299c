/**
 * The fingerprint of a request body: what tells the same payment from another under one Idempotency-Key.
 *
 * @module
 */
import { batchSizes, canonicalDigest, type Hex32, isPoolError, stepRequest } from '@pool/core';
import { createPace } from '../give-way.ts';

/** Nobody ever accepted more recipients in one call. */
const maxRecipients = Math.max(...batchSizes);

/**
 * SHA-256 of the canonical JSON; undefined for a body that no job can have been accepted for, whose size is
 * the caller's choice: hashing such a one would only keep the thread.
 */
export async function fingerprintRequest(body: unknown): Promise<Hex32 | undefined> {
  try {
    const pace = createPace();
    const steps = stepRequest(body);
    for (;;) {
      const step = steps.next();
      if (step.done === true) {
        return step.value.recipients.length > maxRecipients ? undefined : canonicalDigest(body);
      }
      if (step.value !== undefined) {
        return undefined;
      }
      await pace();
    }
  } catch (error) {
    if (isPoolError(error)) {
      return undefined;
    }
    throw error;
  }
}
