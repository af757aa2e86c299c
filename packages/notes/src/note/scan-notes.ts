/**
 * Opens many sealed notes at once (protocol §3) on all cores. The results equal those of {@link openNote} for each note.
 *
 * The kernels do the trial decryption away from the calling thread: unpacking and checking the ephemeral point, the product with
 * v, HKDF and the cipher. This module decodes the notes that open. A note counts only if its recomputed commitment is the served
 * one. Opened contents, v and the shared secrets are erased from their byte arrays. Bigints cannot be erased.
 *
 * @module
 */
import {
  type AssetId,
  assertField,
  bigintToBytes,
  type EncryptionPublicKey,
  type Field,
  isField,
} from '@pool/core';
import type { ScanKernels } from '@pool/kernels';
import { hashPoseidonMany } from '../hash/scan-poseidon.ts';
import { multiplyBase } from '../keys/baby-jubjub.ts';
import { type EncryptionPoint, packSubgroupPoint } from '../keys/encryption-key.ts';
import { assertViewingKey } from '../keys/viewing-key.ts';
import {
  computeSealSalt,
  decodePlaintext,
  decodeSealed,
  type OpenedNote,
  sealKeyInfo,
} from './sealed-note.ts';

/** A note as the platform serves it. Untrusted: its numbers may not be field elements. */
export type ServedNote = {
  readonly sealed: string;
  readonly commitment: bigint;
  readonly assetId: bigint;
};

/** One of the holder's notes. Confidential. */
export type ScannedNote<Served extends ServedNote> = {
  /** Its index among the given notes, from 0. */
  readonly index: number;
  readonly note: Served;
  readonly opened: OpenedNote;
};

export type ScanOptions = {
  readonly kernels: ScanKernels;
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of notes processed so far. If it throws, the scan fails with that error. */
  readonly onProgress?: ((scanned: number) => void) | undefined;
};

/** Notes per batch: about 5 ms of decoding between two turns of the event loop. */
const batchSize = 1024;
const pointBytes = 32;
const headerBytes = 1 + pointBytes;

type Holder = {
  /** v, 32 bytes little-endian; secret. */
  readonly scalar: Uint8Array;
  readonly walletId: Field;
  readonly encryptionPoint: EncryptionPoint;
  readonly encryptionPublicKey: EncryptionPublicKey;
};

type Candidate<Served> = {
  readonly index: number;
  readonly note: Served;
  readonly bytes: Uint8Array;
  readonly commitment: Field;
  readonly assetId: AssetId;
};

/**
 * The holder's notes among the given ones, in their order. Notes of other holders and malformed notes are skipped: one bad note
 * never stops a scan. The caller must still check the same as after {@link openNote}.
 *
 * @param input.viewingKey - v, secret
 * @throws PoolError `invalid_viewing_key`, `invalid_field_element` (the wallet id): mistakes of the caller; the signal's reason;
 *   errors of the kernels
 */
export async function* scanNotes<Served extends ServedNote>(
  input: {
    readonly notes: Iterable<Served> | AsyncIterable<Served>;
    readonly viewingKey: bigint;
    readonly walletId: Field;
  },
  { kernels, signal, onProgress }: ScanOptions,
): AsyncGenerator<ScannedNote<Served>, void, undefined> {
  const encryptionPoint = multiplyBase(assertViewingKey(input.viewingKey));
  const holder: Holder = {
    scalar: bigintToBytes(input.viewingKey, 32).reverse(),
    walletId: assertField(input.walletId),
    encryptionPoint,
    encryptionPublicKey: packSubgroupPoint(encryptionPoint),
  };
  // Ends the work in progress if the caller stops iterating.
  const stop = new AbortController();
  const signals = signal === undefined ? [stop.signal] : [signal, stop.signal];
  const work = { kernels, signal: AbortSignal.any(signals) };
  // This thread prepares one batch while the kernels' threads open another.
  const open: { readonly found: Promise<ScannedNote<Served>[]>; readonly end: number }[] = [];
  try {
    for await (const { notes, start } of cutIntoBatches(input.notes)) {
      signal?.throwIfAborted();
      const found = openBatch(notes, start, holder, work);
      found.catch(() => undefined);
      open.push({ found, end: start + notes.length });
      const first = open.length > 1 ? open.shift() : undefined;
      if (first !== undefined) {
        const mine = await first.found;
        onProgress?.(first.end);
        yield* mine;
      }
    }
    for (let next = open.shift(); next !== undefined; next = open.shift()) {
      const mine = await next.found;
      onProgress?.(next.end);
      yield* mine;
    }
  } finally {
    stop.abort();
    await Promise.allSettled(open.map(({ found }) => found));
    holder.scalar.fill(0);
  }
}

async function* cutIntoBatches<Served>(
  source: Iterable<Served> | AsyncIterable<Served>,
): AsyncGenerator<{ readonly notes: readonly Served[]; readonly start: number }> {
  let start = 0;
  let notes: Served[] = [];
  for await (const note of source) {
    notes.push(note);
    if (notes.length === batchSize) {
      yield { notes, start };
      start += notes.length;
      notes = [];
    }
  }
  if (notes.length > 0) {
    yield { notes, start };
  }
}

async function openBatch<Served extends ServedNote>(
  notes: readonly Served[],
  start: number,
  holder: Holder,
  { kernels, signal }: { readonly kernels: ScanKernels; readonly signal: AbortSignal },
): Promise<ScannedNote<Served>[]> {
  const candidates = notes.flatMap((note, place): Candidate<Served>[] => {
    const bytes = decodeSealed(note.sealed);
    const { commitment, assetId } = note;
    // A value that is not a field element is neither a commitment nor an asset, whatever the note contains.
    return bytes !== undefined && isField(commitment) && isField(assetId)
      ? [{ index: start + place, note, bytes, commitment, assetId }]
      : [];
  });
  const { opened, plaintexts } = await kernels.openSealedBoxes(
    {
      points: join(candidates, ({ bytes }) => bytes.subarray(1, headerBytes)),
      salts: join(candidates, ({ bytes, commitment, assetId }) =>
        computeSealSalt(bytes.subarray(0, headerBytes), {
          encryptionPublicKey: holder.encryptionPublicKey,
          commitment,
          assetId,
        }),
      ),
      info: sealKeyInfo,
      boxes: join(candidates, ({ bytes }) => bytes.subarray(headerBytes)),
    },
    holder.scalar,
    { signal },
  );
  const each = candidates.length === 0 ? 0 : plaintexts.length / candidates.length;
  const readable = candidates.flatMap(({ index, note }, place): ScannedNote<Served>[] => {
    const contents =
      opened[place] === 1
        ? decodePlaintext(plaintexts.subarray(place * each, (place + 1) * each))
        : undefined;
    return contents === undefined ? [] : [{ index, note, opened: contents }];
  });
  plaintexts.fill(0);
  const { walletId, encryptionPoint } = holder;
  const commitments = await hashPoseidonMany(
    kernels,
    readable.map(({ note, opened: { amount, nonce } }) => [
      note.assetId,
      amount,
      nonce,
      walletId,
      encryptionPoint.x,
      encryptionPoint.y,
    ]),
    { signal },
  );
  return readable.filter(({ note }, place) => commitments[place] === note.commitment);
}

/** The same part of each item, concatenated. */
function join<Item>(items: readonly Item[], take: (item: Item) => Uint8Array): Uint8Array {
  const parts = items.map(take);
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let place = 0;
  for (const part of parts) {
    all.set(part, place);
    place += part.length;
  }
  return all;
}
