/**
 * The keyed fingerprint of a request (docs/decisions/0024): it travels with the settlement, so that an agent
 * that finds its key paid by another one can tell whether the same request was paid. Keyed, because payees and
 * amounts could be guessed from a plain hash; over the Idempotency-Key as well, so that nobody can tell from
 * two settlements that the same people were paid the same amounts. The key never leaves the agents.
 *
 * @module
 */
import { createHmac } from 'node:crypto';
import type { BodyFingerprint } from '@pool/api';
import {
  canonicalDigest,
  canonicalJson,
  type DisburseRequest,
  type ErrorBody,
  hexToBytes,
  isPoolError,
  PoolError,
  parseHex,
  parseHex32,
  peerCode,
  type Secret,
} from '@pool/core';
import type { PlatformPort } from '../ports.ts';

export type Fingerprinter = {
  /** Names the key without telling anything about it. 8 bytes of hex. */
  readonly keyId: BodyFingerprint['keyId'];
  compute(jobKey: string, request: DisburseRequest): BodyFingerprint;
};

/** @param key - 32 bytes of hex */
export function createFingerprinter(key: Secret): Fingerprinter {
  const sign = (text: string): string =>
    createHmac('sha256', hexToBytes(key.reveal(), 32)).update(text, 'utf8').digest('hex');
  const keyId = parseHex(`0x${sign('pool/v1/fingerprint-key-id').slice(0, 16)}`, 8);
  return {
    keyId,
    compute(jobKey, request) {
      const text = canonicalJson([jobKey, canonicalDigest(request)]);
      return { keyId, value: parseHex32(`0x${sign(`pool/v1/body-fingerprint${text}`)}`) };
    },
  };
}

/** `unknown`: made with another key, or not at all, so nobody can tell. */
export function compareFingerprints(
  own: BodyFingerprint,
  found: BodyFingerprint | undefined,
): 'same' | 'other' | 'unknown' {
  if (found === undefined || found.keyId !== own.keyId) {
    return 'unknown';
  }
  return found.value === own.value ? 'same' : 'other';
}

/** What is told when the bodies are known to differ. */
export const usedForOther: ErrorBody = {
  code: 'idempotency_conflict',
  message:
    'another agent has used this Idempotency-Key with another body, the order of recipients included; find out what it paid before you send a new key',
};

/**
 * Asks the platform whether another agent has used the key for another request. Only a refusal here says that
 * nothing was accepted; the worker compares again before it proves and before it calls anything paid.
 * @throws PoolError 409 `idempotency_conflict`; what the platform's client throws
 */
export async function assertSameRequest(
  key: string,
  request: DisburseRequest,
  deps: {
    readonly platform: Pick<PlatformPort, 'getSettlement'>;
    readonly fingerprints: Fingerprinter;
  },
): Promise<void> {
  const row = await deps.platform.getSettlement(key);
  const own = deps.fingerprints.compute(key, request);
  if (row !== undefined && compareFingerprints(own, row.bodyFingerprint) === 'other') {
    throw new PoolError(peerCode(usedForOther.code), usedForOther.message, { status: 409 });
  }
}

/** As {@link assertSameRequest}; a platform that does not answer is no reason to refuse a request. */
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
