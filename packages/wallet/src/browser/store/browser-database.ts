/**
 * The database of one account in a browser: IndexedDB, which all tabs of an origin share. Its rows are sealed (sealer.ts).
 *
 * @module
 */
import { isPoolError, PoolError } from '@pool/core';
import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB } from 'idb';

export type SpendTableRow = {
  /** Of its outRoot. */
  readonly name: string;
  /** Names of the inputs that no other spend may use. Bound to the sealed bytes. */
  readonly held: readonly string[];
  readonly sealed: Uint8Array;
};

/** Of the notes of one P in one pool. */
export type NoteTableKey = [owner: string, kind: 'archive' | 'page' | 'checkpoint', index: number];

type Schema = DBSchema & {
  spends: { key: string; value: SpendTableRow };
  /** By table and name. */
  records: { key: [string, string]; value: Uint8Array };
  notes: { key: NoteTableKey; value: Uint8Array };
};

type Table = 'spends' | 'records' | 'notes';
type TableTransaction<
  TTable extends Table,
  TMode extends 'readonly' | 'readwrite',
> = IDBPTransaction<Schema, [TTable], TMode>['store'];

/** In a transaction. */
export type NoteRows =
  | TableTransaction<'notes', 'readonly'>
  | TableTransaction<'notes', 'readwrite'>;

export type BrowserDatabase = {
  /** One consistent look at a table. `work` awaits nothing but the table. */
  read<TTable extends Table, T>(
    table: TTable,
    work: (rows: TableTransaction<TTable, 'readonly'>) => Promise<T>,
  ): Promise<T>;
  /**
   * One change of a table, while no other tab reads or changes it. It is on disk when the promise resolves. If `work` throws, nothing
   * is changed. `work` awaits nothing but the table.
   */
  write<TTable extends Table, T>(
    table: TTable,
    work: (rows: TableTransaction<TTable, 'readwrite'>) => Promise<T>,
  ): Promise<T>;
  close(): void;
};

/**
 * @param name - of the account, the same at each visit
 * @throws PoolError `store_damaged` if the browser keeps nothing for this page, or has the database of a newer version of the page
 */
export async function openBrowserDatabase(name: string): Promise<BrowserDatabase> {
  let database: IDBPDatabase<Schema>;
  let isClosed = false;
  try {
    database = await openDB<Schema>(`pool-wallet-${name}`, 1, {
      upgrade(opened) {
        opened.createObjectStore('spends', { keyPath: 'name' });
        opened.createObjectStore('records');
        opened.createObjectStore('notes');
      },
      // A newer version of the page waits in another tab.
      blocking: () => close(),
    });
  } catch (cause) {
    throw explain(cause);
  }

  function close(): void {
    isClosed = true;
    (database as unknown as { close(): void }).close();
  }

  async function run<TTable extends Table, TMode extends 'readonly' | 'readwrite', T>(
    table: TTable,
    mode: TMode,
    work: (rows: TableTransaction<TTable, TMode>) => Promise<T>,
  ): Promise<T> {
    if (isClosed) {
      throw new PoolError('stopping', 'the wallet was closed; open it again');
    }
    let transaction: IDBPTransaction<Schema, [TTable], TMode> | undefined;
    try {
      // strict: a spend must not be sent before the disk has it.
      transaction = database.transaction([table], mode, { durability: 'strict' });
      const result = await work(transaction.store);
      await transaction.done;
      return result;
    } catch (cause) {
      // Rejects once it is aborted. It may have ended already.
      transaction?.done.catch(() => undefined);
      try {
        (transaction as { abort(): void } | undefined)?.abort();
      } catch {}
      throw explain(cause);
    }
  }

  return {
    read: (table, work) => run(table, 'readonly', work),
    write: (table, work) => run(table, 'readwrite', work),
    close,
  };
}

/** Errors of the work itself stay as they are. */
function explain(cause: unknown): unknown {
  if (isPoolError(cause) || !(cause instanceof DOMException)) {
    return cause;
  }
  return cause.name === 'QuotaExceededError'
    ? new PoolError(
        'disk_full',
        'this browser has no room left for the data of this page; free some, and try again',
        { cause },
      )
    : new PoolError(
        'store_damaged',
        `this browser does not keep the data of this page (${cause.name}); leave private browsing, allow the page to keep data, or close its other tabs and load it again`,
        { cause },
      );
}
