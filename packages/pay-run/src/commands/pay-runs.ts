/**
 * `disburse-agent pay-runs list|show`: the labels that this directory has used, with what the agent knows about their parts. Moves no money
 * (docs/decisions/0008).
 *
 * @module
 */
import { formatTokenAmount, isPoolError, PoolError } from '@pool/core';
import { inspectPayRun, listUnpaid, nameState, type PayRunView } from '../books/pay-run-view.ts';
import { exitCodes } from '../exit-codes.ts';
import { isGivenUp, isLabelOf } from '../ledger/invited-record.ts';
import { parsePayRun } from '../ledger/pay-run-label.ts';
import type { InvitedPayee, NamedPayRun, PayRunName } from '../ledger/pay-run-ledger.ts';
import { listAllPayRuns } from '../ledger/shared-ledger.ts';
import type { Output, Payer } from '../ports.ts';
import { stateOf } from '../report/split-report.ts';
import { sumAmounts } from '../roster/roster-amount.ts';
import type { TargetOptions } from './pay-roster.ts';

export type PayRunsOptions = TargetOptions & { readonly json?: boolean };

type LedgerOwner = Pick<Payer, 'ledger' | 'openAgent' | 'readChains' | 'invitations'>;

/** Every label, and what became of it. @returns the exit code */
export async function listPayRuns(
  payer: LedgerOwner,
  options: PayRunsOptions,
  output: Output,
): Promise<number> {
  const views = await inspectPayRuns(payer, options, output);
  if (options.json === true) {
    output.out({ payRuns: views.map((view) => toDocument(view, views)) });
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
  const isWanted = ({ payRun }: NamedPayRun): boolean => isLabelOf(payRun, normal);
  const views = await inspectPayRuns(payer, options, output, isWanted);
  if (views.length === 0) {
    throw new PoolError(
      'not_found',
      `no pay run ${normal} was sent from this directory; "disburse-agent pay-runs list" lists those that were`,
    );
  }
  output.out(
    options.json === true
      ? { payRuns: views.map((view) => toDocument(view, views)) }
      : views
          .flatMap((view) => [
            describeHead(view, payer, views),
            ...describeParts(view),
            ...describeUnpaid(view, payer, views),
          ])
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

/** The only record of a label. @throws PoolError `not_found`, `invalid_request` */
export function findOne(
  label: string,
  all: readonly NamedPayRun[],
  place: TargetOptions,
): NamedPayRun {
  const [payRun, other] = findLabel(label, all, place);
  if (payRun === undefined) {
    throw new PoolError('not_found', `no pay run ${label} was begun from this directory`);
  }
  if (other !== undefined) {
    throw new PoolError(
      'invalid_request',
      `several pay runs have the label ${payRun.payRun}; choose one with --chain and --token`,
    );
  }
  return payRun;
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

/**
 * The pay runs that this directory has sent, the newest first, with what the agent knows about their parts. Without an agent, the ledger is
 * shown alone.
 * @param place - of this chain and token only. @param isWanted - the agent is asked about these only
 */
export async function inspectPayRuns(
  payer: Pick<Payer, 'ledger' | 'openAgent'>,
  place: TargetOptions,
  { terminal }: Pick<Output, 'terminal'>,
  isWanted: (payRun: NamedPayRun) => boolean = () => true,
): Promise<readonly PayRunView[]> {
  const found = select(await listAllPayRuns(payer.ledger), place).filter(isWanted);
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
  const { payRun, chain, record, parts } = view;
  const paid = parts.filter(({ job, isUnseen }) => stateOf(job, isUnseen) === 'paid');
  const notes = paid.flatMap(({ job }) => job?.result?.notes ?? []);
  const total = formatAmount(sumAmounts(notes), view, payer);
  const changedAtMs = Math.max(...record.parts.map(({ sinceMs }) => sinceMs));
  const changed = changedAtMs === 0 ? '' : `; last sent or changed ${formatMinute(changedAtMs)}`;
  const states =
    parts.length === 1
      ? parts.map(({ job, isUnseen }) => nameState(job, isUnseen)).join('')
      : `${paid.length} of ${parts.length} parts paid`;
  const sum = paid.length === 0 ? '' : `, ${notes.length} recipient(s), ${total}`;
  return `${payRun} on ${chain}: ${states}${sum}${changed}${describeHeld(view, views)}`;
}

/** With the name of the token. */
export function formatAmount(
  amount: bigint,
  { chain, token }: PayRunName,
  payer: Pick<Payer, 'readChains'>,
): string {
  const tokens = payer.readChains()[chain]?.tokens ?? {};
  const decimals = Object.hasOwn(tokens, token) ? tokens[token]?.decimals : undefined;
  return decimals === undefined
    ? `${amount} base units of ${token}`
    : formatTokenAmount(amount, { symbol: token, decimals });
}

export function formatMinute(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** How many people the pay run holds back, and how many were dropped. */
function describeHeld(view: PayRunView, views: readonly PayRunView[]): string {
  const { held, dropped } = listUnpaid(view, views);
  const until = view.record.invited?.until;
  return `${held.length === 0 ? '' : `; ${held.length} held back until ${until}`}${dropped.length === 0 ? '' : `; ${dropped.length} dropped`}`;
}

function describeUnpaid(
  view: PayRunView,
  payer: LedgerOwner,
  views: readonly PayRunView[],
): readonly string[] {
  const { held, dropped } = listUnpaid(view, views);
  return [...held, ...dropped].map(({ line, person, amount, droppedAtMs }) => {
    const name = payer.invitations.find(person)[0]?.label ?? person;
    const state = droppedAtMs === undefined ? 'held back' : `dropped ${formatMinute(droppedAtMs)}`;
    return `  line ${line}: ${name}: ${formatAmount(BigInt(amount), view, payer)}: ${state}`;
  });
}

function describeParts({ parts }: PayRunView): readonly string[] {
  return parts.map(({ part, key, job, isUnseen }) => {
    const { code, message } = job?.error ?? job?.result?.batches[0]?.error ?? {};
    const reason = code === undefined ? '' : `: ${code}: ${message ?? ''}`;
    const txHash = job?.result?.batches[0]?.txHash;
    return `  part ${part}: ${nameState(job, isUnseen)}${txHash === undefined ? '' : ` in ${txHash}`}${reason}, key ${key}`;
  });
}

function toDropped({ line, person, amount, droppedAtMs = 0 }: InvitedPayee): object {
  const droppedAt = new Date(droppedAtMs).toISOString();
  return { line, reference: person, amount, droppedAt };
}

/** The document of `--json`. Amounts are base units, as decimal strings. */
function toDocument(view: PayRunView, views: readonly PayRunView[]): object {
  const { payRun, chain, token, parts, record } = view;
  const { held, dropped } = listUnpaid(view, views);
  return {
    ...{ payRun, chain, token },
    ...(record.invited === undefined
      ? {}
      : { heldBack: held.length, until: record.invited.until, dropped: dropped.map(toDropped) }),
    parts: parts.map(({ part, of, key, attempt, job, isUnseen }) => ({
      ...{ part, of, key, attempt, state: stateOf(job, isUnseen) },
      ...(job === undefined ? {} : { job }),
      ...(job?.result === undefined ? {} : { amount: String(sumAmounts(job.result.notes)) }),
    })),
  };
}
