/**
 * Opening many sealed notes at once (protocol §3), with the answers of {@link openNote}, note by note, on all cores.
 *
 * The kernels do the trial opening: unpacking and checking the ephemeral point, the product with v, HKDF and the cipher,
 * away from the calling thread. What opened is decoded here, and counts only if its commitment, hashed again, is the
 * served one. Opened contents, v and the shared secrets are erased where they stood in byte arrays; a bigint cannot be.
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
import { multiplyBase } from './baby-jubjub.ts';
import { type EncryptionPoint, packSubgroupPoint } from './encryption-key.ts';
import { hashPoseidonMany } from './scan-poseidon.ts';
import {
  computeSealSalt,
  decodePlaintext,
  decodeSealed,
  type OpenedNote,
  sealKeyInfo,
} from './sealed-note.ts';
import { assertViewingKey } from './viewing-key.ts';

/** A note as the platform serves it; untrusted, so its numbers need not be field elements. */
export type ServedNote = {
  readonly sealed: string;
  readonly commitment: bigint;
  readonly assetId: bigint;
};

/** One of the holder's notes. Confidential. */
export type ScannedNote<Served extends ServedNote> = {
  /** Its place among the notes given, from 0. */
  readonly index: number;
  readonly note: Served;
  readonly opened: OpenedNote;
};

export type ScanOptions = {
  readonly kernels: ScanKernels;
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of notes looked at so far. If it throws, the scan fails with what it threw. */
  readonly onProgress?: ((scanned: number) => void) | undefined;
};

/** Notes of one batch: some 5 ms of decoding between two turns of the event loop. */
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
 * The holder's notes among those given, in their order. Notes of somebody else, and what is no note, are left out: one
 * bad note never stops a scan. Still to be checked by the caller: the same as after {@link openNote}.
 *
 * @param input.viewingKey - v, secret
 * @throws PoolError `invalid_viewing_key`, `invalid_field_element` (the wallet id): mistakes of the caller; the
 *   signal's reason; what the kernels fail with
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
  // Ends what is under way when the caller stops asking.
  const stop = new AbortController();
  const signals = signal === undefined ? [stop.signal] : [signal, stop.signal];
  const work = { kernels, signal: AbortSignal.any(signals) };
  // One batch is prepared here while another is being opened on the kernels' threads.
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
    // What is no field element is no commitment and no asset either, whatever the note holds.
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

/** One part of each item, one after another. */
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
