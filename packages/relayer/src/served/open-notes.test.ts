/** The stream of notes that everybody is served: pages, tokens, and notes that come late. */
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../database/test/test-database.ts';
import { openLeaf } from '../store/spend-store.ts';
import { listServedNotes } from './served-notes.ts';

const token = '0xt';

describe('notes that everybody is served', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());
  beforeEach(() => database.reset());

  /** Leaves `from` to `to`, whose four notes were restored from calldata. */
  async function restore(
    from: number,
    to: number,
    of: string | null = token,
    chain = 'anvil',
  ): Promise<void> {
    const { db } = database;
    await sql`insert into batches (chain, leaf_index, kind, batch_root, new_root, commitments, sealed_notes_hash, tx_hash, block_number, open_notes)
      select ${chain}, i, 'spend', 'r' || i, 'r', '[]', 'h', '0x' || lpad(to_hex(i), 64, '0'), 1, true
      from generate_series(${sql.lit(from)}, ${sql.lit(to)}) i`.execute(db);
    await sql`insert into calldata_notes (chain, leaf_index, slot, token, commitment, sealed)
      select ${chain}, i, s, ${of}, '0x' || lpad(to_hex(i * 8 + s), 64, '0'), '0x' || repeat('ab', 209)
      from generate_series(${sql.lit(from)}, ${sql.lit(to)}) i, generate_series(0, 3) s`.execute(
      db,
    );
    for (let leafIndex = from; leafIndex <= to; leafIndex += 1) {
      await openLeaf(db, { chain, leafIndex, token: of });
    }
  }
  const list = (cursor?: string) =>
    listServedNotes(database.db, {
      chain: 'anvil',
      tokenSymbol: 'USDC',
      tokenAddress: token.toUpperCase(),
      encryptionPublicKey: 'P',
      cursor,
    });
  async function readAll(): Promise<{ places: string[]; cursors: string[] }> {
    const places: string[] = [];
    const cursors: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await list(cursor);
      expect(page.notes).toEqual([]);
      places.push(...(page.open ?? []).map(({ batchIndex, slot }) => `${batchIndex}.${slot}`));
      if (page.cursor === undefined) {
        return { places, cursors };
      }
      cursor = page.cursor;
      cursors.push(cursor);
    }
  }

  it('come in pages, each note once, of the token or of none that is known on the chain', async () => {
    await restore(0, 29);
    await restore(20, 80, token, 'other');
    await restore(30, 35, '0xother');
    await restore(36, 59, null);
    const { places, cursors } = await readAll();
    // Positions count all chains.
    expect(cursors).toEqual(['-1.-1.25', '-1.-1.117']);
    expect(new Set(places).size).toBe(54 * 4);
    expect(places).toHaveLength(54 * 4);
    expect(places.filter((place) => /^3[0-5]\./.test(place))).toEqual([]);
  });

  it('are at the end of the stream when they come late, and change no count behind a cursor', async () => {
    await restore(10, 39);
    const { cursors } = await readAll();
    const [last] = cursors;
    expect(await list(last)).toMatchObject({ before: 0 });
    await restore(3, 3);
    const page = await list(last);
    expect(page.before).toBe(0);
    expect(new Set(page.open?.map(({ batchIndex }) => batchIndex))).toEqual(
      new Set([35, 36, 37, 38, 39, 3]),
    );
    const { places } = await readAll();
    expect(new Set(places).size).toBe(places.length);
  });

  it('are appended once for each leaf', async () => {
    await restore(1, 1);
    await openLeaf(database.db, { chain: 'anvil', leafIndex: 1, token });
    expect((await readAll()).places).toHaveLength(4);
  });
});
