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
  holder_read_only: {
    status: 403,
    meaning:
      'This agent has W and the viewing key of its holder, and no signer key, so it reads and cannot sign. Use the agent that has the key of W.',
  },
  viewing_key_required: {
    meaning:
      "The holder's signer does not repeat its signatures, so no viewing key can be derived from one. Make one with `disburse-agent viewing-key new` and set DISBURSE_HOLDER_VIEWING_KEY.",
  },
  viewing_key_mismatch: {
    status: 409,
    meaning:
      'The viewing key does not give the expected encryption key. Restore the viewing key of the enrolled P, or correct DISBURSE_HOLDER_ENCRYPTION_PUBKEY; restart an agent that has an earlier configuration.',
  },
  rotation_not_possible: {
    exit: 2,
    meaning:
      'The viewing key cannot be rotated now: the wallet is not enrolled, or a viewing key or a place of the configuration is missing. Do what the message says and run the command again.',
  },
  holder_unavailable: {
    status: 503,
    meaning:
      "The agent cannot use its holder: the signer's key, the viewing key or chains.json is missing or wrong. Correct what the message names and restart the agent.",
  },
  role_token_missing: {
    status: 503,
    meaning:
      'The API key of this role is not configured, so its route and command do not work. Set the variable that the message names and restart the agent.',
  },
  role_token_refused: {
    status: 503,
    meaning:
      "The platform refuses the agent's own API key of this role. Mint a new key with the holder's wallet and set the variable that the message names.",
  },
  note_history_changed: {
    status: 503,
    meaning:
      'The chain replaced a block that was final. Check the RPC, then run `disburse-agent rescan`.',
  },
  note_history_incomplete: {
    status: 503,
    retry: true,
    meaning:
      "The RPC served events that do not agree with the pool's roots or used notes. The message names the node, and the agent reads the events again. If it repeats, use another RPC.",
  },
  note_cache_damaged: {
    status: 503,
    retry: true,
    meaning:
      "The holder's note cache is damaged. The agent makes it again from the chain and its archive; the call can succeed later.",
  },
  note_cache_changed: {
    status: 503,
    retry: true,
    meaning:
      "Another process wrote the holder's note cache. The agent opens it again; the call can succeed later.",
  },
  note_cache_unavailable: {
    status: 503,
    meaning:
      "A file of the holder's notes cannot be used now; its contents are kept. Do what the message says.",
  },
} as const satisfies ErrorEntries;
