/**
 * The holder's notes inside the agent: opens the holder and its cache when they are first needed, brings the cache up to date, and
 * answers from it. One sync runs at a time; callers that arrive meanwhile share the next one.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import {
  type AssetId,
  computeAssetId,
  type EvmAddress,
  type EvmChainSettings,
  errorCodeOf,
  fieldToHex,
  type Hex32,
  isPoolError,
  PoolError,
  parseWalletPub,
} from '@pool/core';
import { computeWalletId, createNoteScanner, type NoteScanner } from '@pool/notes';
import { createOwnChange } from '../../archive/own-change.ts';
import { createEvmHistory, type EvmHistory } from '../../evm/evm-history.ts';
import type { NoteUse } from '../../note-ports.ts';
import type { NotePaths } from '../../spend/spend-ports.ts';
import type { Movement } from '../../sync/build-history.ts';
import {
  createHolderSync,
  type HolderSync,
  type ProvableNote,
  rewindStore,
} from '../../sync/holder-sync.ts';
import type { ImportOutcome, OfferedNote } from '../../sync/import-notes.ts';
import { archiveNotes } from '../../sync/own-candidates.ts';
import type { HolderBalance } from '../../sync/own-notes.ts';
import type {
  DeliveryPort,
  NoteArchive,
  NoteStore,
  OwnNote,
  SyncIdentity,
  SyncProgress,
} from '../../sync/ports.ts';
import type { SyncAsset } from '../../sync/read-deliveries.ts';
import { openNoteArchive } from '../cache/note-archive.ts';
import { deriveNoteCacheKey, serializeIdentity } from '../cache/note-cache-file.ts';
import { openNoteStore } from '../cache/note-store.ts';
import type { Log } from '../log.ts';
import { openSpendArchive, type SpendArchiveFile } from '../store/spend-archive.ts';
import { type Arrivals, createArrivalLog } from './arrivals.ts';
import type { Holder } from './holder.ts';
import { createNotesDocument, type NotesDocument } from './notes-document.ts';

/** A chain with a pool, by the agent's own settings. */
export type HolderChain = { readonly key: string; readonly settings: EvmChainSettings };

export type HolderNotesDeps = {
  /** The agent directory. Undefined: nothing is written to disk. */
  readonly home: string | undefined;
  readonly log: Log;
  /** @throws PoolError if the configuration has no usable holder */
  readonly openHolder: () => Promise<Holder>;
  /** The chain of holder operations. @throws PoolError `invalid-chain`, 503 before bootstrap */
  readonly findChain: () => HolderChain;
  /** The platform's listing, read with the role's own key. @throws PoolError `holder_unavailable` */
  readonly createDeliveries: (chain: string) => DeliveryPort;
  readonly createHistory?: (settings: EvmChainSettings) => EvmHistory;
  readonly createScanner?: () => Promise<NoteScanner>;
  readonly nowMs?: () => number;
};

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
  listSpendable(symbol: string, chain?: HolderChain): Promise<readonly OwnNote[]>;
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
  close(): Promise<void>;
};

/** What the routes of the balance need. */
export type HolderReads = Pick<
  HolderNotes,
  'address' | 'readBalance' | 'readArrivals' | 'rescan' | 'progress'
>;

type Session = {
  readonly chain: HolderChain;
  readonly history: EvmHistory;
  readonly store: NoteStore;
  readonly archive: NoteArchive;
  /** A connection of its own to the archive of spends: whoever makes them may be another process. */
  readonly spends: SpendArchiveFile;
  readonly identity: SyncIdentity;
  readonly sync: HolderSync;
};

/** After one of these the cache is opened, and so checked, again: what was asked for is repeated once. */
const repeated: readonly (string | undefined)[] = ['note_cache_changed'];
/** After one of these the cache is opened again at the next call. */
const reopening = [...repeated, 'note_history_incomplete'];

const idle: SyncProgress = { isRunning: false, blocks: { read: 0, total: 0 }, notes: 0 };

export function createHolderNotes(deps: HolderNotesDeps): HolderNotes {
  const { createHistory = createEvmHistory, createScanner = createNoteScanner } = deps;
  let holder: Promise<Holder> | undefined;
  let scanner: Promise<NoteScanner> | undefined;
  let session: Session | undefined;
  let memoryArchive: NoteArchive | undefined;
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
    const { settings } = chain;
    if (session !== undefined && session.chain.key === chain.key) {
      return session;
    }
    closeSession();
    const { encryptionPublicKey, viewingKey, ...opened } = await findHolder();
    const walletPub = parseWalletPub(opened.walletPub);
    scanner ??= createScanner();
    const kernels = await scanner;
    const deliveries = deps.createDeliveries(chain.key);
    const { chainId, pool, deployedAtBlock } = settings;
    const identity = { chainId, pool, deployedAtBlock, walletPub, encryptionPublicKey };
    const path = deps.home === undefined ? undefined : notePath(deps.home, identity);
    const archive =
      memoryArchive ?? openNoteArchive(path === undefined ? ':memory:' : `${path}.archive`);
    if (path === undefined) {
      // The only copy while this process runs.
      memoryArchive = archive;
    }
    const store = openNoteStore({
      path: path === undefined ? ':memory:' : `${path}.sqlite`,
      key: deriveNoteCacheKey(viewingKey.reveal()),
      identity,
      onDiscard: (reason) => {
        deps.log.warn({ reason }, 'the note cache is made again from chain, archive and platform');
      },
    });
    const spends = openSpendArchive(
      deps.home === undefined ? ':memory:' : join(deps.home, 'spends.sqlite'),
    );
    const history = createHistory(settings);
    const sync = createHolderSync({
      history,
      deliveries,
      kernels,
      store,
      archive,
      change: createOwnChange(spends, identity),
      assets: [...tokensOf(chain).keys()],
      deployedAtBlock,
      viewingKey: viewingKey.reveal(),
      walletId: computeWalletId(walletPub),
    });
    arrivals.begin(chain.key, store, sync.isChange);
    session = { chain, history, store, archive, spends, identity, sync };
    return session;
  }

  function closeSession(): void {
    session?.history.close();
    session?.store.close();
    session?.spends.close();
    session = undefined;
  }

  async function update(asset: SyncAsset, chain: HolderChain): Promise<Session> {
    return await updateAnd(asset, chain, async (opened) => opened);
  }

  function updateAnd<T>(
    asset: SyncAsset,
    chain: HolderChain,
    work: (opened: Session) => Promise<T>,
  ): Promise<T> {
    return withSession(chain, async (opened) => {
      arrivals.note(await opened.sync.sync(asset));
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
      return await work(opened);
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
    const { sync } = await update(asset, chain);
    return { ...sync.computeBalance(asset.assetId), symbol, chain: chain.key };
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
    rescan: (symbol, fromBlock) =>
      enqueue(async () => {
        const { chain } = findAsset(symbol);
        await withSession(chain, (opened) => rewindStore(opened, fromBlock));
        closeSession();
        return await report(symbol);
      }),
    readArrivals: (symbol, after) =>
      enqueue(async () => {
        const { asset, decimals } = findAsset(symbol);
        const balance = await report(symbol);
        return { ...arrivals.since(after, asset.assetId), balance, decimals };
      }),
    exportNotes: () =>
      enqueue(async () => {
        const chain = deps.findChain();
        return await withSession(chain, async ({ store, archive, identity }) => {
          archiveNotes(store, archive);
          return createNotesDocument({ store, archive, identity, tokens: tokensOf(chain) });
        });
      }),
    importNotes: (offered) =>
      enqueue(async () => {
        const chain = deps.findChain();
        const assets = [...tokensOf(chain).keys()];
        return await withSession(chain, ({ sync }) => sync.importNotes(offered, assets));
      }),
    keepChange: (chain) => enqueue(() => withSession(chain, ({ sync }) => sync.keepChange())),
    listSpendable: (symbol, at) =>
      enqueue(async () => {
        const { chain, asset } = findAsset(symbol, at);
        const { sync } = await update(asset, chain);
        return sync.listSpendable(asset.assetId);
      }),
    readMovements: (symbol) =>
      enqueue(async () => {
        const { chain, asset } = findAsset(symbol);
        const { sync } = await update(asset, chain);
        return { chain, movements: sync.listMovements(asset.assetId) };
      }),
    computePaths: (symbol, commitments, at) =>
      enqueue(async () => {
        const { chain, asset } = findAsset(symbol, at);
        return await updateAnd(asset, chain, ({ sync }) =>
          computePaths(sync, asset.assetId, commitments),
        );
      }),
    compareUses: (symbol, uses, at) =>
      enqueue(async () => {
        const { chain, asset } = findAsset(symbol, at);
        await updateAnd(asset, chain, ({ sync }) => sync.compareUses(asset.assetId, uses));
      }),
    progress: () => session?.sync.progress() ?? idle,
    async close() {
      isClosed = true;
      await (await scanner?.catch(() => undefined))?.close();
      await queue;
      closeSession();
    },
  };
}

/** @throws PoolError `notes_unavailable`; like `HolderSync.computePath` */
async function computePaths(
  sync: HolderSync,
  assetId: AssetId,
  commitments: readonly Hex32[],
): Promise<NotePaths> {
  const owned = new Map(
    sync.listSpendable(assetId).map((note) => [fieldToHex(note.commitment), note]),
  );
  const proved: ProvableNote[] = [];
  // One after the other: the first that fails may discard a part of the store.
  for (const commitment of commitments) {
    const note = owned.get(commitment);
    if (note === undefined) {
      throw new PoolError(
        'notes_unavailable',
        'a note of the spend is not unspent any more; choose again',
      );
    }
    proved.push(await sync.computePath(note));
  }
  const [first] = proved;
  if (first === undefined || proved.some(({ noteRoot }) => noteRoot !== first.noteRoot)) {
    throw new PoolError(
      'notes_unavailable',
      'the notes of the spend are in different trees; spend them one after the other',
    );
  }
  return { noteRoot: first.noteRoot, paths: proved.map(({ path }) => path) };
}

/** Addresses of the configured tokens by asset id. */
function tokensOf({ settings }: HolderChain): ReadonlyMap<AssetId, EvmAddress> {
  const { chainId, pool, tokens } = settings;
  return new Map(
    Object.values(tokens).map(({ address }) => [computeAssetId(chainId, pool, address), address]),
  );
}

/**
 * The files of one chain, pool and key pair: a change of the configuration does not discard what another one needs.
 * @returns a path without its ending: `.sqlite` is the cache, `.archive` the archive
 */
function notePath(home: string, identity: SyncIdentity): string {
  const name = createHash('sha256').update(serializeIdentity(identity)).digest('hex').slice(0, 12);
  return join(home, `holder-notes-${name}`);
}
