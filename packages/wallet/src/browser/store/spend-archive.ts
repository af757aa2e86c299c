/**
 * The archive of spends in a browser: manifests, seeds, signatures and outcomes, and with them the locks of notes. All tabs of the origin
 * share it. A spend is written here before anything of it leaves, because its change exists only through manifest and seed (protocol §3).
 *
 * @module
 */
import { type Hex32, PoolError } from '@pool/core';
import {
  type ArchivedSpend,
  deserializeSpend,
  type SpendArchive,
  serializeSpend,
} from '../../archive/spend-archive.ts';
import { listHeld, selectSpends } from '../../archive/spend-lists.ts';
import type { BrowserDatabase, SpendTableRow } from './browser-database.ts';
import type { Sealer } from './sealer.ts';

/**
 * @param onUnreadable - called once for each spend that a list leaves out because it cannot be read. Its notes stay locked
 */
export function openSpendArchive({
  database,
  sealer,
  onUnreadable,
}: {
  readonly database: BrowserDatabase;
  readonly sealer: Sealer;
  readonly onUnreadable: () => void;
}): SpendArchive {
  const nameOf = (outRoot: Hex32): string => sealer.nameOf('spend', outRoot);
  const nameInput = (nullifier: Hex32): string => sealer.nameOf('spend-input', nullifier);
  const placeOf = ({ name, held }: Pick<SpendTableRow, 'name' | 'held'>): string =>
    JSON.stringify(['spend', name, held]);

  function seal(spend: ArchivedSpend): SpendTableRow {
    const place = { name: nameOf(spend.outRoot), held: listHeld(spend).map(nameInput) };
    return { ...place, sealed: sealer.seal(placeOf(place), serializeSpend(spend)) };
  }

  /** @throws PoolError `spend_unreadable` */
  function unseal(row: SpendTableRow): ArchivedSpend {
    const text = sealer.open(placeOf(row), row.sealed);
    if (text === undefined) {
      throw createUnreadable('its bytes are not those that were stored');
    }
    return deserializeSpend(text);
  }

  const reported = new Set<string>();

  /** The readable ones, oldest first. One damaged spend must not stop the following of all others. */
  function unsealAll(rows: readonly SpendTableRow[]): readonly ArchivedSpend[] {
    const spends = rows.flatMap((row) => {
      try {
        return [unseal(row)];
      } catch {
        if (!reported.has(row.name)) {
          reported.add(row.name);
          onUnreadable();
        }
        return [];
      }
    });
    return spends.sort(
      (one, other) => one.createdAtMs - other.createdAtMs || (one.outRoot < other.outRoot ? -1 : 1),
    );
  }

  async function readAll(): Promise<readonly ArchivedSpend[]> {
    return unsealAll(await database.read('spends', (rows) => rows.getAll()));
  }

  return {
    add: (spend, check) =>
      database.write('spends', async (rows) => {
        const all = await rows.getAll();
        check?.((sinceMs) => selectSpends.recent(unsealAll(all), sinceMs));
        const held = new Set(all.flatMap((row) => row.held));
        if (spend.inputNullifiers.some((nullifier) => held.has(nameInput(nullifier)))) {
          return false;
        }
        await rows.add(seal(spend));
        return true;
      }),
    async get(outRoot) {
      const row = await database.read('spends', (rows) => rows.get(nameOf(outRoot)));
      return row === undefined ? undefined : unseal(row);
    },
    change: (outRoot, change) =>
      database.write('spends', async (rows) => {
        const row = await rows.get(nameOf(outRoot));
        if (row === undefined) {
          throw createUnreadable('this browser does not have it any more');
        }
        const before = unseal(row);
        const after = change(before);
        if (after !== before) {
          await rows.put(seal(after));
        }
        return after;
      }),
    listOpen: async () => selectSpends.open(await readAll()),
    listRecent: async (sinceMs) => selectSpends.recent(await readAll(), sinceMs),
    listLocked: async () => selectSpends.locked(await readAll()),
    listUnkept: async () => selectSpends.unkept(await readAll()),
    listErasable: async (createdBeforeMs, limit) =>
      selectSpends.erasable(await readAll(), createdBeforeMs, limit),
  };
}

function createUnreadable(problem: string): PoolError {
  return new PoolError(
    'spend_unreadable',
    `a payment that this browser began cannot be read: ${problem}; read the chain before you pay again`,
  );
}
