/**
 * The file of exported notes, and what `notes import` reads: an export of this holder, or the notes that a funder delivered again
 * (`disburse-agent redeliver --out`). The contents of a file are never trusted, so it needs no signature.
 *
 * @module
 */
import {
  type AssetId,
  type Field,
  fieldToHex,
  type Hex,
  type Hex32,
  PoolError,
  parseField,
  parseHex,
} from '@pool/core';
import type {
  ArchivedNote,
  NoteArchive,
  NoteStore,
  OfferedNote,
  SyncIdentity,
} from '@pool/operations';
import * as v from 'valibot';

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
    /** Symbol. The asset id, hex, of a token that is not configured. */
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
  readonly symbols: ReadonlyMap<AssetId, string>;
}): NotesDocument {
  const { store, archive, identity, symbols } = input;
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
        token: symbols.get(assetId) ?? fieldToHex(assetId),
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
  /** Where it is in the file, for people: `note 3`, `batch 1, slot 7`. */
  readonly label: string;
  /** The file says that it is sealed to a P of this holder. */
  readonly isForHolder: boolean;
  /** Undefined: the entry is damaged. */
  readonly offered: OfferedNote | undefined;
};

const entrySchema = v.object({ commitment: v.string(), sealed: v.string() });
const exportSchema = v.object({
  format: v.literal('pool-notes'),
  version: v.literal(1),
  chainId: v.number(),
  pool: v.string(),
  encryptionPublicKey: v.string(),
  notes: v.array(v.unknown()),
});
const deliverySchema = v.object({
  format: v.literal('pool/sealed-notes/1'),
  batches: v.array(v.object({ notes: v.array(v.unknown()) })),
});

const sealedBytes = 209;

/**
 * @param text - contents of a file
 * @throws PoolError `invalid_request` if it is no such file, or belongs to another pool
 */
export function parseNotesFile(
  text: string,
  identity: Pick<NotesDocument, 'chainId' | 'pool' | 'encryptionPublicKey'> & {
    /** Keys of the holder's earlier P. */
    readonly earlier?: readonly { readonly encryptionPublicKey: string }[];
  },
): readonly FileNote[] {
  const owned = [identity, ...(identity.earlier ?? [])].map((key) => key.encryptionPublicKey);
  const value = parseJson(text);
  const exported = v.safeParse(exportSchema, value);
  if (exported.success) {
    const { chainId, pool, encryptionPublicKey, notes } = exported.output;
    if (chainId !== identity.chainId || pool.toLowerCase() !== identity.pool.toLowerCase()) {
      throw invalid(
        `has notes of pool ${pool.slice(0, 42)} on chain ${chainId}, and this agent's holder is in pool ${identity.pool} on chain ${identity.chainId}; set DISBURSE_CHAIN to the chain of the file`,
      );
    }
    return notes.map((entry, place) =>
      parseEntry(
        entry,
        `note ${place + 1}`,
        owned.includes(readKeyOf(entry) ?? encryptionPublicKey),
      ),
    );
  }
  const delivered = v.safeParse(deliverySchema, value);
  if (delivered.success) {
    return delivered.output.batches.flatMap(({ notes }, batch) =>
      notes.map((entry, place) =>
        parseEntry(
          entry,
          `batch ${batch + 1}, note ${place + 1}`,
          owned.includes(readKeyOf(entry) ?? ''),
        ),
      ),
    );
  }
  throw invalid(
    'is neither an export of "disburse-agent notes export" nor a file of "disburse-agent redeliver --out"',
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw invalid('is not whole JSON', cause);
  }
}

function parseEntry(entry: unknown, label: string, isForHolder: boolean): FileNote {
  const parsed = v.safeParse(entrySchema, entry);
  try {
    return {
      ...{ label, isForHolder },
      offered: parsed.success
        ? {
            commitment: parseField(parsed.output.commitment),
            sealed: parseHex(parsed.output.sealed, sealedBytes),
          }
        : undefined,
    };
  } catch {
    return { label, isForHolder, offered: undefined };
  }
}

/** P of one entry. Undefined: it names none. */
function readKeyOf(entry: unknown): string | undefined {
  const named = v.safeParse(v.object({ encryptionPublicKey: v.string() }), entry);
  return named.success ? named.output.encryptionPublicKey : undefined;
}

function invalid(found: string, cause?: unknown): PoolError {
  return new PoolError('invalid_request', `the file ${found}`, { cause });
}
