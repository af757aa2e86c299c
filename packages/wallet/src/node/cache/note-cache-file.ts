/**
 * The file of the holder's note cache: its tables, the checkpoint that signs them, and the checks at each open.
 *
 * @module
 */
import { timingSafeEqual } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { OwnNote, StoredSpend, SyncIdentity } from '../../sync/ports.ts';
import { DamageError } from './note-cache-errors.ts';
import { computeCheckpointMac, emptyChain, extendChain } from './note-cache-mac.ts';
import {
  cutNotePage,
  decodeLeafPage,
  decodeNote,
  isOfLeaf,
  type LeafRow,
  leafIndexOf,
  readSpend,
} from './note-cache-pages.ts';

const formatVersion = 2;

const tables = [
  'leaf_pages (first_leaf INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT',
  'note_pages (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT',
  `checkpoint (
    id INTEGER PRIMARY KEY CHECK (id = 1), fields TEXT NOT NULL, leaf_chain BLOB NOT NULL, note_chain BLOB NOT NULL, mac BLOB NOT NULL
  ) STRICT`,
];
export const schema = tables.map((table) => `CREATE TABLE IF NOT EXISTS ${table};`).join('\n');

/** Everything that is stored once. */
export type CheckpointFields = {
  readonly format: number;
  readonly identity: string;
  readonly write: number;
  readonly leafCount: number;
  readonly noteCount: number;
  /** Of the next page of notes. */
  readonly notePage: number;
  /** Root of the note tree with the last leaf, hex; null: no leaf. */
  readonly lastRoot: string | null;
  readonly block: { readonly number: number; readonly hash: string } | null;
  /** By asset id. */
  readonly listings: Readonly<Record<string, { readonly cursor: string; readonly notes: number }>>;
  readonly archived: {
    readonly end: number;
    readonly waitingFrom: number | null;
    readonly leafCount: number;
  };
};

export type Checkpoint = {
  readonly fields: CheckpointFields;
  readonly leafChain: Uint8Array;
  readonly noteChain: Uint8Array;
  readonly mac: Uint8Array;
};

/** What the checks at an open have read. */
export type CheckedContents = {
  readonly notes: readonly OwnNote[];
  readonly spends: readonly StoredSpend[];
  /** Whether every note is the one that its leaf has. False: the others are not in `notes`. */
  readonly areNotesOnChain: boolean;
};

/** @throws DamageError if it was not made by this version of this program */
export function checkFile(database: DatabaseSync): void {
  const stored = database.prepare('SELECT sql FROM sqlite_schema ORDER BY sql').all();
  const expected = tables.map((table) => `CREATE TABLE ${table}`).sort();
  if (stored.map((row) => row['sql']).join('\n') !== expected.join('\n')) {
    throw new DamageError('its tables are not those of this version');
  }
  const answer = database.prepare('PRAGMA quick_check(1)').get();
  if (answer?.['quick_check'] !== 'ok') {
    throw new DamageError("SQLite's own check found damage");
  }
}

/** @throws DamageError */
export function readCheckpoint(
  database: DatabaseSync,
  key: Uint8Array,
  identity: string,
): Checkpoint {
  const row = database.prepare('SELECT * FROM checkpoint').get();
  if (row === undefined) {
    const fields = createEmptyFields(identity);
    return signCheckpoint(key, { fields, leafChain: emptyChain, noteChain: emptyChain });
  }
  const text = String(row['fields']);
  const leafChain = bytesOf(row['leaf_chain']);
  const noteChain = bytesOf(row['note_chain']);
  const mac = bytesOf(row['mac']);
  if (!isSame(computeCheckpointMac(key, { leaves: leafChain, notes: noteChain }, text), mac)) {
    throw new DamageError('its checkpoint was changed, or it belongs to another viewing key');
  }
  // Authentic, so this program wrote it.
  const fields = JSON.parse(text) as CheckpointFields;
  if (fields.format !== formatVersion || fields.identity !== identity) {
    throw new DamageError('it belongs to another version, chain, pool or wallet');
  }
  return { fields, leafChain, noteChain, mac };
}

export function createEmptyFields(identity: string): CheckpointFields {
  return {
    format: formatVersion,
    identity,
    write: 0,
    leafCount: 0,
    noteCount: 0,
    notePage: 0,
    lastRoot: null,
    block: null,
    listings: {},
    archived: { end: 0, waitingFrom: null, leafCount: 0 },
  };
}

export function signCheckpoint(key: Uint8Array, unsigned: Omit<Checkpoint, 'mac'>): Checkpoint {
  const { leafChain, noteChain, fields } = unsigned;
  const chains = { leaves: leafChain, notes: noteChain };
  return { ...unsigned, mac: computeCheckpointMac(key, chains, JSON.stringify(fields)) };
}

/** Pages of leaves in order, with the index of the first leaf of each. */
export function* readLeafPages(
  database: DatabaseSync,
  fromLeaf = 0,
): Generator<{ readonly first: number; readonly body: Uint8Array }> {
  const rows = database
    .prepare(
      'SELECT first_leaf, body FROM leaf_pages WHERE first_leaf >= (SELECT coalesce(max(first_leaf), 0) FROM leaf_pages WHERE first_leaf <= ?) ORDER BY first_leaf',
    )
    .iterate(fromLeaf);
  for (const row of rows) {
    yield { first: Number(row['first_leaf']), body: bytesOf(row['body']) };
  }
}

export function* readNotePages(
  database: DatabaseSync,
): Generator<{ readonly id: number; readonly body: Uint8Array }> {
  for (const row of database.prepare('SELECT id, body FROM note_pages ORDER BY id').iterate()) {
    yield { id: Number(row['id']), body: bytesOf(row['body']) };
  }
}

/** Computes both chains again from the pages, and reads them. @throws DamageError */
export function checkPages(
  database: DatabaseSync,
  key: Uint8Array,
  { fields, leafChain, noteChain }: Checkpoint,
): CheckedContents {
  const notes: Buffer[] = [];
  let chain = emptyChain;
  for (const { id, body } of readNotePages(database)) {
    chain = extendChain(key, 'notes', chain, id, body);
    notes.push(...cutNotePage(body));
  }
  if (notes.length !== fields.noteCount || !isSame(chain, noteChain)) {
    throw new DamageError('notes in it were changed or removed');
  }
  const wanted = groupByLeaf(notes);
  const onChain = new Set<Buffer>();
  const spends: StoredSpend[] = [];
  let leafCount = 0;
  chain = emptyChain;
  for (const { first, body } of readLeafPages(database)) {
    chain = extendChain(key, 'leaves', chain, first, body);
    for (const leaf of decodeLeafPage(body, first)) {
      leafCount += 1;
      if (leaf.nullifiers.length > 0) {
        spends.push(readSpend(leaf));
      }
      addNotesOf(leaf, wanted, onChain);
    }
  }
  if (leafCount !== fields.leafCount || !isSame(chain, leafChain)) {
    throw new DamageError('events of the chain in it were changed or removed');
  }
  return {
    notes: notes.filter((note) => onChain.has(note)).map(decodeNote),
    spends,
    areNotesOnChain: onChain.size === notes.length,
  };
}

/** The notes that are those of the stored leaves, as bytes. */
export function listNotesOnChain(database: DatabaseSync): readonly Buffer[] {
  const notes = [...readNotePages(database)].flatMap(({ body }) => cutNotePage(body));
  const wanted = groupByLeaf(notes);
  const onChain = new Set<Buffer>();
  for (const { first, body } of readLeafPages(database)) {
    for (const leaf of decodeLeafPage(body, first)) {
      addNotesOf(leaf, wanted, onChain);
    }
  }
  return notes.filter((note) => onChain.has(note));
}

function groupByLeaf(notes: readonly Buffer[]): ReadonlyMap<number, readonly Buffer[]> {
  const byLeaf = new Map<number, Buffer[]>();
  for (const note of notes) {
    const leafIndex = leafIndexOf(note);
    const others = byLeaf.get(leafIndex);
    if (others === undefined) {
      byLeaf.set(leafIndex, [note]);
    } else {
      others.push(note);
    }
  }
  return byLeaf;
}

function addNotesOf(
  leaf: LeafRow,
  wanted: ReadonlyMap<number, readonly Buffer[]>,
  onChain: Set<Buffer>,
): void {
  for (const note of wanted.get(leaf.leafIndex) ?? []) {
    if (isOfLeaf(note, leaf)) {
      onChain.add(note);
    }
  }
}

/** One string per identity, in which every part is public. */
export function serializeIdentity(identity: SyncIdentity): string {
  const { chainId, pool, deployedAtBlock, walletPub, encryptionPublicKey } = identity;
  return [chainId, pool.toLowerCase(), deployedAtBlock, walletPub, encryptionPublicKey].join(' ');
}

/** @throws DamageError for a value of another type */
export function bytesOf(value: unknown): Uint8Array {
  if (!(value instanceof Uint8Array)) {
    throw new DamageError('a value in it has the wrong type');
  }
  return value;
}

export function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
