/**
 * Codes of a holder's own signer and keys.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const holderErrors = {
  holder_signer_refused: {
    meaning:
      "The holder's signer refused to sign. Read its reason in the message, and correct the request or the signer's configuration.",
  },
  holder_unsupported: {
    meaning:
      "This version has no such operation for the curve of the holder's wallet. Use a wallet of the other curve.",
  },
  viewing_key_required: {
    meaning:
      "The holder's signer does not repeat its signatures, so no viewing key can be derived from one. Make one with `disburse-agent viewing-key new` and set DISBURSE_HOLDER_VIEWING_KEY.",
  },
  viewing_key_mismatch: {
    meaning:
      'The viewing key does not give the encryption key of DISBURSE_HOLDER_ENCRYPTION_PUBKEY. Restore the viewing key of the enrolled P, or correct the variable.',
  },
} as const satisfies ErrorEntries;
