/**
 * Codes of answers of the routes; the OpenAPI documents repeat their meanings. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    status: 400,
    meanings: {
      proof_invalid:
        'The proof does not verify for the batch. Check that agent and platform use keys of one ceremony.',
      prover_mock: 'The configured prover makes no proofs. Set DISBURSE_PROVER=wasm to pay.',
      deadline_too_far:
        "The platform does not accept so late a deadline. Lower the agent's limits or raise the platform's, then pay under a new key.",
      invalid_settlement:
        'The settlement or its withdrawal contradicts itself, its chain or its signature. Correct what the message names.',
      invalid_spend:
        'The spend contradicts itself, its chain or its signature. Correct what the message names.',
      invalid_scope: 'The client may not have that scope. Request a scope of the client.',
      unsupported_grant_type:
        'The gate grants tokens for client credentials only. Send `grant_type=client_credentials`.',
      size_unsupported:
        'The platform has no verification key for this size. Use another size, or ask the operator.',
      invalid_encryption_key:
        'The value is no packed Baby Jubjub point of the prime-order subgroup. Send P as the wallet derives it.',
    },
  },
  {
    status: 400,
    exit: 2,
    meanings: {
      too_many_recipients:
        'The transfer has more payees than one proof can pay. Split it into transfers with a key each.',
    },
  },
  {
    status: 401,
    meanings: {
      invalid_client: 'The gate does not know the client or its secret. Check both.',
    },
  },
  {
    status: 403,
    meanings: {
      holder_read_only: 'This agent has no signer key. Use the agent that has the key of W.',
      contract_wallet_unsupported:
        'A contract wallet has no public key to bind notes to. Use a wallet with a key.',
      edge_token_not_allowed:
        "The employer's wallet is not enrolled. Enrol it, or ask the operator for a token.",
      not_invited: 'The wallet has no open invitation. Ask an employer for one.',
      invitation_quota_exhausted:
        'The employer may invite no more wallets. Cancel unused invitations, or ask the operator for a limit.',
      spender_not_admitted:
        'The relayer serves admitted wallets only. Enrol the wallet, or withdraw with `send --self-submit`.',
      note_paths_disabled:
        'The platform makes no note paths. Make them from the batches, or ask the operator for PLATFORM_NOTE_PATHS=on.',
      wallet_mismatch:
        'The wallet key is not that of the address or session. Sign in with the wallet itself.',
    },
  },
  {
    status: 404,
    meanings: {
      spend_not_found:
        'The API key sees no spend under that key. Check the key, or post the spend.',
      settlement_not_found:
        'The employer has no settlement under that key. Check the key, or post the settlement.',
      unknown_leaf: 'The tree has no leaf there. Correct the index.',
    },
  },
  {
    status: 409,
    meanings: {
      configuration_changed:
        'The job began with another funder, pool, token or chain. Restore those until it has ended.',
      employer_not_found: 'The wallet has no employer account. Register it first.',
      contract_on_another_chain:
        "The address has its contract on another chain. Sign in with that chain's id.",
      evidence_required:
        "The session's text does not list this encryption key. Sign in again with it.",
      encryption_key_mismatch:
        'The request names another current encryption key than the registered one. Read the enrolment.',
      encryption_key_taken:
        'The encryption key belongs to another wallet on this platform. Generate a key of your own.',
      use_rotate:
        'The wallet is enrolled with another encryption key. Change it with rotate-encryption-key.',
      not_enrolled: 'The wallet is not enrolled. Enrol it first.',
      key_limit_reached:
        'The wallet or employer has the maximum number of live keys or tokens. Revoke one first.',
      invitation_used: 'The invited wallet is enrolled. Ask the operator to remove the wallet.',
      invitation_taken:
        'A wallet has accepted this invitation, or the wallet has accepted another one of the employer. Use the wallet that did.',
      invitation_ended:
        'The invitation has expired, or the employer has withdrawn it. Ask the employer for a new link.',
      not_settled:
        'The index has no final block with this batch. Wait for finality, then deliver again.',
      eligibility_root_too_old:
        'The pool-gate no longer has the list of that root. Ask for `registry.current()` of a final block.',
      no_gate:
        'The platform has no pool-gate configured, so no wallet is eligible. The operator sets PLATFORM_GATE_URL.',
      stale_generation:
        'The gate has a later generation of the reader, or has revoked it. Send the newest secret, or make a new reader.',
    },
  },
  {
    status: 409,
    exit: 3,
    meanings: {
      note_already_spent:
        'Another spend used a note of this one. Read the balance and spend under a new key.',
    },
  },
  {
    status: 409,
    exit: 6,
    meanings: {
      consolidation_required:
        'One proof cannot take so many notes. Spend at most `largestSpend`, or run `disburse-agent consolidate` first.',
    },
  },
  {
    status: 429,
    retry: true,
    meanings: {
      gas_budget_exceeded:
        'A daily gas budget is used up. Wait for Retry-After or ask for more; a holder can `send --self-submit`.',
    },
  },
  {
    status: 500,
    meanings: {
      spend_not_archived:
        "The spend's manifest could not be stored. Check the disk, then repeat the request.",
    },
  },
  {
    status: 500,
    exit: 8,
    meanings: {
      spend_unreadable:
        'The archived spend of this key is unreadable. Restore it, or read the chain, before you pay under a new key.',
    },
  },
  {
    status: 502,
    meanings: {
      gate_unauthorized:
        'The pool-gate refuses the credential of the agent or the platform. Check POOL_GATE_OAUTH_* or what the platform vends; on the platform, its client at the gate.',
    },
  },
  {
    status: 502,
    retry: true,
    meanings: {
      gate_invalid_response:
        "The pool-gate's answer is malformed or contradicts its root. Report it if it repeats.",
    },
  },
  {
    status: 503,
    meanings: {
      holder_unavailable:
        "The signer's key, the viewing key, the role's API key or chains.json is missing or wrong. Correct what the message names and restart.",
      note_history_changed:
        'The chain replaced a block that was final. Check the RPC, then run `disburse-agent rescan`.',
      note_cache_unavailable:
        "A file of the holder's notes cannot be used now and is kept. Do what the message says.",
      wrong_chain: 'The configured RPC serves another chain. Correct rpcUrl in chains.json.',
      employer_mismatch:
        'The platform names another employer than this agent directory (`disburse-agent tenancy show`). Check the URL and the token.',
      tenancy_unreadable:
        "The file of this agent directory's employer cannot be read. Restore it from a backup.",
      notes_unavailable:
        'The index disagrees with the chain. Wait until the operator has repaired it.',
    },
  },
  {
    status: 503,
    retry: true,
    meanings: {
      note_history_incomplete:
        "The RPC's events disagree with the pool. If it repeats, use another RPC.",
      note_cache_changed:
        "The holder's note cache is damaged, or another process wrote it. Wait; the agent opens it again.",
      gate_unreachable: 'The pool-gate does not answer. Check its URL and the network.',
      chain_unreachable: "The chain's RPC does not answer. Check the RPC.",
      verification_unavailable:
        'API keys cannot be verified now. Try again, or check DISBURSE_PLATFORM_VERIFY_URL.',
      too_many_sign_ins: 'Too many sign-ins are under way. Wait for Retry-After.',
      verifier_unavailable:
        'The verifier of proofs is busy or restarting. Post again after Retry-After.',
      publication_failed:
        'The wallet could not be screened, or the eligibility list not be published. Repeat the call.',
      eligibility_root_unknown:
        "The pool-gate's root and the registry's differ. Wait until the gate has published it; else check the registry in chains.json.",
      database_unavailable: 'The database does not answer. Check the server.',
      tree_full: 'The tree has no empty leaf. Remove a wallet, or wait until the operator has.',
    },
  },
  {
    status: 504,
    exit: 3,
    meanings: {
      settlement_expired: 'The authorisation expired unpaid. Pay again under a new key.',
    },
  },
  {
    status: 504,
    exit: 8,
    meanings: {
      spend_unfinished:
        'The spend can still land. Read the chain or the balance after the deadline before you pay again.',
    },
  },
] as const satisfies readonly ErrorGroup[];
