/**
 * The cache of one holder's notes in one pool: a SQLite file in the agent's directory, 0600. It holds amounts and memos in clear, as
 * the job store does, and never v.
 *
 * Every write is one transaction, so a process that is killed loses at most the write in progress. Every open checks the file (SQLite's
 * own check, then the MACs of note-cache-mac.ts over all pages) and discards a damaged one: everything in it can be made again from the
 * chain and the archive of note-archive.ts.
 *
 * @module
 */
import { rmSync } from 'node:fs';
import { bytesToHex32, fieldToHex, PoolError, parseField, parseHex32, zeroField } from '@pool/core';
import { openPrivateDatabase, type PrivateDatabase } from '@pool/storage';
import type { BlockMark, NoteStore, ReceivedNote, SyncIdentity } from '../../sync/ports.ts';
import { DamageError, explainNoteFile, isDamage } from './note-cache-errors.ts';
import {
  bytesOf,
  type CheckedContents,
  type Checkpoint,
  checkFile,
  checkPages,
  createEmptyFields,
  isSame,
  listNotesOnChain,
  readCheckpoint,
  readLeafPages,
  schema,
  serializeIdentity,
  signCheckpoint,
} from './note-cache-file.ts';
import { emptyChain } from './note-cache-mac.ts';
import {
  decodeLeafPage,
  decodeNote,
  decodeReceived,
  encodeLeaf,
  encodeNote,
  isOfLeaf,
  readSpend,
  wordOf,
} from './note-cache-pages.ts';
import { createLeafReader, createPageWriter, cutNotes, findPlaces } from './note-cache-tables.ts';

export type NoteStoreOptions = {
  /** A file, made 0600, or `:memory:`. */
  readonly path: string;
  /** From `deriveNoteCacheKey`, secret. */
  readonly key: Uint8Array;
  readonly identity: SyncIdentity;
  /** Called when a damaged or foreign file was discarded. The message names no amount. */
  readonly onDiscard: (reason: string) => void;
};

/**
 * Opens the cache, and makes an empty one if there is none or if it is damaged.
 * @throws PoolError `note_cache_unavailable` if the file cannot be used now; its contents are kept
 */
export function openNoteStore(options: NoteStoreOptions): NoteStore {
  const { path } = options;
  try {
    const first = tryOpen(options);
    // Checked once more: the file may be open in another process, and discarding it takes it away from there.
    const opened = first.store === undefined ? tryOpen(options) : first;
    if (opened.store !== undefined) {
      return opened.store;
    }
    const { damage } = opened;
    options.onDiscard(damage instanceof DamageError ? damage.message : 'SQLite cannot read it');
    discardNoteStore(path);
    return openChecked(options);
  } catch (cause) {
    throw explainNoteFile(path, 'note cache', cause);
  }
}

type Opened =
  | { readonly store: NoteStore }
  | { readonly store?: undefined; readonly damage: unknown };

/** @throws what is no damage */
function tryOpen(options: NoteStoreOptions): Opened {
  try {
    return { store: openChecked(options) };
  } catch (damage) {
    if (!isDamage(damage)) {
      throw damage;
    }
    return { damage };
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
  const { path, key, identity } = options;
  const opened = openPrivateDatabase(path, schema);
  try {
    const { database } = opened;
    // One snapshot: between two statements another process could write pages that the checkpoint does not cover.
    database.exec('BEGIN');
    checkFile(database);
    const checkpoint = readCheckpoint(database, key, serializeIdentity(identity));
    const contents = checkPages(database, key, checkpoint);
    database.exec('COMMIT');
    const store = createStore(opened, options, checkpoint, contents);
    if (!contents.areNotesOnChain) {
      // Notes of leaves that were replaced. Whatever is on the chain is found again.
      store.rewind(store.block);
    }
    return store;
  } catch (error) {
    opened.database.close();
    throw error;
  }
}

function createStore(
  { database, inTransaction }: PrivateDatabase,
  { path, key }: NoteStoreOptions,
  opened: Checkpoint,
  contents: CheckedContents,
): NoteStore {
  let checkpoint = opened;
  // Checked once, and kept by the caller from then on.
  let loaded: CheckedContents | undefined = contents;
  const insertCheckpoint = database.prepare(
    'INSERT OR REPLACE INTO checkpoint VALUES (1, ?, ?, ?, ?)',
  );
  const selectMac = database.prepare('SELECT mac FROM checkpoint');
  const pages = createPageWriter(database, key);
  const leafReader = createLeafReader(database);

  function guard<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      if (isDamage(cause)) {
        throw new PoolError(
          'note_cache_changed',
          `the note cache ${path} is damaged; it is checked again when it is opened next`,
          { cause },
        );
      }
      throw explainNoteFile(path, 'note cache', cause);
    }
  }

  /** One transaction: the pages, then the checkpoint that covers them. */
  function write(work: () => Omit<Checkpoint, 'mac'>): void {
    guard(() => {
      checkpoint = inTransaction(() => {
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
        const { fields, ...chains } = work();
        const signed = signCheckpoint(key, {
          ...chains,
          fields: { ...fields, write: checkpoint.fields.write + 1 },
        });
        const { leafChain, noteChain, mac } = signed;
        insertCheckpoint.run(JSON.stringify(signed.fields), leafChain, noteChain, mac);
        return signed;
      });
    });
  }

  function assertOfLeaves(notes: readonly ReceivedNote[]): void {
    for (const note of notes) {
      const leaf =
        note.leafIndex < checkpoint.fields.leafCount ? leafReader.read(note.leafIndex) : undefined;
      if (leaf === undefined || !isOfLeaf(encodeNote(note), leaf)) {
        // A scan was under way when the history was discarded: its notes were checked against leaves that are gone.
        throw new PoolError(
          'note_history_incomplete',
          'the history of these notes was discarded; the next reading starts it again',
        );
      }
    }
  }

  return {
    get block(): BlockMark | undefined {
      const { block } = checkpoint.fields;
      return block === null ? undefined : { number: block.number, hash: parseHex32(block.hash) };
    },
    get leafCount() {
      return checkpoint.fields.leafCount;
    },
    get archived() {
      const { end, waitingFrom, leafCount } = checkpoint.fields.archived;
      return { end, waitingFrom: waitingFrom ?? undefined, leafCount };
    },
    readRoots: () =>
      guard(() =>
        [...readLeafPages(database)]
          .flatMap(({ first, body }) => decodeLeafPage(body, first))
          // Another process may have appended.
          .slice(0, checkpoint.fields.leafCount)
          .map(({ root }) => wordOf(root)),
      ),
    readLastRoot: () =>
      checkpoint.fields.lastRoot === null ? zeroField : parseField(checkpoint.fields.lastRoot),
    readLeaf: (leafIndex) =>
      guard(() => {
        const leaf = leafReader.read(leafIndex);
        return leaf === undefined
          ? undefined
          : {
              root: wordOf(leaf.root),
              isSpend: leaf.nullifiers.length > 0,
              commitments: leaf.commitments,
              txHash: bytesToHex32(leaf.txHash),
              blockNumber: leaf.blockNumber,
            };
      }),
    findPlaces: (commitments, fromLeaf) =>
      guard(() => findPlaces(database, commitments, fromLeaf, checkpoint.fields.leafCount)),
    listSpends: (fromLeaf) =>
      guard(() => {
        const { leafCount } = checkpoint.fields;
        const known = loaded?.spends;
        if (fromLeaf >= leafCount) {
          return [];
        }
        return known !== undefined && fromLeaf === 0
          ? known
          : [...readLeafPages(database, fromLeaf)]
              .flatMap(({ first, body }) => decodeLeafPage(body, first))
              .filter(
                ({ leafIndex, nullifiers }) =>
                  nullifiers.length > 0 && leafIndex >= fromLeaf && leafIndex < leafCount,
              )
              .map(readSpend);
      }),
    readNotes: () =>
      guard(() => loaded?.notes ?? cutNotes(database).map((note) => decodeNote(note))),
    listReceived: () => guard(() => cutNotes(database).map(decodeReceived)),
    readPlace: (assetId) => checkpoint.fields.listings[fieldToHex(assetId)],
    appendLeaves(leaves, upTo) {
      loaded = undefined;
      write(() => {
        const { fields, leafChain, noteChain } = checkpoint;
        const lastRoot = leaves.at(-1)?.newRoot;
        return {
          fields: {
            ...fields,
            block: upTo,
            leafCount: fields.leafCount + leaves.length,
            lastRoot: lastRoot === undefined ? fields.lastRoot : fieldToHex(lastRoot),
          },
          leafChain: pages.insertLeaves(leafChain, fields.leafCount, leaves.map(encodeLeaf)),
          noteChain,
        };
      });
    },
    appendNotes(notes, { listing, archived }) {
      loaded = undefined;
      write(() => {
        assertOfLeaves(notes);
        const { fields, leafChain, noteChain } = checkpoint;
        return {
          fields: {
            ...fields,
            noteCount: fields.noteCount + notes.length,
            notePage: fields.notePage + (notes.length === 0 ? 0 : 1),
            listings: listing === undefined ? fields.listings : placeListing(fields, listing),
            archived:
              archived === undefined
                ? fields.archived
                : { ...archived, waitingFrom: archived.waitingFrom ?? null },
          },
          leafChain,
          noteChain: pages.insertNotes(noteChain, fields.notePage, notes.map(encodeNote)),
        };
      });
    },
    rewind(upTo) {
      loaded = undefined;
      leafReader.forget();
      write(() => {
        if (upTo !== undefined) {
          // What stays is signed anew, so it must be what was signed before.
          checkPages(database, key, checkpoint);
        }
        const fields = createEmptyFields(checkpoint.fields.identity);
        const kept = pages.cutLeaves(upTo?.number ?? -1);
        const notes = upTo === undefined ? [] : listNotesOnChain(database);
        database.exec('DELETE FROM note_pages');
        return {
          fields: {
            ...fields,
            write: checkpoint.fields.write,
            leafCount: kept.count,
            lastRoot: kept.lastRoot,
            block: upTo ?? null,
            noteCount: notes.length,
            notePage: notes.length === 0 ? 0 : 1,
          },
          leafChain: kept.chain,
          noteChain: pages.insertNotes(emptyChain, 0, notes),
        };
      });
    },
    close: () => database.close(),
  };
}

function placeListing(
  { listings }: Checkpoint['fields'],
  { assetId, place }: NonNullable<Parameters<NoteStore['appendNotes']>[1]['listing']>,
): Checkpoint['fields']['listings'] {
  const { [fieldToHex(assetId)]: _, ...others } = listings;
  return place === undefined ? others : { ...others, [fieldToHex(assetId)]: place };
}
