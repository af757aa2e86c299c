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
      'The token is not a pool symbol configured for the chain of the holder. Use a symbol that the message lists; an address is never accepted.',
  },
  too_many_recipients: {
    exit: 2,
    status: 400,
    meaning:
      'The transfer has more payees than one proof can pay. Split it into several transfers, each with its own key.',
  },
  ceiling_exceeded: {
    exit: 2,
    status: 403,
    meaning:
      'The sum of the call is above the ceiling of the role. Raise the ceiling in the configuration of the agent, or split the spend.',
  },
  unpinned_destination: {
    exit: 2,
    status: 400,
    meaning:
      'The destination is not a label of DISBURSE_SEND_DESTINATIONS. Use a label that the message lists; an address is never accepted.',
  },
  insufficient_funds: {
    status: 409,
    meaning:
      'The notes that are free to spend do not cover the amount. Read `spendable`, and wait for spends that are underway.',
  },
  consolidation_required: {
    status: 409,
    meaning:
      'The notes cover the amount, but one proof cannot take so many of them. Spend at most `largestSpend`, or merge notes first.',
  },
  spend_not_archived: {
    status: 500,
    meaning:
      'The manifest of the spend could not be stored, so nothing was sent. Check the disk of the agent directory, then send the same request again.',
  },
  spend_unfinished: {
    status: 504,
    meaning:
      'The agent stopped before the outcome of the spend was final, and the spend can still land. Read the chain or the balance after the deadline before you pay again.',
  },
  spend_unreadable: {
    status: 500,
    meaning:
      'The archive of spends lacks a spend of this key, or it cannot be read. Restore it from a backup; do not pay again under a new key before you have read the chain.',
  },
} as const satisfies ErrorEntries;
