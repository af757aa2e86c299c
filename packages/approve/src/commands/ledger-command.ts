/**
 * `approve ledger`: its state, its history out and in, room in a ledger that was filled, and the new baseline of one that was restored
 * from a backup.
 *
 * @module
 */
import { writeFileSync } from 'node:fs';
import { describeCause, isPoolError, PoolError } from '@pool/core';
import { parseHistory, serializeHistory } from '@pool/policy';
import { parseGateConfig } from '../config/config.ts';
import { rebaselineLedger } from '../gate/rebaseline.ts';
import {
  type Call,
  type CommonOptions,
  exitCodes,
  type LedgerCall,
  type Outcome,
} from './output.ts';
import { readPersonKey } from './person-key.ts';

export function runLedgerStatus({ ledger }: LedgerCall): Outcome {
  const status = ledger.status();
  const { manifests, votes, openVotes, waiting } = status;
  const state = status.isRestored
    ? `The ledger counts as restored (${status.restoredBecause ?? 'unknown'}): nothing is voted. Run "pool-approve ledger rebaseline --by <your name>".`
    : 'The ledger is current.';
  return {
    code: status.isRestored ? exitCodes.refused : exitCodes.ok,
    document: status,
    text: `${state}\n${manifests} manifests, ${votes} votes, ${openVotes} of them not shown by the custodian yet, ${waiting} requests wait.`,
  };
}

/** Prints the history, or writes it to a new file, mode 0600. */
export function runLedgerExport({
  ledger,
  options: { out },
}: LedgerCall<CommonOptions & { readonly out?: string }>): Outcome {
  const text = serializeHistory(ledger.exportHistory());
  if (out === undefined) {
    return { text };
  }
  try {
    writeFileSync(out, `${text}\n`, { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    throw new PoolError(
      'file_not_written',
      `${out} cannot be written${describeCause(cause)}; name a new file`,
      { cause },
    );
  }
  return { text: `The history is in ${out}. It links batches to each other: keep it private.` };
}

/** Merges a history into the ledger. Nothing that is stored is lowered or removed. */
export function runLedgerImport({ ledger, argument = '', source, nowMs }: LedgerCall): Outcome {
  const history = readHistory(argument, source);
  ledger.importHistory(history, nowMs());
  const [guards, counts] = [history.guards.length, history.counts.length];
  return {
    document: { guards, counts },
    text: `Merged ${guards} authorisations and ${counts} sums. Nothing was lowered.`,
  };
}

function readHistory(file: string, source: LedgerCall['source']) {
  try {
    return parseHistory(source.readFile(file));
  } catch (cause) {
    const why = isPoolError(cause) ? ` (${cause.message})` : describeCause(cause);
    throw new PoolError(
      'invalid_release',
      `${file} cannot be read as an export of a ledger${why}; use the file that "pool-approve ledger export" wrote`,
      { cause },
    );
  }
}

/**
 * Erases people, amounts and seeds of manifests that arrived longer ago, and are past their deadline, or were never approved while no
 * request waits for them.
 */
export function runLedgerErase({
  ledger,
  options: { by, olderThanHours },
  ...call
}: LedgerCall<CommonOptions & { readonly by: string; readonly olderThanHours: string }>): Outcome {
  const hours = readCount('--older-than-hours', olderThanHours);
  const nowMs = call.nowMs();
  const erased = ledger.eraseManifests(nowMs - hours * 3_600_000, nowMs, by);
  return {
    document: { erased, by },
    text: `Erased people, amounts and seeds of ${erased} manifests. Guard, sums and hashes stay. A manifest that may still be signed can be sent again.`,
  };
}

export type RebaselineOptions = CommonOptions & {
  readonly by: string;
  readonly acceptUnknown: string;
  /** Of a person who signs that what cannot be described is lost. */
  readonly keyFile?: string;
};

/** Reads everything that the custodian remembers of the gate's approvals, merges it, and ends the state "restored". */
export async function runLedgerRebaseline({
  options,
  source,
  nowMs,
}: Call<RebaselineOptions>): Promise<Outcome> {
  const config = parseGateConfig(source, options.envFile);
  const { by, keyFile } = options;
  const acceptUnknown = readCount('--accept-unknown', options.acceptUnknown);
  const personKey = keyFile === undefined ? undefined : readPersonKey(keyFile, source);
  const result = await rebaselineLedger(config, { by, acceptUnknown, personKey, nowMs });
  const { approvals, guards, unknown } = result;
  const lost =
    unknown.length === 0
      ? ''
      : ` ${unknown.length} could not be described, and a person signed that they are lost.`;
  return {
    document: { approvals, guards, unknown, by },
    text: `The ledger has a new baseline. The custodian shows ${approvals} approvals of this gate, and ${guards} of them are in the ledger; it keeps no permits and token approvals.${lost} Read what it does not know in section 7 of docs/operations/approve.md.`,
  };
}

function readCount(option: string, text: string): number {
  if (!/^[0-9]{1,6}$/.test(text)) {
    throw new PoolError('invalid_configuration', `${option} is ${text}; name a whole number`);
  }
  return Number(text);
}
