/**
 * A proving key in the form in which an engine holds it, in one file: a later process copies it into memory and parses nothing.
 *
 * The file, numbers little-endian: 8 bytes magic, u32 length of the head, SHA-256 of the head, the head as JSON, then the contents of
 * the parts. The head has a digest of every MiB of them. Each is checked before its bytes are used.
 *
 * @module
 */
import { bytesToHex, hexToBytes } from '@noble/curves/utils.js';
import { type Image, type ImageShape, imageChunkBytes } from '@pool/kernels';
import type { FileSource } from '../base/byte-sources.ts';
import { sha256Hex } from '../base/key-store.ts';
import type { ZkeyHeader } from '../zkey/zkey.ts';

/** What a prepared key was made for. It is used for nothing else. */
export type PreparedFor = {
  /** Identity of the proving key. */
  readonly identity: string;
  /** Format of the engine's memory. */
  readonly format: string;
};

export type PreparedPart = {
  readonly shape: ImageShape;
  readonly size: number;
  /** Fills `into` with the bytes from `position` on: one whole chunk at a time. @throws Error for damaged bytes */
  readonly read: (position: number, into: Uint8Array<ArrayBuffer>) => Promise<void>;
};

export type PreparedKey = {
  readonly header: ZkeyHeader;
  readonly ic: Uint8Array;
  readonly parts: ReadonlyMap<string, PreparedPart>;
};

type Head = PreparedFor & {
  /** With points as hexadecimal digits. */
  readonly header: Readonly<Record<string, unknown>>;
  readonly ic: string;
  readonly parts: readonly {
    readonly name: string;
    readonly shape: ImageShape;
    readonly size: number;
    readonly digests: readonly string[];
  }[];
};

const magic = new TextEncoder().encode('poolkey1');
const startBytes = magic.length + 4 + 32;
/** 100,000 public signals and the digests of more than 4 GiB fit. */
const mostHeadBytes = 2 ** 24;

/** The identity may be a URL or path, which says nothing to others as a digest. */
async function describeUse({ identity, format }: PreparedFor): Promise<PreparedFor> {
  return { identity: await sha256Hex(new TextEncoder().encode(identity)), format };
}

/** Each chunk is valid until the next one. */
async function* chunksOf({ size, read }: Pick<Image, 'size' | 'read'>) {
  const buffer = new Uint8Array(Math.min(imageChunkBytes, size));
  for (let position = 0; position < size; position += imageChunkBytes) {
    const chunk = buffer.subarray(0, Math.min(imageChunkBytes, size - position));
    await read(position, chunk);
    yield chunk;
  }
}

/** The file, piece by piece. @throws KernelsError `input_refused` when the key was released */
export async function* writePreparedKey(
  made: PreparedFor,
  key: { readonly header: ZkeyHeader; readonly ic: Uint8Array },
  images: ReadonlyMap<string, Image>,
): AsyncGenerator<Uint8Array> {
  const parts: Head['parts'][number][] = [];
  for (const [name, image] of images) {
    const digests: string[] = [];
    for await (const chunk of chunksOf(image)) {
      digests.push(await sha256Hex(chunk));
    }
    parts.push({ name, shape: image.shape, size: image.size, digests });
  }
  const header = Object.fromEntries(
    Object.entries(key.header).map(([name, value]: [string, unknown]) => [
      name,
      value instanceof Uint8Array ? bytesToHex(value) : value,
    ]),
  );
  const head: Head = { ...(await describeUse(made)), header, ic: bytesToHex(key.ic), parts };
  const text = new TextEncoder().encode(JSON.stringify(head));
  if (text.length > mostHeadBytes) throw new RangeError('The key has too many public signals.');
  const start = new Uint8Array(startBytes);
  start.set(magic);
  new DataView(start.buffer).setUint32(magic.length, text.length, true);
  start.set(hexToBytes(await sha256Hex(text)), magic.length + 4);
  yield start;
  yield text;
  for (const image of images.values()) {
    for await (const chunk of chunksOf(image)) {
      yield chunk;
    }
  }
}

async function readHead(source: FileSource): Promise<{ head: Head; end: number } | undefined> {
  if (source.size < startBytes) return undefined;
  const start = new Uint8Array(startBytes);
  await source.read(0, start);
  const length = new DataView(start.buffer).getUint32(magic.length, true);
  const end = startBytes + length;
  if (magic.some((byte, at) => start[at] !== byte) || length > mostHeadBytes || end > source.size) {
    return undefined;
  }
  const text = new Uint8Array(length);
  await source.read(startBytes, text);
  if ((await sha256Hex(text)) !== bytesToHex(start.subarray(magic.length + 4))) return undefined;
  // Written by `writePreparedKey`, as the digest shows.
  return { head: JSON.parse(new TextDecoder().decode(text)) as Head, end };
}

/** @returns undefined if the file is damaged, or was made for something else */
export async function openPreparedKey(
  source: FileSource,
  made: PreparedFor,
): Promise<PreparedKey | undefined> {
  const found = await readHead(source);
  const { identity, format } = await describeUse(made);
  if (found?.head.identity !== identity || found.head.format !== format) return undefined;
  const { head } = found;
  let { end } = found;
  const parts = new Map<string, PreparedPart>();
  for (const { name, shape, size, digests } of head.parts) {
    const start = end;
    end += size;
    parts.set(name, {
      shape,
      size,
      read: async (position, into) => {
        await source.read(start + position, into);
        if ((await sha256Hex(into)) !== digests[position / imageChunkBytes]) {
          throw new Error('The prepared key is damaged.');
        }
      },
    });
  }
  if (end !== source.size) return undefined;
  const header = Object.fromEntries(
    Object.entries(head.header).map(([name, value]) => [
      name,
      typeof value === 'string' ? hexToBytes(value) : value,
    ]),
  );
  return { header: header as unknown as ZkeyHeader, ic: hexToBytes(head.ic), parts };
}
