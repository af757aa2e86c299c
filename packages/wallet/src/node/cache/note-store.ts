/**
 * The cache of one holder's notes in one pool: a SQLite file in the agent's directory, 0600. It holds amounts and memos in clear, as
 * the job store does, and never v.
 *
 * Every write is one transaction, so a process that is killed loses at most the write in progress. Every open checks the file (SQLite's
 * own check, then the MACs of note-cache-file.ts over all pages) and discards a damaged one: everything in it can be made again from the
 * chain and the archive of note-archive.ts.
 *
 * @module
 */
import { rmSync } from 'node:fs';
import { bytesToHex32, type Field, fieldToHex, PoolError, parseField, zeroField } from '@pool/core';
import { openPrivateDatabase, type PrivateDatabase } from '@pool/storage';
import { serializeIdentity } from '../../note-files/note-json.ts';
import { hasCommitment } from '../../sync/own-candidates.ts';
import type { NotePlace, NoteStore, OwnNote, StoredSpend, SyncIdentity } from '../../sync/ports.ts';
import { DamageError, explainNoteFile, isDamage } from './note-cache-errors.ts';
import {
  appendPages,
  type Checkpoint,
  type CheckpointFields,
  checkFile,
  checkPages,
  createEmptyFields,
  isSame,
  readCheckpoint,
  readNotes,
  readPages,
  schema,
  signCheckpoint,
} from './note-cache-file.ts';
import {
  decodeLeaves,
  encodeLeaf,
  type LeafRow,
  packLeaves,
  packNotes,
  readSpend,
  wordOf,
} from './note-cache-pages.ts';

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

/** What the checks at an open have read. */
type Contents = { readonly notes: readonly OwnNote[]; readonly spends: readonly StoredSpend[] };

function openChecked(options: NoteStoreOptions): NoteStore {
  const { path, key, identity } = options;
  const opened = openPrivateDatabase(path, schema);
  try {
    const { database } = opened;
    // One snapshot: between two statements another process could write pages that the checkpoint does not cover.
    database.exec('BEGIN');
    checkFile(database);
    const checkpoint = readCheckpoint(database, key, serializeIdentity(identity));
    const spends: StoredSpend[] = [];
    const { notes, onChain } = checkPages(database, key, checkpoint.fields, (leaf) => {
      if (leaf.nullifiers.length > 0) {
        spends.push(readSpend(leaf));
      }
    });
    database.exec('COMMIT');
    const contents = { notes: onChain.map(({ sealed: _, ...note }) => note), spends };
    const store = createStore(opened, options, checkpoint, contents);
    if (onChain.length < notes.length) {
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
  contents: Contents,
): NoteStore {
  let checkpoint = opened;
  // Checked once, and kept by the caller from then on.
  let loaded: Contents | undefined = contents;
  /** Notes of one batch follow each other, so the last page is kept. */
  let page: readonly LeafRow[] = [];
  const insertCheckpoint = database.prepare('INSERT OR REPLACE INTO checkpoint VALUES (1, ?, ?)');
  const selectMac = database.prepare('SELECT mac FROM checkpoint');
  const selectLeafPage = database.prepare(
    'SELECT id, body FROM leaf_pages WHERE id <= ? ORDER BY id DESC LIMIT 1',
  );

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
  function write(work: (fields: CheckpointFields) => Partial<CheckpointFields>): void {
    loaded = undefined;
    page = [];
    guard(() => {
      checkpoint = inTransaction(() => {
        const { fields, mac } = checkpoint;
        const stored = selectMac.get();
        if (stored === undefined ? fields.write > 0 : !isSame(mac, stored['mac'])) {
          throw new PoolError(
            'note_cache_changed',
            'another process wrote the note cache; try again',
          );
        }
        const changed = { ...fields, write: fields.write + 1, ...work(fields) };
        const signed = signCheckpoint(key, changed);
        insertCheckpoint.run(JSON.stringify(changed), signed.mac);
        return signed;
      });
    });
  }

  /** Of this store: another process may have appended. */
  function* readLeaves(fromLeaf: number): Generator<LeafRow> {
    const { leafCount } = checkpoint.fields;
    for (const leaves of readPages(database, 'leaf_pages', fromLeaf)) {
      for (const leaf of decodeLeaves(leaves)) {
        if (leaf.leafIndex >= fromLeaf && leaf.leafIndex < leafCount) {
          yield leaf;
        }
      }
    }
  }

  function findLeaf(leafIndex: number): LeafRow | undefined {
    if (page[leafIndex - (page[0]?.leafIndex ?? 0)] === undefined) {
      const row = selectLeafPage.get(leafIndex);
      page =
        row === undefined
          ? []
          : decodeLeaves({ id: Number(row['id']), body: row['body'] as Uint8Array });
    }
    return page[leafIndex - (page[0]?.leafIndex ?? 0)];
  }

  const readStored = () => readNotes(database, key, checkpoint.fields);

  return {
    get block() {
      return checkpoint.fields.block;
    },
    get leafCount() {
      return checkpoint.fields.leafCount;
    },
    get archived() {
      return checkpoint.fields.archived;
    },
    readRoots: () => guard(() => Array.from(readLeaves(0), ({ root }) => wordOf(root))),
    readLastRoot: () => parseField(checkpoint.fields.lastRoot ?? fieldToHex(zeroField)),
    readLeaf: (leafIndex) =>
      guard(() => {
        const leaf = findLeaf(leafIndex);
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
      guard(() => {
        const wanted = new Map(
          [...commitments].map((word) => [
            Buffer.from(fieldToHex(word).slice(2), 'hex').toString('latin1'),
            word,
          ]),
        );
        const places = new Map<Field, NotePlace>();
        for (const leaf of wanted.size === 0 ? [] : readLeaves(fromLeaf)) {
          const { leafIndex, blockNumber } = leaf;
          const text = leaf.commitments.toString('latin1');
          for (let slot = 0; 32 * slot < text.length; slot += 1) {
            const word = wanted.get(text.slice(32 * slot, 32 * (slot + 1)));
            if (word !== undefined && !places.has(word)) {
              places.set(word, { leafIndex, slot, blockNumber, txHash: bytesToHex32(leaf.txHash) });
            }
          }
        }
        return places;
      }),
    listSpends: (fromLeaf) =>
      guard(() =>
        loaded !== undefined && fromLeaf === 0
          ? loaded.spends
          : [...readLeaves(fromLeaf)]
              .filter(({ nullifiers }) => nullifiers.length > 0)
              .map(readSpend),
      ),
    readNotes: () =>
      guard(() => loaded?.notes ?? readStored().map(({ sealed: _, ...note }) => note)),
    listReceived: () =>
      guard(() =>
        readStored().map(({ assetId, commitment, sealed, leafIndex, slot, txHash }) => ({
          ...{ assetId, commitment, sealed, leafIndex, slot, txHash },
        })),
      ),
    readPlace: (assetId) => checkpoint.fields.listings[fieldToHex(assetId)],
    appendLeaves(leaves, upTo) {
      write(({ leafCount, lastRoot, chains }) => {
        const last = leaves.at(-1);
        const added = packLeaves(leafCount, leaves.map(encodeLeaf));
        return {
          block: upTo,
          leafCount: leafCount + leaves.length,
          lastRoot: last === undefined ? lastRoot : fieldToHex(last.newRoot),
          chains: {
            ...chains,
            leaf_pages: appendPages(database, key, 'leaf_pages', chains.leaf_pages, added),
          },
        };
      });
    },
    appendNotes(notes, { listing, archived }) {
      write((fields) => {
        const { chains, leafCount, listings } = fields;
        for (const { leafIndex, slot, commitment } of notes) {
          const leaf = leafIndex < leafCount ? findLeaf(leafIndex) : undefined;
          if (leaf === undefined || !hasCommitment(leaf, slot, commitment)) {
            // A scan was under way when the history was discarded: its notes were checked against leaves that are gone.
            throw new PoolError(
              'note_history_incomplete',
              'the history of these notes was discarded; the next reading starts it again',
            );
          }
        }
        const added = packNotes(fields.write, notes);
        return {
          write: fields.write + 1 + added.length,
          listings: listing === undefined ? listings : placeListing(listings, listing),
          archived: archived ?? fields.archived,
          chains: {
            ...chains,
            note_pages: appendPages(database, key, 'note_pages', chains.note_pages, added),
          },
        };
      });
    },
    rewind(upTo) {
      write((fields) => {
        const kept: LeafRow[] = [];
        // What stays is signed anew, so it must be what was signed before.
        const { onChain } =
          upTo === undefined
            ? { onChain: [] }
            : checkPages(database, key, fields, (leaf) => {
                if (leaf.blockNumber <= upTo.number) {
                  kept.push(leaf);
                }
              });
        database.exec('DELETE FROM leaf_pages; DELETE FROM note_pages');
        const leaves = packLeaves(
          0,
          kept.map(({ bytes }) => bytes),
        );
        const notes = onChain.filter(({ leafIndex }) => leafIndex < kept.length);
        const pages = packNotes(fields.write, notes);
        const last = kept.at(-1);
        return {
          ...createEmptyFields(fields.identity),
          write: fields.write + 1 + pages.length,
          leafCount: kept.length,
          lastRoot: last === undefined ? undefined : bytesToHex32(last.newRoot),
          block: upTo,
          chains: {
            leaf_pages: appendPages(database, key, 'leaf_pages', '', leaves),
            note_pages: appendPages(database, key, 'note_pages', '', pages),
          },
        };
      });
    },
    close: () => database.close(),
  };
}

function placeListing(
  listings: CheckpointFields['listings'],
  { assetId, place }: NonNullable<Parameters<NoteStore['appendNotes']>[1]['listing']>,
): CheckpointFields['listings'] {
  const { [fieldToHex(assetId)]: _, ...others } = listings;
  return place === undefined ? others : { ...others, [fieldToHex(assetId)]: place };
}
