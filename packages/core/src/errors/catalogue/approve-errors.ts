/**
 * Codes of the approve process and its commands.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const approveErrors = {
  invalid_policy: {
    meaning:
      'The policy is unreadable or a field is wrong. Correct it; `approve policy lint` reads it again.',
  },
  policy_not_signed: {
    exit: 2,
    meaning:
      'The policy changes only by signatures of its people. Put its file back, or propose, sign and apply.',
  },
  manifest_conflict: {
    status: 409,
    meaning:
      'Another manifest of the job key and attempt may still be paid. Wait for the deadline before you pay again.',
  },
  manifest_refused: {
    status: 422,
    meaning:
      'The approve process could never vote for the manifest. Correct what the message names, and pay under a new key.',
  },
  manifest_not_ready: {
    status: 503,
    retry: true,
    meaning: 'A fact is missing, so the manifest is not stored yet. Send the same one again.',
  },
  manifest_unknown: {
    status: 404,
    exit: 2,
    meaning:
      'The approve process has no manifest with this digest. List them with `approve manifests`.',
  },
  invalid_release: {
    exit: 2,
    meaning:
      "The statement's key is not in the policy or not Ed25519. Use a key that the policy lists.",
  },
} as const satisfies ErrorEntries;
