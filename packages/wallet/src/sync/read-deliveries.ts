/**
 * Reads the platform's listing of sealed notes, and keeps the notes that the chain has and the holder's key opens. A platform that
 * lies can hide notes; it cannot add one or change an amount.
 *
 * @module
 */
import { type AssetId, hexToBigint, PoolError, parseHex } from '@pool/core';
import { keepNotes, type NoteSourceDeps, notesPerScan, openCandidates } from './own-candidates.ts';
import type { DeliveredNote, DeliveryPort, ListingPlace } from './ports.ts';

export type DeliveryDeps = NoteSourceDeps & { readonly deliveries: DeliveryPort };

export type SyncAsset = { readonly symbol: string; readonly assetId: AssetId };

type Chunk = {
  readonly notes: readonly DeliveredNote[];
  /** Where a later sync continues. */
  readonly place: ListingPlace | undefined;
};

/** @throws PoolError `platform_invalid_response` for a listing that is not in order; the errors of the ports */
export async function readDeliveries(asset: SyncAsset, deps: DeliveryDeps): Promise<void> {
  const { store } = deps;
  const { assetId } = asset;
  const chunks = readChunks(asset, deps);
  // The next pages are fetched while these are scanned.
  let next = chunks.next();
  for (;;) {
    const { value: chunk, done } = await next;
    if (done === true) {
      return;
    }
    next = chunks.next();
    next.catch(() => undefined);
    const added = await openCandidates(
      chunk.notes.map((note) => ({
        assetId,
        leafIndex: note.batchIndex,
        slot: note.slot,
        commitment: hexToBigint(note.commitment),
        sealed: parseHex(note.sealed),
      })),
      deps,
    );
    const stored = store.readPlace(assetId);
    const { place } = chunk;
    if (added.length > 0 || place?.cursor !== stored?.cursor || place?.notes !== stored?.notes) {
      keepNotes(added, deps, { assetId, place });
    }
    deps.onNotes(chunk.notes.length, added);
  }
}

/** The holder's own sealed notes instead of a platform. No page has a cursor, so the place up to which its listing was read stays stored. */
export function serveKeptNotes(kept: readonly DeliveredNote[]): DeliveryPort {
  const notes = [...kept].sort(
    (one, other) => one.batchIndex - other.batchIndex || one.slot - other.slot,
  );
  return { fetchPage: async () => ({ notes, isOwnFile: true }) };
}

/** The listing in chunks of whole pages. Ends at the first note of a leaf that is not final yet. */
async function* readChunks(
  { symbol, assetId }: SyncAsset,
  { deliveries, store, waitForLeaf }: DeliveryDeps,
): AsyncGenerator<Chunk, void, undefined> {
  let place = store.readPlace(assetId);
  let page = await deliveries.fetchPage(symbol, place?.cursor);
  if (place !== undefined && page.before !== undefined && page.before !== place.notes) {
    // The platform got a note behind the place up to which its listing was read, for example from the funder.
    place = undefined;
    page = await deliveries.fetchPage(symbol, undefined);
  }
  let notes: DeliveredNote[] = [];
  let last = { batchIndex: -1, slot: -1 };
  const opened = new Set<string>();
  for (;;) {
    for (const note of page.notes) {
      if (page.isOwnFile !== true) {
        assertLater(note, last);
      }
      last = note;
    }
    const open = page.open ?? [];
    for (const note of open) {
      assertFirst(note, opened);
    }
    const listed = [...page.notes, ...open];
    const highest = Math.max(last.batchIndex, ...open.map(({ batchIndex }) => batchIndex));
    const leafCount = highest < 0 ? 0 : await waitForLeaf(highest);
    const final = listed.filter(({ batchIndex }) => batchIndex < leafCount);
    notes.push(...final);
    if (page.cursor === undefined || final.length < listed.length) {
      // The same page is read again next time: it can have grown.
      yield { notes, place };
      return;
    }
    if (listed.length === 0 || page.cursor === place?.cursor) {
      throw invalid('pages that lead nowhere');
    }
    place = { cursor: page.cursor, notes: (place?.notes ?? 0) + page.notes.length };
    if (notes.length >= notesPerScan) {
      yield { notes, place };
      notes = [];
    }
    page = await deliveries.fetchPage(symbol, place.cursor);
  }
}

/** A listing without order could be endless. */
function assertLater(
  note: DeliveredNote,
  last: { readonly batchIndex: number; readonly slot: number },
): void {
  const { batchIndex, slot } = note;
  const isLater =
    batchIndex > last.batchIndex || (batchIndex === last.batchIndex && slot > last.slot);
  if (!Number.isSafeInteger(batchIndex) || !Number.isSafeInteger(slot) || slot < 0 || !isLater) {
    throw invalid('notes that are not in the order of the note tree');
  }
}

/** Without an order, the chain bounds the listing: each of its notes comes once. */
function assertFirst({ batchIndex, slot }: DeliveredNote, seen: Set<string>): void {
  const place = `${batchIndex}.${slot}`;
  if (!Number.isSafeInteger(batchIndex) || !Number.isSafeInteger(slot) || seen.has(place)) {
    throw invalid('one note of everybody twice');
  }
  seen.add(place);
}

function invalid(found: string): PoolError {
  return new PoolError(
    'platform_invalid_response',
    `the platform answered with ${found}; the notes before them are kept`,
  );
}
