/**
 * Codes of a holder's own signer and keys.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const holderErrors = {
  holder_unsupported: {
    meaning:
      "The curve of the holder's wallet has no such operation. Use a wallet of the other curve.",
  },
  holder_read_only: {
    status: 403,
    meaning: 'This agent has no signer key. Use the agent that has the key of W.',
  },
  viewing_key_required: {
    meaning:
      "The holder's signer does not repeat signatures. Run `disburse-agent viewing-key new` and set DISBURSE_HOLDER_VIEWING_KEY.",
  },
  viewing_key_mismatch: {
    status: 409,
    meaning:
      'The viewing key does not give the expected P. Restore it, or correct DISBURSE_HOLDER_ENCRYPTION_PUBKEY, and restart.',
  },
  rotation_not_possible: {
    exit: 2,
    meaning:
      'The wallet is not enrolled, or a viewing key or its place in the configuration is missing. Do what the message says.',
  },
  holder_unavailable: {
    status: 503,
    meaning:
      "The signer's key, the viewing key, the role's API key or chains.json is missing or wrong. Correct what the message names and restart.",
  },
  note_history_changed: {
    status: 503,
    meaning:
      'The chain replaced a block that was final. Check the RPC, then run `disburse-agent rescan`.',
  },
  note_history_incomplete: {
    status: 503,
    retry: true,
    meaning: "The RPC's events disagree with the pool. If it repeats, use another RPC.",
  },
  note_cache_changed: {
    status: 503,
    retry: true,
    meaning:
      "The holder's note cache is damaged, or another process wrote it. Wait; the agent opens it again.",
  },
  note_cache_unavailable: {
    status: 503,
    meaning:
      "A file of the holder's notes cannot be used now and is kept. Do what the message says.",
  },
} as const satisfies ErrorEntries;
