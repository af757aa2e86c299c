/**
 * `disburse-agent pay-runs list|show`: the labels that this directory has used, with what the agent knows about their parts. Moves no money
 * (docs/decisions/0008).
 *
 * @module
 */
import { type DisbursementJob, formatTokenAmount, isPoolError, PoolError } from '@pool/core';
import { exitCodes } from '../exit-codes.ts';
import { holdBack, isGivenUp, isLabelOf, nameOfRound } from '../ledger/invited-record.ts';
import { findPart, hasNoEffect } from '../ledger/pay-run-find.ts';
import { parsePayRun } from '../ledger/pay-run-label.ts';
import type { NamedPayRun } from '../ledger/pay-run-ledger.ts';
import { listAllPayRuns } from '../ledger/shared-ledger.ts';
import type { AgentClient, Output, Payer } from '../ports.ts';
import { stateOf } from '../report/split-report.ts';
import { sumAmounts } from '../roster/roster-amount.ts';
import type { TargetOptions } from './pay-roster.ts';

export type PayRunsOptions = TargetOptions & { readonly json?: boolean };

type LedgerOwner = Pick<Payer, 'ledger' | 'openAgent' | 'readChains'>;

type PayRunPart = {
  readonly part: number;
  readonly of: number;
  readonly key: string;
  readonly attempt: number;
  readonly job: DisbursementJob | undefined;
  /** It was sent, and the agent does not say what became of it. */
  readonly isUnseen: boolean;
};

type PayRunView = NamedPayRun & { readonly parts: readonly PayRunPart[] };

/** Every label, and what became of it. @returns the exit code */
export async function listPayRuns(
  payer: LedgerOwner,
  options: PayRunsOptions,
  output: Output,
): Promise<number> {
  const views = await inspectAll(
    select(await listAllPayRuns(payer.ledger), options),
    payer,
    output,
  );
  if (options.json === true) {
    output.out(JSON.stringify({ payRuns: views.map((view) => toDocument(view, views)) }, null, 2));
  } else {
    output.out(
      views.length === 0
        ? 'no pay run was sent from this directory'
        : views.map((view) => describeHead(view, payer, views)).join('\n'),
    );
  }
  return exitCodes.ok;
}

/** The parts of one label. @returns the exit code */
export async function showPayRun(
  label: string,
  payer: LedgerOwner,
  options: PayRunsOptions,
  output: Output,
): Promise<number> {
  const normal = parsePayRun(label);
  const all = select(await listAllPayRuns(payer.ledger), options);
  const found = all.filter(({ payRun }) => isLabelOf(payRun, normal));
  if (found.length === 0) {
    throw new PoolError(
      'not_found',
      `no pay run ${normal} was sent from this directory; "disburse-agent pay-runs list" lists those that were`,
    );
  }
  const views = await inspectAll(found, payer, output);
  output.out(
    options.json === true
      ? JSON.stringify({ payRuns: views.map((view) => toDocument(view, views)) }, null, 2)
      : views
          .flatMap((view) => [describeHead(view, payer, views), ...describeParts(view)])
          .join('\n'),
  );
  return exitCodes.ok;
}

/** The records of a label. @throws PoolError `invalid_request` */
export function findLabel(
  label: string,
  all: readonly NamedPayRun[],
  place: TargetOptions,
): readonly NamedPayRun[] {
  const normal = parsePayRun(label);
  return select(all, place).filter(({ payRun }) => payRun === normal);
}

function select(
  all: readonly NamedPayRun[],
  { chain, token }: TargetOptions,
): readonly NamedPayRun[] {
  return all.filter(
    (found) =>
      !isGivenUp(found.record) &&
      (chain === undefined || found.chain === chain) &&
      (token === undefined || found.token === token),
  );
}

/** What the agent knows about each part. */
export async function inspectPayRun(
  found: NamedPayRun,
  client: Pick<AgentClient, 'find'>,
): Promise<PayRunView> {
  const { payRun, record } = found;
  const count = record.parts.length;
  const parts: PayRunPart[] = [];
  for (const [index, known] of record.parts.entries()) {
    const name = { payRun, digest: record.digest, part: index + 1, count };
    const { key, attempt, job } = await findPart(name, known.attempt, client);
    const isUnseen = job === undefined && known.sent !== 'no';
    parts.push({ part: index + 1, of: count, key, attempt, job, isUnseen });
  }
  return { ...found, parts };
}

/** Without an agent, the ledger is shown alone. */
async function inspectAll(
  found: readonly NamedPayRun[],
  payer: LedgerOwner,
  { terminal }: Output,
): Promise<readonly PayRunView[]> {
  try {
    const client = payer.openAgent();
    return await Promise.all(found.map((one) => inspectPayRun(one, client)));
  } catch (error) {
    if (!isPoolError(error) || !(error.retryable || error.code === 'agent_unreachable')) {
      throw error;
    }
    terminal.write(
      `note: what was sent is from this directory; what became of it is unknown, because the agent does not answer: ${error.message}\n`,
    );
    const nobody = { find: async () => undefined };
    return await Promise.all(found.map((one) => inspectPayRun(one, nobody)));
  }
}

function describeHead(
  view: PayRunView,
  payer: Pick<Payer, 'readChains'>,
  views: readonly PayRunView[],
): string {
  const { payRun, chain, token, record, parts } = view;
  const paid = parts.filter(({ job, isUnseen }) => stateOf(job, isUnseen) === 'paid');
  const notes = paid.flatMap(({ job }) => job?.result?.notes ?? []);
  const tokens = payer.readChains()[chain]?.tokens ?? {};
  const decimals = Object.hasOwn(tokens, token) ? tokens[token]?.decimals : undefined;
  const total =
    decimals === undefined
      ? `${sumAmounts(notes)} base units of ${token}`
      : formatTokenAmount(sumAmounts(notes), { symbol: token, decimals });
  const changedAtMs = Math.max(...record.parts.map(({ sinceMs }) => sinceMs));
  const changed =
    changedAtMs === 0
      ? ''
      : `; last sent or changed ${new Date(changedAtMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const states =
    parts.length === 1
      ? parts.map(({ job, isUnseen }) => nameState(job, isUnseen)).join('')
      : `${paid.length} of ${parts.length} parts paid`;
  const sum = paid.length === 0 ? '' : `, ${notes.length} recipient(s), ${total}`;
  return `${payRun} on ${chain}: ${states}${sum}${changed}${describeHeld(view, views)}`;
}

/** How many people the pay run holds back. */
function describeHeld(view: PayRunView, views: readonly PayRunView[]): string {
  const held = countHeldBack(view, views);
  return held === 0 ? '' : `; ${held} held back until ${view.record.invited?.until}`;
}

/** With the people of later payments of which nothing was or can be paid. @param views - of these payments too */
function countHeldBack(view: PayRunView, views: readonly PayRunView[]): number {
  const { invited } = view.record;
  const live = new Set(
    views.flatMap(({ chain, token, payRun, parts }) =>
      chain === view.chain &&
      token === view.token &&
      parts.some(({ job, isUnseen }) => isUnseen || (job !== undefined && !hasNoEffect(job)))
        ? [payRun]
        : [],
    ),
  );
  const shown = invited && holdBack(invited, (round) => live.has(nameOfRound(view, round).payRun));
  return shown?.payees.filter(({ round }) => round === undefined).length ?? 0;
}

function describeParts({ parts }: PayRunView): readonly string[] {
  return parts.map(({ part, key, job, isUnseen }) => {
    const { code, message } = job?.error ?? job?.result?.batches[0]?.error ?? {};
    const reason = code === undefined ? '' : `: ${code}: ${message ?? ''}`;
    const txHash = job?.result?.batches[0]?.txHash;
    return `  part ${part}: ${nameState(job, isUnseen)}${txHash === undefined ? '' : ` in ${txHash}`}${reason}, key ${key}`;
  });
}

function nameState(job: DisbursementJob | undefined, isUnseen: boolean): string {
  return stateOf(job, isUnseen).replace('-', ' ');
}

/** The document of `--json`. Amounts are base units, as decimal strings. */
function toDocument(view: PayRunView, views: readonly PayRunView[]): object {
  const { payRun, chain, token, parts, record } = view;
  return {
    ...{ payRun, chain, token },
    ...(record.invited === undefined
      ? {}
      : { heldBack: countHeldBack(view, views), until: record.invited.until }),
    parts: parts.map(({ part, of, key, attempt, job, isUnseen }) => ({
      ...{ part, of, key, attempt, state: stateOf(job, isUnseen) },
      ...(job === undefined ? {} : { job }),
      ...(job?.result === undefined ? {} : { amount: String(sumAmounts(job.result.notes)) }),
    })),
  };
}
