/**
 * The notes of one P in one pool in a browser: cache and archive, in memory while the page uses them. They are loaded when they are
 * opened, and written in one transaction when the caller saves. So a page that is killed loses what it read since, and reads it again.
 *
 * Each save continues what this tab has loaded. If another tab saved meanwhile, the archive takes what is new and the cache does not:
 * it is opened again. A damaged cache is discarded and made again from the chain and the archive; a damaged record of the archive is
 * passed over.
 *
 * @module
 */
import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { type AssetId, type Field, PoolError } from '@pool/core';
import {
  createMemoryNoteArchive,
  createMemoryNoteStore,
  emptyNoteStore,
  type NoteStoreState,
} from '../../note-files/memory-note-store.ts';
import { type NoteJson, parseNotes, stringifyHex } from '../../note-files/note-json.ts';
import type { ArchivedNote, HistoryLeaf, OpenNotes, ReceivedNote } from '../../sync/ports.ts';
import type { BrowserDatabase, NoteRows, NoteTableKey } from './browser-database.ts';
import type { Sealer } from './sealer.ts';

const formatVersion = 1;

/** A page of the cache with so many characters is not written again. */
const fullPageLength = 256 * 1024;

/** What is stored once. `pages` are the ids of their last writes: no older page can take the place of a newer one. */
type Checkpoint = Pick<NoteStoreState, 'block' | 'archived' | 'places'> & {
  readonly format: number;
  readonly pages: readonly string[];
};

/** A run of leaves and a run of notes. */
type PageJson = { readonly leaves: readonly LeafJson[]; readonly notes: readonly NoteJson[] };

type LeafJson = Omit<HistoryLeaf, 'root' | 'newRoot'> & {
  readonly root: string;
  readonly newRoot: string;
};

/** A page as the database has it. */
type StoredPage = {
  readonly write: string;
  /** Leaves and notes up to its end. */
  readonly leaves: number;
  readonly notes: number;
  readonly isFull: boolean;
};

/** The type of a range of keys is not among those of Node. */
type KeyRanges = { bound(first: NoteTableKey, last: NoteTableKey): never };

/** Loads them. @throws PoolError `store_damaged` if the browser does not serve its database */
export async function openBrowserNotes({
  database,
  sealer,
  identity,
  onDiscard,
}: {
  readonly database: BrowserDatabase;
  readonly sealer: Sealer;
  /** Names chain, pool, W and P. */
  readonly identity: string;
  /** Called when a damaged cache was discarded. */
  readonly onDiscard: () => void;
}): Promise<OpenNotes> {
  const owner = sealer.nameOf('notes', identity);
  const keyOf = (kind: NoteTableKey[1], index = 0): NoteTableKey => [owner, kind, index];
  const { IDBKeyRange } = globalThis as unknown as { readonly IDBKeyRange: KeyRanges };
  const rangeOf = (kind: NoteTableKey[1]): never =>
    IDBKeyRange.bound(keyOf(kind), keyOf(kind, Number.POSITIVE_INFINITY));
  const placeOf = (kind: NoteTableKey[1], ...parts: readonly (number | string)[]): string =>
    JSON.stringify([owner, kind, ...parts]);

  const found = await database.read('notes', async (rows) => ({
    checkpoint: await rows.get(keyOf('checkpoint')),
    pages: await rows.getAll(rangeOf('page')),
    records: await rows.getAll(rangeOf('archive')),
    end: await findEnd(rows),
  }));

  /** Index of the next record of the archive. */
  async function findEnd(rows: NoteRows): Promise<number> {
    const last = await rows.openKeyCursor(rangeOf('archive'), 'prev');
    return last === null ? 0 : last.key[2] + 1;
  }

  type Cache = { readonly state: NoteStoreState; readonly pages: readonly StoredPage[] };

  /** @throws SyntaxError if it is not what was stored */
  function readCache(): Cache {
    const text = sealer.open(placeOf('checkpoint'), found.checkpoint);
    const { format, pages: writes, ...rest } = JSON.parse(text ?? '') as Checkpoint;
    if (format !== formatVersion || writes.length !== found.pages.length) {
      throw new SyntaxError('it is of another version, or lacks a page');
    }
    const leaves: HistoryLeaf[] = [];
    const notes: ReceivedNote[] = [];
    const pages = writes.map((write, index): StoredPage => {
      const body = sealer.open(placeOf('page', index, write), found.pages[index]) ?? '';
      const page = JSON.parse(body) as PageJson;
      leaves.push(...page.leaves.map(parseLeaf));
      notes.push(...parseNotes(page.notes));
      return describePage(write, body, { leaves, notes });
    });
    return { state: { ...rest, leaves, notes }, pages };
  }

  function readCacheOrDiscard(): Cache {
    if (found.checkpoint !== undefined) {
      try {
        return readCache();
      } catch {
        onDiscard();
      }
    }
    return { state: emptyNoteStore, pages: [] };
  }

  const opened = readCacheOrDiscard();
  const readable = found.records.flatMap((record) => {
    const text = sealer.open(placeOf('archive'), record);
    return text === undefined ? [] : [parseArchived(text)];
  });
  const store = createMemoryNoteStore(
    readable.length === found.records.length
      ? opened.state
      : // Positions are not what they were: the whole archive is read again.
        { ...opened.state, archived: emptyNoteStore.archived },
  );
  const archive = createMemoryNoteArchive(readable);

  /** What the database has, as far as this tab knows. */
  let saved = {
    checkpoint: found.checkpoint,
    pages: opened.pages,
    /** Records of this tab's archive that are there, and where the database's own archive ends. */
    records: readable.length,
    end: found.end,
    ...{ writes: 0, rewinds: 0 },
  };

  /** The pages that the database is to have. Only the last one can differ from what it has: its text. */
  function planPages(): { readonly pages: readonly StoredPage[]; readonly text?: string } {
    const state = store.readState();
    const kept = store.rewinds === saved.rewinds ? saved.pages : [];
    const last = kept.at(-1);
    if (last?.leaves === state.leaves.length && last.notes === state.notes.length) {
      return { pages: kept };
    }
    // A small page is written again with what is new, so that a sync every minute makes no thousands of them.
    const before = last?.isFull === true ? kept : kept.slice(0, -1);
    const { leaves, notes } = before.at(-1) ?? { leaves: 0, notes: 0 };
    const text = stringifyHex({
      leaves: state.leaves.slice(leaves),
      notes: state.notes.slice(notes),
    });
    const write = bytesToHex(randomBytes(8));
    return { pages: [...before, describePage(write, text, state)], text };
  }

  return {
    store,
    archive,
    async save() {
      const { writes, rewinds } = store;
      const added = archive.records.slice(saved.records);
      if (writes === saved.writes && added.length === 0) {
        return true;
      }
      const { pages, text } = planPages();
      const { block, archived, places } = store.readState();
      const ids = pages.map(({ write }) => write);
      const fields: Checkpoint = { format: formatVersion, pages: ids, block, archived, places };
      const checkpoint = sealer.seal(placeOf('checkpoint'), JSON.stringify(fields));
      const isOurs = await database.write('notes', async (rows) => {
        const start = await findEnd(rows);
        for (const [offset, note] of added.entries()) {
          const sealed = sealer.seal(placeOf('archive'), stringifyArchived(note));
          await rows.put(sealed, keyOf('archive', start + offset));
        }
        if (start !== saved.end || !isSame(await rows.get(keyOf('checkpoint')), saved.checkpoint)) {
          return false;
        }
        if (rewinds !== saved.rewinds || saved.pages.length === 0) {
          await rows.delete(rangeOf('page'));
        }
        if (text !== undefined) {
          const index = pages.length - 1;
          const place = placeOf('page', index, ids[index] ?? '');
          await rows.put(sealer.seal(place, text), keyOf('page', index));
        }
        await rows.put(checkpoint, keyOf('checkpoint'));
        return true;
      });
      const records = saved.records + added.length;
      if (isOurs) {
        saved = { checkpoint, pages, records, end: saved.end + added.length, writes, rewinds };
        return true;
      }
      saved = { ...saved, records };
      if (rewinds !== saved.rewinds) {
        throw new PoolError('note_cache_changed', 'another tab read the notes too; try again');
      }
      return false;
    },
  };
}

function describePage(
  write: string,
  text: string,
  { leaves, notes }: Pick<NoteStoreState, 'leaves' | 'notes'>,
): StoredPage {
  const isFull = text.length >= fullPageLength;
  return { write, leaves: leaves.length, notes: notes.length, isFull };
}

function parseLeaf({ root, newRoot, ...leaf }: LeafJson): HistoryLeaf {
  return { ...leaf, root: BigInt(root) as Field, newRoot: BigInt(newRoot) as Field };
}

/** Without what the note itself hides. */
function stringifyArchived(note: ArchivedNote): string {
  const { assetId, commitment, sealed, leafIndex, slot, txHash } = note;
  return stringifyHex({ assetId, commitment, sealed, leafIndex, slot, txHash });
}

/** @param text - authentic */
function parseArchived(text: string): ArchivedNote {
  const note = JSON.parse(text) as Omit<ArchivedNote, 'assetId' | 'commitment'> & {
    readonly assetId: string;
    readonly commitment: string;
  };
  return {
    ...note,
    assetId: BigInt(note.assetId) as AssetId,
    commitment: BigInt(note.commitment) as Field,
  };
}

function isSame(left: Uint8Array | undefined, right: Uint8Array | undefined): boolean {
  return (
    left?.length === right?.length && left?.every((byte, at) => byte === right?.[at]) !== false
  );
}
