/**
 * The platform's tables (platform-tables.ts). A released migration is never edited: a later change of the tables is the next number.
 *
 * @module
 */
import type { Migration } from './open-database.ts';

export const platformMigrations: readonly Migration[] = [
  {
    number: 1,
    statements: [
      `create table platform_keys (name text primary key, value text not null)`,
      `create table sign_in_nonces (nonce text primary key, expires_at text not null, caller text)`,
      // Sessions of wallets without an account are bounded by the address that opened them.
      `create table sessions (
        id_hash text primary key,
        address text not null,
        wallet_pub text,
        message text not null,
        signature text not null,
        expires_at text not null,
        contract_chain_id bigint,
        caller text,
        has_account boolean not null default true,
        constraint sessions_one_kind check ((wallet_pub is null) <> (contract_chain_id is null)))`,
      `create index sessions_address on sessions (address, expires_at)`,
      `create index sessions_expiry on sessions (expires_at)`,
      `create index sessions_throw_away on sessions (caller, expires_at) where not has_account`,
      `create table employers (
        id text primary key,
        address text not null unique,
        name text,
        created_at text not null,
        contract_chain_id bigint,
        wallet_limit integer)`,
      // The wallets that may take a leaf of the eligibility tree.
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
      `create table subjects (
        address text primary key,
        wallet_pub text not null unique,
        wallet_id text not null unique,
        encryption_public_key text not null,
        evidence_message text not null,
        evidence_signature text not null,
        readiness text not null,
        whitelisted_at text,
        created_at text not null,
        gate_attempts integer not null default 0,
        gate_answered integer not null default 0,
        admitted_at text,
        claimed_at text,
        constraint subjects_readiness check (readiness in
          ('ready', 'eligibility_pending', 'eligibility_failed', 'eligibility_disabled')),
        constraint subjects_whitelisted check (readiness = 'ready' or whitelisted_at is null))`,
      // One encryption key, one wallet, for good.
      `create unique index subjects_encryption_key on subjects (encryption_public_key)`,
      `create table encryption_keys (
        encryption_public_key text primary key,
        address text not null,
        created_at text not null)`,
      `create table api_keys (
        id integer generated always as identity primary key,
        employer_id text not null references employers (id),
        public_id text not null unique,
        secret_hash text not null,
        capability text not null,
        name text not null,
        created_at text not null,
        revoked_at text,
        refused_proofs integer not null default 0,
        constraint api_keys_capability
          check (capability in ('disburse', 'holder.read', 'holder.transfer', 'holder.send')))`,
      `create index api_keys_employer on api_keys (employer_id)`,
      // Tokens that employers made themselves do not give the right to invite.
      `create table edge_tokens (
        id integer generated always as identity primary key,
        employer_id text not null references employers (id),
        public_id text not null unique,
        secret_hash text not null,
        name text not null,
        created_at text not null,
        revoked_at text,
        refused_proofs integer not null default 0,
        issued_by text not null default 'operator' check (issued_by in ('operator', 'session')))`,
      `create table gate_readers (
        employer_id text primary key references employers (id),
        client_id text not null unique,
        generation bigint not null,
        acknowledged text,
        revoked_at text,
        created_at text not null)`,
      // Settlements of employers, transfers and withdrawals of holders. A batch is identified by its batchId, which binds the funder.
      `create table submissions (
        id integer generated always as identity primary key,
        kind text not null,
        owner text not null,
        employer_id text references employers (id)
          generated always as (case when kind = 'settlement' then owner end) stored,
        key text not null,
        chain text not null,
        token text not null,
        deadline bigint not null,
        root text not null,
        batch_id text,
        first_nullifier text,
        sealed_notes_hash text not null,
        request text not null,
        state text not null,
        gas_reserved integer not null default 0,
        tx_hash text,
        block_number integer,
        gas_used text,
        error_code text,
        error_message text,
        superseded_at text,
        notes_erased_at text,
        void_signature text,
        body_fingerprint text,
        body_fingerprint_key text,
        labels_disputed_at text,
        created_at text not null,
        constraint submissions_batch unique (chain, batch_id),
        constraint submissions_kind check (kind in ('settlement', 'spend')),
        constraint submissions_settlement check ((kind = 'settlement') = (batch_id is not null)),
        constraint submissions_spend check ((kind = 'spend') = (first_nullifier is not null)),
        constraint submissions_body_fingerprint
          check ((body_fingerprint is null) = (body_fingerprint_key is null)))`,
      `create unique index submissions_live_key on submissions (owner, key)
        where superseded_at is null`,
      `create unique index submissions_outputs on submissions (chain, root) where kind = 'spend'`,
      `create index submissions_unfinished on submissions (chain, kind, id)
        where state in ('accepted', 'submitted') and superseded_at is null`,
      `create index submissions_unsettled on submissions (owner, chain)
        where state <> 'settled' and superseded_at is null`,
      `create index submissions_with_notes_to_erase on submissions (chain, id)
        where notes_erased_at is null and state <> 'settled'`,
      `create table sealed_notes (
        submission_id integer not null references submissions (id),
        slot integer not null,
        commitment text not null,
        encryption_public_key text not null,
        sealed text not null,
        primary key (submission_id, slot))`,
      `create index sealed_notes_owner on sealed_notes (encryption_public_key)`,
      // Nonces belong to an account, and the relayer's account can change.
      `create table relayer_transactions (
        id integer generated always as identity primary key,
        submission_id integer not null references submissions (id),
        chain text not null,
        sender text not null,
        nonce integer not null,
        tx_hash text not null unique,
        raw_transaction text not null,
        purpose text not null default 'fund',
        state text not null,
        gas_limit integer,
        gas_used integer,
        max_fee_wei text,
        created_at text not null)`,
      `create index relayer_transactions_open on relayer_transactions (chain, nonce)
        where state = 'open'`,
      `create index relayer_transactions_submission on relayer_transactions (submission_id)`,
      `create index relayer_transactions_recent on relayer_transactions (chain, created_at)`,
      // What the pool's events say of each leaf of the note tree, for holders who make their paths themselves.
      `create table batches (
        chain text not null,
        leaf_index integer not null,
        kind text not null default 'fund',
        batch_root text not null,
        batch_id text,
        sealed_notes_hash text not null,
        tx_hash text not null,
        block_number integer not null,
        submission_id integer references submissions (id),
        new_root text not null,
        commitments text not null,
        open_notes boolean not null default false,
        notes_sought_at text,
        primary key (chain, leaf_index),
        unique (chain, batch_id),
        constraint batches_kind check (kind in ('fund', 'spend')),
        constraint batches_batch_id check ((kind = 'fund') = (batch_id is not null)))`,
      `create index batches_without_notes on batches (chain, leaf_index)
        where kind = 'spend' and submission_id is null and not open_notes`,
      `create index batches_submission on batches (submission_id)`,
      `create table nullifiers (
        chain text not null,
        nullifier text not null,
        leaf_index integer not null,
        place integer not null,
        primary key (chain, nullifier),
        unique (chain, leaf_index, place))`,
      // Notes of spends that the indexer found in a transaction.
      `create table calldata_notes (
        chain text not null,
        leaf_index integer not null,
        slot integer not null,
        token text,
        commitment text not null,
        sealed text not null,
        primary key (chain, leaf_index, slot))`,
      // Notes that are served to everybody are a stream of their own: a late one is at its end, and nobody reads again from the start.
      `create table open_leaves (
        seq integer generated always as identity primary key,
        chain text not null,
        leaf_index integer not null,
        token text,
        unique (chain, leaf_index))`,
      `create index open_leaves_stream on open_leaves (chain, seq)`,
      // Full pages of the note tree's contents. They are made of `batches`, and may be deleted.
      `create table batch_pages (
        chain text not null,
        first_leaf integer not null,
        next_leaf integer not null,
        etag text not null,
        body text not null,
        primary key (chain, first_leaf))`,
      `create table indexer_cursors (
        chain text primary key,
        block_number integer not null,
        block_hash text not null,
        halted text,
        frontier text,
        pool text)`,
    ],
  },
];
