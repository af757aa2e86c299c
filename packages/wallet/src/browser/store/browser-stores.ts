/**
 * Everything that an account keeps in a browser, in one database that all tabs of the origin share: the archive of its spends, the notes,
 * and what wallet-records.ts has.
 *
 * @module
 */
import type { SpendArchive } from '../../archive/spend-archive.ts';
import type { SentTransactions } from '../../evm/sent-transactions.ts';
import type { EvidencePins } from '../../ports.ts';
import type { SpendJournal } from '../../spend/spend-journal.ts';
import type { OpenNotes } from '../../sync/ports.ts';
import { openBrowserDatabase } from './browser-database.ts';
import { openBrowserNotes } from './browser-notes.ts';
import { openSealedRecords, type SealedRecords } from './sealed-records.ts';
import { openSealer, type StorageKey } from './sealer.ts';
import { openSpendArchive } from './spend-archive.ts';
import { openEvidencePins, openSentTransactions, openSpendJournal } from './wallet-records.ts';

/** What was found to be damaged: nothing can be shown of it. */
export type BrowserDamage =
  /** It is made again from the chain and the archive of notes. */
  | 'note-cache'
  /** Its notes stay locked. */
  | 'spend';

export type BrowserStores = {
  readonly spends: SpendArchive;
  readonly journal: SpendJournal;
  readonly pins: EvidencePins;
  readonly sent: SentTransactions;
  /** Of one P in one pool. @param identity - names chain, pool, W and P */
  openNotes(identity: string): Promise<OpenNotes>;
  /** Other records of the page. @param table - beside those of this module; one type of values each */
  openRecords<TValue>(table: `page-${string}`): SealedRecords<TValue>;
  /** Afterwards nothing can be read or written. */
  close(): void;
};

/**
 * Opens the stores of an account, and makes empty ones at the first visit. Everything in them is sealed under the storage key.
 *
 * @example
 * const stores = await openBrowserStores({ name: account.address, storageKey: account.storageKey });
 * const { store, archive, save } = await stores.openNotes(identity);
 *
 * @param options.name - of the account, the same at each visit. Public
 * @throws PoolError `store_damaged` if the browser keeps no data for this page, or has that of another account
 */
export async function openBrowserStores({
  name,
  storageKey,
  onDamage = () => undefined,
}: {
  readonly name: string;
  readonly storageKey: StorageKey;
  /** Called once for each thing. */
  readonly onDamage?: (what: BrowserDamage) => void;
}): Promise<BrowserStores> {
  const database = await openBrowserDatabase(name);
  try {
    const sealer = await openSealer(database, storageKey);
    const place = { database, sealer };
    return {
      spends: openSpendArchive({ ...place, onUnreadable: () => onDamage('spend') }),
      journal: openSpendJournal(place),
      pins: openEvidencePins(place),
      sent: openSentTransactions(place),
      openNotes: (identity) =>
        openBrowserNotes({ ...place, identity, onDiscard: () => onDamage('note-cache') }),
      openRecords: (table) => openSealedRecords(place, table),
      close() {
        sealer.wipe();
        database.close();
      },
    };
  } catch (error) {
    database.close();
    throw error;
  }
}
