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
    meaning:
      'The custodian does not answer. Check its URL and the network; a request that it may have accepted is looked up, and the call can succeed later.',
  },
  custodian_invalid_response: {
    status: 502,
    meaning:
      "The custodian's answer does not fit this version, or is about another request. Check that the configured URL names the custodian, and that the account has the configured wallet.",
  },
  custodian_refused: {
    status: 502,
    meaning:
      'The custodian refuses the call. Read its reason in the message, and check the service account, its key and its permissions on the wallet.',
  },
  custodian_outcome_unknown: {
    status: 503,
    retry: true,
    meaning:
      'A request was sent to the custodian, its answer was lost, and the custodian does not show it yet. The request is looked up again; it is not sent twice.',
  },
  custodian_failed: {
    status: 502,
    meaning:
      'The custodian accepted the request and could not sign it. Read the state of the request at the custodian, then pay under a new key.',
  },
  custodian_misconfigured: {
    meaning:
      'The configuration of a custodian contradicts itself: the holder wallet is the funder wallet, or an address does not belong to a key. Correct the variables that the message names.',
  },
  approver_unreachable: {
    status: 503,
    retry: true,
    meaning:
      'The approve process does not answer, so nothing was sent to the custodian. Check that it runs and that DISBURSE_APPROVE_URL names it; the call can succeed later.',
  },
  approver_invalid_response: {
    status: 502,
    retry: true,
    meaning:
      "The approve process's answer does not fit this version. Check that DISBURSE_APPROVE_URL names it, and that the two versions fit.",
  },
  approver_refused: {
    status: 502,
    retry: true,
    meaning:
      'The approve process refuses the call, so nothing was sent to the custodian. Read its reason in the message, and compare DISBURSE_APPROVE_TOKEN and DISBURSE_APPROVE_URL with the gate; the call can succeed later.',
  },
  ledger_in_use: {
    meaning:
      'Another process votes with this ledger. Stop it first: two voters would count a limit twice.',
  },
  ledger_unreadable: {
    meaning:
      'The ledger of votes cannot be opened, or another version wrote it. Use that version, or restore the file from a backup and re-baseline it.',
  },
  enclave_unreachable: {
    status: 503,
    retry: true,
    meaning:
      'The signing enclave does not answer on its socket. Check that `pool-enclave serve` runs and that this user may open the socket; the call can succeed later.',
  },
  enclave_not_attested: {
    status: 502,
    meaning:
      'The process on the socket did not prove that it is the pinned enclave, so nothing was sent to it. Read the defect in the message; compare the pinned root, PCRs and address with the deployed image.',
  },
  enclave_invalid_response: {
    status: 502,
    meaning:
      'The answer on the socket does not fit this version. Check that the socket is that of the enclave, and that the two versions fit.',
  },
  enclave_failed: {
    status: 502,
    meaning: "The enclave could not work on the call. Read the message and the enclave's own log.",
  },
  enclave_key_unreadable: {
    meaning:
      'The sealed key of an enclave does not open. Check the sealing secret and the key file that the message names.',
  },
  enclave_misconfigured: {
    meaning: 'The enclave cannot start with this configuration. Correct what the message names.',
  },
} as const satisfies ErrorEntries;
