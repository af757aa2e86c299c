/**
 * The pay-run ledger: for each label its roster, its number of parts, and the attempt of each part (docs/decisions/0008).
 * With the keys alone, an edited roster would pay everybody again. The ledger holds digests and numbers, and no names. It holds the lines of
 * invited people, with their amounts, because they are paid later and without the file.
 *
 * @module
 */
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { isPoolError, PoolError } from '@pool/core';
import { openNamedDatabase, refuseLaterVersion, runInTransaction } from '@pool/storage';
import * as v from 'valibot';

export type PayRunName = {
  readonly chain: string;
  readonly token: string;
  /** The label in its normal form. */
  readonly payRun: string;
};

/** A payment with its chain, token and label. */
export type NamedPayRun = PayRunName & { readonly record: PayRunRecord };

const partSchema = v.strictObject({
  /** From 1. */
  attempt: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /**
   * `no`: the agent does not have this attempt. `sending`: the answer was not seen, so it may have it. `accepted`: it has
   * a job for it.
   */
  sent: v.picklist(['no', 'sending', 'accepted']),
  /** When `sent` last changed. */
  sinceMs: v.number(),
});
const payeeSchema = v.strictObject({
  /** The person, by the reference of the first invitation. */
  person: v.string(),
  /** Of the roster, from 1. */
  line: v.number(),
  /** Base units. */
  amount: v.string(),
  memo: v.optional(v.string()),
  /** The payment that pays this person, from 1. Absent: held back. */
  round: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  /** The wallet that it pays. */
  address: v.optional(v.string()),
  /** When the payer ended what was held back: no payment takes this person any more. Only of one without a round. */
  droppedAtMs: v.optional(v.number()),
});
const invitedSchema = v.strictObject({
  /** The last day, in UTC, on which people are paid who were held back: `2027-01-15`. */
  until: v.string(),
  /** Payments that were decided, including those that were given up. */
  rounds: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** The wallets that the roster itself names. The first payment pays them. */
  direct: v.array(v.string()),
  payees: v.pipe(v.array(payeeSchema), v.minLength(1)),
});
const recordSchema = v.strictObject({
  /** Of the whole roster. */
  digest: v.string(),
  parts: v.pipe(v.array(partSchema), v.minLength(1)),
  /** Absent: the roster names no invited person. */
  invited: v.optional(invitedSchema),
});

export type InvitedPayee = v.InferOutput<typeof payeeSchema>;
export type InvitedRecord = v.InferOutput<typeof invitedSchema>;
export type PartRecord = v.InferOutput<typeof partSchema>;
export type PayRunRecord = v.InferOutput<typeof recordSchema>;

/** Every function throws PoolError `store_damaged`, `disk_full` or `database_unavailable`. Without the ledger nothing is sent. */
export type PayRunLedger = {
  read(name: PayRunName): Promise<PayRunRecord | undefined>;
  /** All labels of all chains and tokens, the newest first. */
  listAll(): Promise<readonly NamedPayRun[]>;
  /**
   * Reads, decides and writes as one step, which is on disk when it resolves. Two commands at once run one after the other.
   * @param decide - may be called again, when another command was faster. Its error is thrown on, and nothing is written
   */
  change(
    name: PayRunName,
    decide: (current: PayRunRecord | undefined) => PayRunRecord,
  ): Promise<PayRunRecord>;
  /** The time by which those who share the ledger judge `sinceMs`. */
  nowMs(): Promise<number>;
  close(): Promise<void>;
};

export function payRunLedgerPath(home: string): string {
  return join(home, 'pay-runs.sqlite');
}

/**
 * The ledger of one agent directory.
 * @param path - a file, made 0600, or `:memory:`
 */
export function openPayRunLedger(path: string): PayRunLedger {
  const database = explain(path, () => openDatabase(path));

  function read({ chain, token, payRun }: PayRunName): PayRunRecord | undefined {
    const row = database
      .prepare('SELECT record FROM pay_run WHERE chain = ? AND token = ? AND label = ?')
      .get(chain, token, payRun);
    return row === undefined ? undefined : parseRecord(row['record'], path);
  }

  function change(
    name: PayRunName,
    decide: (current: PayRunRecord | undefined) => PayRunRecord,
  ): PayRunRecord {
    return runInTransaction(database, () => {
      const record = decide(read(name));
      database
        .prepare(
          `INSERT INTO pay_run VALUES (?, ?, ?, ?)
           ON CONFLICT (chain, token, label) DO UPDATE SET record = excluded.record`,
        )
        .run(name.chain, name.token, name.payRun, JSON.stringify(record));
      return record;
    });
  }

  return {
    read: async (name) => explain(path, () => read(name)),
    listAll: async () =>
      explain(path, () =>
        toNamed(database.prepare('SELECT chain, token, label, record FROM pay_run').all(), path),
      ),
    change: async (name, decide) => explain(path, () => change(name, decide)),
    nowMs: async () => Date.now(),
    close: async () => database.close(),
  };
}

/** @param place - of the ledger, for errors. @returns the newest first */
export function toNamed(
  rows: readonly Readonly<Record<string, unknown>>[],
  place: string,
): readonly NamedPayRun[] {
  const changedAtMs = ({ record }: NamedPayRun): number =>
    Math.max(...record.parts.map(({ sinceMs }) => sinceMs));
  return rows
    .map((row) => ({
      chain: String(row['chain']),
      token: String(row['token']),
      payRun: String(row['label']),
      record: parseRecord(row['record'], place),
    }))
    .sort((left, right) => changedAtMs(right) - changedAtMs(left));
}

function openDatabase(path: string): DatabaseSync {
  const database = openNamedDatabase(path, 10_000);
  refuseLaterVersion(database, path);
  // A rollback journal instead of WAL: one file to keep, and writes are rare. FULL: it must survive a power cut.
  database.exec(`
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS pay_run (
      chain TEXT NOT NULL,
      token TEXT NOT NULL,
      label TEXT NOT NULL,
      record TEXT NOT NULL,
      PRIMARY KEY (chain, token, label)
    ) STRICT;
  `);
  return database;
}

/** Result codes of SQLite: CORRUPT and NOTADB. */
const damageCodes: readonly unknown[] = [11, 26];

/** Errors of file system and SQLite, with what the operator can do about them. */
function explain<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error) || isPoolError(error)) {
      throw error;
    }
    if ('errcode' in error && damageCodes.includes(error.errcode)) {
      throw createDamaged(path, error);
    }
    throw new PoolError(
      'store_damaged',
      `${path} cannot be opened, read or written: ${error.message}. It records what was paid under each label, and nothing is sent without it. Correct this and run the same command again`,
      { cause: error },
    );
  }
}

/** Another payment uses the label, or may use it. */
export function createConflict(message: string): PoolError {
  return new PoolError('pay_run_conflict', message);
}

export function createCutConflict(): PoolError {
  return createConflict(
    'another command is paying this roster at this moment, cut into another number of parts; run the same command again',
  );
}

/** @param place - of the ledger, for errors. @throws PoolError `store_damaged` */
export function parseRecord(text: unknown, place: string): PayRunRecord {
  try {
    return v.parse(recordSchema, JSON.parse(String(text)));
  } catch (cause) {
    throw createDamaged(place, cause);
  }
}

function createDamaged(place: string, cause: unknown): PoolError {
  return new PoolError(
    'store_damaged',
    `${place} is damaged, so it is unknown what was paid under this label; restore it from a copy. Without one, move it away: the agent still knows the rosters it has paid, but an edited roster under a label that was used would pay people twice`,
    { cause },
  );
}
