/**
 * Reads a backup from its beginning to its end, and checks everything: the encryption, the form, the digest of each part, the viewing keys,
 * and the MAC of the manifest.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { isPoolError, Secret } from '@pool/core';
import { computeEncryptionPublicKey, computeX25519PublicKey, parseViewingKey } from '@pool/notes';
import {
  type BackupManifest,
  type BackupPart,
  backupMagic,
  createDamaged,
  decodeManifest,
  earlierViewingKeysPart,
  isManifestAuthentic,
  maxManifestBytes,
  viewingKeyPart,
} from '@pool/wallet';
import { type OpenWith, readAgeFile } from './age-file.ts';

/** Where the bytes of the parts go. */
export type PartSink = {
  /** Called once, before the parts. May throw to end the reading. */
  begin(manifest: BackupManifest): void;
  /** @returns what takes the bytes of this part */
  open(part: BackupPart): { write(bytes: Uint8Array): void; close(): void };
};

/** Keeps nothing. */
export const discardParts: PartSink = {
  begin: () => undefined,
  open: () => ({ write: () => undefined, close: () => undefined }),
};

const maxSmallBytes = 256 * 1024;

/**
 * @returns the manifest, after all checks. Nothing that was given to the sink counts before
 * @throws PoolError `restore_refused`; whatever the sink throws
 */
export async function readBackup(
  path: string,
  openWith: OpenWith,
  sink: PartSink,
): Promise<BackupManifest> {
  const reader = createByteReader(readAgeFile(path, openWith));
  try {
    const magic = Buffer.from(await reader.read(backupMagic.length)).toString('utf8');
    if (magic !== backupMagic) {
      throw createDamaged('it is no backup of this version');
    }
    const length = Buffer.from(await reader.read(4)).readUInt32BE();
    if (length > maxManifestBytes) {
      throw createDamaged('its manifest is too long');
    }
    const manifest = decodeManifest(await reader.read(length));
    sink.begin(manifest);
    const small = new Map<string, string>();
    for (const part of manifest.parts) {
      const content = await readPart(reader, part, sink);
      if (content !== undefined) {
        small.set(part.name, content);
      }
    }
    if (!(await reader.isAtEnd())) {
      throw createDamaged('it has more bytes than its manifest says');
    }
    assertKeys(manifest, small);
    return manifest;
  } finally {
    await reader.close();
  }
}

async function readPart(
  reader: ByteReader,
  part: BackupPart,
  sink: PartSink,
): Promise<string | undefined> {
  const isKept = part.name === viewingKeyPart || part.name === earlierViewingKeysPart;
  if (isKept && part.bytes > maxSmallBytes) {
    throw createDamaged(`${part.name} is too long`);
  }
  const hash = createHash('sha256');
  const kept: Uint8Array[] = [];
  const target = sink.open(part);
  try {
    for (let left = part.bytes; left > 0; ) {
      const chunk = await reader.readSome(left);
      left -= chunk.length;
      hash.update(chunk);
      target.write(chunk);
      if (isKept) {
        kept.push(chunk);
      }
    }
  } finally {
    target.close();
  }
  if (hash.digest('hex') !== part.sha256) {
    throw createDamaged(`${part.name} is not what its manifest says`);
  }
  return isKept ? Buffer.concat(kept).toString('utf8') : undefined;
}

/** The keys give the P that the manifest names, and the manifest was made by their owner. */
function assertKeys(manifest: BackupManifest, small: ReadonlyMap<string, string>): void {
  const { holder } = manifest;
  const text = small.get(viewingKeyPart);
  if (holder === null) {
    if (text !== undefined || small.has(earlierViewingKeysPart)) {
      throw createDamaged('it has viewing keys and names no holder');
    }
    return;
  }
  if (text === undefined) {
    throw createDamaged('the viewing key is missing');
  }
  const current = parseKey(readScalar(text));
  const earlier = parseList(small.get(earlierViewingKeysPart) ?? '[]').map(parseKey);
  const isOwn = (key: Secret<bigint>, encryptionPublicKey: string | undefined): boolean =>
    encryptionPublicKey === computeEncryptionPublicKey(key.reveal()) ||
    encryptionPublicKey === computeX25519PublicKey(key.reveal());
  const areEarlierOwn =
    earlier.length === holder.earlierEncryptionPublicKeys.length &&
    earlier.every((key, index) => isOwn(key, holder.earlierEncryptionPublicKeys[index]));
  if (!isOwn(current, holder.encryptionPublicKey) || !areEarlierOwn) {
    throw createDamaged('its viewing keys do not give the encryption keys of its manifest');
  }
  if (!isManifestAuthentic(manifest, current.reveal())) {
    throw createDamaged('its manifest was not made by the owner of its viewing key');
  }
}

function readScalar(text: string): unknown {
  const document = parseJson(text);
  return typeof document === 'object' && document !== null && 'scalar' in document
    ? document.scalar
    : undefined;
}

function parseList(text: string): readonly unknown[] {
  const list = parseJson(text);
  if (!Array.isArray(list)) {
    throw createDamaged('its earlier viewing keys are no list');
  }
  return list;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's error would quote the key.
    throw createDamaged('its viewing keys are not JSON');
  }
}

function parseKey(value: unknown): Secret<bigint> {
  try {
    return new Secret(parseViewingKey(String(value)));
  } catch (error) {
    throw isPoolError(error) ? createDamaged('it has a malformed viewing key') : error;
  }
}

type ByteReader = {
  /** Exactly so many bytes. */
  read(bytes: number): Promise<Uint8Array>;
  /** At least one byte, at most so many. */
  readSome(most: number): Promise<Uint8Array>;
  isAtEnd(): Promise<boolean>;
  close(): Promise<void>;
};

function createByteReader(source: AsyncGenerator<Uint8Array, void, undefined>): ByteReader {
  let rest: Uint8Array = new Uint8Array(0);

  async function fill(): Promise<boolean> {
    while (rest.length === 0) {
      const next = await source.next();
      if (next.done === true) {
        return false;
      }
      rest = next.value;
    }
    return true;
  }

  async function readSome(most: number): Promise<Uint8Array> {
    if (!(await fill())) {
      throw createDamaged('it ends early');
    }
    const taken = rest.subarray(0, most);
    rest = rest.subarray(taken.length);
    return taken;
  }

  return {
    readSome,
    async read(bytes) {
      const chunks: Uint8Array[] = [];
      for (let left = bytes; left > 0; ) {
        const chunk = await readSome(left);
        left -= chunk.length;
        chunks.push(chunk);
      }
      return Buffer.concat(chunks);
    },
    isAtEnd: async () => !(await fill()),
    close: async () => {
      await source.return();
    },
  };
}
