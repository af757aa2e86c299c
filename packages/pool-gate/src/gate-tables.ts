/**
 * The gate's own store: the wallets that should be on the list, those on the published list, and every
 * publication.
 *
 * @module
 */
import type { Migration } from '@pool/database';
import type { Generated, Kysely } from 'kysely';

export type GateTables = {
  wallets: {
    wallet_id: string;
    wallet_pub: string;
    /** Position in the tree, as long as this row exists. */
    leaf_index: number;
    /** Whether it should be on the list. */
    wanted: boolean;
    /** Whether it is under the last root that was final on chain. */
    published: boolean;
    whitelisted_at: string | null;
  };
  /** Positions below the highest ever used that no wallet has. */
  free_leaves: { leaf_index: number };
  /** Clients that may read, each of one employer. */
  reader_clients: {
    client_id: string;
    /** SHA-256 of the secret; null: revoked. */
    secret_hash: string | null;
    generation: number;
    updated_at: string;
  };
  publications: {
    id: Generated<number>;
    root: string;
    /** JSON list of `{walletId, leafIndex, wanted}`: what this root changes. */
    changes: string;
    nonce: number;
    tx_hash: string;
    raw_transaction: string;
    /** JSON list of the hashes that the newest transaction replaces, with the same nonce and the same root. */
    replaced_hashes: string;
    /** When the newest transaction was signed. */
    sent_at: string;
    /** `open`: may still be mined. */
    state: 'open' | 'final' | 'reverted' | 'dropped';
    created_at: string;
    /** When the gate saw it final, and the root before it was replaced. Null: not final. */
    final_at: Generated<string | null>;
  };
};

export type GateDatabase = Kysely<GateTables>;

export const gateMigrations: readonly Migration[] = [
  {
    number: 1,
    statements: [
      `create table wallets (
        wallet_id text primary key,
        wallet_pub text not null,
        leaf_index integer not null unique,
        wanted boolean not null,
        published boolean not null,
        whitelisted_at text)`,
      `create index wallets_changed on wallets (wallet_id) where wanted <> published`,
      `create index wallets_unused on wallets (wallet_id) where not wanted and not published`,
      `create table free_leaves (leaf_index integer primary key)`,
      `create table reader_clients (
        client_id text primary key,
        secret_hash text,
        generation bigint not null,
        updated_at text not null)`,
      `create table publications (
        id integer generated always as identity primary key,
        root text not null,
        changes text not null,
        nonce integer not null,
        tx_hash text not null unique,
        raw_transaction text not null,
        state text not null,
        created_at text not null,
        replaced_hashes text not null default '[]',
        sent_at text not null,
        final_at text)`,
      `create index publications_final on publications (final_at) where state = 'final'`,
      `create index publications_root on publications (root)`,
    ],
  },
];
