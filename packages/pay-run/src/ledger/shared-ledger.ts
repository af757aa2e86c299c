/**
 * The ledger of the machines that share a job store on PostgreSQL: a pay run can be continued from any of them, and a label is of one
 * roster for all.
 *
 * @module
 */
import { existsSync, renameSync } from 'node:fs';
import { isPoolError, PoolError, quote } from '@pool/core';
import { findJobServer, type JobStorePlace } from '@pool/idempotency';
import {
  findPostgresTables,
  openPostgresTables,
  type PostgresQuery,
  type PostgresTables,
} from '@pool/storage/postgres';
import type { LedgerPlace } from '../ports.ts';
import { isFixed } from './pay-run-claim.ts';
import {
  createConflict,
  type NamedPayRun,
  openPayRunLedger,
  type PartRecord,
  type PayRunLedger,
  type PayRunName,
  parseRecord,
  payRunLedgerPath,
  toNamed,
} from './pay-run-ledger.ts';

const migrations = [
  [
    `create table pay_run (
      chain text not null,
      token text not null,
      label text not null,
      record text not null,
      primary key (chain, token, label))`,
  ],
];

/** Named in errors. */
const place = 'the table pay_run of the job store';

/** Writes that other commands may make between a reading and its write. */
const maxTries = 100;

/** For a command that sends. @throws PoolError as every function of the ledger, and `database_refused` */
export async function openLedger({ home, jobs }: LedgerPlace): Promise<PayRunLedger> {
  const options = describeTables(jobs);
  const path = payRunLedgerPath(home);
  if (options === undefined) {
    return openPayRunLedger(path);
  }
  const ledger = createSharedLedger(await openPostgresTables(options).catch(rethrow));
  try {
    await takeOver(path, ledger);
    return ledger;
  } catch (error) {
    await ledger.close();
    throw error;
  }
}

/**
 * An agent that starts on a shared job store gives the labels of its machine to all, before any of them pays another roster under one.
 * @returns false if a label is of another roster there. The table has it, so nobody pays a third one; {@link openLedger} refuses, with names
 * @throws as {@link openLedger}, except PoolError `pay_run_conflict`
 */
export async function shareLabels(place: LedgerPlace): Promise<boolean> {
  if (findJobServer(place.jobs) === undefined || !existsSync(payRunLedgerPath(place.home))) {
    return true;
  }
  try {
    const ledger = await openLedger(place);
    await ledger.close();
    return true;
  } catch (error) {
    if (isPoolError(error) && error.code === 'pay_run_conflict') {
      return false;
    }
    throw error;
  }
}

/** What this machine paid before it shared its job store. Without it, an edited roster under a used label would be paid again. */
async function listFile(path: string): Promise<readonly NamedPayRun[]> {
  const file = existsSync(path) ? openPayRunLedger(path) : undefined;
  try {
    return (await file?.listAll()) ?? [];
  } finally {
    await file?.close();
  }
}

/**
 * Once: the file gets another name when all of it is in the table. If the process dies before, the next command begins again. A label in
 * conflict stops no other label: the file may be moved away afterwards.
 * @throws PoolError `pay_run_conflict`
 */
export async function takeOver(path: string, ledger: PayRunLedger): Promise<void> {
  if (!existsSync(path)) {
    return;
  }
  const inConflict: string[] = [];
  for (const { record, ...name } of await listFile(path)) {
    if (isFixed(record) || record.invited !== undefined) {
      await ledger.change(name, (current) => {
        if (current !== undefined && !isFixed(record)) {
          return current;
        }
        if (current === undefined || !isFixed(current)) {
          return record;
        }
        if (
          current.digest !== record.digest ||
          current.parts.length !== record.parts.length ||
          JSON.stringify(current.invited) !== JSON.stringify(record.invited)
        ) {
          inConflict.push(quote(name.payRun));
          return current;
        }
        const parts = current.parts.map((part, place) => chooseLater(part, record.parts[place]));
        return { ...record, parts };
      });
    }
  }
  if (inConflict.length > 0) {
    const labels = [...new Set(inConflict)].join(', ');
    throw createConflict(
      `${path} and ${place} have the same label for two rosters, or for one in other parts, so both may be paid: ${labels}. Nothing is sent from this machine. Find out what was paid under each, then move the file away; its other labels are in the table`,
    );
  }
  try {
    renameSync(path, `${path}.shared`);
  } catch (error) {
    // Another command of this machine was faster.
    if (existsSync(path)) {
      throw error;
    }
  }
}

const progress: readonly PartRecord['sent'][] = ['no', 'sending', 'accepted'];

/** What two machines know of a part: the later attempt counts, and of one attempt how far it came. */
function chooseLater(one: PartRecord, other: PartRecord = one): PartRecord {
  const ahead =
    other.attempt - one.attempt || progress.indexOf(other.sent) - progress.indexOf(one.sent);
  return ahead > 0 ? other : one;
}

function nameOf({ chain, token, payRun }: PayRunName): string {
  return JSON.stringify([chain, token, payRun]);
}

/** Of a ledger that may not exist. Makes nothing, not even an empty file. @throws as {@link openLedger} */
export async function listAllPayRuns({ home, jobs }: LedgerPlace): Promise<readonly NamedPayRun[]> {
  const options = describeTables(jobs);
  const kept = await listFile(payRunLedgerPath(home));
  const tables = options && (await findPostgresTables(options, 'read').catch(rethrow));
  if (tables === undefined) {
    return kept;
  }
  const ledger = createSharedLedger(tables);
  try {
    const shared = await ledger.listAll();
    const names = new Set(shared.map(nameOf));
    return [...shared, ...kept.filter((one) => !names.has(nameOf(one)))];
  } finally {
    await ledger.close();
  }
}

function describeTables(jobs: JobStorePlace) {
  const settings = findJobServer(jobs);
  const { mustBeDurable = false } = jobs;
  return settings && { settings, name: 'pay_run', size: 1, migrations, mustBeDurable };
}

function createSharedLedger(tables: PostgresTables): PayRunLedger {
  async function ask<Row extends Record<string, unknown>>(
    ...[text, parameters]: Parameters<PostgresQuery>
  ): Promise<readonly Row[]> {
    const { rows } = await tables.use((query) => query<Row>(text, parameters)).catch(rethrow);
    return rows;
  }

  async function readText({ chain, token, payRun }: PayRunName): Promise<string | undefined> {
    const [row] = await ask<{ record: string }>(
      'select record from pay_run where chain = $1 and token = $2 and label = $3',
      [chain, token, payRun],
    );
    return row?.record;
  }

  /** @returns false if what is stored is not `before` any more */
  async function replace(
    { chain, token, payRun }: PayRunName,
    before: string | undefined,
    after: string,
  ): Promise<boolean> {
    const name = [chain, token, payRun, after];
    const written =
      before === undefined
        ? await ask(
            'insert into pay_run values ($1, $2, $3, $4) on conflict do nothing returning label',
            name,
          )
        : await ask(
            `update pay_run set record = $4
             where chain = $1 and token = $2 and label = $3 and record = $5 returning label`,
            [...name, before],
          );
    return written.length > 0;
  }

  const parse = (text: string | undefined) =>
    text === undefined ? undefined : parseRecord(text, place);

  return {
    read: async (name) => parse(await readText(name)),
    listAll: async () => toNamed(await ask('select * from pay_run'), place),
    async change(name, decide) {
      for (let tries = 0; tries < maxTries; tries += 1) {
        const before = await readText(name);
        const record = decide(parse(before));
        if (await replace(name, before, JSON.stringify(record))) {
          return record;
        }
      }
      throw createConflict('other commands keep changing this pay run; run the same command again');
    },
    async nowMs() {
      const [row] = await ask<{ now: number }>(
        'select (extract(epoch from clock_timestamp()) * 1000)::bigint as now',
      );
      return row?.now ?? Date.now();
    },
    close: () => tables.close(),
  };
}

/** Says which ledger it is. A write whose answer was lost may have happened: the ledger then says that a part may have been sent. */
function rethrow(cause: unknown): never {
  throw isPoolError(cause) && cause.code === 'database_unavailable'
    ? new PoolError(
        'database_unavailable',
        `DISBURSE_JOB_STORE: ${cause.message}. Its database records what was paid under each label, and nothing is sent without it. Correct this and run the same command again`,
        { cause },
      )
    : cause;
}
