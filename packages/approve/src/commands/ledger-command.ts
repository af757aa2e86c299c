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
import { type CommandContext, type CommonOptions, exitCodes, print, withLedger } from './output.ts';
import { readPersonKey } from './person-key.ts';

/** @returns the exit code */
export async function runLedgerStatus(
  options: CommonOptions,
  context: CommandContext,
): Promise<number> {
  return await withLedger(context, options, (ledger) => {
    const status = ledger.status();
    const lines = [
      status.isRestored
        ? `The ledger counts as restored (${status.restoredBecause ?? 'unknown'}): nothing is voted. Run "pool-approve ledger rebaseline --by <your name>".`
        : 'The ledger is current.',
      `${status.manifests} manifests, ${status.votes} votes, ${status.openVotes} of them not shown by the custodian yet, ${status.waiting} requests wait.`,
    ];
    print(context, options, status, lines.join('\n'));
    return status.isRestored ? exitCodes.refused : exitCodes.ok;
  });
}

/** Prints the history, or writes it to a new file, mode 0600. @returns the exit code */
export async function runLedgerExport(
  options: CommonOptions & { readonly out?: string },
  context: CommandContext,
): Promise<number> {
  return await withLedger(context, options, (ledger) => {
    const text = serializeHistory(ledger.exportHistory());
    if (options.out === undefined) {
      context.streams.out(text);
      return exitCodes.ok;
    }
    try {
      writeFileSync(options.out, `${text}\n`, { flag: 'wx', mode: 0o600 });
    } catch (cause) {
      throw new PoolError(
        'file_not_written',
        `${options.out} cannot be written${describeCause(cause)}; name a new file`,
        { cause },
      );
    }
    context.streams.out(
      `The history is in ${options.out}. It links batches to each other: keep it private.`,
    );
    return exitCodes.ok;
  });
}

/** Merges a history into the ledger. Nothing that is stored is lowered or removed. @returns the exit code */
export async function runLedgerImport(
  file: string,
  options: CommonOptions,
  context: CommandContext,
): Promise<number> {
  const history = readHistory(file, context);
  return await withLedger(context, options, (ledger) => {
    ledger.importHistory(history, context.nowMs());
    const { guards, counts } = history;
    print(
      context,
      options,
      { guards: guards.length, counts: counts.length },
      `Merged ${guards.length} authorisations and ${counts.length} sums. Nothing was lowered.`,
    );
    return exitCodes.ok;
  });
}

function readHistory(file: string, { source }: CommandContext) {
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
 * @returns the exit code
 */
export async function runLedgerErase(
  options: CommonOptions & { readonly by: string; readonly olderThanHours: string },
  context: CommandContext,
): Promise<number> {
  const hours = readCount('--older-than-hours', options.olderThanHours);
  const nowMs = context.nowMs();
  return await withLedger(context, options, (ledger) => {
    const erased = ledger.eraseManifests(nowMs - hours * 3_600_000, nowMs, options.by);
    print(
      context,
      options,
      { erased, by: options.by },
      `Erased people, amounts and seeds of ${erased} manifests. Guard, sums and hashes stay. A manifest that may still be signed can be sent again.`,
    );
    return exitCodes.ok;
  });
}

export type RebaselineOptions = CommonOptions & {
  readonly by: string;
  readonly acceptUnknown: string;
  /** Of a person who signs that what cannot be described is lost. */
  readonly keyFile?: string;
};

/**
 * Reads everything that the custodian remembers of the gate's approvals, merges it, and ends the state "restored".
 * @returns the exit code
 */
export async function runLedgerRebaseline(
  options: RebaselineOptions,
  context: CommandContext,
): Promise<number> {
  const config = parseGateConfig(context.source, options.envFile);
  const { by, keyFile } = options;
  const acceptUnknown = readCount('--accept-unknown', options.acceptUnknown);
  const personKey = keyFile === undefined ? undefined : readPersonKey(keyFile, context);
  const { nowMs } = context;
  const result = await rebaselineLedger(config, { by, acceptUnknown, personKey, nowMs });
  const { approvals, guards, unknown } = result;
  const lost =
    unknown.length === 0
      ? ''
      : ` ${unknown.length} could not be described, and a person signed that they are lost.`;
  print(
    context,
    options,
    { approvals, guards, unknown, by },
    `The ledger has a new baseline. The custodian shows ${approvals} approvals of this gate, and ${guards} of them are in the ledger; it keeps no permits and token approvals.${lost} Read what it does not know in section 7 of docs/operations/approve.md.`,
  );
  return exitCodes.ok;
}

function readCount(option: string, text: string): number {
  if (!/^[0-9]{1,6}$/.test(text)) {
    throw new PoolError('invalid_configuration', `${option} is ${text}; name a whole number`);
  }
  return Number(text);
}
