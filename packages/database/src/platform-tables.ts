/**
 * The platform's tables. Times are ISO text in UTC and amounts decimal text, so that no driver
 * converts them between the wire and the row; hashes and keys are 0x hex text.
 *
 * @module
 */
import type { Capability, Readiness } from '@pool/api';
import type { Generated, GeneratedAlways, Kysely } from 'kysely';

export type PlatformTables = {
  /** `caller`: SHA-256 of the address that asked. */
  sign_in_nonces: { nonce: string; expires_at: string; caller: string | null };
  sessions: {
    /** SHA-256 of the cookie value. */
    id_hash: string;
    address: string;
    /** W; null for a contract wallet, which has none. */
    wallet_pub: string | null;
    /** Chain whose contract accepted the sign-in; null for a wallet with a key. */
    contract_chain_id: number | null;
    /** The signed text and its signature: the evidence that P belongs to W. */
    message: string;
    signature: string;
    expires_at: string;
    /** SHA-256 of the address that signed in. */
    caller: Generated<string | null>;
    /** Whether the wallet has an employer account. Sessions of the others are bounded per caller. */
    has_account: Generated<boolean>;
  };
  employers: {
    id: string;
    address: string;
    name: string | null;
    created_at: string;
    /** For a contract wallet: the chain of the contract. Another chain may have another contract at its address. */
    contract_chain_id: Generated<number | null>;
    /** How many wallets it may have invited and enrolled; null: the limit of the configuration. */
    wallet_limit: Generated<number | null>;
  };
  /** Wallets that employers let enrol. */
  invitations: {
    employer_id: string;
    address: string;
    created_at: string;
    expires_at: string;
    /** When the wallet used it. */
    enrolled_at: string | null;
  };
  /** What a caller's address did within a day: enrolments, or opened accounts. `caller`: SHA-256 (charge-caller.ts). */
  enrolment_windows: { caller: string; began_at: string; enrolments: number };
  subjects: {
    address: string;
    wallet_pub: string;
    wallet_id: string;
    encryption_public_key: string;
    evidence_message: string;
    evidence_signature: string;
    readiness: Readiness;
    whitelisted_at: string | null;
    created_at: string;
    /** Gate writes begun for this wallet, and the highest of them that the gate has answered. */
    gate_attempts: Generated<number>;
    gate_answered: Generated<number>;
    /** When it was charged for its place in the eligibility tree; null: never, or the operator removed it. */
    claimed_at: Generated<string | null>;
    /** When the gate put it on the eligibility list; null: not yet, the gate denied it, or the operator removed it. */
    admitted_at: string | null;
  };
  /** The permanent owner of each encryption key: after a rotation the old key stays closed to other wallets. */
  encryption_keys: { encryption_public_key: string; address: string; created_at: string };
  api_keys: {
    id: Generated<number>;
    employer_id: string;
    public_id: string;
    secret_hash: string;
    capability: Capability;
    name: string;
    created_at: string;
    revoked_at: string | null;
    /** Spends posted with this key whose proof did not verify. */
    refused_proofs: Generated<number>;
  };
  /** Keys that this platform made for itself, hex. A backup has them together with what was made with them. */
  platform_keys: { name: string; value: string };
  /** The client with which an employer's agents read the pool-gate. Its secret is derived, not stored. */
  gate_readers: {
    employer_id: string;
    client_id: string;
    generation: number;
    /** The last state that the gate acknowledged. */
    acknowledged: string | null;
    revoked_at: string | null;
    created_at: string;
  };
  edge_tokens: {
    id: Generated<number>;
    employer_id: string;
    public_id: string;
    secret_hash: string;
    name: string;
    created_at: string;
    revoked_at: string | null;
    /** Settlements sent with this token whose proof did not verify. */
    refused_proofs: Generated<number>;
    /** Who made it. Only a token of the operator lets its employer invite wallets. */
    issued_by: Generated<'operator' | 'session'>;
  };
  submissions: SubmissionTable;
  sealed_notes: {
    submission_id: number;
    slot: number;
    commitment: string;
    encryption_public_key: string;
    sealed: string;
  };
  relayer_transactions: {
    id: Generated<number>;
    submission_id: number;
    chain: string;
    /** The account whose nonce it takes. */
    sender: string;
    nonce: number;
    tx_hash: string;
    raw_transaction: string;
    /**
     * `void`: withdraws the batch. `cancel`: pays 0 to the relayer itself, to free the nonce of a batch or spend that can
     * no longer land.
     */
    purpose: 'fund' | 'spend' | 'void' | 'cancel';
    /**
     * `open`: may still be mined, as may every other open one of its nonce. `reverted`, `cancelled`: final.
     * `dropped`: another transaction took the nonce.
     */
    state: 'open' | 'succeeded' | 'reverted' | 'cancelled' | 'dropped';
    created_at: string;
    /** Set with every transaction that is signed. */
    gas_limit: Generated<number | null>;
    /** Set once it is mined and final. */
    gas_used: Generated<number | null>;
    /** What it offers per unit of gas. Set with every transaction that is signed. */
    max_fee_wei: Generated<string | null>;
  };
  /** The leaves of the note tree, as the pool's events have them. */
  batches: {
    chain: string;
    leaf_index: number;
    /** `spend`: the outputs of a spend. */
    kind: Generated<'fund' | 'spend'>;
    batch_root: string;
    /** Root of the note tree with this leaf. */
    new_root: string;
    /** Null: a spend has none. */
    batch_id: string | null;
    /** JSON list in slot order. */
    commitments: string;
    sealed_notes_hash: string;
    tx_hash: string;
    block_number: number;
    /** The settlement or spend whose sealed notes belong to this leaf, when this platform has them. */
    submission_id: Generated<number | null>;
    /** A spend whose notes are served to everybody, because nobody vouches for their labels. */
    open_notes: Generated<boolean>;
    /** When the notes of a spend that nobody posted here were last looked for in its transaction. */
    notes_sought_at: Generated<string | null>;
  };
  /** Full pages of `/agent-edge/batches`, as they are served (batch-pages.ts). */
  batch_pages: {
    chain: string;
    first_leaf: number;
    /** The leaf after the last one of the page. */
    next_leaf: number;
    etag: string;
    body: string;
  };
  /** Sealed notes of a spend that nobody posted here, from its event. */
  calldata_notes: {
    chain: string;
    leaf_index: number;
    slot: number;
    /** Lower case. Null: the transaction calls the pool through another contract, so the token is not known. */
    token: string | null;
    commitment: string;
    sealed: string;
  };
  /**
   * The leaves whose notes are served to everybody, in the order in which they became so: a stream with a cursor of its own, to which
   * only the indexer appends.
   */
  open_leaves: {
    seq: Generated<number>;
    chain: string;
    leaf_index: number;
    /** Lower case. Null: not known, so under each token. */
    token: string | null;
  };
  /** Nullifiers of the spends, by their place in the event. */
  nullifiers: { chain: string; nullifier: string; leaf_index: number; place: number };
  indexer_cursors: {
    chain: string;
    block_number: number;
    block_hash: string;
    /** Why the indexer halted; while set, no notes are served. */
    halted: string | null;
    /** The inner nodes that the next leaf of the note tree is hashed with, JSON; null: they are made from all leaves. */
    frontier: Generated<string | null>;
    /** Address of the pool whose leaves are indexed, in lower case; null: stored before a row named its pool. */
    pool: Generated<string | null>;
  };
};

/** What the relayer carries out: a settlement of an employer, or a spend (transfer, withdrawal) of a holder. */
export type SubmissionTable = {
  id: Generated<number>;
  kind: 'settlement' | 'spend';
  /** Id of the employer, or address of the holder's account. */
  owner: string;
  /** The owner of a settlement. */
  employer_id: GeneratedAlways<string | null>;
  key: string;
  chain: string;
  token: string;
  deadline: number;
  /** Of the batch, or of the outputs of the spend, which it identifies on chain. */
  root: string;
  /** The id that the contract derives from funder and batch nonce: it identifies a batch. Null: a spend. */
  batch_id: Generated<string | null>;
  /** Of a note that certainly is one: dummies are in later places only. Null: a settlement. */
  first_nullifier: Generated<string | null>;
  sealed_notes_hash: string;
  /** The request without its sealed notes, JSON. */
  request: string;
  state: 'accepted' | 'submitted' | 'settled' | 'reverted';
  /** Gas that its transaction may take; counted while the row is `accepted` (gas-budget.ts). */
  gas_reserved: Generated<number>;
  tx_hash: Generated<string | null>;
  block_number: Generated<number | null>;
  gas_used: Generated<string | null>;
  error_code: Generated<string | null>;
  error_message: Generated<string | null>;
  /** Set when a later attempt took the key: the row is history then. */
  superseded_at: Generated<string | null>;
  /** Set when its sealed notes were erased, because it can never land; null again once those of a batch are stored again. */
  notes_erased_at: Generated<string | null>;
  /** The funder's signature under `voidBatch`. While it is set, no `fund()` is signed or sent for this row. */
  void_signature: Generated<string | null>;
  /** Of the request that a batch pays, and the name of the key it was made with: from the first post. */
  body_fingerprint: Generated<string | null>;
  body_fingerprint_key: Generated<string | null>;
  /** When another post of the same spend named other encryption keys. */
  labels_disputed_at: Generated<string | null>;
  created_at: string;
};

export type PlatformDatabase = Kysely<PlatformTables>;
