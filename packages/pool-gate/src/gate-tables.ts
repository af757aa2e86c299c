/**
 * The gate's own store: the wallets that should be on the list, those on the published list, and every
 * publication.
 *
 * @module
 */
import {
  createTables,
  describeTables,
  type Migration,
  sharedTables,
  type TablesOf,
  typed,
} from '@pool/database';
import type { Kysely } from 'kysely';

const tables = describeTables({
  ...sharedTables,
  wallets: {
    wallet_id: 'text primary key',
    wallet_pub: 'text not null',
    /** Position in the tree, as long as this row exists. */
    leaf_index: 'integer not null unique',
    /** Whether it should be on the list. */
    wanted: 'boolean not null',
    /** Whether it is under the last root that was final on chain. */
    published: 'boolean not null',
    whitelisted_at: 'text',
  },
  /** Positions below the highest ever used that no wallet has. */
  free_leaves: { leaf_index: 'integer primary key' },
  /** Clients that may read, each of one employer. */
  reader_clients: {
    client_id: 'text primary key',
    /** SHA-256 of the secret; null: revoked. */
    secret_hash: 'text',
    generation: 'bigint not null',
    updated_at: 'text not null',
  },
  publications: {
    id: 'integer generated always as identity primary key',
    root: 'text not null',
    /** JSON list of `{walletId, leafIndex, wanted}`: what this root changes. */
    changes: 'text not null',
    /** The account whose nonce it takes: the publisher's account can change. */
    sender: 'text not null',
    nonce: 'integer not null',
    tx_hash: 'text not null unique',
    raw_transaction: 'text not null',
    /** `open`: may still be mined. */
    state: typed<'open' | 'final' | 'reverted' | 'dropped'>('text not null'),
    created_at: 'text not null',
    /** JSON list of the hashes that the newest transaction replaces, with the same nonce and the same root. */
    replaced_hashes: typed<string>("text not null default '[]'"),
    /** When the newest transaction was signed. */
    sent_at: 'text not null',
    /** When the gate saw it final, and the root before it was replaced. Null: not final. */
    final_at: 'text',
  },
});

export type GateTables = TablesOf<typeof tables>;
export type GateDatabase = Kysely<GateTables>;

export const gateMigrations: readonly Migration[] = [
  {
    number: 1,
    statements: [
      ...createTables(tables),
      'alter table publications add unique (sender, nonce)',
      'create index wallets_changed on wallets (wallet_id) where wanted <> published',
      'create index wallets_unused on wallets (wallet_id) where not wanted and not published',
      "create index publications_final on publications (final_at) where state = 'final'",
      'create index publications_root on publications (root)',
    ],
  },
];
