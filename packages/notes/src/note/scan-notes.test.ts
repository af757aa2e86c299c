import {
  type AssetId,
  assertField,
  bytesToHex,
  type EncryptionPublicKey,
  type Field,
  hexToBytes,
} from '@pool/core';
import { createScanKernels, type OpenScanKernels } from '@pool/kernels';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import badKeys from '../../../../vectors/encryption-key.json' with { type: 'json' };
import { sealBytes } from '../../test/vectors/reference.ts';
import { subgroupOrder } from '../keys/baby-jubjub.ts';
import { computeEncryptionPublicKey, decodeEncryptionPublicKey } from '../keys/encryption-key.ts';
import { computeCommitment } from './note.ts';
import { type ScannedNote, type ServedNote, scanNotes } from './scan-notes.ts';
import { openNote, sealNote } from './sealed-note.ts';

const r = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
const viewingKey = 0x1234_5678_9abcn;
const walletId = assertField(4321n);
const assetId: AssetId = assertField(99n);

function keyOf(key: bigint): EncryptionPublicKey {
  return computeEncryptionPublicKey(key);
}

/** A sealed note; `commitment` is the right one unless given. */
function createNote(parts: {
  readonly to?: bigint;
  readonly amount?: bigint;
  readonly nonce?: bigint;
  readonly memo?: string | undefined;
  readonly ephemeral?: bigint;
  readonly walletId?: Field;
  readonly commitment?: Field;
  readonly asset?: AssetId;
}) {
  const { to = viewingKey, amount = 7n, memo, ephemeral = 9n, asset = assetId } = parts;
  const nonce = assertField(parts.nonce ?? 8n);
  const encryptionPublicKey = keyOf(to);
  const commitment =
    parts.commitment ??
    computeCommitment({
      assetId: asset,
      amount,
      nonce,
      walletId: parts.walletId ?? walletId,
      encryptionPoint: decodeEncryptionPublicKey(encryptionPublicKey),
    });
  const sealed = sealNote({
    amount,
    nonce,
    memo,
    encryptionPublicKey,
    commitment,
    assetId: asset,
    ephemeral,
  });
  return { sealed, commitment, assetId: asset };
}

function change(note: ServedNote, place: number, bit = 0): ServedNote {
  const bytes = hexToBytes(note.sealed);
  bytes[place] = (bytes[place] ?? 0) ^ (1 << bit);
  return { ...note, sealed: bytesToHex(bytes) };
}

/** A note to the holder with a plaintext that no honest payer writes. */
function createOddNote(write: (plaintext: Uint8Array) => void): ServedNote {
  const plaintext = Buffer.alloc(160);
  plaintext[15] = 7;
  plaintext[47] = 8;
  const { commitment } = createNote({});
  write(plaintext);
  const { sealed } = sealBytes({
    plaintext,
    commitment,
    assetId,
    to: decodeEncryptionPublicKey(keyOf(viewingKey)),
    ephemeral: 99n,
  });
  return { sealed, commitment, assetId };
}

const mine = createNote({ memo: 'hello' });

/** One note of each kind: the holder's own, and all others. */
const notesOfEveryKind: readonly ServedNote[] = [
  mine,
  createNote({ amount: 0n }),
  createNote({ amount: 2n ** 128n - 1n, nonce: r - 1n, memo: 'é'.repeat(55) }),
  createNote({ ephemeral: 1n }),
  createNote({ ephemeral: subgroupOrder - 1n }),
  createNote({ to: 5n }),
  createNote({ to: subgroupOrder - viewingKey }),
  createNote({ walletId: assertField(5n) }),
  createNote({ commitment: assertField(77n) }),
  createNote({ asset: assertField(100n) }),
  { ...mine, commitment: 77n },
  { ...mine, commitment: r },
  { ...mine, commitment: r + mine.commitment },
  { ...mine, assetId: 100n },
  ...[0, 1, 2, 16, 31, 32, 33, 34, 100, 192, 193, 200, 208].flatMap((place) => [
    change(mine, place),
    change(mine, place, 7),
  ]),
  ...[0, 2, 3, 255].map((suite) => {
    const bytes = hexToBytes(mine.sealed);
    bytes[0] = suite;
    return { ...mine, sealed: bytesToHex(bytes) };
  }),
  ...badKeys.invalid
    .filter(({ encryptionPublicKey: key }) => key.length === 66)
    .map(({ encryptionPublicKey: key }) => ({
      ...mine,
      sealed: `0x01${key.slice(2)}${mine.sealed.slice(68)}`,
    })),
  ...[
    '',
    '0x',
    'sealed',
    mine.sealed.slice(0, -2),
    `${mine.sealed}00`,
    mine.sealed.toUpperCase(),
  ].map((sealed) => ({ ...mine, sealed })),
  createOddNote(() => undefined),
  createOddNote((plaintext) => plaintext.fill(112, 48, 49)),
  createOddNote((plaintext) => plaintext.fill(255, 48, 49)),
  createOddNote((plaintext) => plaintext.fill(0xff, 48, 60)),
  createOddNote((plaintext) => plaintext.fill(1, 0, 1)),
  createOddNote((plaintext) => plaintext.fill(0xff, 16, 48)),
];

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of source) list.push(item);
  return list;
}

/** The results of openNote for each note. */
function openEach(notes: readonly ServedNote[], key = viewingKey): ScannedNote<ServedNote>[] {
  return notes.flatMap((note, index) => {
    const opened = openNote({ ...note, viewingKey: key, walletId });
    return opened === undefined ? [] : [{ index, note, opened }];
  });
}

describe.each(['auto', 'integer'] as const)('scanNotes, %s multiplier', (multiplier) => {
  let kernels: OpenScanKernels;
  beforeAll(async () => {
    kernels = await createScanKernels({ threads: 2, multiplier, maximumBytes: 2 ** 28 });
  });
  afterAll(() => kernels.close());

  const scan = (notes: Iterable<ServedNote> | AsyncIterable<ServedNote>, key = viewingKey) =>
    collect(scanNotes({ notes, viewingKey: key, walletId }, { kernels }));

  it('gives the results of openNote for notes of every kind', async () => {
    const expected = openEach(notesOfEveryKind);
    // The expected contents of the list: five plain notes, one of another asset, four unusual notes that are valid money.
    expect(expected.map(({ index }) => index).slice(0, 5)).toEqual([0, 1, 2, 3, 4]);
    expect(expected).toHaveLength(10);
    expect(await scan(notesOfEveryKind)).toEqual(expected);
  });

  it('gives the results of openNote for any notes in any order', async () => {
    const keys = fc.constantFrom(1n, 2n, viewingKey, subgroupOrder - 1n);
    const fresh = fc.record({
      to: keys,
      amount: fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }),
      nonce: fc.bigInt({ min: 0n, max: r - 1n }),
      memo: fc.option(fc.string({ maxLength: 20 }), { nil: undefined }),
      ephemeral: fc.bigInt({ min: 1n, max: subgroupOrder - 1n }),
    });
    const note = fc.oneof(
      fresh.map(createNote),
      fc.constantFrom(...notesOfEveryKind),
      fc.tuple(fc.nat(208), fc.nat(7)).map(([place, bit]) => change(mine, place, bit)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(note, { maxLength: 12 }), keys, async (notes, key) => {
        expect(await scan(notes, key)).toEqual(openEach(notes, key));
      }),
      { numRuns: 12 },
    );
  });

  it('keeps the order over several batches, from any iterable, and reports progress', async () => {
    const foreign = createNote({ to: 5n });
    const places = new Set([0, 1023, 1024, 1025, 2047, 2100]);
    const notes = async function* () {
      for (let index = 0; index < 2101; index += 1) {
        await Promise.resolve();
        yield places.has(index) ? { ...mine, id: index } : { ...foreign, id: index };
      }
    };
    const progress: number[] = [];
    const found = await collect(
      scanNotes(
        { notes: notes(), viewingKey, walletId },
        { kernels, onProgress: (scanned) => progress.push(scanned) },
      ),
    );
    expect(found.map(({ index }) => index)).toEqual([...places]);
    expect(found.map(({ note }) => note.id)).toEqual([...places]);
    expect(progress).toEqual([1024, 2048, 2101]);
  });

  it('finds nothing in an empty list', async () => {
    expect(await scan([])).toEqual([]);
  });

  it('stops with the reason of its signal and leaves no secrets behind', async () => {
    const before = kernels.bytesInUse;
    const controller = new AbortController();
    const reason = new Error('enough');
    const scanning = collect(
      scanNotes(
        { notes: Array<ServedNote>(5000).fill(mine), viewingKey, walletId },
        {
          kernels,
          signal: controller.signal,
          onProgress: () => {
            controller.abort(reason);
          },
        },
      ),
    );
    await expect(scanning).rejects.toBe(reason);
    expect(kernels.bytesInUse - before).toBeLessThan(50_000);
  });

  it('ends the work in progress if the caller stops iterating', async () => {
    await scan([mine]);
    const before = kernels.bytesInUse;
    for await (const { index } of scanNotes(
      { notes: Array<ServedNote>(5000).fill(mine), viewingKey, walletId },
      { kernels },
    )) {
      if (index === 3) break;
    }
    expect(kernels.bytesInUse).toBe(before);
  });

  it.each([
    ['the viewing key 0', { viewingKey: 0n }, 'invalid_viewing_key'],
    ['the viewing key l', { viewingKey: subgroupOrder }, 'invalid_viewing_key'],
    ['a wallet id outside the field', { walletId: r }, 'invalid_field_element'],
  ])('refuses %s', async (_, wrong, code) => {
    const input = { notes: [mine], viewingKey, walletId, ...wrong };
    const scanning: AsyncIterable<unknown> = Reflect.apply(scanNotes, undefined, [
      input,
      { kernels },
    ]);
    await expect(collect(scanning)).rejects.toMatchObject({ code });
  });
});
