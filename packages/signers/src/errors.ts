/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    meanings: {
      custodian_misconfigured:
        'The holder wallet is the funder wallet, or an address does not belong to a key. Correct the named variables.',
      holder_unsupported:
        "The curve of the holder's wallet has no such operation. Use a wallet of the other curve.",
      viewing_key_required:
        "The holder's signer does not repeat signatures. Run `disburse-agent viewing-key new` and set DISBURSE_HOLDER_VIEWING_KEY.",
      signer_refused:
        'The signer of the funder or holder refused. Read its reason, then pay under a new key.',
      signer_expired: 'The signing request was not approved in time. Pay under a new key.',
      signature_rejected:
        "A signer's signature does not verify. Check that it holds the configured key.",
    },
  },
  {
    status: 409,
    meanings: {
      manifest_conflict:
        'Another manifest of the job key and attempt may still be paid. Wait for the deadline before you pay again.',
    },
  },
  {
    status: 422,
    meanings: {
      manifest_refused:
        'The approve process could never vote for the manifest. Correct what the message names, and pay under a new key.',
    },
  },
  {
    status: 502,
    meanings: {
      custodian_invalid_response:
        "The custodian's answer does not fit this version or request. Check its URL and the account's wallet.",
      custodian_refused:
        'The custodian refuses the call. Read its reason; check the service account, its key and permissions.',
      custodian_failed:
        'The custodian could not sign the request. Read its state there, then pay under a new key.',
      enclave_not_attested:
        'The process on the socket is not proved to be the pinned enclave. Compare root, PCRs and address with the deployed image.',
      enclave_failed:
        "The enclave's answer does not fit this version, or it could not work on the call. Read the message and the enclave's own log.",
    },
  },
  {
    status: 502,
    retry: true,
    meanings: {
      approver_invalid_response:
        "The approve process's answer does not fit this version. Check DISBURSE_APPROVE_URL and both versions.",
      approver_refused:
        'The approve process refuses the call. Read its reason; check DISBURSE_APPROVE_TOKEN and DISBURSE_APPROVE_URL.',
    },
  },
  {
    status: 503,
    retry: true,
    meanings: {
      custodian_outcome_unknown:
        'The answer to a request was lost. Wait; it is looked up and not sent twice.',
      enclave_unreachable:
        "The enclave does not answer on its socket. Check that `pool-enclave serve` runs and the socket's mode.",
    },
  },
] as const satisfies readonly ErrorGroup[];
