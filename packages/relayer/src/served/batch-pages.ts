/**
 * The pages of `/agent-edge/batches` as bytes (docs/decisions/0010). The indexer stores final leaves only, so a full page never changes:
 * its bytes are made once, kept in the database, and served as they are. Every page begins where the one before ends, counted from leaf
 * 0; a reader who begins in the middle of one gets the rest of it. Making a page costs 15 ms of the main thread, serving it none of that.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { BatchesResponse } from '@pool/api';
import type { PlatformDatabase } from '@pool/database';
import { assertIndexRight, countLeaves, readPage } from './served-batches.ts';

export type BatchBytes = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Absent: the page is not full, and the next answer may differ. */
  readonly etag?: string;
};

export type BatchPages = ReturnType<typeof createBatchPages>;

type Page = {
  readonly first: number;
  /** The leaf after the last one. */
  readonly end: number;
  /** The whole answer, one leaf per line. */
  readonly bytes: Buffer<ArrayBuffer>;
  readonly etag?: string;
};

type ChainPages = {
  /** First leaf of every full page, rising. */
  readonly firsts: number[];
  /** First leaf behind the full pages. */
  end: number;
  /** The page that is not full, as it was when it was read. */
  tail: Page | undefined;
  /** One caller at a time extends the pages. */
  extending: Promise<void>;
};

/** Full pages in memory. One has at most 600 kB. */
const maxRememberedBytes = 64 * 1024 * 1024;

const head = Buffer.from('{"batches":[');
const newline = 0x0a;

/** A halt of the indexer takes effect within this time. */
const believeRightMs = 1_000;

export function createBatchPages(db: PlatformDatabase, nowMs: () => number) {
  const chains = new Map<string, Promise<ChainPages>>();
  const rightAtMs = new Map<string, number>();
  const remembered = createPageMemory(maxRememberedBytes);

  function open(chain: string): Promise<ChainPages> {
    const known = chains.get(chain) ?? selectFirsts(db, chain);
    chains.set(chain, known);
    known.catch(() => chains.delete(chain));
    return known;
  }

  async function extendPages(chain: string, pages: ChainPages): Promise<void> {
    if (pages.tail?.end === (await countLeaves(db, chain))) {
      return;
    }
    for (;;) {
      const answer = await readPage(db, chain, pages.end);
      const page = encodePage(pages.end, answer);
      if (answer.next === undefined) {
        pages.tail = page;
        return;
      }
      const etag = createHash('sha256').update(page.bytes).digest('base64url');
      await insertPage(db, chain, page, etag);
      pages.firsts.push(page.first);
      pages.end = page.end;
      await setImmediate();
    }
  }

  async function extend(chain: string): Promise<ChainPages> {
    const pages = await open(chain);
    const next = pages.extending.then(() => extendPages(chain, pages));
    pages.extending = next.catch(() => undefined);
    await next;
    return pages;
  }

  async function find(chain: string, from: number): Promise<Page | undefined> {
    let pages = await open(chain);
    if (from >= pages.end) {
      pages = await extend(chain);
    }
    const { firsts, end, tail } = pages;
    if (from >= end) {
      return tail;
    }
    const first = firsts.findLast((leaf) => leaf <= from) ?? 0;
    const name = `${chain} ${first}`;
    const page = remembered.get(name) ?? (await selectPage(db, chain, first));
    remembered.put(name, page);
    return page;
  }

  return {
    /**
     * @param from - index of the first leaf
     * @throws PoolError `notes_unavailable` (503)
     */
    async read(chain: string, from: number): Promise<BatchBytes> {
      // The distance: a clock that was set back must not prolong it.
      const checkedAgoMs = Math.abs(nowMs() - (rightAtMs.get(chain) ?? 0));
      if (checkedAgoMs >= believeRightMs) {
        await assertIndexRight(db, chain);
        rightAtMs.set(chain, nowMs());
      }
      const page = await find(chain, from);
      return page === undefined || from >= page.end
        ? { bytes: Buffer.from('{"batches":[]}') }
        : sliceFrom(page, from);
    },
    /** Stores the pages that are full by now, so that no reader waits for them. */
    async extend(chain: string): Promise<void> {
      await extend(chain);
    },
  };
}

function encodePage(first: number, { batches, next }: BatchesResponse): Page {
  const lines = batches.map((batch) => JSON.stringify(batch)).join(',\n');
  const rest = next === undefined ? ']}' : `],"next":${next}}`;
  return {
    first,
    end: first + batches.length,
    bytes: Buffer.concat([head, Buffer.from(`${lines}${rest}`)]),
  };
}

function sliceFrom({ first, bytes, etag }: Page, from: number): BatchBytes {
  const tagged = (tag: string) => (etag === undefined ? {} : { etag: `"${tag}"` });
  if (from === first) {
    return { bytes, ...tagged(etag ?? '') };
  }
  let start = 0;
  for (let leaf = first; leaf < from; leaf += 1) {
    start = bytes.indexOf(newline, start) + 1;
  }
  return {
    bytes: Buffer.concat([head, bytes.subarray(start)]),
    ...tagged(`${etag ?? ''}.${from - first}`),
  };
}

/** Forgets the page that was read longest ago first. */
function createPageMemory(maxBytes: number) {
  const pages = new Map<string, Page>();
  let bytes = 0;
  return {
    get: (name: string): Page | undefined => pages.get(name),
    put(name: string, page: Page): void {
      bytes += pages.delete(name) ? 0 : page.bytes.length;
      pages.set(name, page);
      for (const [oldest, { bytes: freed }] of pages) {
        if (bytes <= maxBytes) {
          return;
        }
        pages.delete(oldest);
        bytes -= freed.length;
      }
    },
  };
}

async function selectFirsts(db: PlatformDatabase, chain: string): Promise<ChainPages> {
  const rows = await db
    .selectFrom('batch_pages')
    .select(['first_leaf', 'next_leaf'])
    .where('chain', '=', chain)
    .orderBy('first_leaf')
    .execute();
  return {
    firsts: rows.map((row) => row.first_leaf),
    end: rows.at(-1)?.next_leaf ?? 0,
    tail: undefined,
    extending: Promise.resolve(),
  };
}

async function selectPage(db: PlatformDatabase, chain: string, first: number): Promise<Page> {
  const row = await db
    .selectFrom('batch_pages')
    .select(['next_leaf', 'etag', 'body'])
    .where('chain', '=', chain)
    .where('first_leaf', '=', first)
    .executeTakeFirstOrThrow();
  return { first, end: row.next_leaf, etag: row.etag, bytes: Buffer.from(row.body) };
}

async function insertPage(
  db: PlatformDatabase,
  chain: string,
  { first, end, bytes }: Page,
  etag: string,
): Promise<void> {
  const row = { chain, first_leaf: first, next_leaf: end, etag, body: bytes.toString() };
  await db
    .insertInto('batch_pages')
    .values(row)
    .onConflict((conflict) => conflict.columns(['chain', 'first_leaf']).doNothing())
    .execute();
}
