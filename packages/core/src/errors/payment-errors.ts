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
      "The chain is unknown, unsupported, without a pool, or has no funder signer. Use a chain that the agent's chains.json names with a pool.",
  },
  'invalid-token': {
    exit: 2,
    status: 400,
    meaning:
      'The token is not a pool symbol configured for the chain. Use a symbol that the message lists; an address is never accepted.',
  },
  'batch-too-large': {
    exit: 2,
    status: 400,
    meaning:
      "There are more recipients than the chain's limit for one call. Split the roster into several calls, each with its own key.",
  },
  'invalid-amount': {
    exit: 2,
    status: 400,
    meaning:
      'An amount is not a positive whole number of base units below 2^128, or the sum is too large. Correct the amount that the message names.',
  },
  'invalid-address': {
    exit: 2,
    status: 400,
    meaning: 'An address does not parse for its chain. Correct the address that the message names.',
  },
  'duplicate-recipient': {
    exit: 2,
    status: 400,
    meaning: 'The same recipient appears twice in one call. Merge the two entries.',
  },
  'unregistered-recipient': {
    exit: 2,
    status: 400,
    meaning:
      'A recipient has no enrolled wallet key or encryption key, or is not eligible. Ask the recipient to enrol, or leave it out with `unregistered: skip`.',
  },
  invalid_memo: {
    status: 400,
    meaning: 'A memo is too long or is not well-formed text. Shorten or correct it.',
  },
  idempotency_conflict: {
    exit: 2,
    status: 409,
    meaning:
      'The Idempotency-Key was used for another request. Find out what that request paid; use a new key for a new payment.',
  },
  settled_elsewhere: {
    meaning:
      "The key is paid, or may still be, by a settlement that is not this job's. Do not pay again before you have looked at the transaction that the message names.",
  },
  note_already_spent: {
    exit: 3,
    status: 409,
    meaning:
      'A note of the spend was used up by another spend, so this one can never land. Read the balance again and spend other notes under a new key.',
  },
  settlement_expired: {
    exit: 3,
    status: 504,
    meaning: 'The authorisation expired unused and nothing was paid. Pay again under a new key.',
  },
  cancelled: {
    meaning:
      'The payment was withdrawn and nothing was paid. Pay under a new key if it is still due.',
  },
  configuration_changed: {
    status: 409,
    meaning:
      'The job began with another funder, pool, token or chain than the agent has now. Restore those settings until the job has ended.',
  },
  insufficient_balance: {
    meaning:
      "The funder's token balance is smaller than the total. Send tokens to the funder, then pay under a new key.",
  },
  insufficient_gas: {
    meaning:
      'The funder has too little of the coin that pays gas. Send it some, then pay under a new key.',
  },
  approval_reverted: {
    meaning:
      "The token contract reverted the funder's approve transaction, so nothing was sent to the pool. Check whether the token blocks or pauses the funder, then pay under a new key.",
  },
  approval_not_mined: {
    meaning:
      "The funder's approve transaction was not mined in time, so the batch was not sent. Check the funder's pending transactions and the chain's fees, then pay under a new key.",
  },
  approval_unfunded: {
    meaning:
      "The funder has too little of the chain's coin to pay the gas of its approve transaction. Send it some, then pay under a new key.",
  },
  recipient_key_rotated: {
    meaning:
      'A recipient has another encryption key than when this agent last paid it. Ask the recipient whether it rotated its key before you pay.',
  },
  signer_refused: {
    meaning:
      "The funder signer refused to sign the batch, so nothing was paid. Read the signer's reason in the message, correct its policy or the request, and pay under a new key.",
  },
  signer_expired: {
    meaning:
      'The signing request expired before it was approved, so nothing was paid. Pay under a new key and approve it in time.',
  },
  signature_rejected: {
    meaning:
      'A signer returned a signature that does not verify for the document. Check that the signer holds the configured key.',
  },
  malformed_payload: {
    meaning:
      'The document to sign is not one unsigned transaction. Report it; the signer signs nothing else of this kind.',
  },
  invalid_private_key: {
    meaning:
      "A configured private key is not 32 bytes of hex in the curve's range. Correct the variable that the message names.",
  },
  eligibility_root_not_accepted: {
    status: 503,
    retry: true,
    meaning:
      'The registry does not accept the eligibility root that the pool-gate served. Wait until the gate has published its root; the agent asks again.',
  },
  proof_invalid: {
    status: 400,
    meaning:
      'The Groth16 proof does not verify for the batch. The platform stores nothing, and an agent that finds it signs nothing; check that agent and platform use the keys of the same ceremony.',
  },
  prover_mock: {
    status: 400,
    meaning:
      'The agent is configured with a prover that makes no proofs. Set DISBURSE_PROVER=wasm to pay.',
  },
  job_unreadable: {
    status: 500,
    meaning:
      "The job store holds a job that cannot be read, or that contradicts itself. Restore the agent's job store from a backup; do not pay again under a new key before you have.",
  },
  agent_stopping: {
    status: 503,
    retry: true,
    meaning:
      'The agent stops before the job has ended. The job continues when the agent starts again; ask then.',
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
      'A contract of the pool on chain does not have the code that the pinned keys give. Nothing is funded or enrolled there. Compare chains.json and the manifest of keys with those that were published.',
  },
  chain_unreachable: {
    status: 503,
    retry: true,
    meaning: 'The RPC of the chain does not answer. Check the RPC; the call can succeed later.',
  },
  chain_unavailable: {
    retry: true,
    meaning: 'The chain could not be read for this check. Check the RPC and run the check again.',
  },
  rpc_unreachable: {
    retry: true,
    meaning:
      "The relayer cannot reach the RPC of the chain. Payments wait; the platform's operator checks the RPC.",
  },
  transaction_stuck: {
    retry: true,
    meaning:
      "A transaction of the relayer is not mined, and all later ones wait. Payments wait; the platform's operator looks at the relayer's nonce and fees.",
  },
  stalled: {
    retry: true,
    meaning:
      "The relayer's worker has stopped. Payments wait; the platform's operator restarts it.",
  },
  relayer_unavailable: {
    retry: true,
    meaning: "The platform's relayer cannot send transactions now. Payments wait until it can.",
  },
  reverted: {
    meaning:
      'The transaction reverted, and its reason is not available. Look at the transaction on the chain.',
  },
  out_of_gas: {
    meaning:
      "The transaction ran out of gas. Report it to the platform's operator, who sets the gas limits.",
  },
} as const satisfies ErrorEntries;
