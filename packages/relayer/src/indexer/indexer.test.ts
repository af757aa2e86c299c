/** The indexer against made-up chains: what it stores, when it stops, how it continues. */
import { bigintToHex32, type Hex32, parseEvmAddress } from '@pool/core';
import { hashHere } from '@pool/notes';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../database/test/test-database.ts';
import { createLog } from '../../../http-server/src/service/log.ts';
import { createNumberedChain, type NumberedChain, word } from '../../test/numbered-chain.ts';
import { createBatchPages } from '../served/batch-pages.ts';
import { readPage } from '../served/served-batches.ts';
import { listServedNotes } from '../served/served-notes.ts';
import { createIndexer, haltMovedChain, resumeIndexer } from './indexer.ts';

const log = createLog('silent', 'test');
const otherPool = parseEvmAddress('0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512');
describe('createIndexer', () => {
  let database: TestDatabase;
  let fake: NumberedChain;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.reset();
    fake = createNumberedChain();
    [nowMs, stepMs] = [0, 0];
  });

  let nowMs: number;
  /** How far the clock of the machine was put. */
  let stepMs: number;
  const create = () =>
    createIndexer({
      ...{ db: database.db, chain: fake.chain, log },
      nowMs: () => nowMs + stepMs,
      steadyMs: () => nowMs,
    });
  /** Runs passes until a mismatch halts the indexer. */
  async function passOften(indexer = create()): Promise<void> {
    for (let round = 0; round < 5; round += 1) {
      await indexer.pass();
      nowMs += 7_500;
    }
  }
  const indexed = async () =>
    (
      await database.db.selectFrom('batches').select('leaf_index').orderBy('leaf_index').execute()
    ).map((row) => row.leaf_index);
  const halted = async () =>
    (await database.db.selectFrom('indexer_cursors').select('halted').executeTakeFirst())?.halted;
  const notes = () =>
    listServedNotes(database.db, {
      chain: 'anvil',
      tokenSymbol: 'USDC',
      tokenAddress: '0x',
      encryptionPublicKey: '0x',
      cursor: undefined,
    });

  it('reads up to the final block and no further', async () => {
    fake.fund(3);
    fake.fund(7);
    fake.state.final = 5;
    const indexer = create();
    await indexer.pass();
    expect(await indexed()).toEqual([0]);
    fake.state.final = 7;
    await indexer.pass();
    expect(await indexed()).toEqual([0, 1]);
    await indexer.pass();
    expect(fake.state.ranges).toEqual([
      [0, 5],
      [6, 7],
    ]);
  });

  it('indexes batches and spends in the order of the chain, and serves what they contain', async () => {
    const leaves = [fake.fund(1), fake.fund(2, 'spend'), fake.fund(2), fake.fund(3, 'spend')];
    fake.state.final = 3;
    await create().pass();
    expect(await readPage(database.db, 'anvil', 1)).toEqual({
      batches: leaves.slice(1).map((leaf) => ({
        index: leaf.leafIndex,
        kind: leaf.kind,
        root: leaf.batchRoot,
        noteRoot: leaf.newRoot,
        commitments: leaf.commitments,
        nullifiers: leaf.kind === 'spend' ? leaf.nullifiers : [],
        sealedNotesHash: leaf.sealedNotesHash,
        txHash: leaf.txHash,
        blockNumber: leaf.blockNumber,
      })),
    });
  });

  it('reads a long chain in ranges, and resumes from its cursor after a restart', async () => {
    fake.fund(10);
    fake.fund(1_500);
    fake.state.final = 2_500;
    await create().pass();
    expect(fake.state.ranges).toEqual([
      [0, 999],
      [1_000, 1_999],
      [2_000, 2_500],
    ]);
    fake.fund(2_501);
    fake.state.final = 2_501;
    await create().pass();
    expect(fake.state.ranges.at(-1)).toEqual([2_501, 2_501]);
    expect(await indexed()).toEqual([0, 1, 2]);
    expect(await halted()).toBeNull();
  });

  it.each(['events', 'root'] as const)('continues after the RPC was down (%s)', async (what) => {
    fake.fund(1);
    fake.state.final = 1;
    fake.state.failing = what;
    const indexer = create();
    await expect(indexer.pass()).rejects.toThrow('RPC down');
    fake.state.failing = undefined;
    await indexer.pass();
    expect(await indexed()).toEqual([0]);
  });

  it.each<[string, readonly Hex32[]]>([
    ['one commitment is changed', [word(500), word(4_711)]],
    ['one is no field element', [word(500), bigintToHex32(2n ** 256n - 1n)]],
    ['one is left out', [word(500)]],
    ['all are left out', []],
  ])(
    'stores no event whose commitments do not give its leaf, and names the node: %s',
    async (_, commitments) => {
      const honest = fake.fund(1);
      fake.fund(2);
      fake.state.final = 2;
      fake.state.batches = fake.state.batches.map((leaf) =>
        leaf === honest ? { ...leaf, commitments } : leaf,
      );
      const lie = { code: 'chain_unreachable', message: expect.stringContaining('127.0.0.1:1 ') };
      for (let round = 0; round < 6; round += 1) {
        await expect(create().pass()).rejects.toMatchObject(lie);
        nowMs += 30_000;
      }
      expect([await indexed(), await halted()]).toEqual([[], undefined]);
      fake.state.batches = fake.state.batches.with(0, honest);
      await create().pass();
      expect((await readPage(database.db, 'anvil', 0)).batches[0]?.commitments).toEqual(
        honest.commitments,
      );
    },
  );

  it.each<[string, () => void]>([
    [
      'an event has another root than its batches give',
      () => {
        const batch = fake.state.batches[1];
        if (batch !== undefined) fake.state.batches[1] = { ...batch, newRoot: word(1) };
      },
    ],
    [
      'an event is withheld',
      () => {
        fake.state.batches = fake.state.batches.slice(1);
      },
    ],
    [
      'the last event is withheld',
      () => {
        fake.state.noteRoot = fake.state.batches[1]?.newRoot;
        fake.state.batches = fake.state.batches.slice(0, 1);
      },
    ],
    [
      'the contract has another root',
      () => {
        fake.state.noteRoot = word(2);
      },
    ],
  ])('halts and serves no notes when %s', async (_name, lie) => {
    fake.fund(1);
    fake.fund(2);
    fake.state.final = 3;
    lie();
    await passOften();
    expect(await halted()).toMatch(/root|batch/);
    expect(await indexed()).toEqual([]);
    await expect(notes()).rejects.toMatchObject({ code: 'notes_unavailable', status: 503 });
    await expect(createBatchPages(database.db, Date.now).read('anvil', 0)).rejects.toMatchObject({
      code: 'notes_unavailable',
    });
    fake.state.noteRoot = undefined;
    await passOften();
    expect(await indexed()).toEqual([]);
  });

  it.each(['events', 'root'] as const)(
    'hashes no leaf again after an outage of the RPC (%s), nor after a restart',
    async (failing) => {
      for (let block = 1; block <= 9; block += 1) {
        fake.fund(block);
      }
      fake.state.final = 9;
      await create().pass();
      // A tree that is made of these rows again has another root.
      const { batch_root } = await database.db
        .selectFrom('batches')
        .select('batch_root')
        .where('leaf_index', '=', 3)
        .executeTakeFirstOrThrow();
      await database.db
        .updateTable('batches')
        .set({ batch_root: word(1) })
        .where('leaf_index', '=', 3)
        .execute();
      const rows: number[] = [];
      const indexer = createIndexer({
        db: database.db,
        chain: fake.chain,
        log,
        nowMs: () => nowMs,
        hashMany: (level) => {
          rows.push(level.length);
          return hashHere(level);
        },
      });
      fake.fund(11);
      fake.state.final = 11;
      fake.state.failing = failing;
      for (let round = 0; round < 3; round += 1) {
        await expect(indexer.pass()).rejects.toThrow('RPC down');
      }
      fake.state.failing = undefined;
      await indexer.pass();
      expect(await indexed()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      // Each attempt hashes the path of the new leaf only: 9 is 0b1001.
      expect(Math.max(...rows)).toBe(1);
      // An operator who resumes has everything hashed again, and the damage is found.
      await database.db.updateTable('indexer_cursors').set({ halted: 'x' }).execute();
      await resumeIndexer(database.db, 'anvil');
      fake.fund(12);
      fake.state.final = 12;
      await passOften();
      expect(await halted()).toMatch(/root/);
      await database.db
        .updateTable('batches')
        .set({ batch_root })
        .where('leaf_index', '=', 3)
        .execute();
      await resumeIndexer(database.db, 'anvil');
      await create().pass();
      expect((await indexed()).length).toBe(11);
    },
  );

  it('believes a mismatch no sooner because the clock was put ahead', async () => {
    fake.fund(1);
    fake.state.final = 1;
    fake.state.noteRoot = word(2);
    const indexer = create();
    for (let pass = 0; pass < 6; pass += 1) {
      await indexer.pass();
      stepMs += 7_500;
    }
    expect(await halted()).toBeUndefined();
  });

  it('does not count the mismatches of a term before: another process led meanwhile', async () => {
    fake.fund(1);
    fake.state.final = 1;
    fake.state.noteRoot = word(2);
    const indexer = create();
    const passIn = async (epoch: number, passes: number) => {
      for (let pass = 0; pass < passes; pass += 1) {
        await indexer.pass({ epoch, assertLeader: () => Promise.resolve() });
        nowMs += 7_500;
      }
    };
    await passIn(1, 4);
    await passIn(3, 4);
    expect(await halted()).toBeUndefined();
    await passIn(3, 1);
    expect(await halted()).toContain('differs');
  });

  it('reads a mismatch again on fresh state before it halts', async () => {
    fake.fund(1);
    fake.state.final = 1;
    fake.state.noteRoot = word(2);
    const indexer = create();
    for (const [passes, ms] of [
      [20, 1_000],
      [1, 9_999],
    ] as const) {
      for (let pass = 0; pass < passes; pass += 1) {
        await indexer.pass();
        nowMs += ms;
      }
    }
    expect(await halted()).toBeUndefined();
    // The RPC node that was behind has caught up.
    fake.state.noteRoot = undefined;
    await indexer.pass();
    expect(await indexed()).toEqual([0]);
    expect(await halted()).toBeNull();
    // An old mismatch does not count towards a new one.
    fake.fund(2);
    fake.state.final = 2;
    fake.state.noteRoot = word(2);
    nowMs += 1_000_000;
    await indexer.pass();
    nowMs += 1_000_000;
    for (let pass = 0; pass < 3; pass += 1) await indexer.pass();
    expect(await halted()).toBeNull();
    await indexer.pass();
    expect(await halted()).toMatch('root');
  });

  it.each([0, 1])(
    'continues after an operator’s resume, halted after %i batches',
    async (before) => {
      const indexer = create();
      for (let block = 1; block <= before; block += 1) fake.fund(block);
      if (before > 0) {
        fake.state.final = 1;
        await indexer.pass();
      }
      fake.fund(2);
      fake.state.final = 2;
      fake.state.noteRoot = word(2);
      await passOften(indexer);
      fake.state.noteRoot = undefined;
      expect(await resumeIndexer(database.db, 'anvil')).toMatch('root');
      expect(await resumeIndexer(database.db, 'anvil')).toBeUndefined();
      await indexer.pass();
      expect(await indexed()).toHaveLength(before + 1);
      expect(await halted()).toBeNull();
      expect((await notes()).notes).toEqual([]);
    },
  );

  it('looks at the contents of each event of a long range', async () => {
    for (let leaf = 0; leaf < 66; leaf += 1) fake.fund(1);
    fake.state.final = 1;
    fake.state.batches = fake.state.batches.map((leaf) =>
      leaf.leafIndex === 65 ? { ...leaf, commitments: [word(1), word(2)] } : leaf,
    );
    await expect(create().pass()).rejects.toMatchObject({ code: 'chain_unreachable' });
  });

  it('serves nothing of a pool whose chain name has another pool now', async () => {
    fake.fund(1);
    fake.state.final = 1;
    await create().pass();
    const read = () => createBatchPages(database.db, Date.now).read('anvil', 0);
    const moved = { key: 'anvil', settings: { ...fake.chain.settings, pool: otherPool } };
    await haltMovedChain({ db: database.db, chain: fake.chain, log });
    await expect(read()).resolves.toBeDefined();
    await haltMovedChain({ db: database.db, chain: moved, log });
    await expect(read()).rejects.toMatchObject({ code: 'notes_unavailable' });
    expect(await halted()).toMatch('another pool');
    // An operator who resumes does not mix the two.
    await resumeIndexer(database.db, 'anvil');
    const indexer = createIndexer({
      db: database.db,
      chain: { ...fake.chain, ...moved },
      log,
      nowMs: () => nowMs,
    });
    await indexer.pass();
    expect(await halted()).toMatch('another pool');
    await resumeIndexer(database.db, 'anvil');
    await create().pass();
    expect(await halted()).toBeNull();
    await expect(read()).resolves.toBeDefined();
  });

  it('stops when a block that was final changes', async () => {
    fake.fund(1);
    fake.state.final = 2;
    await create().pass();
    expect((await notes()).notes).toEqual([]);
    fake.state.hashOf = (block) => word(2_000_000 + block);
    fake.state.final = 3;
    await passOften();
    expect(await halted()).toContain('final');
  });
});
