/**
 * The fingerprint of a request body. It distinguishes the same payment from another one under one Idempotency-Key.
 *
 * @module
 */
import { batchSizes, canonicalDigest, type Hex32, isPoolError, stepRequest } from '@pool/core';
import { createPace } from '@pool/wallet';

/** The most recipients that any call can list. */
const maxRecipients = Math.max(...batchSizes);

/**
 * SHA-256 of the canonical JSON. Undefined: no job can have been accepted for this body. Hashing such a body of any size
 * would only block the thread.
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
