/**
 * The notes of a holder that has changed its P: one note store for each P whose viewing key it has, and answers over all of them.
 *
 * The platform lists the notes of the registered P only. So exactly that store reads the listing, and the others read the chain, which
 * shows which of their notes are spent. Before a rotation is registered, this is the store of the earlier P; the store of the new one has
 * not read past notes that the platform did not list yet.
 *
 * @module
 */
import { type EncryptionPublicKey, errorCodeOf, fieldToHex, PoolError } from '@pool/core';
import { joinMovements } from '../../sync/build-history.ts';
import type { ImportOutcome } from '../../sync/import-notes.ts';
import type { DeliveryPort, OwnNote } from '../../sync/ports.ts';
import type { Arrival } from './arrivals.ts';
import type { Holder } from './holder.ts';
import type { BalanceReport, HolderChain, HolderNotes, TokenMovements } from './holder-notes.ts';
import { joinDocuments } from './notes-document.ts';

export type KeyedNotesDeps = {
  /** How many earlier keys the configuration has. The holder can have fewer: its present key counts once. */
  readonly earlierCount: number;
  readonly openHolder: () => Promise<Holder>;
  /** Notes of one P: the holder that it opens has that P and no earlier ones. */
  readonly createNotes: (
    openHolder: () => Promise<Holder>,
    createDeliveries: (chain: string) => DeliveryPort,
  ) => HolderNotes;
  readonly createDeliveries: (chain: string) => DeliveryPort;
  /** P that the platform has registered for the wallet now, if one is. Undefined: the listing has the notes of every P. */
  readonly fetchRegistered:
    | ((chain: string, address: string) => Promise<string | undefined>)
    | undefined;
};

type KeyedNote = OwnNote & { readonly encryptionPublicKey: EncryptionPublicKey };

export type KeyedNotes = Omit<HolderNotes, 'listSpendable'> & {
  listSpendable(symbol: string, chain?: HolderChain): Promise<readonly KeyedNote[]>;
};

export function createKeyedNotes(deps: KeyedNotesDeps): KeyedNotes {
  let holder: Promise<Holder> | undefined;

  function findHolder(): Promise<Holder> {
    holder ??= deps.openHolder().catch((error: unknown) => {
      holder = undefined;
      throw error;
    });
    return holder;
  }

  async function openOne(index: number): Promise<Holder> {
    const opened = await findHolder();
    const key = index === 0 ? opened : opened.earlier[index - 1];
    if (key === undefined) {
      throw new PoolError('internal_error', 'a note store has no key');
    }
    const { viewingKey, encryptionPublicKey } = key;
    return { ...opened, viewingKey, encryptionPublicKey, earlier: [] };
  }

  /** The listing, if it is the one of this P. */
  function createListing(index: number, chain: string): DeliveryPort {
    const { fetchRegistered } = deps;
    const deliveries = deps.createDeliveries(chain);
    if (fetchRegistered === undefined) {
      return deliveries;
    }
    return {
      async fetchPage(symbol, cursor) {
        return (await isRegistered(index, chain, fetchRegistered))
          ? await deliveries.fetchPage(symbol, cursor)
          : { notes: [] };
      },
    };
  }

  async function isRegistered(
    index: number,
    chain: string,
    fetchRegistered: NonNullable<KeyedNotesDeps['fetchRegistered']>,
  ): Promise<boolean> {
    const { address, encryptionPublicKey } = await openOne(index);
    try {
      return (await fetchRegistered(chain, address)) === encryptionPublicKey;
    } catch (cause) {
      throw new PoolError(
        'platform_unreachable',
        'the platform does not say which encryption key is registered; try again',
        { cause, details: { reason: errorCodeOf(cause) ?? 'unknown' } },
      );
    }
  }

  const stores = Array.from({ length: 1 + deps.earlierCount }, (_, index) =>
    deps.createNotes(
      () => openOne(index),
      (chain) => createListing(index, chain),
    ),
  );
  const present = requireFirst(stores);

  async function collect<T>(
    work: (store: HolderNotes, index: number) => Promise<T>,
  ): Promise<readonly T[]> {
    const results: T[] = [];
    for (const [index, store] of (await findStores()).entries()) {
      results.push(await work(store, index));
    }
    return results;
  }

  /** Those whose key the holder has. */
  async function findStores(): Promise<readonly HolderNotes[]> {
    return stores.slice(0, 1 + (await findUsableHolder()).earlier.length);
  }

  function join(reports: readonly BalanceReport[]): BalanceReport {
    const largest = reports.map(({ largestNote }) => largestNote).sort(compareAmounts);
    return {
      ...requireFirst(reports),
      total: reports.reduce((sum, { total }) => sum + total, 0n),
      notes: reports.reduce((sum, { notes }) => sum + notes, 0),
      largestNote: largest.at(-1) ?? 0n,
    };
  }

  /** Without the change that a spend of notes of another P paid: its own store cannot tell it from a payment. */
  async function dropChange(
    symbol: string,
    arrivals: readonly Arrival[],
  ): Promise<readonly Arrival[]> {
    if (arrivals.length === 0) {
      return arrivals;
    }
    const { movements } = await readMovements(symbol);
    const received = new Set(
      movements.flatMap((movement) => (movement.kind === 'received' ? [movement.commitment] : [])),
    );
    return arrivals
      .filter(({ note }) => received.has(fieldToHex(note.commitment)))
      .sort((left, right) => left.seenAtMs - right.seenAtMs);
  }

  async function readMovements(symbol: string): Promise<TokenMovements> {
    const read = await collect((store) => store.readMovements(symbol));
    const movements = joinMovements(read.map((one) => one.movements));
    return { chain: requireFirst(read).chain, movements };
  }

  return {
    ...present,
    holder: findUsableHolder,
    address: async () => (await findUsableHolder()).address,
    readBalance: async (symbol) => join(await collect((store) => store.readBalance(symbol))),
    // The archive keeps the notes of a P that is not listed any more.
    rescan: async (symbol, fromBlock) =>
      join(await collect((store) => store.rescan(symbol, fromBlock))),
    async readArrivals(symbol, after) {
      const places = after?.split(cursorSeparator);
      const reports = await collect((store, index) =>
        // A place that is missing is of a process with fewer keys, and nothing was listed of this one.
        store.readArrivals(symbol, places === undefined ? undefined : (places[index] ?? '')),
      );
      return {
        balance: join(reports.map(({ balance }) => balance)),
        decimals: requireFirst(reports).decimals,
        arrivals: await dropChange(
          symbol,
          reports.flatMap(({ arrivals }) => arrivals),
        ),
        cursor: reports.map(({ cursor }) => cursor).join(cursorSeparator),
      };
    },
    exportNotes: async () => joinDocuments(await collect((store) => store.exportNotes())),
    async importNotes(offered) {
      const byStore = await collect((store) => store.importNotes(offered));
      return offered.map((_, place) => joinOutcomes(byStore.map((outcomes) => outcomes[place])));
    },
    async keepChange(chain) {
      await collect((store) => store.keepChange(chain));
    },
    readMovements,
    async listSpendable(symbol, chain) {
      const lists = await collect(async (store, index) => {
        const { encryptionPublicKey } = await openOne(index);
        return (await store.listSpendable(symbol, chain)).map((note) => ({
          ...note,
          encryptionPublicKey,
        }));
      });
      return lists.flat();
    },
    async computePaths(symbol, commitments, chain) {
      for (const store of await findStores()) {
        const owned = await store.listSpendable(symbol, chain);
        if (owned.some(({ commitment }) => fieldToHex(commitment) === commitments[0])) {
          return await store.computePaths(symbol, commitments, chain);
        }
      }
      return await present.computePaths(symbol, commitments, chain);
    },
    async compareUses(symbol, uses, chain) {
      await collect((store) => store.compareUses(symbol, uses, chain));
    },
    progress: () =>
      stores.map((store) => store.progress()).find(({ isRunning }) => isRunning) ??
      present.progress(),
    async close() {
      for (const store of stores) {
        await store.close();
      }
    },
  };

  /** With all its keys. @throws PoolError `holder_unavailable` */
  async function findUsableHolder(): Promise<Holder> {
    await present.holder();
    return await findHolder();
  }
}

/** Of the present P. */
function requireFirst<T>([first]: readonly T[]): T {
  if (first === undefined) {
    throw new PoolError('internal_error', 'there is no note store');
  }
  return first;
}

/** Between the cursors of the stores: in none of them, and as it is in a URL. */
const cursorSeparator = '-';

/** Best first. */
const outcomeOrder: readonly ImportOutcome[] = ['accepted', 'known', 'not_ours', 'not_on_chain'];

/** Of one note that was offered to each store. */
function joinOutcomes(outcomes: readonly (ImportOutcome | undefined)[]): ImportOutcome {
  return outcomeOrder.find((outcome) => outcomes.includes(outcome)) ?? 'not_ours';
}

function compareAmounts(one: bigint, other: bigint): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
