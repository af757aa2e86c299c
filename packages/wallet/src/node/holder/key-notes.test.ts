// A holder that has changed its P: notes of both are shown and spent, also one that lands late under the earlier P, and what the platform lists
// for one key never makes the other store skip its own notes.
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  chainFamilies,
  type EvmChainSettings,
  fieldToHex,
  PoolError,
  parseEvmAddress,
  Secret,
} from '@pool/core';
import { createNoteScanner, type NoteScanner } from '@pool/notes';
import { createLocalKeyHolder } from '@pool/signers';
import { createFakeHolder, createFakeNotePool, type FakeHolder } from '@pool/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Holder } from '../../holder/holder.ts';
import { parseNotesFile } from '../../holder/notes-document.ts';
import { createHolderNotes, type HolderNotesDeps } from './holder-notes.ts';

const earlier = createFakeHolder(1);
const { viewingKey, encryptionPublicKey } = createFakeHolder(9);
/** The same wallet with another viewing key. */
const present: FakeHolder = { ...earlier, viewingKey, encryptionPublicKey };

const settings: EvmChainSettings = {
  family: 'evm',
  chainId: 31337,
  rpcUrl: 'http://127.0.0.1:9',
  pool: parseEvmAddress('0x5fbdb2315678afecb367f032d93f642f64180aa3'),
  registry: parseEvmAddress('0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0'),
  deployedAtBlock: 5,
  finality: { kind: 'depth', blocks: 1 },
  maxRecipients: 3,
  tokens: {
    USDC: { address: parseEvmAddress('0xe7f1725e7734ce288f8367e1bb143e90bb3f0512'), decimals: 6 },
  },
};

let scanner: NoteScanner;
beforeAll(async () => {
  scanner = await createNoteScanner({ threads: 1 });
});
afterAll(() => scanner.close());

function createWorld() {
  const pool = createFakeNotePool({ asset: settings });
  /** P of each leaf's notes, as the platform labels them. */
  const labels = new Map<number, string>();
  const state = { registered: earlier.encryptionPublicKey as string, isDown: false };
  const home = mkdtempSync(join(tmpdir(), 'pool-home-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));

  async function openHolder(): Promise<Holder> {
    return {
      signer: createLocalKeyHolder({ privateKey: new Secret(earlier.wallet.privateKey) }),
      family: chainFamilies.evm,
      walletPub: earlier.walletPub,
      address: earlier.address,
      viewingKey: new Secret(present.viewingKey),
      encryptionPublicKey: present.encryptionPublicKey,
      earlier: [
        {
          viewingKey: new Secret(earlier.viewingKey),
          encryptionPublicKey: earlier.encryptionPublicKey,
        },
      ],
    };
  }

  function start(directory = home, changes: Partial<HolderNotesDeps> = {}) {
    mkdirSync(directory, { recursive: true });
    const note = (): void => undefined;
    const notes = createHolderNotes({
      home: directory,
      log: { debug: note, info: note, error: note, warn: note },
      openHolder,
      findChain: () => ({ key: 'anvil', settings }),
      createHistory: () => pool.history,
      createScanner: async () => ({ ...scanner, close: async () => undefined }),
      // The platform: notes of the registered P only.
      createDeliveries: () => ({
        fetchPage: async () => ({
          notes: pool.listing.filter(
            ({ batchIndex }) => labels.get(batchIndex) === state.registered,
          ),
        }),
      }),
      fetchRegistered: async () => {
        if (state.isDown) {
          throw new PoolError('platform_unreachable', 'down');
        }
        return state.registered;
      },
      ...changes,
    });
    onTestFinished(() => notes.close());
    return notes;
  }

  return {
    pool,
    state,
    home,
    start,
    label: (leaf: number, { encryptionPublicKey: key }: FakeHolder): void =>
      void labels.set(leaf, key),
    pay(holder: FakeHolder, ...amounts: readonly bigint[]): void {
      const leaf = pool.fund(amounts.map((amount) => ({ holder, amount })));
      labels.set(leaf, holder.encryptionPublicKey);
    },
  };
}

let world: ReturnType<typeof createWorld>;
beforeEach(() => {
  world = createWorld();
});

describe('the notes of a holder with an earlier key', () => {
  it('are those of every P whose viewing key it has', async () => {
    world.pay(earlier, 5n, 6n);
    const notes = world.start();
    expect(await notes.readBalance('USDC')).toMatchObject({ total: 11n, notes: 2 });
    // The change of a sweep lands before the new key is registered, and is listed only afterwards.
    world.pay(present, 40n);
    expect(await notes.readBalance('USDC')).toMatchObject({ total: 11n, notes: 2 });
    world.state.registered = present.encryptionPublicKey;
    world.pay(present, 3n);
    expect(await notes.readBalance('USDC')).toEqual({
      total: 54n,
      notes: 4,
      largestNote: 40n,
      symbol: 'USDC',
      chain: 'anvil',
    });
    const owned = await notes.listSpendable('USDC');
    expect(
      owned.map(({ amount, encryptionPublicKey: key }) => [
        amount,
        key === earlier.encryptionPublicKey,
      ]),
    ).toEqual([
      [40n, false],
      [3n, false],
      [5n, true],
      [6n, true],
    ]);
    expect(
      readdirSync(world.home).filter((name) => /^holder-notes-.*sqlite$/.test(name)),
    ).toHaveLength(2);
  });

  it('are kept over a restart and a rescan, although the platform does not list them any more', async () => {
    world.pay(earlier, 5n);
    const first = world.start();
    await first.readBalance('USDC');
    world.state.registered = present.encryptionPublicKey;
    world.pay(present, 7n);
    await first.close();
    const second = world.start();
    expect(await second.readBalance('USDC')).toMatchObject({ total: 12n });
    expect(await second.rescan('USDC', undefined)).toMatchObject({ total: 12n });
  });

  it('are spent with the path of their own store', async () => {
    world.pay(earlier, 5n);
    const notes = world.start();
    await notes.readBalance('USDC');
    world.state.registered = present.encryptionPublicKey;
    world.pay(present, 7n);
    for (const { commitment } of await notes.listSpendable('USDC')) {
      const { paths, noteRoot } = await notes.computePaths('USDC', [fieldToHex(commitment)]);
      expect(paths).toHaveLength(1);
      expect(noteRoot).toBe(await world.pool.history.fetchNoteRoot(world.pool.head()));
    }
    await expect(notes.computePaths('USDC', [fieldToHex(world.pool.assetId)])).rejects.toThrow(
      PoolError,
    );
  });

  it('include one that lands late under the earlier P, after rotating back', async () => {
    world.pay(earlier, 5n);
    const notes = world.start();
    await notes.readBalance('USDC');
    world.state.registered = present.encryptionPublicKey;
    world.pay(present, 7n);
    world.pay(earlier, 100n);
    expect(await notes.readBalance('USDC')).toMatchObject({ total: 12n });
    world.state.registered = earlier.encryptionPublicKey;
    expect(await notes.readBalance('USDC')).toMatchObject({ total: 112n });
    world.state.registered = present.encryptionPublicKey;
    expect(await notes.readBalance('USDC')).toMatchObject({ total: 112n });
  });

  it('are all read again by a rescan, also of a P that is not registered any more', async () => {
    world.pay(earlier, 5n);
    const notes = world.start();
    await notes.readBalance('USDC');
    world.state.registered = present.encryptionPublicKey;
    world.pay(present, 7n);
    await notes.readBalance('USDC');
    // Both stores have a block that the chain does not have any more.
    world.pool.replaced.add(world.pool.head());
    world.pool.mine(1);
    await expect(notes.readBalance('USDC')).rejects.toMatchObject({ code: 'note_history_changed' });
    expect(await notes.rescan('USDC', undefined)).toMatchObject({ total: 12n, notes: 2 });
    expect(await notes.readBalance('USDC')).toMatchObject({ total: 12n });
  });

  it('arrive under every P, and the change of a sweep is no arrival', async () => {
    world.pay(earlier, 5n);
    const first = world.start();
    const begun = await first.readArrivals('USDC', undefined);
    expect(begun).toMatchObject({ arrivals: [], balance: { total: 5n }, decimals: 6 });
    world.pay(earlier, 6n);
    const before = await first.readArrivals('USDC', begun.cursor);
    expect(before).toMatchObject({ arrivals: [{ note: { amount: 6n } }], balance: { total: 11n } });
    const swept = await first.listSpendable('USDC');
    const leaf = world.pool.spend(
      swept.map(({ nullifier }) => nullifier),
      [{ holder: present, amount: 11n }],
    );
    world.label(leaf, present);
    world.state.registered = present.encryptionPublicKey;
    world.pay(present, 3n);
    const after = await first.readArrivals('USDC', before.cursor);
    expect(after.arrivals.map(({ note }) => note.amount)).toEqual([3n]);
    expect(after.balance).toMatchObject({ total: 14n, notes: 2 });
    expect(await first.readArrivals('USDC', after.cursor)).toMatchObject({ arrivals: [] });
    await first.close();
    world.pay(present, 8n);
    const second = world.start();
    const later = await second.readArrivals('USDC', after.cursor);
    expect(later.arrivals.map(({ note }) => note.amount)).toEqual([8n]);
  });

  it('are exported with the P of each, and another directory imports those of every P', async () => {
    world.pay(earlier, 5n);
    const notes = world.start();
    await notes.readBalance('USDC');
    world.state.registered = present.encryptionPublicKey;
    world.pay(present, 7n);
    await notes.readBalance('USDC');
    const document = await notes.exportNotes();
    expect(document.encryptionPublicKey).toBe(present.encryptionPublicKey);
    expect(document.notes.map((note) => [note.leafIndex, note.encryptionPublicKey])).toEqual([
      [0, earlier.encryptionPublicKey],
      [1, undefined],
    ]);
    const parse = (...encryptionPublicKeys: readonly string[]) =>
      parseNotesFile(JSON.stringify(document), { ...document, encryptionPublicKeys }, 'notes.json')
        .notes;
    const files = parse(present.encryptionPublicKey, earlier.encryptionPublicKey);
    expect(files.map(({ isForHolder }) => isForHolder)).toEqual([true, true]);
    expect(parse(present.encryptionPublicKey).map(({ isForHolder }) => isForHolder)).toEqual([
      false,
      true,
    ]);
    const other = world.start(join(world.home, 'other'));
    const offered = files.map((file) => file.offered!);
    expect(await other.importNotes(offered)).toEqual(['accepted', 'accepted']);
    expect(await other.importNotes(offered)).toEqual(['known', 'known']);
    const [one] = offered;
    expect(await other.importNotes([{ ...one!, commitment: world.pool.assetId }])).toEqual([
      'not_on_chain',
    ]);
    world.pool.listing.length = 0;
    expect(await other.readBalance('USDC')).toMatchObject({ total: 12n, notes: 2 });
  });

  it('have one history: a sweep is one movement that costs nothing', async () => {
    world.pay(earlier, 5n, 6n);
    const notes = world.start();
    const swept = await notes.listSpendable('USDC');
    const leaf = world.pool.spend(
      swept.map(({ nullifier }) => nullifier),
      [{ holder: present, amount: 11n }],
    );
    world.label(leaf, present);
    world.state.registered = present.encryptionPublicKey;
    world.pay(present, 3n);
    const { movements } = await notes.readMovements('USDC');
    expect(
      movements.map((one) =>
        one.kind === 'received' ? [one.amount, one.balance] : [one.change - one.spent, one.balance],
      ),
    ).toEqual([
      [5n, 5n],
      [6n, 11n],
      [0n, 11n],
      [3n, 14n],
    ]);
    expect(await notes.readBalance('USDC')).toMatchObject({ total: 14n, notes: 2 });
  });

  it('are read from a configuration that names the present key among the earlier ones too', async () => {
    world.pay(earlier, 5n);
    const notes = world.start();
    expect(await notes.readBalance('USDC')).toMatchObject({ total: 5n, notes: 1 });
    expect((await notes.exportNotes()).notes).toHaveLength(1);
  });

  it('are all found in a listing that has every P, without the platform', async () => {
    world.pay(earlier, 5n);
    world.pay(present, 7n);
    world.state.isDown = true;
    const notes = world.start(world.home, {
      createDeliveries: () => world.pool.deliveries,
      fetchRegistered: undefined,
    });
    expect(
      (await notes.listSpendable('USDC')).map(({ amount, encryptionPublicKey: key }) => [
        amount,
        key === earlier.encryptionPublicKey,
      ]),
    ).toEqual([
      [7n, false],
      [5n, true],
    ]);
  });

  it('are not guessed while the platform does not say which key is registered', async () => {
    world.pay(earlier, 5n);
    const notes = world.start();
    world.state.isDown = true;
    await expect(notes.readBalance('USDC')).rejects.toMatchObject({ code: 'platform_unreachable' });
    world.state.isDown = false;
    expect(await notes.readBalance('USDC')).toMatchObject({ total: 5n });
  });
});
