/**
 * The notes of one P of the holder on one chain: its cache, its archive and its sync.
 *
 * @module
 */
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
import { createOwnChange } from '../archive/own-change.ts';
import type { SpendArchive } from '../archive/spend-archive.ts';
import type { NotePaths } from '../spend/spend-ports.ts';
import {
  createHolderSync,
  type HolderSync,
  type HolderSyncDeps,
  type ProvableNote,
} from '../sync/holder-sync.ts';
import type { ImportOutcome } from '../sync/import-notes.ts';
import type { DeliveryPort, OpenNotes, OwnNote, SyncIdentity } from '../sync/ports.ts';
import type { Holder, HolderChain, HolderKey } from './holder.ts';

export type KeyNotes = OpenNotes & {
  readonly identity: SyncIdentity;
  readonly sync: HolderSync;
};

/** Where a holder keeps its notes, and the archive of its spends. */
export type HolderStores = {
  /** Of all spends of the holder. The caller closes it. */
  openSpends(): OwnSpends;
  /**
   * Of one P in one pool. The caller closes the store.
   * @param viewingKey - v, secret
   * @throws PoolError `note_cache_unavailable`
   */
  openNotes(identity: SyncIdentity, viewingKey: bigint): Promise<OpenNotes>;
};

/** What the notes need of the archive of spends. */
export type OwnSpends = Pick<SpendArchive, 'listUnkept' | 'change'> & { close(): void };

/** A note with the P that it is sealed to. */
export type KeyedNote = OwnNote & { readonly encryptionPublicKey: EncryptionPublicKey };

export type KeyNotesDeps = Pick<HolderSyncDeps, 'history' | 'deliveries' | 'kernels'> & {
  readonly chain: HolderChain;
  readonly holder: Holder;
  readonly key: HolderKey;
  readonly stores: Pick<HolderStores, 'openNotes'>;
  readonly spends: OwnSpends;
  /** P that the platform has registered for the wallet now, if one is. Absent: the listing has the notes of every P. */
  readonly fetchRegistered?:
    | ((chain: string, address: string) => Promise<string | undefined>)
    | undefined;
};

/** The caller closes the store. @throws PoolError `note_cache_unavailable` */
export async function openKeyNotes(deps: KeyNotesDeps): Promise<KeyNotes> {
  const { chain, holder, key, stores } = deps;
  const { viewingKey, encryptionPublicKey } = key;
  const { chainId, pool, deployedAtBlock } = chain.settings;
  const walletPub = parseWalletPub(holder.walletPub);
  const identity = { chainId, pool, deployedAtBlock, walletPub, encryptionPublicKey };
  const { store, archive, save } = await stores.openNotes(identity, viewingKey.reveal());
  const change = createOwnChange(deps.spends, identity);
  /** Spends whose change the archive of notes has, perhaps not on disk. */
  const kept = new Set<Hex32>();
  const sync = createHolderSync({
    ...deps,
    ...{ store, archive, deployedAtBlock },
    deliveries: gateListing(deps),
    change: { list: change.list, markKept: async (outRoot) => void kept.add(outRoot) },
    assets: [...tokensOf(chain).keys()],
    viewingKey: viewingKey.reveal(),
    walletId: computeWalletId(walletPub),
  });
  return {
    ...{ store, archive, identity, sync },
    async save() {
      const isCurrent = await save();
      for (const outRoot of kept) {
        await change.markKept(outRoot);
        kept.delete(outRoot);
      }
      return isCurrent;
    },
  };
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
