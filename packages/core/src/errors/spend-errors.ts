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
    exit: 6,
    status: 409,
    meaning:
      'The notes that are free to spend do not cover the amount. Read `spendable`; `locked` are the base units that spends underway hold, until `lockedUntil`.',
  },
  consolidation_required: {
    exit: 6,
    status: 409,
    meaning:
      'The notes cover the amount, but one proof cannot take so many of them. Spend at most `largestSpend`, or merge notes first with `disburse-agent consolidate`.',
  },
  restored_recently: {
    status: 503,
    retry: true,
    meaning:
      'The agent was restored from a backup, and a payment made after that backup can still land. Wait until the time that the message names, and compare the balance before you repeat a payment.',
  },
  spend_not_archived: {
    status: 500,
    meaning:
      'The manifest of the spend could not be stored, so nothing was sent. Check the disk of the agent directory, then send the same request again.',
  },
  spend_unknown: {
    exit: 8,
    status: 404,
    meaning:
      'A command asked for the outcome of a spend, and the agent has none under that key. Read the chain or the balance before you pay again.',
  },
  spend_unfinished: {
    exit: 8,
    status: 504,
    meaning:
      'The agent stopped before the outcome of the spend was final, or does not send it again because the platform refuses its deadline, and the spend can still land. Read the chain or the balance after the deadline before you pay again.',
  },
  spend_unreadable: {
    exit: 8,
    status: 500,
    meaning:
      'The archive of spends lacks a spend of this key, or it cannot be read. Restore it from a backup; do not pay again under a new key before you have read the chain.',
  },
  gas_key_missing: {
    exit: 2,
    meaning:
      'A withdrawal that one submits oneself needs a key that pays the gas. Set DISBURSE_GAS_PRIVATE_KEY to the key of an account with coin of the chain.',
  },
  gas_key_links_holder: {
    exit: 2,
    meaning:
      'The gas key is the key of the holder, and the destination is another address, so the transaction would publish who withdraws. Use another gas key, or withdraw to the wallet of the holder.',
  },
  gas_key_unfunded: {
    status: 503,
    meaning:
      'The account that pays the gas has too little coin. Send coin of the chain to the address that the message names.',
  },
  notes_file_invalid: {
    exit: 2,
    meaning:
      'The file of exported notes cannot be read, or it belongs to another chain, pool or holder. Export it again, or name the right file.',
  },
  equal_withdrawal: {
    exit: 2,
    meaning:
      'An equal withdrawal of this holder is open, or was paid in the last 24 hours, so nothing was sent. Wait for the one that is open; pay a second time with `--again`.',
  },
  nothing_to_submit: {
    exit: 2,
    meaning:
      'No withdrawal of this holder is open, so there is nothing to submit. Name an amount to begin one.',
  },
} as const satisfies ErrorEntries;
