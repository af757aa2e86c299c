/**
 * Reads the platform's listing of sealed notes, and keeps the notes that the chain has and the holder's key opens. A platform that
 * lies can hide notes; it cannot add one or change an amount.
 *
 * @module
 */
import {
  type AssetId,
  assertField,
  bytesToBigint,
  type Field,
  hexToBytes,
  isField,
  PoolError,
} from '@pool/core';
import type { DeliveredNote, DeliveryPort, NoteKernels, NoteStore, OwnNote } from './ports.ts';

export type DeliveryDeps = {
  readonly deliveries: DeliveryPort;
  readonly kernels: NoteKernels;
  readonly store: NoteStore;
  /** v, secret. */
  readonly viewingKey: bigint;
  readonly walletId: Field;
  /** Resolves to the number of stored leaves once the leaf is stored, or when the history is complete. */
  readonly waitForLeaf: (leafIndex: number) => Promise<number>;
  /** Places of notes that are known. */
  readonly isKnown: (leafIndex: number, slot: number) => boolean;
  /** After each write, with the notes that are new. */
  readonly onNotes: (processed: number, added: readonly OwnNote[]) => void;
};

export type SyncAsset = { readonly symbol: string; readonly assetId: AssetId };

/** Notes per scan and per write: a few batches of the kernels, a few seconds of work. */
const notesPerScan = 4_096;

type Chunk = {
  readonly notes: readonly DeliveredNote[];
  /** Where a later sync continues. */
  readonly cursor: string | undefined;
};

/** @throws PoolError `platform_invalid_response` for a listing that is not in order; the errors of the ports */
export async function readDeliveries(asset: SyncAsset, deps: DeliveryDeps): Promise<void> {
  const { store } = deps;
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
    const added = await scanChunk(chunk.notes, asset, deps);
    if (added.length > 0 || chunk.cursor !== store.readCursor(asset.assetId)) {
      store.appendNotes(asset.assetId, added, chunk.cursor);
    }
    deps.onNotes(chunk.notes.length, added);
  }
}

/** The listing in chunks of whole pages. Ends at the first note of a leaf that is not final yet. */
async function* readChunks(
  { symbol, assetId }: SyncAsset,
  { deliveries, store, waitForLeaf }: DeliveryDeps,
): AsyncGenerator<Chunk, void, undefined> {
  let cursor = store.readCursor(assetId);
  let notes: DeliveredNote[] = [];
  let last = { batchIndex: -1, slot: -1 };
  for (;;) {
    const page = await deliveries.fetchPage(symbol, cursor);
    for (const note of page.notes) {
      assertLater(note, last);
      last = note;
    }
    const leafCount = last.batchIndex < 0 ? 0 : await waitForLeaf(last.batchIndex);
    const final = page.notes.filter(({ batchIndex }) => batchIndex < leafCount);
    notes.push(...final);
    if (page.cursor === undefined || final.length < page.notes.length) {
      // The same page is read again next time: it can have grown.
      yield { notes, cursor };
      return;
    }
    if (page.notes.length === 0 || page.cursor === cursor) {
      throw invalid('pages that lead nowhere');
    }
    cursor = page.cursor;
    if (notes.length >= notesPerScan) {
      yield { notes, cursor };
      notes = [];
    }
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

async function scanChunk(
  delivered: readonly DeliveredNote[],
  { assetId }: SyncAsset,
  { store, kernels, viewingKey, walletId, isKnown }: DeliveryDeps,
): Promise<readonly OwnNote[]> {
  const readLeaf = createLeafReader(store);
  const notes = delivered.flatMap(
    ({ batchIndex: leafIndex, slot, sealed, commitment: claimed }) => {
      if (isKnown(leafIndex, slot)) {
        return [];
      }
      const leaf = readLeaf(leafIndex);
      const place = leaf?.commitments.subarray(32 * slot, 32 * (slot + 1));
      if (leaf === undefined || place?.length !== 32) {
        return [];
      }
      // The commitment that counts is the chain's. What the platform says about it only saves a decryption.
      const commitment = bytesToBigint(place);
      const isClaimed = commitment === bytesToBigint(hexToBytes(claimed));
      const { txHash, blockNumber } = leaf;
      return isClaimed && isField(commitment)
        ? [{ sealed, commitment, assetId, leafIndex, slot, txHash, blockNumber }]
        : [];
    },
  );
  const found: Omit<OwnNote, 'nullifier'>[] = [];
  for await (const { note, opened } of kernels.scan({ notes, viewingKey, walletId })) {
    // A note of amount 0 can pay nothing, and everybody can make one for free.
    if (opened.amount > 0n) {
      const { sealed: _, ...place } = note;
      const { amount, nonce, memo } = opened;
      found.push({ ...place, amount, nonce: assertField(nonce), memo });
    }
  }
  const nullifiers = await kernels.computeNullifiers({ notes: found, viewingKey, walletId });
  return found.flatMap((note, place) => {
    const nullifier = nullifiers[place];
    return nullifier === undefined ? [] : [{ ...note, nullifier }];
  });
}

/** Notes of one batch follow each other, so the last leaf is kept. */
function createLeafReader(
  store: NoteStore,
): (leafIndex: number) => ReturnType<NoteStore['readLeaf']> {
  let last:
    | { readonly index: number; readonly leaf: ReturnType<NoteStore['readLeaf']> }
    | undefined;
  return (index) => {
    if (last?.index !== index) {
      last = { index, leaf: store.readLeaf(index) };
    }
    return last.leaf;
  };
}

function invalid(found: string): PoolError {
  return new PoolError(
    'platform_invalid_response',
    `the platform answered with ${found}; the notes before them are kept`,
  );
}
