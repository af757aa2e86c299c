/**
 * Codes about a custodian or an approve process that a signer calls.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const custodyErrors = {
  custodian_unreachable: {
    status: 503,
    retry: true,
    meaning: 'The custodian does not answer. Check its URL and the network.',
  },
  custodian_invalid_response: {
    status: 502,
    meaning:
      "The custodian's answer does not fit this version or request. Check its URL and the account's wallet.",
  },
  custodian_refused: {
    status: 502,
    meaning:
      'The custodian refuses the call. Read its reason; check the service account, its key and permissions.',
  },
  custodian_outcome_unknown: {
    status: 503,
    retry: true,
    meaning: 'The answer to a request was lost. Wait; it is looked up and not sent twice.',
  },
  custodian_failed: {
    status: 502,
    meaning:
      'The custodian could not sign the request. Read its state there, then pay under a new key.',
  },
  custodian_misconfigured: {
    meaning:
      'The holder wallet is the funder wallet, or an address does not belong to a key. Correct the named variables.',
  },
  approver_unreachable: {
    status: 503,
    retry: true,
    meaning: 'The approve process does not answer. Check that it runs, and DISBURSE_APPROVE_URL.',
  },
  approver_invalid_response: {
    status: 502,
    retry: true,
    meaning:
      "The approve process's answer does not fit this version. Check DISBURSE_APPROVE_URL and both versions.",
  },
  approver_refused: {
    status: 502,
    retry: true,
    meaning:
      'The approve process refuses the call. Read its reason; check DISBURSE_APPROVE_TOKEN and DISBURSE_APPROVE_URL.',
  },
  ledger_in_use: {
    meaning:
      'Another process votes with this ledger. Stop it first: two voters would count a limit twice.',
  },
  ledger_unreadable: {
    meaning:
      'The ledger of votes cannot be opened. Use the version that wrote it, or restore and re-baseline it.',
  },
  enclave_unreachable: {
    status: 503,
    retry: true,
    meaning:
      "The enclave does not answer on its socket. Check that `pool-enclave serve` runs and the socket's mode.",
  },
  enclave_not_attested: {
    status: 502,
    meaning:
      'The process on the socket is not proved to be the pinned enclave. Compare root, PCRs and address with the deployed image.',
  },
  enclave_failed: {
    status: 502,
    meaning:
      "The enclave's answer does not fit this version, or it could not work on the call. Read the message and the enclave's own log.",
  },
} as const satisfies ErrorEntries;
