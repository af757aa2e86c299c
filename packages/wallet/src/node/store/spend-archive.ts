/**
 * The archive of spends as a SQLite file in the agent's directory: manifests, seeds, signatures and outcomes, and with them the locks of
 * notes. All processes of the directory share it. A spend is written here before anything of it leaves, because its change exists only
 * through manifest and seed (protocol §3). The file is as secret as the notes: copy it whenever you copy the viewing key.
 *
 * @module
 */
import { type Hex32, PoolError, parseHex32 } from '@pool/core';
import { openPrivateDatabase } from '@pool/storage';
import {
  type ArchivedSpend,
  deserializeSpend,
  type SpendArchive,
  serializeSpend,
} from '../../archive/spend-archive.ts';
import { holdsInputs, isOpen } from '../../archive/spend-state.ts';

export type SpendArchiveFile = SpendArchive & { close(): void };

const schema = `
  CREATE TABLE IF NOT EXISTS spends (
    out_root TEXT PRIMARY KEY,
    -- The whole spend as JSON.
    spend TEXT NOT NULL,
    -- The chain has not decided.
    is_open INTEGER NOT NULL,
    holds_inputs INTEGER NOT NULL,
    has_secrets INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS spend_inputs (
    nullifier TEXT NOT NULL,
    out_root TEXT NOT NULL REFERENCES spends (out_root),
    PRIMARY KEY (nullifier, out_root)
  ) STRICT, WITHOUT ROWID;
  -- What retention erases must not stay in free pages of the file.
  PRAGMA secure_delete = ON;
`;

/**
 * @param path - a file, made 0600, or `:memory:`
 * @param onUnreadable - called once for each spend that a list leaves out because it cannot be read. Its notes stay locked
 */
export function openSpendArchive(
  path: string,
  onUnreadable: (outRoot: Hex32) => void = () => undefined,
): SpendArchiveFile {
  const { database, inTransaction } = openPrivateDatabase(path, schema);
  const select = database.prepare('SELECT spend FROM spends WHERE out_root = ?');
  const selectOpen = database.prepare(
    'SELECT out_root, spend FROM spends WHERE is_open = 1 ORDER BY created_at_ms, out_root',
  );
  const selectRecent = database.prepare(`
    SELECT out_root, spend FROM spends
    WHERE is_open = 1 OR created_at_ms >= :since
      OR CASE WHEN json_valid(spend) THEN json_extract(spend, '$.concludedAtMs') END >= :since
    ORDER BY created_at_ms, out_root
  `);
  const selectLocked = database.prepare(
    'SELECT DISTINCT nullifier FROM spend_inputs JOIN spends USING (out_root) WHERE holds_inputs = 1',
  );
  const selectUnkept = database.prepare(`
    SELECT out_root, spend FROM spends
    WHERE has_secrets = 1
      AND CASE WHEN json_valid(spend) THEN json_extract(spend, '$.isChangeKept') END IS NULL
    ORDER BY created_at_ms, out_root
  `);
  const selectErasable = database.prepare(`
    SELECT out_root, spend FROM spends WHERE is_open = 0 AND has_secrets = 1 AND created_at_ms < ?
    ORDER BY created_at_ms, out_root
  `);
  const findHolder = database.prepare(`
    SELECT 1 FROM spend_inputs JOIN spends USING (out_root)
    WHERE nullifier = ? AND holds_inputs = 1 LIMIT 1
  `);
  const insert = database.prepare('INSERT INTO spends VALUES (?, ?, ?, ?, ?, ?)');
  const insertInput = database.prepare('INSERT INTO spend_inputs VALUES (?, ?)');
  const update = database.prepare(
    'UPDATE spends SET spend = ?, is_open = ?, holds_inputs = ?, has_secrets = ? WHERE out_root = ?',
  );

  function columnsOf({ state, secrets }: ArchivedSpend): [number, number, number] {
    return [Number(isOpen(state)), Number(holdsInputs(state)), Number(secrets !== undefined)];
  }

  function read(outRoot: Hex32): ArchivedSpend | undefined {
    const row = select.get(outRoot);
    return row === undefined ? undefined : deserializeSpend(String(row['spend']));
  }

  const reported = new Set<string>();

  /** The readable ones. One damaged spend must not stop the following and erasing of all others. */
  function readAll(
    rows: Iterable<Record<string, unknown>>,
    limit = Number.POSITIVE_INFINITY,
  ): readonly ArchivedSpend[] {
    const found: ArchivedSpend[] = [];
    for (const row of rows) {
      if (found.length === limit) {
        break;
      }
      try {
        found.push(deserializeSpend(String(row['spend'])));
      } catch {
        report(String(row['out_root']));
      }
    }
    return found;
  }

  function report(outRoot: string): void {
    if (!reported.has(outRoot)) {
      reported.add(outRoot);
      onUnreadable(parseHex32(outRoot));
    }
  }

  function listRecent(sinceMs: number): readonly ArchivedSpend[] {
    return readAll(selectRecent.all({ since: sinceMs }));
  }

  return {
    // Nothing awaits inside a transaction, so no other statement of this process runs in between.
    async add(spend, check) {
      return inTransaction(() => {
        const { outRoot, inputNullifiers, createdAtMs } = spend;
        check?.(listRecent);
        if (inputNullifiers.some((nullifier) => findHolder.get(nullifier) !== undefined)) {
          return false;
        }
        insert.run(outRoot, serializeSpend(spend), ...columnsOf(spend), createdAtMs);
        for (const nullifier of inputNullifiers) {
          insertInput.run(nullifier, outRoot);
        }
        return true;
      });
    },
    async get(outRoot) {
      return read(outRoot);
    },
    async change(outRoot, change) {
      return inTransaction(() => {
        const before = read(outRoot);
        if (before === undefined) {
          throw new PoolError(
            'spend_unreadable',
            'the archive does not have the spend any more; restore the archive of spends from a backup',
          );
        }
        const after = change(before);
        if (after !== before) {
          update.run(serializeSpend(after), ...columnsOf(after), outRoot);
        }
        return after;
      });
    },
    async listOpen() {
      return readAll(selectOpen.all());
    },
    async listRecent(sinceMs) {
      return listRecent(sinceMs);
    },
    async listLocked() {
      return new Set(selectLocked.all().map((row) => parseHex32(row['nullifier'])));
    },
    async listUnkept() {
      return readAll(selectUnkept.iterate());
    },
    async listErasable(createdBeforeMs, limit) {
      return readAll(selectErasable.iterate(createdBeforeMs), limit);
    },
    close: () => database.close(),
  };
}
