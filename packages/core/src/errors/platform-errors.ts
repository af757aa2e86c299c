/**
 * Codes of the platform and of pool-gate.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const platformErrors = {
  employer_not_found: { status: 409, meaning: 'The wallet has no employer account yet.' },
  contract_on_another_chain: {
    status: 409,
    meaning: 'The account of this address belongs to its contract on another chain.',
  },
  contract_wallet_unsupported: {
    status: 403,
    meaning: 'A contract wallet has no public key that notes could be bound to.',
  },
  too_many_sign_ins: { status: 503, retry: true, meaning: 'Too many sign-ins are under way.' },
  evidence_required: {
    status: 409,
    meaning: 'The session was not signed with a text that lists this encryption key.',
  },
  encryption_key_mismatch: {
    status: 409,
    meaning: 'The current encryption key that was named is not the registered one.',
  },
  encryption_key_taken: {
    status: 409,
    meaning: 'The encryption key belongs to another wallet on this platform.',
  },
  use_rotate: {
    status: 409,
    meaning: 'The wallet is enrolled with another encryption key; rotation changes it.',
  },
  not_enrolled: { status: 409, meaning: 'The wallet is not enrolled.' },
  key_limit_reached: {
    status: 409,
    meaning: 'The wallet has as many live API keys as it may have.',
  },
  not_invited: {
    status: 403,
    meaning: 'The wallet is not invited by an employer, or its invitation has ended.',
  },
  may_not_invite: {
    status: 403,
    meaning: 'The operator has not allowed the employer to invite wallets.',
  },
  invitation_quota_exhausted: {
    status: 403,
    meaning: 'The employer has as many wallets invited and enrolled as it may have.',
  },
  invitation_used: { status: 409, meaning: 'The invited wallet is enrolled already.' },
  too_many_enrolments: {
    status: 429,
    retry: true,
    meaning: 'Too many wallets were enrolled from one network address within a day.',
  },
  deadline_too_far: {
    status: 400,
    meaning: 'The deadline of the settlement is further ahead than the platform takes.',
  },
  gas_budget_exceeded: {
    status: 429,
    retry: true,
    meaning: 'The settlements of the employer have used their gas for the day.',
  },
  gas_ceiling_exceeded: {
    meaning: 'The call needs more gas than the relayer gives a batch of its size.',
  },
  transaction_rejected: {
    status: 502,
    meaning: 'The node of the chain refuses the transaction for good.',
  },
  invalid_settlement: {
    status: 400,
    meaning: 'The settlement contradicts itself, its chain or its signature.',
  },
  invalid_void: {
    status: 400,
    meaning: "The withdrawal is not signed by the batch's funder or names another batch.",
  },
  batch_size_unsupported: {
    status: 400,
    meaning: 'The platform has no verification key for batches of that size.',
  },
  verifier_unavailable: {
    status: 503,
    retry: true,
    meaning: 'The verifier of proofs is busy or restarting.',
  },
  settlement_not_found: { status: 404, meaning: 'The employer has no settlement under that key.' },
  not_settled: { status: 409, meaning: 'The index has no final block with this batch.' },
  notes_unavailable: {
    status: 503,
    meaning: 'Notes of the chain are not served, because the index disagrees with the chain.',
  },
  batch_voided: { meaning: 'The funder withdrew the batch; it can never land.' },
  'authorization-expired': { meaning: 'The deadline of the authorisation has passed.' },
  fee_cap_reached: {
    status: 503,
    retry: true,
    meaning: 'The chain asks for higher fees than the configured cap allows.',
  },
  publication_failed: {
    status: 503,
    retry: true,
    meaning: 'The eligibility list could not be published.',
  },
  screening_unavailable: {
    status: 503,
    retry: true,
    meaning: 'The screening of wallets does not answer.',
  },
  invalid_client: {
    status: 401,
    meaning: 'The gate does not know the client, or its secret is wrong.',
  },
  invalid_scope: { status: 400, meaning: 'The client may not have the scope it asks for.' },
  unsupported_grant_type: {
    status: 400,
    meaning: 'The gate grants tokens for client credentials only.',
  },
  client_revoked: {
    status: 409,
    meaning: 'The reader of the gate was revoked by a later request.',
  },
  stale_generation: { status: 409, meaning: 'The gate has a later generation of the reader.' },
  no_gate: { status: 409, meaning: 'The platform is configured without a pool-gate.' },
  platform_not_running: { status: 409, meaning: 'The command needs the running platform.' },
  control_file_stale: {
    meaning:
      'The control file of the data directory leads to another process than the platform that uses it.',
  },
  database_unavailable: { status: 503, retry: true, meaning: 'The database does not answer.' },
  database_lock_lost: {
    status: 503,
    retry: true,
    meaning: 'The process has lost its lock on the database.',
  },
  database_locked: { meaning: 'Another process uses the database.' },
  database_newer: { meaning: 'The database was written by a later version of the program.' },
  database_not_durable: {
    meaning: 'The database server may lose what it has answered when its power fails.',
  },
  database_not_empty: { meaning: 'The database has tables of another program.' },
  database_of_another_part: {
    meaning:
      'The database belongs to the platform where the gate was started, or the other way round.',
  },
  database_unsuitable: {
    meaning:
      'The database server has a version or an encoding that the program does not work with.',
  },
  embedded_database_unused: {
    meaning: 'The data directory has an embedded database that DATABASE_URL would leave aside.',
  },
  data_directory_locked: { meaning: 'Another process uses the data directory.' },
  invalid_config: { meaning: 'A variable of the configuration is missing or malformed.' },
  cannot_listen: { meaning: 'The configured address or port cannot be listened on.' },
} as const satisfies ErrorEntries;
