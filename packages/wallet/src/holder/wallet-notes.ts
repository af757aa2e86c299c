/**
 * The holder's notes: opens the holder and its caches when they are first needed, brings the caches up to date, and
 * answers from them. One sync runs at a time; callers that arrive meanwhile share the next one.
 *
 * A holder that has changed its P has a cache for each P whose viewing key it has. The platform lists the notes of the registered P only. So
 * exactly that cache reads the listing, and the others read the chain, which shows which of their notes are spent. Before a rotation is
 * registered, this is the cache of the earlier P; the cache of the new one has not read past notes that the platform did not list yet.
 *
 * @module
 */
import {
  computeAssetId,
  type EvmChainSettings,
  errorCodeOf,
  type Hex32,
  isPoolError,
  PoolError,
} from '@pool/core';
import { createNoteScanner, type NoteScanner } from '@pool/notes';
import type { NoteUse } from '../note-ports.ts';
import type { NotePaths } from '../spend/spend-ports.ts';
import { joinMovements, type Movement } from '../sync/build-history.ts';
import { rewindStore } from '../sync/holder-sync.ts';
import type { ImportOutcome, OfferedNote } from '../sync/import-notes.ts';
import { archiveNotes } from '../sync/own-candidates.ts';
import { computeBalance, type HolderBalance } from '../sync/own-notes.ts';
import type { DeliveryPort, HistoryPort, SyncProgress } from '../sync/ports.ts';
import type { SyncAsset } from '../sync/read-deliveries.ts';
import { type Arrivals, createArrivalLog } from './arrivals.ts';
import type { Holder, HolderChain } from './holder.ts';
import {
  computePaths,
  type HolderStores,
  isChangeOf,
  joinOutcomes,
  type KeyedNote,
  type KeyNotes,
  type KeyNotesDeps,
  listSpendable,
  nameOf,
  type OwnSpends,
  openKeyNotes,
  tokensOf,
} from './key-notes.ts';
import { createNotesDocument, joinDocuments, type NotesDocument } from './notes-document.ts';

export type WalletNotesDeps = Pick<KeyNotesDeps, 'fetchRegistered'> & {
  readonly stores: HolderStores;
  /** @throws PoolError if the configuration has no usable holder */
  readonly openHolder: () => Promise<Holder>;
  /** The chain of holder operations. @throws PoolError `invalid-chain`, 503 before bootstrap */
  readonly findChain: () => HolderChain;
  /** The platform's listing, read with the role's own key. @throws PoolError `holder_unavailable` */
  readonly createDeliveries: (chain: string) => DeliveryPort;
  readonly createHistory: (settings: EvmChainSettings) => ClosableHistory;
  readonly createScanner?: () => Promise<NoteScanner>;
  readonly nowMs?: () => number;
};

/** `close` frees the connection. */
export type ClosableHistory = HistoryPort & { close(): void };

export type BalanceReport = HolderBalance & { readonly symbol: string; readonly chain: string };

export type TokenMovements = {
  readonly chain: HolderChain;
  /** In the order of the chain. Confidential. */
  readonly movements: readonly Movement[];
};

export type ArrivalsReport = Arrivals & {
  readonly balance: BalanceReport;
  /** Of the token. */
  readonly decimals: number;
};

export type HolderNotes = {
  /** The holder, opened once. @throws PoolError `holder_unavailable` */
  holder(): Promise<Holder>;
  /** The chain of holder operations. @throws PoolError `invalid-chain`, 503 before bootstrap */
  findChain(): HolderChain;
  /** address(W). @throws PoolError `holder_unavailable` */
  address(): Promise<string>;
  /**
   * What the holder can spend of one token, as of the newest final block.
   * @throws PoolError 400 `unknown_token`; 503 `holder_unavailable` and the errors of a sync
   */
  readBalance(symbol: string): Promise<BalanceReport>;
  /** Reads chain and platform again. @param fromBlock - undefined: everything */
  rescan(symbol: string, fromBlock: number | undefined): Promise<BalanceReport>;
  /** Unspent notes of one token, as of the newest final block. @throws like {@link HolderNotes.readBalance} */
  listSpendable(symbol: string, chain?: HolderChain): Promise<readonly KeyedNote[]>;
  /** What happened to the notes of one token up to the newest final block. @throws like {@link HolderNotes.readBalance} */
  readMovements(symbol: string): Promise<TokenMovements>;
  /**
   * Paths of unspent notes to the newest final root.
   * @param commitments - of notes that were listed, as 32-byte hex
   * @throws PoolError `notes_unavailable` if a note was spent meanwhile; like {@link HolderNotes.readBalance}
   */
  computePaths(
    symbol: string,
    commitments: readonly Hex32[],
    chain?: HolderChain,
  ): Promise<NotePaths>;
  /**
   * Reads the chain, and compares what its contract says of notes with what its events said.
   * @param uses - notes that the contract has as used
   * @throws PoolError `note_history_incomplete` if a note is unspent all the same; the next call reads those blocks again
   */
  compareUses(symbol: string, uses: readonly NoteUse[], chain?: HolderChain): Promise<void>;
  /**
   * What arrived since an earlier call, and the balance with it. @param after - `cursor` of that call; undefined: nothing is listed
   * @throws like {@link HolderNotes.readBalance}
   */
  readArrivals(symbol: string, after: string | undefined): Promise<ArrivalsReport>;
  /** Every note of the archive, of all tokens, spent ones too. Reads no network. @throws PoolError `holder_unavailable` */
  exportNotes(): Promise<NotesDocument>;
  /**
   * Takes notes from a file. Each is compared with the chain; the platform is not asked.
   * @returns an outcome for each, in their order
   */
  importNotes(offered: readonly OfferedNote[]): Promise<readonly ImportOutcome[]>;
  /**
   * Reads one chain and keeps the change of the holder's own spends there. The platform is not asked.
   * @throws like {@link HolderNotes.readBalance}
   */
  keepChange(chain: HolderChain): Promise<void>;
  /** Of the sync that runs, or of the last one. */
  progress(): SyncProgress;
  /** The block that the last sync read up to. Undefined: none was read. */
  asOfBlock(): number | undefined;
  close(): Promise<void>;
};

/** What the routes of the balance need. */
export type HolderReads = Pick<
  HolderNotes,
  'address' | 'readBalance' | 'readArrivals' | 'rescan' | 'progress'
>;

type Session = {
  readonly chain: HolderChain;
  readonly history: ClosableHistory;
  /** A connection of its own to the archive of spends: whoever makes them may be another process. */
  readonly spends: OwnSpends;
  /** Of the present P, and of each earlier one. */
  readonly keys: readonly KeyNotes[];
  /** Somebody else saved a cache since it was opened. */
  isStale: boolean;
};

/** After one of these the cache is opened, and so checked, again: what was asked for is repeated once. */
const repeated: readonly (string | undefined)[] = ['note_cache_changed'];
/** After one of these the cache is opened again at the next call. */
const reopening = [...repeated, 'note_history_incomplete'];

const idle: SyncProgress = { isRunning: false, blocks: { read: 0, total: 0 }, notes: 0 };

export function createWalletNotes(deps: WalletNotesDeps): HolderNotes {
  const { stores, createHistory, createScanner = createNoteScanner } = deps;
  let holder: Promise<Holder> | undefined;
  let scanner: Promise<NoteScanner> | undefined;
  let session: Session | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  const arrivals = createArrivalLog(deps.nowMs ?? Date.now);

  function findHolder(): Promise<Holder> {
    holder ??= deps.openHolder().catch((cause: unknown) => {
      holder = undefined;
      const found = isPoolError(cause) ? cause.message : 'the signer failed';
      throw new PoolError('holder_unavailable', `this agent has no usable holder: ${found}`, {
        cause,
      });
    });
    return holder;
  }

  async function openSession(chain: HolderChain): Promise<Session> {
    if (session?.isStale === false && session.chain.key === chain.key) {
      return session;
    }
    closeSession();
    const opened = await findHolder();
    scanner ??= createScanner();
    const kernels = await scanner;
    const deliveries = deps.createDeliveries(chain.key);
    const history = createHistory(chain.settings);
    const spends = stores.openSpends();
    const keys: KeyNotes[] = [];
    try {
      for (const key of [opened, ...opened.earlier]) {
        const of = { chain, holder: opened, key };
        keys.push(await openKeyNotes({ ...deps, ...of, deliveries, history, spends, kernels }));
      }
    } catch (error) {
      closeAll([history, spends, ...keys.map(({ store }) => store)]);
      throw error;
    }
    session = { chain, history, spends, keys, isStale: false };
    for (const { store, identity } of keys) {
      arrivals.begin(nameOf(chain, identity), store, isChangeOf(keys));
    }
    return session;
  }

  function closeSession(): void {
    if (session !== undefined) {
      const { history, spends, keys } = session;
      closeAll([history, spends, ...keys.map(({ store }) => store)]);
    }
    session = undefined;
  }

  /** Brings every P up to date first. */
  function update<T>(
    asset: SyncAsset,
    chain: HolderChain,
    work: (opened: Session) => T | Promise<T>,
  ): Promise<T> {
    return withSession(chain, async (opened) => {
      for (const { sync, identity } of opened.keys) {
        arrivals.note(nameOf(chain, identity), await sync.sync(asset));
      }
      return await work(opened);
    });
  }

  /** A cache that was damaged or changed while it was open is opened again, and the work is done once more. */
  async function withSession<T>(
    chain: HolderChain,
    work: (opened: Session) => Promise<T>,
    mayRepeat = true,
  ): Promise<T> {
    const opened = await openSession(chain);
    try {
      return await workAndSave(opened, work);
    } catch (error) {
      const code = errorCodeOf(error);
      if (reopening.includes(code)) {
        closeSession();
      }
      if (mayRepeat && repeated.includes(code)) {
        return await withSession(chain, work, false);
      }
      throw error;
    }
  }

  /** What was read before an error is kept, and the error counts. */
  async function workAndSave<T>(
    opened: Session,
    work: (opened: Session) => Promise<T>,
  ): Promise<T> {
    const save = async (): Promise<void> => {
      for (const key of opened.keys) {
        opened.isStale = !(await key.save()) || opened.isStale;
      }
    };
    let result: T;
    try {
      result = await work(opened);
    } catch (error) {
      await save().catch(() => undefined);
      throw error;
    }
    await save();
    return result;
  }

  /** One after the other: a sync and a rescan must not change the cache side by side. */
  function enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = queue.then(() => {
      if (isClosed) {
        throw new PoolError('stopping', 'the agent is stopping; try again');
      }
      return work();
    });
    queue = done.catch(() => undefined);
    return done;
  }

  function findAsset(
    symbol: string,
    chain: HolderChain = deps.findChain(),
  ): { readonly chain: HolderChain; readonly asset: SyncAsset; readonly decimals: number } {
    const { tokens, chainId, pool } = chain.settings;
    const token = Object.hasOwn(tokens, symbol) ? tokens[symbol] : undefined;
    if (token === undefined) {
      throw new PoolError(
        'unknown_token',
        `token must be a symbol configured for chain ${chain.key}: ${Object.keys(tokens).sort().join(', ')}`,
      );
    }
    return {
      chain,
      asset: { symbol, assetId: computeAssetId(chainId, pool, token.address) },
      decimals: token.decimals,
    };
  }

  async function report(symbol: string): Promise<BalanceReport> {
    const { chain, asset } = findAsset(symbol);
    const notes = await update(asset, chain, (opened) => listSpendable(opened.keys, asset.assetId));
    return { ...computeBalance(notes), symbol, chain: chain.key };
  }

  /** The sync that waits to begin, by token: it will see everything that its callers could ask about. */
  const waiting = new Map<string, Promise<BalanceReport>>();

  return {
    holder: findHolder,
    findChain: deps.findChain,
    address: async () => (await findHolder()).address,
    readBalance(symbol) {
      const shared = waiting.get(symbol);
      if (shared !== undefined) {
        return shared;
      }
      const done = enqueue(() => {
        waiting.delete(symbol);
        return report(symbol);
      });
      waiting.set(symbol, done);
      return done;
    },
    // The archives keep the notes of a P that is not listed any more.
    rescan: (symbol, fromBlock) =>
      enqueue(async () => {
        const { chain } = findAsset(symbol);
        await withSession(chain, async ({ keys, history }) => {
          for (const { store, archive } of keys) {
            await rewindStore({ store, archive, history }, fromBlock);
          }
        });
        closeSession();
        return await report(symbol);
      }),
    readArrivals: (symbol, after) =>
      enqueue(async () => {
        const { chain, asset, decimals } = findAsset(symbol);
        const balance = await report(symbol);
        const isChange = isChangeOf((await openSession(chain)).keys);
        const { arrivals: listed, cursor } = arrivals.since(after, asset.assetId);
        return {
          // The change that a spend of notes of another P paid: its own cache cannot tell it from a payment.
          arrivals: listed.filter(({ note }) => !isChange(note)),
          ...{ cursor, balance, decimals },
        };
      }),
    exportNotes: () =>
      enqueue(async () => {
        const chain = deps.findChain();
        const tokens = tokensOf(chain);
        return await withSession(chain, async ({ keys }) =>
          joinDocuments(
            keys.map(({ store, archive, identity }) => {
              archiveNotes(store, archive);
              return createNotesDocument({ store, archive, identity, tokens });
            }),
          ),
        );
      }),
    importNotes: (offered) =>
      enqueue(async () => {
        const chain = deps.findChain();
        const assets = [...tokensOf(chain).keys()];
        return await withSession(chain, async ({ keys }) => {
          const byKey: (readonly ImportOutcome[])[] = [];
          for (const { sync } of keys) {
            byKey.push(await sync.importNotes(offered, assets));
          }
          return offered.map((_, place) => joinOutcomes(byKey.map((outcomes) => outcomes[place])));
        });
      }),
    keepChange: (chain) =>
      enqueue(() =>
        withSession(chain, async ({ keys }) => {
          for (const { sync } of keys) {
            await sync.keepChange();
          }
        }),
      ),
    listSpendable: (symbol, at) =>
      enqueue(() => {
        const { chain, asset } = findAsset(symbol, at);
        return update(asset, chain, (opened) => listSpendable(opened.keys, asset.assetId));
      }),
    readMovements: (symbol) =>
      enqueue(async () => {
        const { chain, asset } = findAsset(symbol);
        const lists = await update(asset, chain, ({ keys }) =>
          keys.map(({ sync }) => sync.listMovements(asset.assetId)),
        );
        return { chain, movements: joinMovements(lists) };
      }),
    computePaths: (symbol, commitments, at) =>
      enqueue(() => {
        const { chain, asset } = findAsset(symbol, at);
        return update(asset, chain, (opened) =>
          computePaths(opened.keys, asset.assetId, commitments),
        );
      }),
    compareUses: (symbol, uses, at) =>
      enqueue(() => {
        const { chain, asset } = findAsset(symbol, at);
        return update(asset, chain, async ({ keys }) => {
          for (const { sync } of keys) {
            await sync.compareUses(asset.assetId, uses);
          }
        });
      }),
    progress: () => {
      const all = session?.keys.map(({ sync }) => sync.progress()) ?? [];
      return all.find(({ isRunning }) => isRunning) ?? all[0] ?? idle;
    },
    asOfBlock: () => session?.keys[0]?.store.block?.number,
    async close() {
      isClosed = true;
      await (await scanner?.catch(() => undefined))?.close();
      await queue;
      closeSession();
    },
  };
}

function closeAll(all: readonly { close(): void }[]): void {
  for (const one of all) {
    one.close();
  }
}
