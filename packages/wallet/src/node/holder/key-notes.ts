/**
 * The notes of one P of the holder on one chain: its cache, its archive and its sync.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import {
  type AssetId,
  computeAssetId,
  type EncryptionPublicKey,
  type EvmAddress,
  errorCodeOf,
  fieldToHex,
  type Hex32,
  PoolError,
  parseWalletPub,
} from '@pool/core';
import { computeWalletId } from '@pool/notes';
import { createOwnChange } from '../../archive/own-change.ts';
import type { NotePaths } from '../../spend/spend-ports.ts';
import {
  createHolderSync,
  type HolderSync,
  type HolderSyncDeps,
  type ProvableNote,
} from '../../sync/holder-sync.ts';
import type { ImportOutcome } from '../../sync/import-notes.ts';
import type {
  DeliveryPort,
  NoteArchive,
  NoteStore,
  OwnNote,
  SyncIdentity,
} from '../../sync/ports.ts';
import { openNoteArchive } from '../cache/note-archive.ts';
import { deriveNoteCacheKey, serializeIdentity } from '../cache/note-cache-file.ts';
import { openNoteStore } from '../cache/note-store.ts';
import type { Log } from '../log.ts';
import type { SpendArchiveFile } from '../store/spend-archive.ts';
import type { Holder, HolderChain, HolderKey } from './holder.ts';

export type KeyNotes = {
  readonly store: NoteStore;
  readonly archive: NoteArchive;
  readonly identity: SyncIdentity;
  readonly sync: HolderSync;
};

/** A note with the P that it is sealed to. */
export type KeyedNote = OwnNote & { readonly encryptionPublicKey: EncryptionPublicKey };

export type KeyNotesDeps = Pick<HolderSyncDeps, 'history' | 'deliveries' | 'kernels'> & {
  /** The agent directory. Undefined: nothing is written to disk. */
  readonly home: string | undefined;
  readonly log: Log;
  readonly chain: HolderChain;
  readonly holder: Holder;
  readonly key: HolderKey;
  readonly spends: SpendArchiveFile;
  /** P that the platform has registered for the wallet now, if one is. Absent: the listing has the notes of every P. */
  readonly fetchRegistered?:
    | ((chain: string, address: string) => Promise<string | undefined>)
    | undefined;
  /** By P, without a directory: the only copies while this process runs. */
  readonly memoryArchives: Map<string, NoteArchive>;
};

/** The caller closes the store. @throws PoolError `note_cache_unavailable` */
export function openKeyNotes(deps: KeyNotesDeps): KeyNotes {
  const { home, chain, holder, key, memoryArchives } = deps;
  const { viewingKey, encryptionPublicKey } = key;
  const { chainId, pool, deployedAtBlock } = chain.settings;
  const walletPub = parseWalletPub(holder.walletPub);
  const identity = { chainId, pool, deployedAtBlock, walletPub, encryptionPublicKey };
  const path = home === undefined ? undefined : notePath(home, identity);
  const archive =
    memoryArchives.get(encryptionPublicKey) ??
    openNoteArchive(path === undefined ? ':memory:' : `${path}.archive`);
  if (path === undefined) {
    memoryArchives.set(encryptionPublicKey, archive);
  }
  const store = openNoteStore({
    path: path === undefined ? ':memory:' : `${path}.sqlite`,
    key: deriveNoteCacheKey(viewingKey.reveal()),
    identity,
    onDiscard: (reason) => {
      deps.log.warn({ reason }, 'the note cache is made again from chain, archive and platform');
    },
  });
  const sync = createHolderSync({
    ...deps,
    ...{ store, archive, deployedAtBlock },
    deliveries: gateListing(deps),
    change: createOwnChange(deps.spends, identity),
    assets: [...tokensOf(chain).keys()],
    viewingKey: viewingKey.reveal(),
    walletId: computeWalletId(walletPub),
  });
  return { store, archive, identity, sync };
}

/** The listing, if it is the one of this P. */
function gateListing({
  deliveries,
  fetchRegistered,
  chain,
  holder,
  key,
}: KeyNotesDeps): DeliveryPort {
  if (fetchRegistered === undefined) {
    return deliveries;
  }
  return {
    async fetchPage(symbol, cursor) {
      const registered = await fetchRegistered(chain.key, holder.address).catch(
        (cause: unknown) => {
          throw new PoolError(
            'platform_unreachable',
            'the platform does not say which encryption key is registered; try again',
            { cause, details: { reason: errorCodeOf(cause) ?? 'unknown' } },
          );
        },
      );
      return registered === key.encryptionPublicKey
        ? await deliveries.fetchPage(symbol, cursor)
        : { notes: [] };
    },
  };
}

/** Of the arrivals of one chain and P. */
export function nameOf({ key }: HolderChain, { encryptionPublicKey }: SyncIdentity): string {
  return `${key} ${encryptionPublicKey}`;
}

/** Whether a note is change of a spend of notes of any P. */
export function isChangeOf(keys: readonly KeyNotes[]): (note: OwnNote) => boolean {
  return (note) => keys.some(({ sync }) => sync.isChange(note));
}

export function listSpendable(keys: readonly KeyNotes[], assetId: AssetId): readonly KeyedNote[] {
  return keys.flatMap(({ sync, identity: { encryptionPublicKey } }) =>
    sync.listSpendable(assetId).map((note) => ({ ...note, encryptionPublicKey })),
  );
}

/** Best first. */
const outcomeOrder: readonly ImportOutcome[] = ['accepted', 'known', 'not_ours', 'not_on_chain'];

/** Of one note that was offered for each P. */
export function joinOutcomes(outcomes: readonly (ImportOutcome | undefined)[]): ImportOutcome {
  return outcomeOrder.find((outcome) => outcomes.includes(outcome)) ?? 'not_ours';
}

/** @throws PoolError `notes_unavailable`; like `HolderSync.computePath` */
export async function computePaths(
  keys: readonly KeyNotes[],
  assetId: AssetId,
  commitments: readonly Hex32[],
): Promise<NotePaths> {
  const owned = new Map(
    keys.flatMap(({ sync }) =>
      sync
        .listSpendable(assetId)
        .map((note) => [fieldToHex(note.commitment), { note, sync }] as const),
    ),
  );
  const proved: ProvableNote[] = [];
  // One after the other: the first that fails may discard a part of the store.
  for (const commitment of commitments) {
    const found = owned.get(commitment);
    if (found === undefined) {
      throw new PoolError(
        'notes_unavailable',
        'a note of the spend is not unspent any more; choose again',
      );
    }
    if (found.sync !== owned.get(commitments[0] ?? commitment)?.sync) {
      throw new PoolError(
        'notes_unavailable',
        'the notes of the spend belong to different encryption keys; spend them one after the other',
      );
    }
    proved.push(await found.sync.computePath(found.note));
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
export function tokensOf({ settings }: HolderChain): ReadonlyMap<AssetId, EvmAddress> {
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
