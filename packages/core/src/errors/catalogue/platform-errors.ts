/**
 * Codes of the platform and of pool-gate.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const platformErrors = {
  employer_not_found: {
    status: 409,
    meaning: 'The wallet has no employer account. Register it first.',
  },
  contract_on_another_chain: {
    status: 409,
    meaning: "The address has its contract on another chain. Sign in with that chain's id.",
  },
  contract_wallet_unsupported: {
    status: 403,
    meaning: 'A contract wallet has no public key to bind notes to. Use a wallet with a key.',
  },
  too_many_sign_ins: {
    status: 503,
    retry: true,
    meaning: 'Too many sign-ins are under way. Wait for Retry-After.',
  },
  evidence_required: {
    status: 409,
    meaning: "The session's text does not list this encryption key. Sign in again with it.",
  },
  encryption_key_mismatch: {
    status: 409,
    meaning:
      'The request names another current encryption key than the registered one. Read the enrolment.',
  },
  encryption_key_taken: {
    status: 409,
    meaning:
      'The encryption key belongs to another wallet on this platform. Generate a key of your own.',
  },
  use_rotate: {
    status: 409,
    meaning:
      'The wallet is enrolled with another encryption key. Change it with rotate-encryption-key.',
  },
  not_enrolled: { status: 409, meaning: 'The wallet is not enrolled. Enrol it first.' },
  key_limit_reached: {
    status: 409,
    meaning:
      'The wallet or employer has the maximum number of live keys or tokens. Revoke one first.',
  },
  edge_token_not_allowed: {
    status: 403,
    meaning: "The employer's wallet is not enrolled. Enrol it, or ask the operator for a token.",
  },
  not_invited: {
    status: 403,
    meaning: 'The wallet has no open invitation. Ask an employer for one.',
  },
  invitation_quota_exhausted: {
    status: 403,
    meaning:
      'The employer may invite no more wallets. Cancel unused invitations, or ask the operator for a limit.',
  },
  invitation_used: {
    status: 409,
    meaning: 'The invited wallet is enrolled. Ask the operator to remove the wallet.',
  },
  deadline_too_far: {
    status: 400,
    meaning:
      "The platform does not accept so late a deadline. Lower the agent's limits or raise the platform's, then pay under a new key.",
  },
  gas_budget_exceeded: {
    status: 429,
    retry: true,
    meaning:
      'A daily gas budget is used up. Wait for Retry-After or ask for more; a holder can `send --self-submit`.',
  },
  gas_ceiling_exceeded: {
    meaning:
      'The call needs more gas than a batch of its size gets. Use a funder whose signature check costs less.',
  },
  transaction_rejected: {
    status: 502,
    meaning:
      "The chain's node refuses the transaction for good. The operator reads the reason in the log.",
  },
  invalid_settlement: {
    status: 400,
    meaning:
      'The settlement or its withdrawal contradicts itself, its chain or its signature. Correct what the message names.',
  },
  verifier_unavailable: {
    status: 503,
    retry: true,
    meaning: 'The verifier of proofs is busy or restarting. Post again after Retry-After.',
  },
  invalid_spend: {
    status: 400,
    meaning:
      'The spend contradicts itself, its chain or its signature. Correct what the message names.',
  },
  spender_not_admitted: {
    status: 403,
    meaning:
      'The relayer serves admitted wallets only. Enrol the wallet, or withdraw with `send --self-submit`.',
  },
  spend_not_found: {
    status: 404,
    meaning: 'The API key sees no spend under that key. Check the key, or post the spend.',
  },
  settlement_not_found: {
    status: 404,
    meaning:
      'The employer has no settlement under that key. Check the key, or post the settlement.',
  },
  not_settled: {
    status: 409,
    meaning: 'The index has no final block with this batch. Wait for finality, then deliver again.',
  },
  notes_unavailable: {
    status: 503,
    meaning: 'The index disagrees with the chain. Wait until the operator has repaired it.',
  },
  note_paths_disabled: {
    status: 403,
    meaning:
      'The platform makes no note paths. Make them from the batches, or ask the operator for PLATFORM_NOTE_PATHS=on.',
  },
  batch_voided: {
    meaning: 'The funder withdrew the batch. Pay under a new key if it is still due.',
  },
  'authorization-expired': {
    meaning: 'The deadline has passed. Pay under a new key if it is still due.',
  },
  fee_cap_reached: {
    status: 503,
    retry: true,
    meaning: "The chain's fees are above the configured cap. Wait, or raise the cap.",
  },
  publication_failed: {
    status: 503,
    retry: true,
    meaning: 'The eligibility list could not be published. Repeat the call.',
  },
  eligibility_root_too_old: {
    status: 409,
    meaning:
      'The pool-gate no longer has the list of that root. Ask for `registry.current()` of a final block.',
  },
  eligibility_root_unknown: {
    status: 503,
    retry: true,
    meaning:
      "The pool-gate's root and the registry's differ. Wait until the gate has published it; else check the registry in chains.json.",
  },
  screening_unavailable: {
    status: 503,
    retry: true,
    meaning: 'The screening of wallets does not answer. Repeat the call later.',
  },
  invalid_client: {
    status: 401,
    meaning: 'The gate does not know the client or its secret. Check both.',
  },
  invalid_scope: {
    status: 400,
    meaning: 'The client may not have that scope. Request a scope of the client.',
  },
  unsupported_grant_type: {
    status: 400,
    meaning:
      'The gate grants tokens for client credentials only. Send `grant_type=client_credentials`.',
  },
  stale_generation: {
    status: 409,
    meaning:
      'The gate has a later generation of the reader, or has revoked it. Send the newest secret, or make a new reader.',
  },
  no_gate: {
    status: 409,
    meaning: 'The platform has no pool-gate configured. Configure one to use this command.',
  },
  platform_not_running: {
    status: 409,
    meaning: 'The command needs the running platform. Start it with the same data directory.',
  },
  control_file_stale: {
    meaning: 'The control file names another process than the platform. Restart the platform.',
  },
  database_unavailable: {
    status: 503,
    retry: true,
    meaning: 'The database does not answer. Check the server.',
  },
  database_lock_lost: {
    status: 503,
    retry: true,
    meaning: 'The process has lost its lock on the database. Let it restart.',
  },
  database_locked: { meaning: 'Another process uses the database. Stop it first.' },
  data_directory_locked: {
    meaning: 'Another process or sandbox uses the data directory. Stop it first.',
  },
  cannot_listen: {
    meaning: 'The configured address or port is not free. Free it or configure another one.',
  },
  size_unsupported: {
    status: 400,
    meaning:
      'The platform has no verification key for this size. Use another size, or ask the operator.',
  },
  database_refused: {
    meaning:
      'The configured database is of another program, part or version, or can lose answered writes. Do what the message says.',
  },
} as const satisfies ErrorEntries;
