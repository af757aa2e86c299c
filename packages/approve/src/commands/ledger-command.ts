/**
 * `approve ledger` and `approve audit`: the state of the ledger, its history out and in, room in one that was filled, the new baseline of
 * one that was restored from a backup, and its audit log.
 *
 * @module
 */

import type { KeyObject } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { describeCause, type Hex32, isPoolError, PoolError } from '@pool/core';
import {
  type AuditEntry,
  acceptLoss,
  type Ledger,
  openLedger,
  parseAppliedPolicy,
  parseHistory,
  serializeHistory,
} from '@pool/policy';
import { type GateConfig, parseGateConfig } from '../config/config.ts';
import { ensureGateHome, ledgerPath } from '../config/gate-home.ts';
import { readChains, readPolicyFile } from '../config/settings-files.ts';
import { createHistoryCheck, type UnknownApproval } from '../examine/history.ts';
import { connectCustodian } from '../gate/transport.ts';
import { readPersonKey } from './manifest-argument.ts';
import {
  type Call,
  type CommonOptions,
  exitCodes,
  type LedgerCall,
  type Outcome,
} from './output.ts';

// `approve audit`: verifies the chain of the audit log, and prints its entries.

const pageSize = 1_000;

export function runAuditVerify({
  ledger,
  options: { head },
}: LedgerCall<CommonOptions & { readonly head?: Hex32 }>): Outcome {
  const verdict = ledger.verifyAudit();
  if (verdict.kind === 'broken') {
    const text = `The audit log is broken at entry ${verdict.seq}: ${verdict.message}`;
    return { code: exitCodes.refused, document: verdict, text };
  }
  if (head !== undefined && !listAll(ledger).some(({ hash }) => hash === head)) {
    const message =
      'no entry has the given hash: the end of the log was cut off, or the hash is of another log';
    const text = `The audit log is broken: ${message}.`;
    return { code: exitCodes.refused, document: { kind: 'broken', message }, text };
  }
  return {
    document: verdict,
    text: `The audit log is intact: ${verdict.entries} entries, the newest hash is ${verdict.head}. Keep it elsewhere, and pass it with --head next time.`,
  };
}

/** One JSON line for each entry. */
export function runAuditList({ ledger }: LedgerCall): Outcome {
  const entries = listAll(ledger).map(({ seq, atMs, event, data, hash }) => {
    return { seq, at: new Date(atMs).toISOString(), event, data: parseData(data), hash };
  });
  const lines = entries.map((entry) => JSON.stringify(entry));
  return { document: { entries }, text: lines.join('\n') };
}

function parseData(data: string): unknown {
  return JSON.parse(data);
}

function listAll(ledger: Ledger): readonly AuditEntry[] {
  const entries: AuditEntry[] = [];
  for (;;) {
    const page = ledger.listAudit(entries.at(-1)?.seq ?? 0, pageSize);
    entries.push(...page);
    if (page.length < pageSize) {
      return entries;
    }
  }
}

// The new baseline of a ledger that was restored from a backup.

type Rebaseline = {
  /** Who decides it, for the audit log. */
  readonly by: string;
  /** How many approvals that cannot be described are accepted as lost. */
  readonly acceptUnknown: number;
  /** Ed25519 key of a person of the policy in effect, who signs that they are. */
  readonly personKey?: KeyObject | undefined;
  readonly nowMs: () => number;
};

type RebaselineResult = {
  /** That the custodian shows. */
  readonly approvals: number;
  /** Those of them that the ledger keeps: not permits and token approvals. */
  readonly guards: number;
  readonly unknown: readonly UnknownApproval[];
};

/** How many are named in a message. */
const maxNamed = 10;

/**
 * Reads everything that the custodian remembers of the gate's approvals, merges it into the ledger, and ends the state "restored". The
 * gate may run.
 * @throws PoolError `custodian_invalid_response` if it shows none, or its list is cut; `invalid_release` if it shows approvals that cannot
 *   be described, and not exactly so many are accepted, or no person of the policy signs it. What can be described is merged; the ledger still
 *   counts as restored
 */
export async function rebaselineLedger(
  config: GateConfig,
  { by, acceptUnknown, personKey, nowMs }: Rebaseline,
): Promise<RebaselineResult> {
  const { policy } = readPolicyFile(config.policyFile);
  const chains = readChains(config.chainsFile);
  ensureGateHome(config.home);
  const ledger = openLedger({ path: ledgerPath(config.home), role: 'operator' });
  try {
    const { history: source } = connectCustodian({ config, chains, policy: () => policy, nowMs });
    const check = createHistoryCheck({ source, ledger, policy: () => policy });
    const { history, approvals, unknown } = await check.readAll();
    const ids = unknown.map(({ id }) => id);
    // Whoever writes the file could list a key of their own, so the people of the policy in effect count.
    const applied = ledger.policies.findApplied();
    const inEffect = applied === undefined ? policy : parseAppliedPolicy(applied);
    const accepted =
      unknown.length > 0 && unknown.length === acceptUnknown && personKey !== undefined
        ? acceptLoss(ids, inEffect, personKey, nowMs())
        : undefined;
    const isExplained = unknown.length === 0 ? acceptUnknown === 0 : accepted !== undefined;
    const isComplete = approvals > 0 && isExplained;
    if (!ledger.rebaseline(history, { by, isComplete, accepted }, nowMs())) {
      throw approvals === 0 ? createEmpty() : createIncomplete(unknown);
    }
    return { approvals, guards: history.guards.length, unknown };
  } finally {
    ledger.close();
  }
}

function createEmpty(): PoolError {
  return new PoolError(
    'custodian_invalid_response',
    "the custodian shows no approval of this gate, so the ledger still counts as restored; check which user the gate's settings name, and that this user may read the history. A gate that never voted starts with a new APPROVE_HOME",
  );
}

function createIncomplete(unknown: readonly UnknownApproval[]): PoolError {
  if (unknown.length === 0) {
    return new PoolError(
      'invalid_release',
      'every approval that the custodian shows can be described, so none has to be accepted; run the command again without --accept-unknown',
    );
  }
  const named = unknown.slice(0, maxNamed).map(({ id, why }) => `${id}: ${why}`);
  const more = unknown.length > maxNamed ? `; and ${unknown.length - maxNamed} more` : '';
  return new PoolError(
    'invalid_release',
    `the custodian shows ${unknown.length} approvals of this gate that cannot be described, so the ledger still counts as restored; the others were merged. ${named.join('; ')}${more}. If a wallet is missing, list it in the policy. If you know that none of them can be used again, run the command again with --accept-unknown ${unknown.length} and --key-file, the key of a person in humanRelease of the policy in effect, who signs it`,
  );
}

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
  options: { out, json },
}: LedgerCall<CommonOptions & { readonly out?: string }>): Outcome {
  if (json === true && out === undefined) {
    throw new PoolError(
      'invalid_request',
      '--json needs --out: without it, standard output gets the file of the history',
    );
  }
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
  return {
    document: { file: out },
    text: `The history is in ${out}. It links batches to each other: keep it private.`,
  };
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
