/**
 * The file of exported notes, and what `notes import` reads: an export of this holder, or the notes that a funder delivered again
 * (`disburse-agent redeliver --out`). The contents of a file are never trusted, so it needs no signature.
 *
 * @module
 */
import {
  type AssetId,
  type EvmAddress,
  type Field,
  fieldToHex,
  type Hex,
  type Hex32,
  PoolError,
  parseField,
  parseHex,
} from '@pool/core';
import * as v from 'valibot';
import type { OfferedNote } from '../sync/import-notes.ts';
import type { ArchivedNote, NoteArchive, NoteStore, SyncIdentity } from '../sync/ports.ts';

export type NotesDocument = {
  readonly format: 'pool-notes';
  readonly version: 1;
  readonly chainId: number;
  readonly pool: string;
  /** W, hex. */
  readonly walletPub: string;
  /** P, hex, of the notes that name no other one. */
  readonly encryptionPublicKey: string;
  readonly notes: readonly {
    /** An earlier P, hex, that the note is sealed to. */
    readonly encryptionPublicKey?: string;
    /** Address. The asset id, hex, of a token that is not configured. */
    readonly token: string;
    readonly leafIndex: number;
    readonly slot: number;
    readonly commitment: Hex32;
    /** 209 bytes. */
    readonly sealed: Hex;
    readonly txHash: Hex32;
  }[];
};

/** Every archived note once, in the order of the tree. */
export function createNotesDocument(input: {
  readonly store: Pick<NoteStore, 'listReceived'>;
  readonly archive: Pick<NoteArchive, 'read'>;
  readonly identity: SyncIdentity;
  /** Addresses of the configured tokens. */
  readonly tokens: ReadonlyMap<AssetId, EvmAddress>;
}): NotesDocument {
  const { store, archive, identity, tokens } = input;
  const notes = new Map<Field, ArchivedNote>();
  for (const { note } of archive.read(0)) {
    notes.set(note.commitment, note);
  }
  // The store has where the chain has them now.
  for (const note of store.listReceived()) {
    notes.set(note.commitment, note);
  }
  const { chainId, pool, walletPub, encryptionPublicKey } = identity;
  return {
    format: 'pool-notes',
    version: 1,
    ...{ chainId, pool, walletPub, encryptionPublicKey },
    notes: [...notes.values()]
      .sort((left, right) => left.leafIndex - right.leafIndex || left.slot - right.slot)
      .map(({ assetId, leafIndex, slot, commitment, sealed, txHash }) => ({
        token: tokens.get(assetId) ?? fieldToHex(assetId),
        ...{ leafIndex, slot, commitment: fieldToHex(commitment), sealed, txHash },
      })),
  };
}

/** @param documents - of one holder, the first one of its present P and each other one of an earlier P */
export function joinDocuments(documents: readonly NotesDocument[]): NotesDocument {
  const [first, ...others] = documents;
  if (first === undefined) {
    throw new PoolError('internal_error', 'there is no document of notes');
  }
  const earlier = others.flatMap(({ encryptionPublicKey, notes }) =>
    notes.map((note) => ({ ...note, encryptionPublicKey })),
  );
  return {
    ...first,
    notes: [...first.notes, ...earlier].sort(
      (left, right) => left.leafIndex - right.leafIndex || left.slot - right.slot,
    ),
  };
}

/** A note of a file. */
export type FileNote = {
  /** Where it is in the file, for people: `note 3`, `batch 1, note 7`. */
  readonly label: string;
  /** The file says that it is sealed to a P of this holder. */
  readonly isForHolder: boolean;
  /** Undefined: the entry is damaged. */
  readonly offered: OfferedNote | undefined;
  /** What an export says about its token and place. Undefined: the file does not say it, or the entry is damaged. */
  readonly place:
    | { readonly token: string; readonly leafIndex: number; readonly slot: number }
    | undefined;
};

export type NotesFile = {
  /** W of an export. Undefined: a file of `redeliver`. */
  readonly walletPub: string | undefined;
  readonly notes: readonly FileNote[];
};

/** Whose notes are expected, and in which pool. */
export type ExpectedNotes = {
  readonly chainId: number;
  readonly pool: string;
  /** Every P of the holder, present and earlier. */
  readonly encryptionPublicKeys: readonly string[];
};

const entrySchema = v.object({ commitment: v.string(), sealed: v.string() });
const index = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const placeSchema = v.object({ token: v.string(), leafIndex: index, slot: index });
const exportSchema = v.object({
  format: v.literal('pool-notes'),
  version: v.literal(1),
  chainId: v.number(),
  pool: v.string(),
  walletPub: v.string(),
  encryptionPublicKey: v.string(),
  notes: v.array(v.unknown()),
});
const deliverySchema = v.object({
  format: v.literal('pool/sealed-notes/1'),
  batches: v.array(v.object({ notes: v.array(v.unknown()) })),
});
const versionSchema = v.object({ format: v.literal('pool-notes'), version: v.number() });

const sealedBytes = 209;

/**
 * @param text - contents of a file
 * @param path - for messages
 * @throws PoolError `restore_refused` if it is no such file, or belongs to another pool
 */
export function parseNotesFile(text: string, expected: ExpectedNotes, path: string): NotesFile {
  const value = parseJson(text, path);
  const exported = v.safeParse(exportSchema, value);
  if (exported.success) {
    const { chainId, pool, walletPub, encryptionPublicKey, notes } = exported.output;
    if (chainId !== expected.chainId || pool.toLowerCase() !== expected.pool.toLowerCase()) {
      throw createRefusal(
        path,
        `it has notes of pool ${pool.slice(0, 42)} on chain id ${chainId}, and this holder's pool is ${expected.pool} on chain id ${expected.chainId}; name the chain of the file with --chain or DISBURSE_CHAIN`,
      );
    }
    return {
      walletPub,
      notes: notes.map((entry, at) =>
        parseEntry(
          entry,
          `note ${at + 1}`,
          expected.encryptionPublicKeys.includes(readKeyOf(entry) ?? encryptionPublicKey),
        ),
      ),
    };
  }
  const delivered = v.safeParse(deliverySchema, value);
  if (delivered.success) {
    const notes = delivered.output.batches.flatMap((batch, number) =>
      batch.notes.map((entry, at) =>
        parseEntry(
          entry,
          `batch ${number + 1}, note ${at + 1}`,
          expected.encryptionPublicKeys.includes(readKeyOf(entry) ?? ''),
        ),
      ),
    );
    return { walletPub: undefined, notes };
  }
  const other = v.safeParse(versionSchema, value);
  throw createRefusal(
    path,
    other.success && other.output.version !== 1
      ? `it is of version ${other.output.version}, and this build reads version 1`
      : 'it is neither an export of "disburse-agent notes export" nor a file of "disburse-agent redeliver --out"',
  );
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw createRefusal(path, 'it is not whole JSON', cause);
  }
}

function parseEntry(entry: unknown, label: string, isForHolder: boolean): FileNote {
  const parsed = v.safeParse(entrySchema, entry);
  const place = v.safeParse(placeSchema, entry);
  const note = { label, isForHolder, place: place.success ? place.output : undefined };
  try {
    return {
      ...note,
      offered: parsed.success
        ? {
            commitment: parseField(parsed.output.commitment),
            sealed: parseHex(parsed.output.sealed, sealedBytes),
          }
        : undefined,
    };
  } catch {
    return { ...note, offered: undefined };
  }
}

/** P of one entry. Undefined: it names none. */
function readKeyOf(entry: unknown): string | undefined {
  const named = v.safeParse(v.object({ encryptionPublicKey: v.string() }), entry);
  return named.success ? named.output.encryptionPublicKey : undefined;
}

/** The error of a file that cannot be taken. @param found - what is wrong with it */
export function createRefusal(path: string, found: string, cause?: unknown): PoolError {
  return new PoolError(
    'restore_refused',
    `${path} is not a usable file of notes: ${found}`,
    cause === undefined ? {} : { cause },
  );
}
