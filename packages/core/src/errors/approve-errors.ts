/**
 * Codes of the approve process and its commands.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const approveErrors = {
  invalid_policy: {
    meaning:
      'The policy file cannot be read, or a field in it is wrong. Correct what the message names; `approve policy lint` reads it again.',
  },
  policy_not_signed: {
    exit: 2,
    meaning:
      'The policy in effect changes only when its named people signed the next one. Put its file back, or have the change proposed, signed and applied.',
  },
  manifest_conflict: {
    status: 409,
    meaning:
      'The approve process has another manifest of the same job key and attempt: another agent, or this one before its store was restored, has posted it, and it may still be paid. The job waits until its own deadline. Do not pay it under another key before.',
  },
  manifest_refused: {
    status: 422,
    meaning:
      'The approve process does not store the manifest, because it could never vote for it. Nothing was sent to the custodian. Correct what the message names, and pay under a new key; the same manifest is refused again.',
  },
  manifest_not_ready: {
    status: 503,
    retry: true,
    meaning:
      'The approve process cannot store the manifest now, because a fact is missing. Send the same manifest again.',
  },
  manifest_unknown: {
    status: 404,
    exit: 2,
    meaning:
      'The approve process has no manifest with this digest. The command `approve manifests` lists those that it has.',
  },
  invalid_release: {
    exit: 2,
    meaning:
      'The statement of a person cannot be made or does not count: the key is not in the policy, or the file is not an Ed25519 key. Use the key whose public half the policy lists.',
  },
  ledger_refused: {
    exit: 2,
    meaning:
      'The ledger file cannot be imported, or the ledger cannot be re-baselined from what the custodian and the chain show. Do what the message says.',
  },
} as const satisfies ErrorEntries;
