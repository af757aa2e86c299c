// A node that changes what an event contains, while the roots that it serves are the pool's own: no balance may depend on it, and the store
// heals once the node is honest (docs/decisions/0012).
import {
  assertField,
  bigintToHex32,
  fieldToHex,
  type Hex32,
  PoolError,
  parseField,
} from '@pool/core';
import { computeNoteRootFromPath, createNoteScanner, type NoteScanner } from '@pool/notes';
import { createFakeNotePool, type FakeNotePool } from '@pool/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anna, ben, openSync } from '../fixtures/open-sync.ts';

let kernels: NoteScanner;
beforeAll(async () => {
  kernels = await createNoteScanner({ threads: 1 });
});
afterAll(() => kernels.close());

const refused = {
  code: 'note_history_incomplete',
  retryable: true,
  message: expect.stringContaining('rpc.example'),
};

/** Replaces the commitment of one slot of one leaf. */
function changeCommitment(leafIndex: number, slot: number, other: Hex32): FakeNotePool['tamper'] {
  return (found) =>
    found.map((leaf) =>
      leaf.leafIndex === leafIndex
        ? { ...leaf, commitments: leaf.commitments.with(slot, other) }
        : leaf,
    );
}

const stranger = bigintToHex32(4_711n);

describe('a node that changes a commitment', () => {
  it.each([
    ['the holder’s own', changeCommitment(1, 0, stranger)],
    [
      'the holder’s own, to no field element',
      changeCommitment(1, 0, bigintToHex32(2n ** 256n - 1n)),
    ],
    [
      'the holder’s own, by leaving all commitments out',
      (found) => found.map((leaf) => ({ ...leaf, commitments: [] })),
    ],
  ] satisfies [string, FakeNotePool['tamper']][])(
    'is named instead of a balance of 0: %s',
    async (_, tamper) => {
      const pool = createFakeNotePool();
      pool.fund([{ holder: ben, amount: 1n }]);
      pool.fund([{ holder: anna, amount: 333_000n }]);
      const honest = pool.tamper;
      pool.tamper = tamper;
      const { read, store, archive } = openSync(kernels, pool);
      await expect(read()).rejects.toMatchObject(refused);
      // For as long as it lies, over restarts.
      await expect(openSync(kernels, pool, store, archive).read()).rejects.toMatchObject(refused);
      pool.tamper = honest;
      expect(await openSync(kernels, pool, store, archive).read()).toEqual([333_000n, 1, 333_000n]);
    },
  );

  it('of another slot is named when a path is made, and not by a path that leads nowhere', async () => {
    const pool = createFakeNotePool();
    pool.fund([
      { holder: anna, amount: 333_000n },
      { holder: ben, amount: 1n },
    ]);
    const honest = pool.tamper;
    pool.tamper = changeCommitment(0, 2, stranger);
    const { read, sync, store, archive } = openSync(kernels, pool);
    await read();
    const [note] = sync.listSpendable(pool.assetId);
    await expect(sync.computePath(note!)).rejects.toMatchObject(refused);
    pool.tamper = honest;
    const healed = openSync(kernels, pool, store, archive);
    expect(await healed.read()).toEqual([333_000n, 1, 333_000n]);
    const [again] = healed.sync.listSpendable(pool.assetId);
    const { path, noteRoot } = await healed.sync.computePath(again!);
    expect(computeNoteRootFromPath(again!.commitment, path)).toBe(noteRoot);
  });

  it('of a note that is in the archive is named as well', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: anna, amount: 333_000n }]);
    const { read, archive } = openSync(kernels, pool);
    await read();
    pool.listing.splice(0);
    const honest = pool.tamper;
    pool.tamper = changeCommitment(0, 0, stranger);
    // A new cache: only the archive knows the note.
    const fresh = openSync(kernels, pool, undefined, archive);
    await expect(fresh.read()).rejects.toMatchObject(refused);
    pool.tamper = honest;
    expect(await openSync(kernels, pool, fresh.store, archive).read()).toEqual([
      333_000n,
      1,
      333_000n,
    ]);
  });

  it('of a note that is brought in a file is named, and the note is not called absent from the chain', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: anna, amount: 333_000n }]);
    const [{ commitment, sealed }] = pool.listing.splice(0) as [(typeof pool.listing)[0]];
    const offered = [{ commitment: parseField(commitment), sealed }];
    const honest = pool.tamper;
    pool.tamper = changeCommitment(0, 0, stranger);
    const { sync, store, archive } = openSync(kernels, pool);
    await expect(sync.importNotes(offered, [pool.assetId])).rejects.toMatchObject(refused);
    pool.tamper = honest;
    const healed = openSync(kernels, pool, store, archive);
    expect(await healed.sync.importNotes(offered, [pool.assetId])).toEqual(['accepted']);
  });

  it('is named, and forgotten, also if the node fails in the same sync', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: ben, amount: 1n }]);
    pool.fund([{ holder: anna, amount: 333_000n }]);
    const honest = pool.tamper;
    pool.tamper = changeCommitment(1, 0, stranger);
    const { fetchNoteRoot } = pool.history;
    pool.history.fetchNoteRoot = async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      throw new PoolError('chain_unreachable', 'the node is down');
    };
    const { read, sync, store, archive } = openSync(kernels, pool);
    // The agent opens the store again after this error, and not after that of the chain.
    await expect(read()).rejects.toMatchObject(refused);
    expect(store.leafCount).toBe(1);
    pool.history.fetchNoteRoot = fetchNoteRoot;
    pool.tamper = honest;
    expect(await openSync(kernels, pool, store, archive).read()).toEqual([333_000n, 1, 333_000n]);
    expect(sync.progress().isRunning).toBe(false);
  });

  it('is forgotten by a later sync if the node does not answer which block was before it', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: ben, amount: 1n }]);
    pool.fund([{ holder: anna, amount: 333_000n }]);
    const honest = pool.tamper;
    pool.tamper = changeCommitment(1, 0, stranger);
    const { fetchBlockHash } = pool.history;
    pool.history.fetchBlockHash = async () => undefined;
    const { read, store, archive } = openSync(kernels, pool);
    await expect(read()).rejects.toMatchObject({ code: 'chain_unreachable' });
    pool.history.fetchBlockHash = fetchBlockHash;
    pool.tamper = honest;
    await expect(read()).rejects.toMatchObject(refused);
    expect(await openSync(kernels, pool, store, archive).read()).toEqual([333_000n, 1, 333_000n]);
  });

  it('in an early leaf leaves the leaves before it stored', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: ben, amount: 1n }]);
    pool.fund([{ holder: anna, amount: 5n }]);
    pool.fund([{ holder: ben, amount: 1n }]);
    pool.tamper = changeCommitment(1, 0, stranger);
    const { read, store } = openSync(kernels, pool);
    await expect(read()).rejects.toMatchObject(refused);
    expect(store.leafCount).toBe(1);
  });
});

describe('a platform that lists what the chain does not have', () => {
  it('makes no honest node a liar', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: anna, amount: 5n }]);
    pool.listing.push({ ...pool.listing[0]!, slot: 1, commitment: stranger });
    expect(await openSync(kernels, pool).read()).toEqual([5n, 1, 5n]);
  });
});

describe('a node that changes a nullifier', () => {
  function createCase() {
    const pool = createFakeNotePool();
    const nonce = assertField(777n);
    pool.fund([{ holder: anna, amount: 1_000_000n, nonce }]);
    pool.fund([{ holder: anna, amount: 5n }]);
    const nullifier = pool.nullifierOf({ holder: anna, nonce });
    pool.spend([nullifier], [{ holder: ben, amount: 1_000_000n }]);
    const { root: outRoot, blockNumber } = pool.leaves[2]!;
    const honest = pool.tamper;
    pool.tamper = (found) =>
      found.map((leaf) => ({
        ...leaf,
        nullifiers: leaf.nullifiers.map((word) =>
          word === fieldToHex(nullifier) ? stranger : word,
        ),
      }));
    const heal = (): void => {
      pool.tamper = honest;
    };
    return { pool, uses: [{ nullifier, outRoot, finalBlock: blockNumber }], heal };
  }

  it('is named when the pool says that the note is used, and the note is spent once it is honest', async () => {
    const { pool, uses, heal } = createCase();
    const { read, sync, store, archive } = openSync(kernels, pool);
    // What no event shows, only the contract knows.
    expect(await read()).toEqual([1_000_005n, 2, 1_000_000n]);
    await expect(sync.compareUses(pool.assetId, uses)).rejects.toMatchObject(refused);
    heal();
    const healed = openSync(kernels, pool, store, archive);
    expect(await healed.read()).toEqual([5n, 1, 5n]);
    await expect(healed.sync.compareUses(pool.assetId, uses)).resolves.toBeUndefined();
  });

  it('is not taken for a node that lags behind the block of which the contract was asked', async () => {
    const { pool, uses, heal } = createCase();
    heal();
    const { fetchFinalBlock } = pool.history;
    const behind = uses[0]!.finalBlock - 1;
    pool.history.fetchFinalBlock = async () => ({
      number: behind,
      hash: (await pool.history.fetchBlockHash(behind))!,
    });
    const { read, sync, store } = openSync(kernels, pool);
    expect(await read()).toEqual([1_000_005n, 2, 1_000_000n]);
    await expect(sync.compareUses(pool.assetId, uses)).rejects.toMatchObject({
      code: 'chain_unreachable',
      retryable: true,
      message: expect.stringMatching(/rpc\.example lags: .* try again/),
    });
    expect(store.leafCount).toBe(2);
    pool.history.fetchFinalBlock = fetchFinalBlock;
    expect(await read()).toEqual([5n, 1, 5n]);
    await expect(sync.compareUses(pool.assetId, uses)).resolves.toBeUndefined();
  });

  it('is named as well if it names a spend of which it has no event', async () => {
    const { pool, uses } = createCase();
    const { read, sync } = openSync(kernels, pool);
    await read();
    const other = uses.map((use) => ({ ...use, outRoot: assertField(4n) }));
    await expect(sync.compareUses(pool.assetId, other)).rejects.toMatchObject(refused);
  });
});

describe('a sync that ended before it compared the root', () => {
  it('compares it when it is continued', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: anna, amount: 5n }]);
    const { fetchNoteRoot } = pool.history;
    pool.history.fetchNoteRoot = async () => {
      throw new Error('the process is killed');
    };
    const { read, store, archive } = openSync(kernels, pool);
    await expect(read()).rejects.toThrow('killed');
    expect(store.leafCount).toBe(1);
    pool.history.fetchNoteRoot = async () => assertField(1n);
    await expect(openSync(kernels, pool, store, archive).read()).rejects.toMatchObject(refused);
    pool.history.fetchNoteRoot = fetchNoteRoot;
    expect(await openSync(kernels, pool, store, archive).read()).toEqual([5n, 1, 5n]);
  });
});
