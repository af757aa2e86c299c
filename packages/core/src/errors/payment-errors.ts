/**
 * Codes of a disbursement: of its request, its job and what the funder's agent checks before money moves.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const paymentErrors = {
  'invalid-chain': {
    exit: 2,
    status: 400,
    meaning: 'The chain is unknown, unsupported, without a pool, or has no funder signer.',
  },
  'invalid-token': {
    exit: 2,
    status: 400,
    meaning: 'The token is not a pool symbol configured for the chain.',
  },
  'batch-too-large': {
    exit: 2,
    status: 400,
    meaning: "There are more recipients than the chain's ceiling for one call.",
  },
  'invalid-amount': {
    exit: 2,
    status: 400,
    meaning:
      'An amount is not a positive whole number of base units below 2^128, or the sum is not.',
  },
  'invalid-address': { exit: 2, status: 400, meaning: 'An address does not parse for its chain.' },
  'duplicate-recipient': {
    exit: 2,
    status: 400,
    meaning: 'The same recipient appears twice in one call.',
  },
  'unregistered-recipient': {
    exit: 2,
    status: 400,
    meaning: 'A recipient has no enrolled wallet key or encryption key, or is not eligible.',
  },
  invalid_memo: { status: 400, meaning: 'A memo is too long or is not well-formed text.' },
  idempotency_conflict: {
    exit: 2,
    status: 409,
    meaning: 'The Idempotency-Key was used for another request.',
  },
  settled_elsewhere: {
    meaning:
      'The key was paid by another transaction than the one this agent follows. Do not pay again.',
  },
  settlement_expired: { meaning: 'The authorisation expired unused; nothing was paid.' },
  cancelled: { meaning: 'The payment was withdrawn; nothing was paid.' },
  configuration_changed: {
    status: 409,
    meaning: 'The job was begun with another funder, pool, token or chain than the agent has now.',
  },
  insufficient_balance: { meaning: "The funder's token balance is smaller than the total." },
  insufficient_gas: { meaning: 'The funder has too little of the coin that pays gas.' },
  approval_reverted: { meaning: "The token refused the funder's approval transaction." },
  approval_not_mined: { meaning: "The funder's approval transaction was not mined in time." },
  approval_unfunded: { meaning: "The funder has no coin to pay the approval's gas." },
  recipient_key_rotated: {
    meaning: 'A recipient has another encryption key than when it was last paid.',
  },
  signer_refused: { meaning: 'The funder signer refused to sign.' },
  signer_expired: { meaning: 'The signing request expired before it was approved.' },
  signer_unsupported: {
    meaning: 'The funder signer answers in a way that this version does not wait for.',
  },
  signature_rejected: {
    meaning: 'A signer answered a signature that does not hold for the document.',
  },
  malformed_payload: { meaning: 'What is to be signed is not one unsigned transaction.' },
  invalid_private_key: {
    meaning: 'A configured private key is not 32 bytes of hex in the range of the curve.',
  },
  eligibility_root_not_accepted: {
    status: 503,
    retry: true,
    meaning: 'The registry does not accept the eligibility root that was served.',
  },
  proof_invalid: { status: 400, meaning: 'The proof does not hold for the batch.' },
  prover_mock: { meaning: 'The agent is configured with a prover that proves nothing.' },
  job_unreadable: {
    status: 500,
    meaning: 'The stored job cannot be read; restore the job store from a backup.',
  },
  agent_stopping: {
    status: 503,
    retry: true,
    meaning: 'The agent stops before the job has ended; the job goes on when it starts again.',
  },
  interrupted: { meaning: 'A signal ended the command; a payment that was accepted goes on.' },
  wrong_chain: { status: 503, meaning: 'The configured RPC serves another chain.' },
  chain_unreachable: { status: 503, retry: true, meaning: 'The RPC of the chain does not answer.' },
  chain_unavailable: { retry: true, meaning: 'The chain could not be read for this check.' },
  rpc_unreachable: { retry: true, meaning: 'The relayer cannot reach the RPC of the chain.' },
  transaction_stuck: {
    retry: true,
    meaning: 'The relayer has a transaction that is not mined, and everything after it waits.',
  },
  stalled: { retry: true, meaning: 'The relayer does not work.' },
  relayer_unavailable: {
    retry: true,
    meaning: 'The relayer of the platform cannot send transactions now.',
  },
  reverted: { meaning: 'The transaction reverted; its reason is not available.' },
  out_of_gas: { meaning: 'The transaction ran out of gas.' },
} as const satisfies ErrorEntries;
