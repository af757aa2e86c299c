/**
 * Where this browser keeps the account file: one per origin, in IndexedDB. Nothing in it is secret without a way to open it.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { openDB } from 'idb';

const table = 'files';
const key = 'account';

/** @throws PoolError `store_damaged` if the browser keeps no data for this page */
async function inStore<T>(
  work: (database: Awaited<ReturnType<typeof openDB>>) => Promise<T>,
): Promise<T> {
  try {
    const database = await openDB('pool-account', 1, {
      upgrade: (opened) => void opened.createObjectStore(table),
    });
    try {
      return await work(database);
    } finally {
      database.close();
    }
  } catch (cause) {
    throw new PoolError(
      'store_damaged',
      'this browser does not keep the data of this page; leave private browsing, or allow the page to keep data',
      { cause },
    );
  }
}

/** The text of the account file. Undefined: this browser has none. */
export async function readStoredAccount(): Promise<string | undefined> {
  const text: unknown = await inStore((database) => database.get(table, key));
  return typeof text === 'string' ? text : undefined;
}

/**
 * Changes the account file. One tab does so at a time, also while it asks for passkeys. On disk when it returns. An account that is replaced
 * is opened by its words.
 *
 * @param change - gets the text of the file, undefined if there is none
 */
export async function changeAccount(
  change: (stored: string | undefined) => Promise<string | undefined>,
): Promise<void> {
  await navigator.locks.request('pool-account-file', async () => {
    const before = await readStoredAccount();
    const after = await change(before);
    if (after === undefined || after === before) return;
    await inStore(async (database) => {
      const writing = database.transaction(table, 'readwrite', { durability: 'strict' });
      await writing.store.put(after, key);
      await writing.done;
    });
    // The browser may still refuse, and delete the file when the disk is full. The words open the account then.
    await navigator.storage.persist();
  });
}
