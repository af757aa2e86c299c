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
    meaning:
      "The chain is unknown, has no pool or has no funder signer. Use a chain of the agent's chains.json.",
  },
  'invalid-token': {
    exit: 2,
    status: 400,
    meaning: 'The token is no pool symbol of the chain. Use a listed symbol, never an address.',
  },
  'batch-too-large': {
    exit: 2,
    status: 400,
    meaning:
      "The call has more recipients than the chain's limit. Split it into calls with a key each.",
  },
  'invalid-amount': {
    exit: 2,
    status: 400,
    meaning:
      'An amount or the sum is not a whole number from 1 to 2^128 - 1. Correct the named amount.',
  },
  'invalid-address': {
    exit: 2,
    status: 400,
    meaning: 'An address does not parse for its chain. Correct the named address.',
  },
  'duplicate-recipient': {
    exit: 2,
    status: 400,
    meaning: 'A recipient appears twice in one call. Merge the two entries.',
  },
  'unregistered-recipient': {
    exit: 2,
    status: 400,
    meaning:
      'A recipient is not enrolled or eligible. Ask the recipient to enrol, or use `unregistered: skip`.',
  },
  idempotency_conflict: {
    exit: 2,
    status: 409,
    meaning: 'The Idempotency-Key was used for another request. Find out what that one paid.',
  },
  settled_elsewhere: {
    meaning:
      'Another settlement has paid the key, or still may. Look at the named transaction before you pay again.',
  },
  note_already_spent: {
    exit: 3,
    status: 409,
    meaning: 'Another spend used a note of this one. Read the balance and spend under a new key.',
  },
  settlement_expired: {
    exit: 3,
    status: 504,
    meaning: 'The authorisation expired unpaid. Pay again under a new key.',
  },
  cancelled: {
    meaning: 'The payment was withdrawn unpaid. Pay under a new key if it is still due.',
  },
  configuration_changed: {
    status: 409,
    meaning:
      'The job began with another funder, pool, token or chain. Restore those until it has ended.',
  },
  insufficient_balance: {
    meaning: 'The funder has too few tokens. Send it some, then pay under a new key.',
  },
  insufficient_gas: {
    meaning: 'The funder has too little coin for gas. Send it some, then pay under a new key.',
  },
  recipient_key_rotated: {
    meaning:
      "A recipient's encryption key changed since it was last paid. Ask whether it was rotated.",
  },
  signer_refused: {
    meaning:
      'The signer of the funder or holder refused. Read its reason, then pay under a new key.',
  },
  signer_expired: {
    meaning: 'The signing request was not approved in time. Pay under a new key.',
  },
  signature_rejected: {
    meaning: "A signer's signature does not verify. Check that it holds the configured key.",
  },
  proof_invalid: {
    status: 400,
    meaning:
      'The proof does not verify for the batch. Check that agent and platform use keys of one ceremony.',
  },
  prover_mock: {
    status: 400,
    meaning: 'The configured prover makes no proofs. Set DISBURSE_PROVER=wasm to pay.',
  },
  job_unreadable: {
    status: 500,
    meaning: 'The job store holds an unreadable job. Restore it before you pay under a new key.',
  },
  interrupted: {
    meaning: 'A signal ended the command. An accepted payment continues; ask for it by its key.',
  },
  wrong_chain: {
    status: 503,
    meaning: 'The configured RPC serves another chain. Correct rpcUrl in chains.json.',
  },
  pool_code_differs: {
    status: 503,
    meaning:
      'A contract of the pool does not have the code of the pinned keys. Compare chains.json and the manifest with the published ones.',
  },
  chain_unreachable: {
    status: 503,
    retry: true,
    meaning: "The chain's RPC does not answer. Check the RPC.",
  },
  transaction_stuck: {
    retry: true,
    meaning:
      'A transaction of the relayer is not mined, and later ones wait. The operator looks at nonce and fees.',
  },
  stalled: {
    retry: true,
    meaning: "The relayer's worker has stopped, and payments wait. The operator restarts it.",
  },
  relayer_unavailable: {
    retry: true,
    meaning: "The platform's relayer cannot send transactions now. Payments wait until it can.",
  },
  reverted: {
    meaning: 'The transaction reverted without a known reason. Look at it on the chain.',
  },
  out_of_gas: {
    meaning: 'The transaction ran out of gas. Report it to the operator, who sets the limits.',
  },
  approval_failed: {
    meaning:
      "The funder's approve transaction reverted, or was not mined in time. Do what the message says, then pay under a new key.",
  },
} as const satisfies ErrorEntries;
