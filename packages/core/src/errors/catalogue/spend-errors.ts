/**
 * Codes of a holder's spends: transfers and withdrawals.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const spendErrors = {
  unknown_token: {
    exit: 2,
    status: 400,
    meaning:
      "The token is no pool symbol of the holder's chain. Use a listed symbol, never an address.",
  },
  too_many_recipients: {
    exit: 2,
    status: 400,
    meaning:
      'The transfer has more payees than one proof can pay. Split it into transfers with a key each.',
  },
  ceiling_exceeded: {
    exit: 2,
    status: 403,
    meaning:
      "The sum is above the role's ceiling. Raise it in the agent's configuration, or split the spend.",
  },
  unpinned_destination: {
    exit: 2,
    status: 400,
    meaning:
      'The destination is no label of DISBURSE_SEND_DESTINATIONS. Use a listed label, never an address.',
  },
  insufficient_funds: {
    exit: 6,
    status: 409,
    meaning:
      'The free notes do not cover the amount. Read `spendable`, `locked` and `lockedUntil`.',
  },
  consolidation_required: {
    exit: 6,
    status: 409,
    meaning:
      'One proof cannot take so many notes. Spend at most `largestSpend`, or run `disburse-agent consolidate` first.',
  },
  restored_recently: {
    status: 503,
    retry: true,
    meaning:
      'A payment made after the restored backup can still land. Wait until the named time, and compare the balance.',
  },
  spend_not_archived: {
    status: 500,
    meaning: "The spend's manifest could not be stored. Check the disk, then repeat the request.",
  },
  spend_unknown: {
    exit: 8,
    status: 404,
    meaning:
      'The agent has no spend under that key. Read the chain or the balance before you pay again.',
  },
  spend_unfinished: {
    exit: 8,
    status: 504,
    meaning:
      'The spend can still land. Read the chain or the balance after the deadline before you pay again.',
  },
  spend_unreadable: {
    exit: 8,
    status: 500,
    meaning:
      'The archived spend of this key is unreadable. Restore it, or read the chain, before you pay under a new key.',
  },
  gas_key_unfunded: {
    status: 503,
    meaning: 'The account that pays gas has too little coin. Send some to the named address.',
  },
  equal_withdrawal: {
    exit: 2,
    meaning:
      'An equal withdrawal is open, or was paid in the last 24 hours. Wait, or pay a second time with `--again`.',
  },
  gas_key_refused: {
    exit: 2,
    meaning:
      'A self-submitted withdrawal needs a gas key, and not that of the holder. Set DISBURSE_GAS_PRIVATE_KEY to another key.',
  },
} as const satisfies ErrorEntries;
