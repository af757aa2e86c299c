// The archive of spends in a browser: two tabs that race for one note, a transaction that does not end, and what a copy of the profile shows.
import 'fake-indexeddb/auto';
import { bigintToHex32, parseEvmAddress } from '@pool/core';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { ArchivedSpend } from '../../archive/spend-archive.ts';
import { openTestDatabase, readAllBytes, storageKey } from '../../fixtures/browser-store.ts';
import { createSealer } from './sealer.ts';
import { openSpendArchive } from './spend-archive.ts';

let name = 0;
beforeEach(() => {
  name += 1;
});

/** A tab of one account. */
async function openTab(key = storageKey) {
  const database = await openTestDatabase(`spends ${name}`);
  const unreadable = { count: 0 };
  const archive = openSpendArchive({
    database,
    sealer: createSealer(key),
    onUnreadable: () => {
      unreadable.count += 1;
    },
  });
  return { database, archive, unreadable };
}

function makeSpend(id: number, inputs: readonly number[], rest: Partial<ArchivedSpend> = {}) {
  return {
    version: 1,
    operation: 'send',
    chain: 'base',
    chainId: 8453,
    pool: parseEvmAddress('0x5fbdb2315678afecb367f032d93f642f64180aa3'),
    outRoot: bigintToHex32(BigInt(id)),
    inputNullifiers: inputs.map((input) => bigintToHex32(BigInt(1_000 + input))),
    deadline: 1_000,
    changeAmount: '31415926535',
    createdAtMs: id,
    state: { kind: 'archived' },
    ...rest,
  } satisfies ArchivedSpend;
}

describe('the archive of spends in a browser', () => {
  it('gives a note to one of two tabs that race for it', async () => {
    const [one, other] = [await openTab(), await openTab()];
    const added = await Promise.all([
      one.archive.add(makeSpend(1, [7, 8])),
      other.archive.add(makeSpend(2, [8, 9])),
    ]);
    expect(added.filter(Boolean)).toHaveLength(1);
    expect(await one.archive.listOpen()).toHaveLength(1);
    expect(await other.archive.listLocked()).toEqual(await one.archive.listLocked());
  });

  it('frees the notes of a spend that was given up, and keeps those of one that settled', async () => {
    const { archive } = await openTab();
    for (const [id, input] of [
      [1, 7],
      [2, 8],
    ] as const) {
      await archive.add(makeSpend(id, [input]));
    }
    const [given, settled] = [makeSpend(1, [7]), makeSpend(2, [8])];
    await archive.change(given.outRoot, (spend) => ({
      ...spend,
      state: { kind: 'abandoned', code: 'interrupted' },
    }));
    await archive.change(settled.outRoot, (spend) => ({
      ...spend,
      state: { kind: 'settled', txHash: bigintToHex32(5n), blockNumber: 5 },
    }));
    expect(await archive.add(makeSpend(3, [7]))).toBe(true);
    expect(await archive.add(makeSpend(4, [8]))).toBe(false);
    expect((await archive.listOpen()).map(({ outRoot }) => outRoot)).toEqual([
      makeSpend(3, []).outRoot,
    ]);
  });

  it('asks the check before it stores, in the same transaction, and stores nothing that it refuses', async () => {
    const [one, other] = [await openTab(), await openTab()];
    const refuse = (listRecent: (sinceMs: number) => readonly ArchivedSpend[]): void => {
      if (listRecent(0).length > 0) throw new Error('there is one already');
    };
    const added = await Promise.allSettled([
      one.archive.add(makeSpend(1, [7]), refuse),
      other.archive.add(makeSpend(2, [8]), refuse),
    ]);
    expect(added.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await one.archive.listRecent(0)).toHaveLength(1);
  });

  it('keeps every one of many changes that tabs make at once', async () => {
    const tabs = [await openTab(), await openTab(), await openTab()];
    await tabs[0]?.archive.add(makeSpend(1, [7]));
    const { outRoot } = makeSpend(1, []);
    await Promise.all(
      Array.from({ length: 30 }, async (_, place) =>
        tabs[place % 3]?.archive.change(outRoot, (spend) => ({
          ...spend,
          deadline: spend.deadline + 1,
        })),
      ),
    );
    expect(await tabs[1]?.archive.get(outRoot)).toMatchObject({ deadline: 1_030 });
  });

  it('stores nothing of a change that throws', async () => {
    const { archive } = await openTab();
    const spend = makeSpend(1, [7]);
    await archive.add(spend);
    await expect(
      archive.change(spend.outRoot, () => {
        throw new Error('killed');
      }),
    ).rejects.toThrow('killed');
    expect(await archive.get(spend.outRoot)).toEqual(spend);
  });

  it('keeps the notes of a spend locked that was changed on disk, and reads the others', async () => {
    const { archive, database, unreadable } = await openTab();
    await archive.add(makeSpend(1, [7]));
    await archive.add(makeSpend(2, [8]));
    await database.write('spends', async (rows) => {
      for (const row of await rows.getAll()) {
        const { outRoot } = makeSpend(1, []);
        if (row.name === createSealer(storageKey).nameOf('spend', outRoot)) {
          await rows.put({ ...row, sealed: row.sealed.map((byte) => byte ^ 1) });
        }
      }
    });
    expect((await archive.listOpen()).map(({ createdAtMs }) => createdAtMs)).toEqual([2]);
    await archive.listOpen();
    expect(unreadable.count).toBe(1);
    expect(await archive.add(makeSpend(3, [7]))).toBe(false);
    await expect(archive.get(makeSpend(1, []).outRoot)).rejects.toMatchObject({
      code: 'spend_unreadable',
    });
    await expect(archive.change(makeSpend(9, []).outRoot, (spend) => spend)).rejects.toMatchObject({
      code: 'spend_unreadable',
    });
  });

  it('refuses a row whose locks were taken away on disk', async () => {
    const { archive, database } = await openTab();
    const spend = makeSpend(1, [7]);
    await archive.add(spend);
    await database.write('spends', async (rows) => {
      for (const row of await rows.getAll()) await rows.put({ ...row, held: [] });
    });
    await expect(archive.get(spend.outRoot)).rejects.toMatchObject({ code: 'spend_unreadable' });
  });

  it('shows nothing of a spend to who copies the profile', async () => {
    const { archive } = await openTab();
    const spend = makeSpend(1, [7]);
    await archive.add(spend);
    const bytes = await readAllBytes(`spends ${name}`);
    expect(bytes.length).toBeGreaterThan(200);
    for (const plain of [
      spend.outRoot,
      spend.changeAmount,
      spend.inputNullifiers[0] ?? '',
      'send',
    ]) {
      expect(bytes).not.toContain(plain.replace('0x', ''));
    }
    const thief = await openTab(new Uint8Array(32).fill(9));
    expect(await thief.archive.listOpen()).toEqual([]);
    expect(thief.unreadable.count).toBe(1);
  });

  it('stores nothing after the wallet was closed', async () => {
    const database = await openTestDatabase(`spends ${name}`);
    const sealer = createSealer(storageKey);
    onTestFinished(() => sealer.wipe());
    const archive = openSpendArchive({ database, sealer, onUnreadable: () => undefined });
    sealer.wipe();
    await expect(archive.add(makeSpend(1, [7]))).rejects.toMatchObject({ code: 'stopping' });
  });
});
