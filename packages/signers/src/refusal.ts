/**
 * The outcome of a request that a signer refuses itself, before it asks a key or a custodian.
 *
 * @module
 */
import type { RefusalReason } from '@pool/policy';
import type { Outcome } from './signer.ts';

const messages: Readonly<Partial<Record<RefusalReason, string>>> = {
  'kind-not-allowed': 'this signer is not configured to sign this kind of request',
  'foreign-signer':
    'the request expects the signature of another wallet than the one of this signer',
  'external-id-mismatch': 'the request id does not belong to its content',
  'malformed-payload': 'the payload is not a valid document of its kind',
  'sign-in-text':
    'the sign-in text has a statement, a Request ID, a resource or a spelling that texts of the platform do not have; ask the platform for a new text',
  'foreign-encryption-key':
    "the sign-in text lists an encryption key that is not in this signer's configuration",
  'stale-disclosure':
    "the disclosure has expired, or is dated after this signer's clock; make it again, and check both clocks",
  'stale-sign-in':
    "the sign-in text is not dated within 5 minutes of this signer's clock; ask for a new one, and check both clocks",
  'not-deterministic':
    'this signer does not repeat its signatures, so no viewing key can be derived from one; configure a viewing key',
};

/** @param signer - names the signer in a message, for example `the local key` */
export function refuse(reason: RefusalReason, signer: string): Outcome & { state: 'refused' } {
  return {
    state: 'refused',
    reason,
    message: messages[reason] ?? `${signer} refuses this request: ${reason}`,
  };
}
