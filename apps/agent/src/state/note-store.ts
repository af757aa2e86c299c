/**
 * The cache of one holder's notes in one pool: a SQLite file in the agent's directory, 0600. It holds amounts and memos in clear, as
 * the job store does, and never v.
 *
 * Every write is one transaction, so a process that is killed loses at most the write in progress. Every open checks the file (SQLite's
 * own check, then the MACs of note-cache-mac.ts over all rows) and discards a damaged one: everything in it can be made again.
 *
 * @module
 */
import { timingSafeEqual } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { bytesToHex32, fieldToHex, PoolError, parseHex32, zeroField } from '@pool/core';
import type { BlockMark, NoteStore, OwnNote, SyncIdentity } from '@pool/operations';
import { beginLink, computeCheckpointMac, emptyChain } from './note-cache-mac.ts';
import {
  bytesOf,
  createLeafRow,
  createNote,
  createNoteRow,
  DamageError,
  fieldOf,
  type LeafRow,
  type NoteRow,
  readLeafRow,
  readNoteRow,
  readSpend,
} from './note-cache-rows.ts';
import { openPrivateDatabase, type PrivateDatabase } from './private-database.ts';

export type NoteStoreOptions = {
  /** A file, made 0600, or `:memory:`. */
  readonly path: string;
  /** From `deriveNoteCacheKey`, secret. */
  readonly key: Uint8Array;
  readonly identity: SyncIdentity;
  /** Called when a damaged or foreign file was discarded. The message names no amount. */
  readonly onDiscard: (reason: string) => void;
};

const formatVersion = 1;

const schema = `
  CREATE TABLE IF NOT EXISTS leaves (
    leaf_index INTEGER PRIMARY KEY, write INTEGER NOT NULL, block INTEGER NOT NULL, root BLOB NOT NULL, new_root BLOB NOT NULL,
    tx_hash BLOB NOT NULL, nullifiers BLOB NOT NULL, commitments BLOB NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS spends ON leaves (leaf_index) WHERE length(nullifiers) > 0;
  CREATE TABLE IF NOT EXISTS notes (
    id INTEGER PRIMARY KEY, write INTEGER NOT NULL, leaf_index INTEGER NOT NULL, slot INTEGER NOT NULL, block INTEGER NOT NULL,
    commitment BLOB NOT NULL, asset_id BLOB NOT NULL, amount BLOB NOT NULL, nonce BLOB NOT NULL, memo TEXT,
    nullifier BLOB NOT NULL, tx_hash BLOB NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS checkpoint (
    id INTEGER PRIMARY KEY CHECK (id = 1), fields TEXT NOT NULL, leaf_chain BLOB NOT NULL, note_chain BLOB NOT NULL, mac BLOB NOT NULL
  ) STRICT;
`;

type Fields = {
  readonly format: number;
  readonly identity: string;
  readonly write: number;
  readonly leafCount: number;
  readonly noteCount: number;
  readonly block: { readonly number: number; readonly hash: string } | null;
  /** By asset id. */
  readonly cursors: Readonly<Record<string, string>>;
};

type Checkpoint = {
  readonly fields: Fields;
  readonly leafChain: Uint8Array;
  readonly noteChain: Uint8Array;
  readonly mac: Uint8Array;
};

/**
 * Opens the cache, and makes an empty one if there is none or if it is damaged.
 * @throws PoolError `note_cache_unavailable` if the file can neither be opened nor replaced
 */
export function openNoteStore(options: NoteStoreOptions): NoteStore {
  try {
    return openChecked(options);
  } catch (error) {
    options.onDiscard(error instanceof DamageError ? error.message : 'SQLite cannot read it');
  }
  try {
    discardNoteStore(options.path);
    return openChecked(options);
  } catch (cause) {
    throw new PoolError(
      'note_cache_unavailable',
      `the note cache ${options.path} cannot be opened; check the directory's permissions and free space`,
      { cause },
    );
  }
}

/** Removes the file, for a scan from the beginning. */
function discardNoteStore(path: string): void {
  if (path !== ':memory:') {
    for (const suffix of ['', '-wal', '-shm']) {
      rmSync(`${path}${suffix}`, { force: true });
    }
  }
}

function openChecked(options: NoteStoreOptions): NoteStore {
  const { path, key } = options;
  const opened = openPrivateDatabase(path, schema);
  try {
    const { database } = opened;
    checkFile(database);
    const checkpoint = readCheckpoint(database, options);
    const notes = checkRows(database, key, checkpoint);
    return createStore(opened, key, checkpoint, notes);
  } catch (error) {
    opened.database.close();
    throw error;
  }
}

function checkFile(database: DatabaseSync): void {
  const answer = database.prepare('PRAGMA quick_check(1)').get();
  if (answer?.['quick_check'] !== 'ok') {
    throw new DamageError("SQLite's own check found damage");
  }
}

function readCheckpoint(database: DatabaseSync, { key, identity }: NoteStoreOptions): Checkpoint {
  const expected = serializeIdentity(identity);
  const row = database.prepare('SELECT * FROM checkpoint').get();
  if (row === undefined) {
    const fields: Fields = {
      format: formatVersion,
      identity: expected,
      write: 0,
      leafCount: 0,
      noteCount: 0,
      block: null,
      cursors: {},
    };
    return sign(key, { fields, leafChain: emptyChain, noteChain: emptyChain });
  }
  const text = String(row['fields']);
  const leafChain = bytesOf(row['leaf_chain']);
  const noteChain = bytesOf(row['note_chain']);
  const mac = bytesOf(row['mac']);
  if (!isSame(computeCheckpointMac(key, { leaves: leafChain, notes: noteChain }, text), mac)) {
    throw new DamageError('its checkpoint was changed, or it belongs to another viewing key');
  }
  // Authentic, so this program wrote it.
  const fields = JSON.parse(text) as Fields;
  if (fields.format !== formatVersion || fields.identity !== expected) {
    throw new DamageError('it belongs to another version, chain, pool or wallet');
  }
  return { fields, leafChain, noteChain, mac };
}

/** Computes both chains again from the rows. @returns the notes */
function checkRows(
  database: DatabaseSync,
  key: Uint8Array,
  { fields, leafChain, noteChain }: Checkpoint,
): readonly OwnNote[] {
  const leaves = createChain(key, 'leaves');
  for (const row of database.prepare('SELECT * FROM leaves ORDER BY leaf_index').iterate()) {
    leaves.add(Number(row['write']), readLeafRow(row));
  }
  const notes: OwnNote[] = [];
  const noteLinks = createChain(key, 'notes');
  for (const row of database.prepare('SELECT * FROM notes ORDER BY id').iterate()) {
    const note = readNoteRow(row);
    noteLinks.add(Number(row['write']), note);
    notes.push(createNote(note));
  }
  if (leaves.count() !== fields.leafCount || !isSame(leaves.end(), leafChain)) {
    throw new DamageError('events of the chain in it were changed or removed');
  }
  if (notes.length !== fields.noteCount || !isSame(noteLinks.end(), noteChain)) {
    throw new DamageError('notes in it were changed or removed');
  }
  return notes;
}

/** The chain over rows that come in the order of their writes. */
function createChain(key: Uint8Array, table: 'leaves' | 'notes', start = emptyChain) {
  let chain = start;
  let open: { readonly write: number; readonly link: ReturnType<typeof beginLink> } | undefined;
  let count = 0;
  return {
    add(write: number, row: LeafRow | NoteRow): void {
      if (open?.write !== write) {
        chain = open?.link.end() ?? chain;
        open = { write, link: beginLink(key, table, chain, write) };
      }
      open.link.add(row);
      count += 1;
    },
    count: () => count,
    end: (): Uint8Array => open?.link.end() ?? chain,
  };
}

function createStore(
  { database, inTransaction }: PrivateDatabase,
  key: Uint8Array,
  opened: Checkpoint,
  openedNotes: readonly OwnNote[],
): NoteStore {
  let checkpoint = opened;
  let loaded: readonly OwnNote[] | undefined = openedNotes;
  const insertLeaf = database.prepare('INSERT INTO leaves VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  const insertNote = database.prepare(
    'INSERT INTO notes VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const insertCheckpoint = database.prepare(
    'INSERT OR REPLACE INTO checkpoint VALUES (1, ?, ?, ?, ?)',
  );
  const selectMac = database.prepare('SELECT mac FROM checkpoint');
  const selectLeaf = database.prepare(
    'SELECT commitments, tx_hash, block FROM leaves WHERE leaf_index = ?',
  );

  function guard<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      if (cause instanceof PoolError) {
        throw cause;
      }
      throw new PoolError(
        'note_cache_damaged',
        'the note cache cannot be read or written; it is checked again when it is opened next',
        { cause },
      );
    }
  }

  /** One transaction: the rows, then the checkpoint that covers them. */
  function write(work: (write: number) => Omit<Checkpoint, 'mac'>): void {
    guard(() => {
      const next = inTransaction(() => {
        const stored = selectMac.get();
        const isOurs =
          stored === undefined
            ? checkpoint.fields.write === 0
            : isSame(bytesOf(stored['mac']), checkpoint.mac);
        if (!isOurs) {
          throw new PoolError(
            'note_cache_changed',
            'another process wrote the note cache; try again',
          );
        }
        const number = checkpoint.fields.write + 1;
        const { fields, leafChain, noteChain } = work(number);
        const signed = sign(key, { fields: { ...fields, write: number }, leafChain, noteChain });
        insertCheckpoint.run(JSON.stringify(signed.fields), leafChain, noteChain, signed.mac);
        return signed;
      });
      checkpoint = next;
    });
  }

  return {
    get block(): BlockMark | undefined {
      const { block } = checkpoint.fields;
      return block === null ? undefined : { number: block.number, hash: parseHex32(block.hash) };
    },
    get leafCount() {
      return checkpoint.fields.leafCount;
    },
    readRoots: () =>
      guard(() =>
        database
          .prepare('SELECT root FROM leaves WHERE leaf_index < ? ORDER BY leaf_index')
          // Another process may have appended.
          .all(checkpoint.fields.leafCount)
          .map((row) => fieldOf(row['root'])),
      ),
    readLastRoot: () =>
      guard(() => {
        const row = database
          .prepare('SELECT new_root FROM leaves WHERE leaf_index = ?')
          .get(checkpoint.fields.leafCount - 1);
        return row === undefined ? zeroField : fieldOf(row['new_root']);
      }),
    readLeaf: (leafIndex) =>
      guard(() => {
        const row = selectLeaf.get(leafIndex);
        return row === undefined
          ? undefined
          : {
              commitments: bytesOf(row['commitments']),
              txHash: bytesToHex32(bytesOf(row['tx_hash'])),
              blockNumber: Number(row['block']),
            };
      }),
    listSpends: (fromLeaf) =>
      guard(() =>
        database
          .prepare(
            'SELECT leaf_index, nullifiers, tx_hash, block FROM leaves WHERE length(nullifiers) > 0 AND leaf_index >= ? AND leaf_index < ? ORDER BY leaf_index',
          )
          .all(fromLeaf, checkpoint.fields.leafCount)
          .map(readSpend),
      ),
    readNotes: () =>
      guard(() => {
        const notes =
          loaded ??
          database
            .prepare('SELECT * FROM notes ORDER BY id')
            .all()
            .map((row) => createNote(readNoteRow(row)));
        // Checked once, and kept by the caller from then on.
        loaded = undefined;
        return notes;
      }),
    readCursor: (assetId) => checkpoint.fields.cursors[fieldToHex(assetId)],
    appendLeaves(leaves, upTo) {
      write((number) => {
        const link = beginLink(key, 'leaves', checkpoint.leafChain, number);
        for (const row of leaves.map(createLeafRow)) {
          link.add(row);
          const { root, newRoot, txHash, nullifiers, commitments, blockNumber } = row;
          const values = [root, newRoot, txHash, nullifiers, commitments];
          insertLeaf.run(row.leafIndex, number, blockNumber, ...values);
        }
        const { fields, leafChain, noteChain } = checkpoint;
        return {
          fields: { ...fields, block: upTo, leafCount: fields.leafCount + leaves.length },
          leafChain: leaves.length === 0 ? leafChain : link.end(),
          noteChain,
        };
      });
    },
    appendNotes(assetId, notes, cursor) {
      write((number) => {
        const link = beginLink(key, 'notes', checkpoint.noteChain, number);
        for (const row of notes.map(createNoteRow)) {
          link.add(row);
          const { leafIndex, slot, blockNumber, commitment, amount, nonce, memo } = row;
          const values = [commitment, row.assetId, amount, nonce, memo, row.nullifier, row.txHash];
          insertNote.run(number, leafIndex, slot, blockNumber, ...values);
        }
        const { fields, leafChain, noteChain } = checkpoint;
        const { [fieldToHex(assetId)]: _, ...others } = fields.cursors;
        return {
          fields: {
            ...fields,
            noteCount: fields.noteCount + notes.length,
            cursors: cursor === undefined ? others : { ...others, [fieldToHex(assetId)]: cursor },
          },
          leafChain,
          noteChain: notes.length === 0 ? noteChain : link.end(),
        };
      });
    },
    rewind(upTo) {
      loaded = undefined;
      write(() => {
        for (const table of ['notes', 'leaves']) {
          database.prepare(`DELETE FROM ${table} WHERE block > ?`).run(upTo?.number ?? -1);
        }
        const leaves = createChain(key, 'leaves');
        for (const row of database.prepare('SELECT * FROM leaves ORDER BY leaf_index').iterate()) {
          leaves.add(Number(row['write']), readLeafRow(row));
        }
        const notes = createChain(key, 'notes');
        for (const row of database.prepare('SELECT * FROM notes ORDER BY id').iterate()) {
          notes.add(Number(row['write']), readNoteRow(row));
        }
        const { fields } = checkpoint;
        return {
          fields: {
            ...fields,
            leafCount: leaves.count(),
            noteCount: notes.count(),
            block: upTo ?? null,
            cursors: {},
          },
          leafChain: leaves.end(),
          noteChain: notes.end(),
        };
      });
    },
    close: () => database.close(),
  };
}

function sign(key: Uint8Array, unsigned: Omit<Checkpoint, 'mac'>): Checkpoint {
  const { leafChain, noteChain, fields } = unsigned;
  const chains = { leaves: leafChain, notes: noteChain };
  return { ...unsigned, mac: computeCheckpointMac(key, chains, JSON.stringify(fields)) };
}

export function serializeIdentity(identity: SyncIdentity): string {
  const { chainId, pool, deployedAtBlock, walletPub, encryptionPublicKey } = identity;
  return [chainId, pool.toLowerCase(), deployedAtBlock, walletPub, encryptionPublicKey].join(' ');
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
