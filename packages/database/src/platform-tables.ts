/**
 * The platform's tables. Times are ISO text in UTC and amounts decimal text, so that no driver
 * converts them between the wire and the row; hashes and keys are 0x hex text.
 *
 * Once released, a description is never edited: a later change of the tables is the next number of the migrations, with a description of
 * what it adds.
 *
 * @module
 */
import type { Capability, Readiness } from '@pool/api';
import type { Generated, Kysely } from 'kysely';
import type { Migration } from './open-database.ts';
import { createTables, describeTables, sharedTables, type TablesOf, typed } from './table.ts';

const tables = describeTables({
  ...sharedTables,
  sign_in_nonces: {
    nonce: 'text primary key',
    expires_at: 'text not null',
    /** SHA-256 of the address that asked. */
    caller: 'text',
  },
  sessions: {
    /** SHA-256 of the cookie value. */
    id_hash: 'text primary key',
    address: 'text not null',
    /** W; null for a contract wallet, which has none. */
    wallet_pub: 'text',
    /** The signed text and its signature: the evidence that P belongs to W. */
    message: 'text not null',
    signature: 'text not null',
    expires_at: 'text not null',
    /** Chain whose contract accepted the sign-in; null for a wallet with a key. */
    contract_chain_id: 'bigint',
    /** SHA-256 of the address that signed in. It bounds the sessions of wallets without an account. */
    caller: 'text',
    /** Whether the wallet has an employer account. */
    has_account: 'boolean not null default true',
  },
  employers: {
    id: 'text primary key',
    address: 'text not null unique',
    name: 'text',
    created_at: 'text not null',
    /** For a contract wallet: the chain of the contract. Another chain may have another contract at its address. */
    contract_chain_id: 'bigint',
    /** How many wallets it may have invited and enrolled; null: the limit of the configuration. */
    wallet_limit: 'integer',
  },
  /** Wallets that employers let enrol: those that may take a leaf of the eligibility tree. */
  invitations: {
    employer_id: 'text not null references employers (id)',
    address: 'text not null',
    created_at: 'text not null',
    expires_at: 'text not null',
    /** When the wallet used it. */
    enrolled_at: 'text',
  },
  /** What a caller's address did within a day: enrolments, or opened accounts. */
  enrolment_windows: {
    /** SHA-256 (charge-caller.ts). */
    caller: 'text primary key',
    began_at: 'text not null',
    enrolments: 'integer not null',
  },
  subjects: {
    address: 'text primary key',
    wallet_pub: 'text not null unique',
    wallet_id: 'text not null unique',
    encryption_public_key: 'text not null',
    evidence_message: 'text not null',
    evidence_signature: 'text not null',
    readiness: typed<Readiness>('text not null'),
    whitelisted_at: 'text',
    created_at: 'text not null',
    /** Gate writes begun for this wallet, and the highest of them that the gate has answered. */
    gate_attempts: 'integer not null default 0',
    gate_answered: 'integer not null default 0',
    /** When the gate put it on the eligibility list; null: not yet, the gate denied it, or the operator removed it. */
    admitted_at: 'text',
    /** When it was charged for its place in the eligibility tree; null: never, or the operator removed it. */
    claimed_at: 'text',
  },
  /** The permanent owner of each encryption key: after a rotation the old key stays closed to other wallets. */
  encryption_keys: {
    encryption_public_key: 'text primary key',
    address: 'text not null',
    created_at: 'text not null',
  },
  /** API keys, and edge tokens of agents. */
  credentials: {
    id: 'integer generated always as identity primary key',
    employer_id: 'text not null references employers (id)',
    public_id: 'text not null unique',
    secret_hash: 'text not null',
    /** Of an API key. Null: an edge token. */
    capability: typed<Capability | null>('text'),
    name: 'text not null',
    created_at: 'text not null',
    revoked_at: 'text',
    /** Settlements or spends posted with it whose proof did not verify. */
    refused_proofs: 'integer not null default 0',
    /** Who made it. Only an edge token of the operator lets its employer invite wallets. */
    issued_by: typed<'operator' | 'session'>('text not null'),
  },
  /** The client with which an employer's agents read the pool-gate. Its secret is derived, not stored. */
  gate_readers: {
    employer_id: 'text primary key references employers (id)',
    client_id: 'text not null unique',
    generation: 'bigint not null',
    /** The last state that the gate acknowledged. */
    acknowledged: 'text',
    revoked_at: 'text',
    created_at: 'text not null',
  },
  /** What the relayer carries out: settlements of employers, and spends (transfers, withdrawals) of holders. */
  submissions: {
    id: 'integer generated always as identity primary key',
    kind: typed<'settlement' | 'spend'>('text not null'),
    /** Id of the employer, or address of the holder's account. */
    owner: 'text not null',
    /** The owner of a settlement. */
    employer_id:
      "text references employers (id) generated always as (case when kind = 'settlement' then owner end) stored",
    key: 'text not null',
    chain: 'text not null',
    token: 'text not null',
    deadline: 'bigint not null',
    /** Of the batch, or of the outputs of the spend, which it identifies on chain. */
    root: 'text not null',
    /** The id that the contract derives from funder and batch nonce: it identifies a batch, and binds its funder. Null: a spend. */
    batch_id: 'text',
    /** Of a note that certainly is one: dummies are in later places only. Null: a settlement. */
    first_nullifier: 'text',
    sealed_notes_hash: 'text not null',
    /** The request without its sealed notes, JSON. */
    request: 'text not null',
    state: typed<'accepted' | 'submitted' | 'settled' | 'reverted'>('text not null'),
    /** Gas that its transaction may take; counted while the row is `accepted` (gas-budget.ts). */
    gas_reserved: 'integer not null default 0',
    tx_hash: 'text',
    block_number: 'integer',
    gas_used: 'text',
    error_code: 'text',
    error_message: 'text',
    /** Set when a later attempt took the key: the row is history then. */
    superseded_at: 'text',
    /** Set when its sealed notes were erased, because it can never land; null again once those of a batch are stored again. */
    notes_erased_at: 'text',
    /** The funder's signature under `voidBatch`. While it is set, no `fund()` is signed or sent for this row. */
    void_signature: 'text',
    /** Of the request that a batch pays, and the name of the key it was made with: from the first post. */
    body_fingerprint: 'text',
    body_fingerprint_key: 'text',
    /** When another post of the same spend named other encryption keys. */
    labels_disputed_at: 'text',
    created_at: 'text not null',
  },
  sealed_notes: {
    submission_id: 'integer not null references submissions (id)',
    slot: 'integer not null',
    commitment: 'text not null',
    encryption_public_key: 'text not null',
    sealed: 'text not null',
  },
  relayer_transactions: {
    id: 'integer generated always as identity primary key',
    submission_id: 'integer not null references submissions (id)',
    chain: 'text not null',
    /** The account whose nonce it takes: the relayer's account can change. */
    sender: 'text not null',
    nonce: 'integer not null',
    /** 0: the first transaction of the nonce. Each later one replaces the one before. */
    attempt: 'integer not null default 0',
    tx_hash: 'text not null unique',
    raw_transaction: 'text not null',
    /**
     * `void`: withdraws the batch. `cancel`: pays 0 to the relayer itself, to free the nonce of a batch or spend that can
     * no longer land.
     */
    purpose: typed<'fund' | 'spend' | 'void' | 'cancel'>("text not null default 'fund'"),
    /**
     * `open`: may still be mined, as may every other open one of its nonce. `reverted`, `cancelled`: final.
     * `dropped`: another transaction took the nonce.
     */
    state: typed<'open' | 'succeeded' | 'reverted' | 'cancelled' | 'dropped'>('text not null'),
    /** Set with every transaction that is signed. */
    gas_limit: 'integer',
    /** Set once it is mined and final. */
    gas_used: 'integer',
    /** What it offers per unit of gas. Set with every transaction that is signed. */
    max_fee_wei: 'text',
    created_at: 'text not null',
  },
  /** The leaves of the note tree, as the pool's events have them. */
  batches: {
    chain: 'text not null',
    leaf_index: 'integer not null',
    /** `spend`: the outputs of a spend. */
    kind: typed<Generated<'fund' | 'spend'>>("text not null default 'fund'"),
    batch_root: 'text not null',
    /** Null: a spend has none. */
    batch_id: 'text',
    sealed_notes_hash: 'text not null',
    tx_hash: 'text not null',
    block_number: 'integer not null',
    /** The settlement or spend whose sealed notes belong to this leaf, when this platform has them. */
    submission_id: 'integer references submissions (id)',
    /** Root of the note tree with this leaf. */
    new_root: 'text not null',
    /** JSON list in slot order. */
    commitments: 'text not null',
    /** A spend whose notes are served to everybody, because nobody vouches for their labels. */
    open_notes: 'boolean not null default false',
    /** When the notes of a spend that nobody posted here were last looked for in its transaction. */
    notes_sought_at: 'text',
  },
  /** Nullifiers of the spends, by their place in the event. */
  nullifiers: {
    chain: 'text not null',
    nullifier: 'text not null',
    leaf_index: 'integer not null',
    place: 'integer not null',
  },
  /** Sealed notes of a spend that nobody posted here, from its event. */
  calldata_notes: {
    chain: 'text not null',
    leaf_index: 'integer not null',
    slot: 'integer not null',
    /** Lower case. Null: the transaction calls the pool through another contract, so the token is not known. */
    token: 'text',
    commitment: 'text not null',
    sealed: 'text not null',
  },
  /**
   * The leaves whose notes are served to everybody, in the order in which they became so: a stream with a cursor of its own, to which
   * only the indexer appends. A late one is at its end, and nobody reads again from the start.
   */
  open_leaves: {
    seq: 'integer generated always as identity primary key',
    chain: 'text not null',
    leaf_index: 'integer not null',
    /** Lower case. Null: not known, so under each token. */
    token: 'text',
  },
  /** Full pages of `/agent-edge/batches`, as they are served (batch-pages.ts). They are made of `batches`, and may be deleted. */
  batch_pages: {
    chain: 'text not null',
    first_leaf: 'integer not null',
    /** The leaf after the last one of the page. */
    next_leaf: 'integer not null',
    etag: 'text not null',
    body: 'text not null',
  },
  indexer_cursors: {
    chain: 'text primary key',
    block_number: 'integer not null',
    block_hash: 'text not null',
    /** Why the indexer halted; while set, no notes are served. */
    halted: 'text',
    /** The inner nodes that the next leaf of the note tree is hashed with, JSON; null: they are made from all leaves. */
    frontier: 'text',
    /** Address of the pool whose leaves are indexed, in lower case; null: the indexer halted before its first range. */
    pool: 'text',
  },
});

/** What holds between columns, and the indexes. */
const rules = [
  `alter table sessions add constraint sessions_one_kind
    check ((wallet_pub is null) <> (contract_chain_id is null))`,
  'create index sessions_address on sessions (address, expires_at)',
  'create index sessions_expiry on sessions (expires_at)',
  'create index sessions_throw_away on sessions (caller, expires_at) where not has_account',
  'alter table invitations add primary key (employer_id, address)',
  'create index invitations_address on invitations (address)',
  'create index enrolment_windows_began on enrolment_windows (began_at)',
  `alter table subjects add constraint subjects_readiness
    check (readiness in ('ready', 'eligibility_pending', 'eligibility_failed', 'eligibility_disabled'))`,
  `alter table subjects add constraint subjects_whitelisted
    check (readiness = 'ready' or whitelisted_at is null)`,
  // One encryption key, one wallet, for good.
  'create unique index subjects_encryption_key on subjects (encryption_public_key)',
  `alter table credentials add constraint credentials_capability
    check (capability in ('disburse', 'holder.read', 'holder.transfer', 'holder.send'))`,
  `alter table credentials add constraint credentials_issued_by
    check (issued_by = 'session' or (issued_by = 'operator' and capability is null))`,
  'create index credentials_employer on credentials (employer_id)',
  'alter table submissions add constraint submissions_batch unique (chain, batch_id)',
  `alter table submissions add constraint submissions_kind
    check (kind in ('settlement', 'spend'))`,
  `alter table submissions add constraint submissions_settlement
    check ((kind = 'settlement') = (batch_id is not null))`,
  `alter table submissions add constraint submissions_spend
    check ((kind = 'spend') = (first_nullifier is not null))`,
  `alter table submissions add constraint submissions_body_fingerprint
    check ((body_fingerprint is null) = (body_fingerprint_key is null))`,
  `create unique index submissions_live_key on submissions (owner, key)
    where superseded_at is null`,
  "create unique index submissions_outputs on submissions (chain, root) where kind = 'spend'",
  `create index submissions_unfinished on submissions (chain, kind, id)
    where state in ('accepted', 'submitted') and superseded_at is null`,
  `create index submissions_unsettled on submissions (owner, chain)
    where state <> 'settled' and superseded_at is null`,
  `create index submissions_with_notes_to_erase on submissions (chain, id)
    where notes_erased_at is null and state <> 'settled'`,
  'alter table sealed_notes add primary key (submission_id, slot)',
  'create index sealed_notes_owner on sealed_notes (encryption_public_key)',
  // Whoever decides a nonce in error, or replaces what another one has replaced, stores nothing and sends nothing.
  'alter table relayer_transactions add unique (chain, sender, nonce, attempt)',
  `create index relayer_transactions_open on relayer_transactions (chain, nonce)
    where state = 'open'`,
  'create index relayer_transactions_submission on relayer_transactions (submission_id)',
  'create index relayer_transactions_recent on relayer_transactions (chain, created_at)',
  'alter table batches add primary key (chain, leaf_index)',
  'alter table batches add unique (chain, batch_id)',
  "alter table batches add constraint batches_kind check (kind in ('fund', 'spend'))",
  `alter table batches add constraint batches_batch_id
    check ((kind = 'fund') = (batch_id is not null))`,
  `create index batches_without_notes on batches (chain, leaf_index)
    where kind = 'spend' and submission_id is null and not open_notes`,
  'create index batches_submission on batches (submission_id)',
  'alter table nullifiers add primary key (chain, nullifier)',
  'alter table nullifiers add unique (chain, leaf_index, place)',
  'alter table calldata_notes add primary key (chain, leaf_index, slot)',
  'alter table open_leaves add unique (chain, leaf_index)',
  'create index open_leaves_stream on open_leaves (chain, seq)',
  'alter table batch_pages add primary key (chain, first_leaf)',
];

const linkTables = describeTables({
  /** Invitations by a link. The wallet that accepts one gets a row of `invitations`, by which it enrols. */
  invitation_links: {
    /** The part of the code that finds its row. */
    public_id: 'text primary key',
    /** SHA-256 of the code. */
    code_hash: 'text not null',
    employer_id: 'text not null references employers (id)',
    /** The employer's own name of the invited person, without a meaning here. */
    reference: 'text not null',
    created_at: 'text not null',
    expires_at: 'text not null',
    /** When somebody with the code first asked about it. */
    opened_at: 'text',
    /** The wallet that accepted it; null: none yet. */
    address: 'text',
    accepted_at: 'text',
    revoked_at: 'text',
  },
});

const linkRules = [
  'alter table invitation_links add unique (employer_id, reference)',
  `alter table invitation_links add constraint invitation_links_accepted
    check ((address is null) = (accepted_at is null))`,
  // A wallet of which an employer knows two names would be paid twice.
  `create unique index invitation_links_wallet on invitation_links (employer_id, address)
    where revoked_at is null`,
];

export type PlatformTables = TablesOf<typeof tables> & TablesOf<typeof linkTables>;
export type PlatformDatabase = Kysely<PlatformTables>;

export const platformMigrations: readonly Migration[] = [
  { number: 1, statements: [...createTables(tables), ...rules] },
  { number: 2, statements: [...createTables(linkTables), ...linkRules] },
];
