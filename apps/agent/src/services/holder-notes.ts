/**
 * The holder's notes inside the agent: opens the holder and its cache when they are first needed, brings the cache up to date, and
 * answers from it. One sync runs at a time; callers that arrive meanwhile share the next one.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import {
  computeAssetId,
  type EvmChainSettings,
  errorCodeOf,
  fieldToHex,
  type Hex32,
  isPoolError,
  PoolError,
  parseWalletPub,
} from '@pool/core';
import { computeWalletId, createNoteScanner, type NoteScanner } from '@pool/notes';
import {
  createEvmHistory,
  createHolderSync,
  type DeliveryPort,
  type EvmHistory,
  type HolderBalance,
  type HolderSync,
  type NotePaths,
  type NoteStore,
  type OwnNote,
  rewindStore,
  type SyncAsset,
  type SyncIdentity,
  type SyncProgress,
} from '@pool/operations';
import { deriveNoteCacheKey } from '../state/note-cache-mac.ts';
import { openNoteStore, serializeIdentity } from '../state/note-store.ts';
import type { AgentLog } from './agent-log.ts';
import type { Holder } from './holder.ts';

/** A chain with a pool, by the agent's own settings. */
export type HolderChain = { readonly key: string; readonly settings: EvmChainSettings };

export type HolderNotesDeps = {
  /** The agent directory. Undefined: nothing is written to disk. */
  readonly home: string | undefined;
  readonly log: AgentLog;
  /** @throws PoolError if the configuration has no usable holder */
  readonly openHolder: () => Promise<Holder>;
  /** The chain of holder operations. @throws PoolError `invalid-chain`, 503 before bootstrap */
  readonly findChain: () => HolderChain;
  /** The platform's listing, read with the role's own key. @throws PoolError `role_token_missing` */
  readonly createDeliveries: (chain: string) => DeliveryPort;
  readonly createHistory?: (settings: EvmChainSettings) => EvmHistory;
  readonly createScanner?: () => Promise<NoteScanner>;
};

export type BalanceReport = HolderBalance & { readonly symbol: string; readonly chain: string };

export type HolderNotes = {
  /** The holder, opened once. @throws PoolError `holder_unavailable` */
  holder(): Promise<Holder>;
  /** The chain of holder operations. @throws PoolError `invalid-chain`, 503 before bootstrap */
  findChain(): HolderChain;
  /** address(W). @throws PoolError `holder_unavailable` */
  address(): Promise<string>;
  /**
   * What the holder can spend of one token, as of the newest final block.
   * @throws PoolError 400 `unknown_token`; 503 `holder_unavailable`, `role_token_missing` and the errors of a sync
   */
  readBalance(symbol: string): Promise<BalanceReport>;
  /** Reads chain and platform again. @param fromBlock - undefined: everything */
  rescan(symbol: string, fromBlock: number | undefined): Promise<BalanceReport>;
  /** Unspent notes of one token, as of the newest final block. @throws like {@link HolderNotes.readBalance} */
  listSpendable(symbol: string): Promise<readonly OwnNote[]>;
  /**
   * Paths of unspent notes to the newest final root.
   * @param commitments - of notes that were listed, as 32-byte hex
   * @throws PoolError `notes_unavailable` if a note was spent meanwhile; like {@link HolderNotes.readBalance}
   */
  computePaths(symbol: string, commitments: readonly Hex32[]): Promise<NotePaths>;
  /** Of the sync that runs, or of the last one. */
  progress(): SyncProgress;
  close(): Promise<void>;
};

/** What the routes of the balance need. */
export type HolderReads = Pick<HolderNotes, 'address' | 'readBalance' | 'rescan' | 'progress'>;

type Session = {
  readonly chain: HolderChain;
  readonly history: EvmHistory;
  readonly store: NoteStore;
  readonly sync: HolderSync;
};

/** After one of these the cache is opened, and so checked, again. */
const reopening: readonly (string | undefined)[] = [
  'note_cache_damaged',
  'note_cache_changed',
  'note_history_incomplete',
];

const idle: SyncProgress = { isRunning: false, blocks: { read: 0, total: 0 }, notes: 0 };

export function createHolderNotes(deps: HolderNotesDeps): HolderNotes {
  const { createHistory = createEvmHistory, createScanner = createNoteScanner } = deps;
  let holder: Promise<Holder> | undefined;
  let scanner: Promise<NoteScanner> | undefined;
  let session: Session | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  let isClosed = false;

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
    const store = openNoteStore({
      path: deps.home === undefined ? ':memory:' : noteStorePath(deps.home, identity),
      key: deriveNoteCacheKey(viewingKey.reveal()),
      identity,
      onDiscard: (reason) => {
        deps.log.warn({ reason }, 'the note cache is made again from chain and platform');
      },
    });
    const history = createHistory(settings);
    const sync = createHolderSync({
      history,
      deliveries,
      kernels,
      store,
      deployedAtBlock,
      viewingKey: viewingKey.reveal(),
      walletId: computeWalletId(walletPub),
    });
    session = { chain, history, store, sync };
    return session;
  }

  function closeSession(): void {
    session?.history.close();
    session?.store.close();
    session = undefined;
  }

  async function update(asset: SyncAsset, chain: HolderChain): Promise<Session> {
    const opened = await openSession(chain);
    try {
      await opened.sync.sync(asset);
      return opened;
    } catch (error) {
      if (reopening.includes(errorCodeOf(error))) {
        closeSession();
      }
      throw error;
    }
  }

  /** A cache that was damaged or changed while it was open is opened again, once. */
  async function updateTwice(asset: SyncAsset, chain: HolderChain): Promise<Session> {
    try {
      return await update(asset, chain);
    } catch (error) {
      const code = errorCodeOf(error);
      if (code === 'note_cache_damaged' || code === 'note_cache_changed') {
        return await update(asset, chain);
      }
      throw error;
    }
  }

  /** One after the other: a sync and a rescan must not change the cache side by side. */
  function enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = queue.then(() => {
      if (isClosed) {
        throw new PoolError('agent_stopping', 'the agent is stopping; try again');
      }
      return work();
    });
    queue = done.catch(() => undefined);
    return done;
  }

  function findAsset(symbol: string): { readonly chain: HolderChain; readonly asset: SyncAsset } {
    const chain = deps.findChain();
    const { tokens, chainId, pool } = chain.settings;
    const token = Object.hasOwn(tokens, symbol) ? tokens[symbol] : undefined;
    if (token === undefined) {
      throw new PoolError(
        'unknown_token',
        `token must be a symbol configured for chain ${chain.key}: ${Object.keys(tokens).sort().join(', ')}`,
      );
    }
    return { chain, asset: { symbol, assetId: computeAssetId(chainId, pool, token.address) } };
  }

  async function report(symbol: string): Promise<BalanceReport> {
    const { chain, asset } = findAsset(symbol);
    const { sync } = await updateTwice(asset, chain);
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
        const { store, history } = await openSession(chain);
        await rewindStore(store, history, fromBlock);
        closeSession();
        return await report(symbol);
      }),
    listSpendable: (symbol) =>
      enqueue(async () => {
        const { chain, asset } = findAsset(symbol);
        const { sync } = await updateTwice(asset, chain);
        return sync.listSpendable(asset.assetId);
      }),
    computePaths: (symbol, commitments) =>
      enqueue(async () => {
        const { chain, asset } = findAsset(symbol);
        const { sync } = await updateTwice(asset, chain);
        const owned = new Map(
          sync.listSpendable(asset.assetId).map((note) => [fieldToHex(note.commitment), note]),
        );
        const proved = await Promise.all(
          commitments.map(async (commitment) => {
            const note = owned.get(commitment);
            if (note === undefined) {
              throw new PoolError(
                'notes_unavailable',
                'a note of the spend is not unspent any more; choose again',
              );
            }
            return await sync.computePath(note);
          }),
        );
        const [first] = proved;
        if (first === undefined || proved.some(({ noteRoot }) => noteRoot !== first.noteRoot)) {
          throw new PoolError(
            'notes_unavailable',
            'the notes of the spend are in different trees; spend them one after the other',
          );
        }
        return { noteRoot: first.noteRoot, paths: proved.map(({ path }) => path) };
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

/** One file per chain, pool and key pair: a change of the configuration does not discard what another one needs. */
function noteStorePath(home: string, identity: SyncIdentity): string {
  const name = createHash('sha256').update(serializeIdentity(identity)).digest('hex').slice(0, 12);
  return join(home, `holder-notes-${name}.sqlite`);
}
