/**
 * What a spend takes from the holder's configuration and stores: the holder's notes with their paths, and the pinned destinations.
 *
 * @module
 */
import {
  type AssetId,
  computeAssetId,
  type EvmAddress,
  type Field,
  fieldToHex,
  PoolError,
  parseEvmAddress,
  parseWalletPub,
  zeroField,
} from '@pool/core';
import { type LockedNotes, markLocked, sumLocked } from '../archive/locked-notes.ts';
import type { SpendArchive } from '../archive/spend-archive.ts';
import type { SpendDeps } from '../spend/spend-deps.ts';
import type { Holder, HolderChain } from './holder.ts';
import type { HolderNotes } from './wallet-notes.ts';

export type SpendableNotes = Pick<
  HolderNotes,
  'listSpendable' | 'computePaths' | 'compareUses' | 'keepChange'
>;

type SpendableSources = {
  readonly notes: SpendableNotes;
  /** By key of chains.json. */
  readonly chains: ReadonlyMap<string, HolderChain>;
};

/** Notes and their paths for spends of every configured token. */
export function createNotesPort({ notes, chains }: SpendableSources): SpendDeps['notes'] {
  type Place = { readonly chain: HolderChain; readonly symbol: string };
  // Of the notes that were listed: spends of several tokens run at once.
  const places = new Map<Field, Place>();

  function findPlace(assetId: AssetId): Place {
    for (const chain of chains.values()) {
      const { chainId, pool, tokens } = chain.settings;
      for (const [symbol, { address }] of Object.entries(tokens)) {
        if (computeAssetId(chainId, pool, address) === assetId) {
          return { chain, symbol };
        }
      }
    }
    throw new PoolError('unknown_token', 'the token of the spend is not in chains.json any more');
  }

  return {
    async listSpendable(assetId) {
      const place = findPlace(assetId);
      const owned = await notes.listSpendable(place.symbol, place.chain);
      for (const { commitment } of owned) {
        places.set(commitment, place);
      }
      return owned;
    },
    async computePaths(chosen) {
      const place = places.get(chosen[0]?.commitment ?? zeroField);
      if (place === undefined) {
        throw new PoolError('notes_unavailable', 'the notes of the spend were not listed before');
      }
      const commitments = chosen.map(({ commitment }) => fieldToHex(commitment));
      return await notes.computePaths(place.symbol, commitments, place.chain);
    },
    async compareUses(assetId, uses) {
      const { symbol, chain } = findPlace(assetId);
      await notes.compareUses(symbol, uses, chain);
    },
  };
}

/**
 * What spends that are underway hold of the unspent notes of a token. Undefined: nothing.
 * @throws PoolError like `HolderNotes.readBalance`
 */
export async function readLocked(
  symbol: string,
  chain: string,
  {
    notes,
    archive,
  }: {
    readonly notes: Pick<HolderNotes, 'listSpendable'>;
    readonly archive: Pick<SpendArchive, 'listOpen'>;
  },
): Promise<LockedNotes | undefined> {
  const open = (await archive.listOpen()).filter((spend) => spend.chain === chain);
  return open.length === 0
    ? undefined
    : sumLocked(markLocked(await notes.listSpendable(symbol), open));
}

/** The keys of the holder whose notes are spent. */
export function createSpendHolder(holder: Holder): SpendDeps['holder'] {
  const keys = new Map(
    [holder, ...holder.earlier].map((one) => [one.encryptionPublicKey, one.viewingKey]),
  );
  return {
    walletPub: parseWalletPub(holder.walletPub),
    address: parseEvmAddress(holder.address),
    changeKey: holder.encryptionPublicKey,
    viewingKeyOf: (key) => keys.get(key),
  };
}

/** Pinned withdrawal destinations by label. @throws PoolError `invalid-address` */
export function parseDestinations(
  destinations: ReadonlyMap<string, string>,
): ReadonlyMap<string, EvmAddress> {
  return new Map([...destinations].map(([label, address]) => [label, parseEvmAddress(address)]));
}
