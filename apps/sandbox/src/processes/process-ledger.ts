/**
 * The list of processes a sandbox started, written before anything else is done with them: after any crash, `down`
 * still finds each one by pid and start time.
 *
 * @module
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PoolError } from '@pool/core';
import { endProcess, isRunning, type ProcessIdentity } from '@pool/testkit';
import * as v from 'valibot';

const entriesSchema = v.array(
  v.strictObject({ name: v.string(), pid: v.number(), startedAt: v.string() }),
);

export type LedgerEntry = ProcessIdentity & { readonly name: string };

export type ProcessLedger = {
  /** @throws PoolError `sandbox_failed` once {@link ProcessLedger.endAll} was called; the process is ended */
  add(name: string, identity: ProcessIdentity): void;
  list(): readonly LedgerEntry[];
  /** Those of {@link ProcessLedger.list} that still run. */
  listRunning(): readonly LedgerEntry[];
  /** Ends every process, the last started first, and forgets them. */
  endAll(): Promise<void>;
};

export function openProcessLedger(directory: string): ProcessLedger {
  const path = join(directory, 'processes.json');
  let isEnding = false;

  function list(): readonly LedgerEntry[] {
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch {
      return [];
    }
    return v.parse(entriesSchema, JSON.parse(text));
  }

  return {
    list,
    listRunning: () => list().filter((entry) => isRunning(entry)),
    add(name, { pid, startedAt }) {
      if (isEnding) {
        // The caller has not noticed the interruption yet.
        process.kill(-pid, 'SIGKILL');
        throw new PoolError('sandbox_failed', 'the sandbox is being stopped');
      }
      const text = JSON.stringify([...list(), { name, pid, startedAt }], undefined, 2);
      // Renamed into place: a crash while writing must not lose the entries before.
      writeFileSync(`${path}.new`, `${text}\n`, { mode: 0o600 });
      renameSync(`${path}.new`, path);
    },
    async endAll() {
      isEnding = true;
      for (const entry of [...list()].reverse()) {
        await endProcess(entry);
      }
      rmSync(path, { force: true });
    },
  };
}
