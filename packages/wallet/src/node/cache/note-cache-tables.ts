/**
 * The pages of the holder's note cache in its tables: inserts and cuts them, and finds leaves in them.
 *
 * @module
 */
import type { DatabaseSync } from 'node:sqlite';
import { bytesToHex32, type Field, fieldToHex } from '@pool/core';
import type { NotePlace } from '../../sync/ports.ts';
import { bytesOf, readLeafPages, readNotePages } from './note-cache-file.ts';
import { emptyChain, extendChain } from './note-cache-mac.ts';
import {
  cutNotePage,
  decodeLeafPage,
  keyOfWord,
  type LeafRow,
  wordOf,
} from './note-cache-pages.ts';

/** Of leaves: one leaf is read with its whole page. */
const pageBytes = 1024 * 1024;

/** The bytes of every note. */
export function cutNotes(database: DatabaseSync): readonly Buffer[] {
  return [...readNotePages(database)].flatMap(({ body }) => cutNotePage(body));
}

/** Inserts and cuts pages. Each call belongs to a write. */
export function createPageWriter(database: DatabaseSync, key: Uint8Array) {
  const insertLeafPage = database.prepare('INSERT INTO leaf_pages VALUES (?, ?)');
  const insertNotePage = database.prepare('INSERT INTO note_pages VALUES (?, ?)');

  /** @returns the chain with these leaves */
  function insertLeaves(
    before: Uint8Array,
    firstLeaf: number,
    leaves: readonly Uint8Array[],
  ): Uint8Array {
    let chain = before;
    let page: Uint8Array[] = [];
    let size = 0;
    let first = firstLeaf;
    leaves.forEach((leaf, place) => {
      page.push(leaf);
      size += leaf.length;
      if (size >= pageBytes || place === leaves.length - 1) {
        const body = Buffer.concat(page);
        insertLeafPage.run(first, body);
        chain = extendChain(key, 'leaves', chain, first, body);
        first = firstLeaf + place + 1;
        page = [];
        size = 0;
      }
    });
    return chain;
  }

  return {
    insertLeaves,
    /** @returns the chain with these notes */
    insertNotes(before: Uint8Array, id: number, notes: readonly Uint8Array[]): Uint8Array {
      if (notes.length === 0) {
        return before;
      }
      const body = Buffer.concat(notes);
      insertNotePage.run(id, body);
      return extendChain(key, 'notes', before, id, body);
    },
    /** Removes every leaf after a block. */
    cutLeaves(lastBlock: number) {
      const kept: LeafRow[] = [];
      if (lastBlock >= 0) {
        for (const { first, body } of readLeafPages(database)) {
          kept.push(
            ...decodeLeafPage(body, first).filter(({ blockNumber }) => blockNumber <= lastBlock),
          );
        }
      }
      database.exec('DELETE FROM leaf_pages');
      const last = kept.at(-1);
      return {
        chain: insertLeaves(emptyChain, 0, kept.map(encodeRow)),
        count: kept.length,
        lastRoot: last === undefined ? null : fieldToHex(wordOf(last.newRoot)),
      };
    },
  };
}

/** The bytes of a leaf, from the views of them. */
function encodeRow({ root, commitments, nullifiers }: LeafRow): Uint8Array {
  const start = root.byteOffset - 14;
  const end = nullifiers.byteOffset + nullifiers.length;
  return new Uint8Array(commitments.buffer, start, end - start);
}

/** Notes of one batch follow each other, so the last page is kept. */
export function createLeafReader(database: DatabaseSync) {
  const select = database.prepare(
    'SELECT first_leaf, body FROM leaf_pages WHERE first_leaf <= ? ORDER BY first_leaf DESC LIMIT 1',
  );
  let page: readonly LeafRow[] = [];
  return {
    read(leafIndex: number): LeafRow | undefined {
      const [first] = page;
      const known = first === undefined ? undefined : page[leafIndex - first.leafIndex];
      if (known !== undefined) {
        return known;
      }
      const row = select.get(leafIndex);
      page =
        row === undefined ? [] : decodeLeafPage(bytesOf(row['body']), Number(row['first_leaf']));
      return page[leafIndex - (page[0]?.leafIndex ?? 0)];
    },
    forget(): void {
      page = [];
    },
  };
}

export function findPlaces(
  database: DatabaseSync,
  commitments: ReadonlySet<Field>,
  fromLeaf: number,
  leafCount: number,
): ReadonlyMap<Field, NotePlace> {
  const wanted = new Map([...commitments].map((word) => [keyOfWord(word), word]));
  const places = new Map<Field, NotePlace>();
  for (const { first, body } of wanted.size === 0 ? [] : readLeafPages(database, fromLeaf)) {
    for (const leaf of decodeLeafPage(body, first)) {
      const text = leaf.commitments.toString('latin1');
      for (let slot = 0; 32 * slot < text.length; slot += 1) {
        const word = wanted.get(text.slice(32 * slot, 32 * (slot + 1)));
        const { leafIndex, blockNumber } = leaf;
        if (word !== undefined && leafIndex >= fromLeaf && leafIndex < leafCount) {
          if (!places.has(word)) {
            places.set(word, { leafIndex, slot, blockNumber, txHash: bytesToHex32(leaf.txHash) });
          }
        }
      }
    }
  }
  return places;
}
