/**
 * Small records of an account in a browser, each sealed, by table and name.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { BrowserDatabase } from './browser-database.ts';
import type { Sealer } from './sealer.ts';

export type SealedRecords<TValue> = {
  /** @throws PoolError `store_damaged` if a record is there and cannot be read */
  find(name: string): Promise<TValue | undefined>;
  /**
   * Changes records in one transaction, which no other tab comes between.
   * @param change - with what is stored, in the order of the names. Undefined: it stays as it is
   * @throws like {@link SealedRecords.find}, and what `change` throws; then nothing is changed
   */
  change(
    names: readonly string[],
    change: (stored: readonly (TValue | undefined)[]) => readonly (TValue | undefined)[],
  ): Promise<void>;
};

/** @param table - each has its own records. Each has one type of values, which JSON can hold */
export function openSealedRecords<TValue>(
  { database, sealer }: { readonly database: BrowserDatabase; readonly sealer: Sealer },
  table: string,
): SealedRecords<TValue> {
  const keyOf = (name: string): [string, string] => [table, sealer.nameOf(table, name)];
  const placeOf = (name: string): string => JSON.stringify(['record', ...keyOf(name)]);

  function unseal(name: string, sealed: unknown): TValue | undefined {
    if (sealed === undefined) {
      return undefined;
    }
    const text = sealer.open(placeOf(name), sealed);
    if (text === undefined) {
      throw new PoolError(
        'store_damaged',
        `a record of this browser (${table}) was changed and cannot be read; remove the data of this page, and restore the account from its recovery words`,
      );
    }
    // Authentic, so this table wrote it.
    return JSON.parse(text) as TValue;
  }

  return {
    find: async (name) =>
      unseal(name, await database.read('records', (rows) => rows.get(keyOf(name)))),
    change: (names, change) =>
      database.write('records', async (rows) => {
        const stored: (TValue | undefined)[] = [];
        for (const name of names) {
          stored.push(unseal(name, await rows.get(keyOf(name))));
        }
        for (const [place, value] of change(stored).entries()) {
          const name = names[place];
          if (name !== undefined && value !== undefined) {
            await rows.put(sealer.seal(placeOf(name), JSON.stringify(value)), keyOf(name));
          }
        }
      }),
  };
}
