/**
 * The file of the holder's note cache: its tables, the checkpoint that authenticates them, and the checks at each open.
 *
 * A chained HMAC covers all pages of a table, and the checkpoint's own MAC covers both chains and everything that is stored once. The key
 * derives from the viewing key, so whoever can edit the file and does not have v cannot make an edit that goes unnoticed.
 *
 * @module
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { bigintToBytes, type Hex32 } from '@pool/core';
import { hasCommitment } from '../../sync/own-candidates.ts';
import type { ArchiveMark, BlockMark, ListingPlace, ReceivedNote } from '../../sync/ports.ts';
import { DamageError } from './note-cache-errors.ts';
import { decodeLeaves, decodeNotes, type LeafRow, type Page } from './note-cache-pages.ts';

const formatVersion = 3;

/** The body of a page of leaves is bytes, that of a page of notes is text. */
type Bodies = { readonly leaf_pages: Uint8Array; readonly note_pages: string };
type PageTable = keyof Bodies;

const tables = [
  'leaf_pages (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT',
  'note_pages (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT',
  'checkpoint (id INTEGER PRIMARY KEY CHECK (id = 1), fields TEXT NOT NULL, mac BLOB NOT NULL) STRICT',
];
export const schema = tables.map((table) => `CREATE TABLE IF NOT EXISTS ${table};`).join('\n');

/** Everything that is stored once. */
export type CheckpointFields = {
  readonly format: number;
  readonly identity: string;
  readonly write: number;
  readonly leafCount: number;
  /** Root of the note tree with the last leaf. Undefined: no leaf. */
  readonly lastRoot: Hex32 | undefined;
  readonly block: BlockMark | undefined;
  /** By asset id. */
  readonly listings: Readonly<Record<string, ListingPlace>>;
  readonly archived: ArchiveMark;
  /** Of all pages. */
  readonly chains: Readonly<Record<PageTable, string>>;
};

export type Checkpoint = { readonly fields: CheckpointFields; readonly mac: Uint8Array };

/** @param viewingKey - v, secret. @returns 32 bytes, secret */
export function deriveNoteCacheKey(viewingKey: bigint): Uint8Array {
  const ikm = bigintToBytes(viewingKey, 32);
  try {
    return new Uint8Array(hkdfSync('sha256', ikm, '', 'pool/v1/note-cache', 32));
  } finally {
    ikm.fill(0);
  }
}

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
  const row = database.prepare('SELECT fields, mac FROM checkpoint').get();
  if (row === undefined) {
    return signCheckpoint(key, createEmptyFields(identity));
  }
  const text = String(row['fields']);
  const mac = computeCheckpointMac(key, text);
  if (!isSame(mac, row['mac'])) {
    throw new DamageError('its checkpoint was changed, or it belongs to another viewing key');
  }
  // Authentic, so this program wrote it.
  const fields = JSON.parse(text) as CheckpointFields;
  if (fields.format !== formatVersion || fields.identity !== identity) {
    throw new DamageError('it belongs to another version, chain, pool or wallet');
  }
  return { fields, mac };
}

export function createEmptyFields(identity: string): CheckpointFields {
  return {
    format: formatVersion,
    identity,
    write: 0,
    leafCount: 0,
    lastRoot: undefined,
    block: undefined,
    listings: {},
    archived: { end: 0, waitingFrom: undefined, leafCount: 0 },
    chains: { leaf_pages: '', note_pages: '' },
  };
}

export function signCheckpoint(key: Uint8Array, fields: CheckpointFields): Checkpoint {
  return { fields, mac: computeCheckpointMac(key, JSON.stringify(fields)) };
}

/** @param fields - as JSON */
function computeCheckpointMac(key: Uint8Array, fields: string): Uint8Array {
  return createHmac('sha256', key).update('checkpoint').update(fields).digest();
}

export function isSame(left: Uint8Array, right: unknown): boolean {
  return (
    right instanceof Uint8Array && left.length === right.length && timingSafeEqual(left, right)
  );
}

/** Pages in order, from the one with an id on. Of leaves, the id is the index of a leaf. */
export function* readPages<TTable extends PageTable>(
  database: DatabaseSync,
  table: TTable,
  from = 0,
): Generator<Page<Bodies[TTable]>> {
  const rows = database
    .prepare(
      `SELECT id, body FROM ${table} WHERE id >= (SELECT coalesce(max(id), 0) FROM ${table} WHERE id <= ?) ORDER BY id`,
    )
    .iterate(from);
  for (const row of rows) {
    // The tables are STRICT.
    yield { id: Number(row['id']), body: row['body'] as Bodies[TTable] };
  }
}

/** Inserts pages. @returns the chain with them */
export function appendPages<TTable extends PageTable>(
  database: DatabaseSync,
  key: Uint8Array,
  table: TTable,
  before: string,
  pages: Iterable<Page<Bodies[TTable]>>,
): string {
  const insert = database.prepare(`INSERT INTO ${table} VALUES (?, ?)`);
  let chain = before;
  for (const page of pages) {
    insert.run(page.id, page.body);
    chain = extendChain(key, table, chain, page);
  }
  return chain;
}

/** The chain's value with one more page. The id is in it, so that no page can take the place of another. */
function extendChain(
  key: Uint8Array,
  table: PageTable,
  before: string,
  { id, body }: Page<string | Uint8Array>,
): string {
  const hmac = createHmac('sha256', key).update(`${table} ${id} ${body.length} ${before} `);
  return hmac.update(body).digest('hex');
}

/** All pages of a table. @throws DamageError after the last, if they are not those that were written */
function* readChecked<TTable extends PageTable>(
  database: DatabaseSync,
  key: Uint8Array,
  { chains }: CheckpointFields,
  table: TTable,
): Generator<Page<Bodies[TTable]>> {
  let chain = '';
  for (const page of readPages(database, table)) {
    chain = extendChain(key, table, chain, page);
    yield page;
  }
  if (chain !== chains[table]) {
    const what = table === 'note_pages' ? 'notes' : 'events of the chain';
    throw new DamageError(`${what} in it were changed or removed`);
  }
}

/** @throws DamageError if they are not those that were written */
export function readNotes(
  database: DatabaseSync,
  key: Uint8Array,
  fields: CheckpointFields,
): readonly ReceivedNote[] {
  const pages = [...readChecked(database, key, fields, 'note_pages')];
  return pages.flatMap(({ body }) => decodeNotes(body));
}

/**
 * Computes both chains again from the pages, and reads them.
 * @param onLeaf - called for each leaf, before it is known to be authentic
 * @returns all notes, and those of them that are the ones that their leaves have
 * @throws DamageError
 */
export function checkPages(
  database: DatabaseSync,
  key: Uint8Array,
  fields: CheckpointFields,
  onLeaf: (leaf: LeafRow) => void,
): { readonly notes: readonly ReceivedNote[]; readonly onChain: readonly ReceivedNote[] } {
  const notes = readNotes(database, key, fields);
  const byLeaf = Map.groupBy(notes, ({ leafIndex }) => leafIndex);
  const onChain = new Set<ReceivedNote>();
  for (const page of readChecked(database, key, fields, 'leaf_pages')) {
    for (const leaf of decodeLeaves(page)) {
      onLeaf(leaf);
      for (const note of byLeaf.get(leaf.leafIndex) ?? []) {
        if (hasCommitment(leaf, note.slot, note.commitment)) {
          onChain.add(note);
        }
      }
    }
  }
  return { notes, onChain: notes.filter((note) => onChain.has(note)) };
}
