/**
 * The numbered changes that make the platform's tables (platform-tables.ts). A released one is never edited.
 *
 * @module
 */
import type { Migration } from './open-database.ts';

export const platformMigrations: readonly Migration[] = [
  {
    number: 1,
    statements: [
      `create table sign_in_nonces (nonce text primary key, expires_at text not null)`,
      `create table sessions (
        id_hash text primary key,
        address text not null,
        wallet_pub text not null,
        message text not null,
        signature text not null,
        expires_at text not null)`,
      `create table employers (
        id text primary key,
        address text not null unique,
        name text,
        created_at text not null)`,
      `create table subjects (
        address text primary key,
        wallet_pub text not null unique,
        wallet_id text not null unique,
        encryption_public_key text not null,
        evidence_message text not null,
        evidence_signature text not null,
        readiness text not null,
        whitelisted_at text,
        created_at text not null)`,
      ...['api_keys', 'edge_tokens'].map(
        (table) => `create table ${table} (
        id integer generated always as identity primary key,
        employer_id text not null references employers (id),
        public_id text not null unique,
        secret_hash text not null,
        ${table === 'api_keys' ? 'capability text not null,' : ''}
        name text not null,
        created_at text not null,
        revoked_at text)`,
      ),
      `create index api_keys_employer on api_keys (employer_id)`,
      `create table settlements (
        id integer generated always as identity primary key,
        employer_id text not null references employers (id),
        key text not null,
        chain text not null,
        batch_nonce text not null,
        batch_root text not null,
        sealed_notes_hash text not null,
        funder text not null,
        token text not null,
        total text not null,
        deadline bigint not null,
        request text not null,
        state text not null,
        tx_hash text,
        block_number integer,
        gas_used text,
        error_code text,
        error_message text,
        superseded_at text,
        created_at text not null,
        unique (chain, batch_nonce))`,
      `create unique index settlements_live_key on settlements (employer_id, key)
        where superseded_at is null`,
      `create index settlements_unfinished on settlements (state)
        where state in ('accepted', 'submitted')`,
      `create table sealed_notes (
        settlement_id integer not null references settlements (id),
        slot integer not null,
        commitment text not null,
        encryption_public_key text not null,
        sealed text not null,
        primary key (settlement_id, slot))`,
      `create index sealed_notes_owner on sealed_notes (encryption_public_key)`,
      `create table relayer_transactions (
        id integer generated always as identity primary key,
        settlement_id integer not null references settlements (id),
        chain text not null,
        nonce integer not null,
        tx_hash text not null unique,
        raw_transaction text not null,
        state text not null,
        created_at text not null)`,
      `create index relayer_transactions_open on relayer_transactions (chain, nonce)
        where state = 'open'`,
      `create table batches (
        chain text not null,
        leaf_index integer not null,
        batch_root text not null,
        batch_nonce text not null,
        sealed_notes_hash text not null,
        tx_hash text not null,
        block_number integer not null,
        settlement_id integer references settlements (id),
        primary key (chain, leaf_index),
        unique (chain, batch_nonce))`,
      `create table indexer_cursors (
        chain text primary key,
        block_number integer not null,
        block_hash text not null,
        halted text)`,
    ],
  },
  {
    // One encryption key, one wallet (docs/decisions/0005). It fails where two wallets share a key: the
    // operator must decide which of them keeps it.
    number: 2,
    statements: [`create unique index subjects_encryption_key on subjects (encryption_public_key)`],
  },
  {
    number: 3,
    statements: [
      `alter table relayer_transactions add column purpose text not null default 'fund'`,
    ],
  },
  {
    number: 4,
    statements: [
      `create table encryption_keys (
        encryption_public_key text primary key,
        address text not null,
        created_at text not null)`,
      `insert into encryption_keys select encryption_public_key, address, created_at from subjects`,
      `alter table subjects add column gate_attempts integer not null default 0`,
      `alter table subjects add column gate_answered integer not null default 0`,
    ],
  },
  {
    // Sign-ins of contract wallets, and constraints that repeat the rules of the code.
    number: 5,
    statements: [
      `alter table sessions alter column wallet_pub drop not null`,
      `alter table sessions add column contract_chain_id bigint`,
      `alter table sessions add constraint sessions_one_kind
        check ((wallet_pub is null) <> (contract_chain_id is null))`,
      `create index sessions_address on sessions (address, expires_at)`,
      `create index sessions_expiry on sessions (expires_at)`,
      `alter table employers add column contract_chain_id bigint`,
      `alter table api_keys add constraint api_keys_capability
        check (capability in ('disburse', 'holder.read', 'holder.transfer', 'holder.send'))`,
      `alter table subjects add constraint subjects_readiness check (readiness in
        ('ready', 'eligibility_pending', 'eligibility_failed', 'eligibility_disabled'))`,
      `update subjects set whitelisted_at = null where readiness <> 'ready'`,
      `alter table subjects add constraint subjects_whitelisted
        check (readiness = 'ready' or whitelisted_at is null)`,
    ],
  },
  { number: 6, statements: [`alter table sign_in_nonces add column caller text`] },
  {
    number: 7,
    statements: [`alter table edge_tokens add column refused_proofs integer not null default 0`],
  },
  {
    // A batch is identified by its batchId, which binds the funder. Earlier pools identified it by the nonce itself.
    number: 8,
    statements: [
      `alter table settlements add column batch_id text`,
      `update settlements set batch_id = batch_nonce`,
      `alter table settlements alter column batch_id set not null`,
      `alter table settlements drop constraint settlements_chain_batch_nonce_key`,
      `alter table settlements add constraint settlements_batch unique (chain, batch_id)`,
      `alter table batches rename column batch_nonce to batch_id`,
    ],
  },
  { number: 9, statements: [`alter table settlements add column void_signature text`] },
  {
    number: 10,
    statements: [
      `alter table settlements add column body_fingerprint text`,
      `alter table settlements add column body_fingerprint_key text`,
      `alter table settlements add constraint settlements_body_fingerprint
        check ((body_fingerprint is null) = (body_fingerprint_key is null))`,
    ],
  },
  {
    // From here on cookies carry a tag. A cookie without one is refused, and its wallet signs in again.
    number: 11,
    statements: [`create table platform_keys (name text primary key, value text not null)`],
  },
  {
    // The wallets that may take a leaf of the eligibility tree. Wallets that were written to a gate before are admitted.
    number: 12,
    statements: [
      `alter table employers add column wallet_limit integer`,
      `create table invitations (
        employer_id text not null references employers (id),
        address text not null,
        created_at text not null,
        expires_at text not null,
        enrolled_at text,
        primary key (employer_id, address))`,
      `create index invitations_address on invitations (address)`,
      `create table enrolment_windows (
        caller text primary key,
        began_at text not null,
        enrolments integer not null)`,
      `create index enrolment_windows_began on enrolment_windows (began_at)`,
      `alter table subjects add column admitted_at text`,
      `update subjects set admitted_at = created_at where readiness <> 'eligibility_disabled'`,
    ],
  },
  {
    // What an employer's settlements take of the relayer's gas (docs/decisions/0027). Earlier rows count once they are mined.
    number: 13,
    statements: [
      `alter table relayer_transactions add column gas_limit integer`,
      `alter table relayer_transactions add column gas_used integer`,
      `create index relayer_transactions_settlement on relayer_transactions (settlement_id)`,
      `create index relayer_transactions_recent on relayer_transactions (chain, created_at)`,
      `alter table settlements add column gas_reserved integer not null default 0`,
      `create index settlements_unsettled on settlements (employer_id, chain)
        where state <> 'settled' and superseded_at is null`,
    ],
  },
  {
    number: 14,
    statements: [
      `create table gate_readers (
        employer_id text primary key references employers (id),
        client_id text not null unique,
        generation bigint not null,
        acknowledged text,
        revoked_at text,
        created_at text not null)`,
    ],
  },
  {
    number: 15,
    statements: [
      `alter table settlements add column notes_erased_at text`,
      `create index settlements_with_notes_to_erase on settlements (chain, id)
        where notes_erased_at is null and state <> 'settled'`,
    ],
  },
  {
    // What the pool's events say of each leaf of the note tree, for holders who make their paths themselves. The indexer reads
    // the contents of earlier rows again.
    number: 16,
    statements: [
      `alter table batches add column kind text not null default 'fund'`,
      `alter table batches add constraint batches_kind check (kind in ('fund', 'spend'))`,
      `alter table batches alter column batch_id drop not null`,
      `alter table batches add constraint batches_batch_id check ((kind = 'fund') = (batch_id is not null))`,
      `alter table batches add column new_root text`,
      `alter table batches add column commitments text`,
      `create index batches_without_contents on batches (chain, leaf_index) where commitments is null`,
      `create table nullifiers (
        chain text not null,
        nullifier text not null,
        leaf_index integer not null,
        place integer not null,
        primary key (chain, nullifier),
        unique (chain, leaf_index, place))`,
    ],
  },
  {
    // Transfers and withdrawals of holders. A transaction of the relayer belongs to a settlement or to a spend.
    number: 17,
    statements: [
      `create table spends (
        id integer generated always as identity primary key,
        address text not null,
        key text not null,
        chain text not null,
        token text not null,
        withdraw_amount text not null,
        recipient text,
        deadline bigint not null,
        out_root text not null,
        first_nullifier text not null,
        sealed_notes_hash text not null,
        request text not null,
        state text not null,
        gas_reserved integer not null,
        tx_hash text,
        block_number integer,
        gas_used text,
        error_code text,
        error_message text,
        superseded_at text,
        notes_erased_at text,
        created_at text not null,
        unique (chain, out_root),
        check ((withdraw_amount = '0') = (recipient is null)))`,
      `create unique index spends_live_key on spends (address, key) where superseded_at is null`,
      `create index spends_unfinished on spends (chain, id)
        where state in ('accepted', 'submitted') and superseded_at is null`,
      `create table spend_notes (
        spend_id integer not null references spends (id),
        slot integer not null,
        commitment text not null,
        encryption_public_key text not null,
        sealed text not null,
        primary key (spend_id, slot))`,
      `create index spend_notes_owner on spend_notes (encryption_public_key)`,
      `alter table batches add column spend_id integer references spends (id)`,
      `alter table relayer_transactions add column spend_id integer references spends (id)`,
      `alter table relayer_transactions alter column settlement_id drop not null`,
      `alter table relayer_transactions add constraint relayer_transactions_one_intent
        check ((settlement_id is null) <> (spend_id is null))`,
      `create index relayer_transactions_spend on relayer_transactions (spend_id)`,
    ],
  },
  {
    // Tokens that employers made themselves do not give the right to invite (docs/decisions/0038).
    number: 18,
    statements: [
      `alter table edge_tokens add column issued_by text not null default 'operator'
        check (issued_by in ('operator', 'session'))`,
    ],
  },
  {
    number: 19,
    statements: [`alter table api_keys add column refused_proofs integer not null default 0`],
  },
  {
    // Notes of spends that are served to everybody (docs/decisions/0056, §6 to §8): whose labels another account may have written, and
    // those that the indexer found in a transaction.
    number: 20,
    statements: [
      `alter table spends add column labels_disputed_at text`,
      `alter table batches add column open_notes boolean not null default false`,
      `alter table batches add column notes_sought_at text`,
      `update batches set open_notes = true
        where spend_id is not null and not exists (
          select 1 from relayer_transactions t
          where t.spend_id = batches.spend_id and t.tx_hash = batches.tx_hash)`,
      `create index batches_with_open_notes on batches (chain, leaf_index) where open_notes`,
      `create index batches_without_notes on batches (chain, leaf_index)
        where kind = 'spend' and spend_id is null and not open_notes`,
      `create table calldata_notes (
        chain text not null,
        leaf_index integer not null,
        slot integer not null,
        token text,
        commitment text not null,
        sealed text not null,
        primary key (chain, leaf_index, slot))`,
    ],
  },
  {
    // Until here a wallet counted as admitted before the gate had answered. A wallet that the gate has not confirmed keeps the place it
    // was charged for, and is admitted once the gate confirms it.
    number: 21,
    statements: [
      `alter table subjects add column claimed_at text`,
      `update subjects set claimed_at = admitted_at`,
      `update subjects set admitted_at = null where readiness <> 'ready'`,
    ],
  },
  {
    // Full pages of the note tree's contents (docs/decisions/0068). They are made of `batches`, and may be deleted.
    number: 22,
    statements: [
      `create table batch_pages (
        chain text not null,
        first_leaf integer not null,
        next_leaf integer not null,
        etag text not null,
        body text not null,
        primary key (chain, first_leaf))`,
    ],
  },
  {
    // What the relayer spends in 24 hours (docs/decisions/0067).
    number: 23,
    statements: [`alter table relayer_transactions add column max_fee_wei text`],
  },
  {
    // Sessions of wallets without an account are bounded by the address that opened them.
    number: 24,
    statements: [
      `alter table sessions add column caller text`,
      `alter table sessions add column has_account boolean not null default true`,
      `create index sessions_throw_away on sessions (caller, expires_at) where not has_account`,
    ],
  },
  { number: 25, statements: [`alter table indexer_cursors add column frontier text`] },
  {
    // Notes that are served to everybody are a stream of their own: a late one is at its end, and nobody reads again from the start.
    number: 26,
    statements: [
      `create table open_leaves (
        seq integer generated always as identity primary key,
        chain text not null,
        leaf_index integer not null,
        token text,
        unique (chain, leaf_index))`,
      `create index open_leaves_stream on open_leaves (chain, seq)`,
      `drop index batches_with_open_notes`,
      `insert into open_leaves (chain, leaf_index, token)
        select b.chain, b.leaf_index, coalesce(s.token, (
          select min(n.token) from calldata_notes n where n.chain = b.chain and n.leaf_index = b.leaf_index))
        from batches b left join spends s on s.id = b.spend_id
        where b.open_notes order by b.chain, b.leaf_index`,
    ],
  },
  // Nonces belong to an account, and the relayer's account can change. `recordSenders` fills it in.
  { number: 27, statements: [`alter table relayer_transactions add column sender text`] },
  { number: 28, statements: [`alter table indexer_cursors add column pool text`] },
];
