/**
 * The keyed fingerprint of a request (docs/decisions/0008). It travels with the settlement, so an agent that finds its
 * key paid by another agent can tell whether the same request was paid. It is keyed, because payees and amounts could be
 * guessed from a plain hash. It covers the Idempotency-Key, so two settlements do not reveal that the same people were
 * paid the same amounts. The key never leaves the agents.
 *
 * @module
 */
import { createHmac } from 'node:crypto';
import type { BodyFingerprint } from '@pool/api';
import {
  batchSizes,
  canonicalDigest,
  canonicalJson,
  type ErrorBody,
  type Hex32,
  hexToBytes,
  isPoolError,
  PoolError,
  parseHex,
  parseHex32,
  peerCode,
  type Secret,
  stepRequest,
} from '@pool/core';
import { createPace } from '@pool/wallet';
import type { PlatformPort } from '../../ports.ts';

export type Fingerprinter = {
  /** Names the key without revealing anything about it. 8 bytes of hex. */
  readonly keyId: BodyFingerprint['keyId'];
  /** @param requestDigest - SHA-256 of the canonical body: it covers every field of every recipient */
  compute(jobKey: string, requestDigest: Hex32): BodyFingerprint;
};

/** @param key - 32 bytes of hex */
export function createFingerprinter(key: Secret): Fingerprinter {
  const sign = (text: string): string =>
    createHmac('sha256', hexToBytes(key.reveal(), 32)).update(text, 'utf8').digest('hex');
  const keyId = parseHex(`0x${sign('pool/v1/fingerprint-key-id').slice(0, 16)}`, 8);
  return {
    keyId,
    compute(jobKey, requestDigest) {
      const text = canonicalJson([jobKey, requestDigest]);
      return { keyId, value: parseHex32(`0x${sign(`pool/v1/body-fingerprint${text}`)}`) };
    },
  };
}

/** `unknown`: there is no fingerprint, or it was made with another key. */
export function compareFingerprints(
  own: BodyFingerprint,
  found: BodyFingerprint | undefined,
): 'same' | 'other' | 'unknown' {
  if (found === undefined || found.keyId !== own.keyId) {
    return 'unknown';
  }
  return found.value === own.value ? 'same' : 'other';
}

/** The error when the bodies are known to differ. */
export const usedForOther: ErrorBody = {
  code: 'idempotency_conflict',
  message:
    'another agent has used this Idempotency-Key with another body; the order of the recipients counts too. Find out what that agent paid before you send a new key',
};

/**
 * Asks the platform whether another agent has used the key for another request. The route asks before it accepts the
 * request. The worker asks again before it proves, and before it calls the key paid.
 * @throws PoolError 409 `idempotency_conflict`; errors of the platform's client
 */
export async function assertSameRequest(
  key: string,
  requestDigest: Hex32,
  deps: {
    readonly platform: Pick<PlatformPort, 'getSettlement'>;
    readonly fingerprints: Fingerprinter;
  },
): Promise<void> {
  const row = await deps.platform.getSettlement(key);
  const own = deps.fingerprints.compute(key, requestDigest);
  if (row !== undefined && compareFingerprints(own, row.bodyFingerprint) === 'other') {
    throw new PoolError(peerCode(usedForOther.code), usedForOther.message, { status: 409 });
  }
}

/** {@link assertSameRequest}, except that a platform that does not answer does not cause a refusal. */
export async function refuseOtherRequest(
  ...parameters: Parameters<typeof assertSameRequest>
): Promise<void> {
  try {
    await assertSameRequest(...parameters);
  } catch (error) {
    if (!isPoolError(error) || error.code === 'idempotency_conflict') {
      throw error;
    }
  }
}

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
