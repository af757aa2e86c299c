// Databases of platforms and gates of earlier versions open in this version (docs/operations/upgrading.md), on a server and embedded. The
// rows are real ones of those versions (vectors/stores).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EvidenceDomain, parseHex, verifyEvidence } from '@pool/core';
import { migrateEmbedded } from '@pool/database';
import { type GateTables, gateMigrations } from '@pool/pool-gate';
import {
  type EarlierStores,
  listEarlierVersions,
  openEmptyCluster,
  type PostgresServer,
  queryDatabase,
  startPostgres,
  unpackEarlierStores,
} from '@pool/testkit';
import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type PlatformTables,
  platformMigrations,
} from '../../../../packages/database/src/platform-tables.ts';
import { openPostgresStore } from '../../../../packages/database/test/test-store.ts';
import { verifyApiKey } from '../accounts/credentials.ts';

type Payment = {
  readonly job: { readonly result: { readonly batches: readonly { readonly txHash: string }[] } };
};
type Facts = {
  readonly agent: Payment;
  readonly shared: Payment;
  readonly holder: { readonly walletPub: string; readonly keys: { readonly transfer: string } };
};

const migrations = { platform: platformMigrations, gate: gateMigrations };
type Part = keyof typeof migrations;
const places = (['server', 'embedded'] as const).flatMap((place) =>
  (['platform', 'gate'] as const).map((part) => ({ place, part })),
);

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** Columns, rules and indexes, in an order that does not depend on when they were added. */
async function describeTables<T>(db: Kysely<T>): Promise<readonly object[]> {
  const columns = sql<object>`select table_name, column_name, data_type, is_nullable, column_default, is_identity,
      generation_expression from information_schema.columns where table_schema = 'public' order by 1, 2`;
  const rules = sql<object>`select conrelid::regclass::text as t, conname, pg_get_constraintdef(oid) as rule
      from pg_constraint where connamespace = 'public'::regnamespace and contype <> 'n' order by 1, 2`;
  const indexes = sql<object>`select indexname, indexdef from pg_indexes where schemaname = 'public' order by 1`;
  const found = await Promise.all([columns, rules, indexes].map((query) => query.execute(db)));
  return found.flatMap(({ rows }) => rows);
}

/**
 * Opened twice: what migrated once has nothing left to do.
 * @param dump - statements that make its rows first. Undefined: an empty database
 */
async function openAt<T>(place: 'server' | 'embedded', part: Part, dump?: string) {
  if (place === 'embedded') {
    const pglite = await openEmptyCluster();
    // The dump is that of a server, where a marker refuses the database of another part.
    await pglite.exec(`${dump ?? ''}; drop table if exists pool_store`);
    await migrateEmbedded<T>(pglite, migrations[part]);
    return await migrateEmbedded<T>(pglite, migrations[part]);
  }
  const url = await server.createDatabase();
  await queryDatabase(url, dump ?? '');
  await (await openPostgresStore<T>(url, part, migrations[part])).close();
  return await openPostgresStore<T>(url, part, migrations[part]);
}

describe.each(listEarlierVersions())('databases of %s', (version) => {
  let stores: EarlierStores;
  beforeAll(() => {
    stores = unpackEarlierStores(version);
  });
  afterAll(() => stores.remove());

  it.each(places)('have the tables of this version: $part, $place', async ({ place, part }) => {
    const fresh = await openAt(place, part);
    const earlier = await openAt(place, part, stores.readDump(part));
    const tables = await describeTables(fresh.db);
    expect(tables.length).toBeGreaterThan(20);
    expect(await describeTables(earlier.db)).toEqual(tables);
    await fresh.close();
    await earlier.close();
  });

  it.each(['server', 'embedded'] as const)('keep their rows: %s', async (place) => {
    const { agent, shared, holder } = stores.facts as Facts;
    const platform = await openAt<PlatformTables>(place, 'platform', stores.readDump('platform'));
    const settled = await platform.db
      .selectFrom('submissions')
      .select('tx_hash')
      .where('key', '=', 'first')
      .where('state', '=', 'settled')
      .orderBy('id')
      .execute();
    const paid = [agent, shared].map(({ job }) => job.result.batches[0]?.txHash);
    expect(settled.map((row) => row.tx_hash)).toEqual(expect.arrayContaining(paid));
    expect(await verifyApiKey(platform.db, holder.keys.transfer)).toMatchObject({
      ...{ valid: true, capability: 'holder.transfer' },
    });
    const chains = readFileSync(join(stores.directory, 'agent-home/chains.json'), 'utf8');
    const { evidence } = JSON.parse(chains) as { readonly evidence: EvidenceDomain };
    const subjects = await platform.db.selectFrom('subjects').selectAll().execute();
    expect(subjects.map((row) => row.wallet_pub)).toContain(holder.walletPub);
    for (const row of subjects) {
      const signed = { message: row.evidence_message, signature: parseHex(row.evidence_signature) };
      const { walletPub } = verifyEvidence(signed, evidence, Date.now());
      expect(walletPub).toBe(row.wallet_pub);
    }
    await platform.close();

    const gate = await openAt<GateTables>(place, 'gate', stores.readDump('gate'));
    const wallets = await gate.db.selectFrom('wallets').selectAll().execute();
    expect(wallets).toContainEqual(
      expect.objectContaining({ wallet_pub: holder.walletPub, published: true }),
    );
    await gate.close();
  });
});
