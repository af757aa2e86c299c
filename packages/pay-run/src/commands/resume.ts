/**
 * `disburse-agent pay-runs resume <label>`: pays the invited people of a pay run who were held back and have enrolled since, each once
 * (docs/decisions/0008).
 *
 * @module
 */
import { formatTokenAmount, formatTokenUnits, PoolError, type TokenUnit } from '@pool/core';
import { checkParts, createRequest } from '../check/check-parts.ts';
import { isConfirmed } from '../check/confirm-payment.ts';
import {
  describeStanding,
  describeWallets,
  type InvitedStanding,
  judgeHeld,
  listHeld,
} from '../check/invited-standing.ts';
import { exitCodeOfError, exitCodes } from '../exit-codes.ts';
import {
  listRound,
  nameOfRound,
  openRound,
  previewRounds,
  settleRounds,
} from '../ledger/invited-record.ts';
import { isSent } from '../ledger/pay-run-claim.ts';
import { hasNoEffect } from '../ledger/pay-run-find.ts';
import { computeRoundDigest } from '../ledger/pay-run-key.ts';
import type {
  InvitedRecord,
  NamedPayRun,
  PayRunLedger,
  PayRunName,
  PayRunRecord,
} from '../ledger/pay-run-ledger.ts';
import { listAllPayRuns, openLedger } from '../ledger/shared-ledger.ts';
import { withInterruption } from '../pay/follow-job.ts';
import {
  createStop,
  paySplit,
  type SplitOutcome,
  type SplitPlan,
  type Stop,
} from '../pay/split-pay-run.ts';
import type { Output, Payer } from '../ports.ts';
import {
  createSplitDocument,
  describeSplit,
  exitCodeOfSplit,
  listStopped,
} from '../report/split-report.ts';
import { sumAmounts } from '../roster/roster-amount.ts';
import {
  createStanding,
  describeHeldBack,
  type InvitedDeps,
  isOver,
  mapWallets,
} from './pay-invited.ts';
import { resolveTarget } from './pay-roster.ts';
import { findOne, type PayRunsOptions } from './pay-runs.ts';

export type ResumeOptions = PayRunsOptions & {
  /** Sends without a question. */
  readonly yes?: boolean;
  /** Pays wallets that nobody has confirmed, also where nobody is asked. */
  readonly acceptWallets?: boolean;
  /** Says what would be paid, and sends nothing. */
  readonly dryRun?: boolean;
};

/** @returns the exit code */
export async function resumePayRun(
  label: string,
  payer: Payer,
  options: ResumeOptions,
  output: Output,
): Promise<number> {
  const client = payer.openAgent();
  const list = (): Promise<readonly NamedPayRun[]> => listAllPayRuns(payer.ledger);
  const payRun = findOne(label, await list(), options);
  const { chain, token, decimals } = resolveTarget(payRun, payer);
  const unit = { symbol: token, decimals };
  const deps = {
    ...{ client, unit, terminal: output.terminal, invitations: payer.invitations },
    ask: options.yes === true ? undefined : output.ask,
    acceptWallets: options.acceptWallets === true,
    readCeiling: () => payer.withChecks(async ({ readCeiling }) => readCeiling(chain)),
  };
  if (options.dryRun === true) {
    // Opening the ledger to write can make its file, or move it to a shared job store.
    const read: PayRunLedger['read'] = async (name) =>
      (await list()).find((one) => isSame(one, name))?.record;
    const preview = await previewHeld(payRun, { ...deps, ledger: { read }, nowMs: Date.now });
    return reportPreview(payRun, preview, unit, { ...options, ...output });
  }
  const ledger = await openLedger(payer.ledger);
  try {
    const resumed = await withInterruption((signal) =>
      payHeld(payRun, { ...deps, ledger, signal, nowMs: ledger.nowMs }),
    );
    return report(payRun, resumed, unit, { ...options, ...output });
  } finally {
    await ledger.close();
  }
}

function isSame(one: PayRunName, other: PayRunName): boolean {
  return one.chain === other.chain && one.token === other.token && one.payRun === other.payRun;
}

export type Payment = { readonly plan: SplitPlan; readonly outcome: SplitOutcome };

export type Resumed = {
  readonly until: string;
  /** Of held-back people: this run's, and earlier ones. */
  readonly payments: readonly Payment[];
  /** Who is still held back. */
  readonly held: readonly InvitedStanding[];
  /** Why nobody of those who have enrolled can be paid now. */
  readonly stop?: Stop;
};

/** @throws PoolError `invalid_request`, `pay_run_ended`, `pay_run_conflict`, `payment_declined`, and the errors of `paySplit` */
export async function payHeld(payRun: NamedPayRun, deps: InvitedDeps): Promise<Resumed> {
  const { digest } = payRun.record;
  const base = { name: payRun, digest };
  const { until } = assertBegun(payRun, payRun.record);
  if (isOver(until, await deps.nowMs())) {
    throw new PoolError('pay_run_ended', `nothing was sent: ${describeEnd(payRun, until)}`);
  }
  const settled = await settleRounds(base, deps);
  const standings = await judgeHeld(settled.invited, payRun, createStanding(deps));
  const ready = standings.filter(({ reason }) => reason === undefined);
  await approve(payRun, ready, deps);
  const unpaid = new Set(ready);
  const payments: Payment[] = [];
  const end = (stop?: Stop): Resumed => ({
    ...{ until, payments },
    held: standings.filter((one) => one.reason !== undefined || unpaid.has(one)),
    ...(stop === undefined ? {} : { stop }),
  });
  const pay = async (invited: InvitedRecord, round: number): Promise<SplitOutcome> => {
    const plan = planRound(payRun, invited, round);
    // Confirmed above, or by the run that began it. It has one part, so that its key is known without the ledger.
    const readCeiling = async (): Promise<number> => plan.entries.length;
    const approved = { ...deps, approve: async () => undefined, readCeiling };
    const outcome = await paySplit(plan, approved);
    payments.push({ plan, outcome });
    return outcome;
  };
  for (const round of settled.live) {
    if ((await pay(settled.invited, round)).stop !== undefined) {
      return end();
    }
  }
  const groups = await groupByCeiling(ready, deps);
  // Before a round gets its number: a round that is decided and not sent leaves a gap.
  const stop = await findStop(payRun, groups, deps);
  if (stop !== undefined) {
    return end(stop);
  }
  for (const group of groups) {
    const opened = await openRound(base, mapWallets(group), deps);
    const outcome = opened && (await pay(opened.invited, opened.round));
    // Undefined: another command pays them.
    if (outcome === undefined || mayHavePaid(outcome)) {
      for (const one of group) {
        unpaid.delete(one);
      }
    }
    if (outcome?.stop !== undefined) {
      return end();
    }
  }
  return end();
}

async function groupByCeiling(
  ready: readonly InvitedStanding[],
  { readCeiling }: Pick<InvitedDeps, 'readCeiling'>,
): Promise<readonly (readonly InvitedStanding[])[]> {
  const size = ready.length === 0 ? 1 : await readCeiling();
  return Array.from({ length: Math.ceil(ready.length / size) }, (_, index) =>
    ready.slice(index * size, (index + 1) * size),
  );
}

export type Preview = {
  readonly until: string;
  /** Everybody who is held back. */
  readonly held: readonly InvitedStanding[];
  /** Payments whose answer was not seen: a resumption sends them again under their keys, so that they are paid once. */
  readonly unseen: readonly { readonly payRun: string; readonly amounts: readonly string[] }[];
  readonly stop?: Stop;
};

/**
 * What {@link payHeld} would pay now. Sends nothing, and changes no ledger. A wallet that is new is pinned, as whenever one is seen.
 * @throws PoolError `invalid_request`, `pay_run_conflict`
 */
export async function previewHeld(
  payRun: NamedPayRun,
  deps: Omit<InvitedDeps, 'ledger' | 'signal'> & { readonly ledger: Pick<PayRunLedger, 'read'> },
): Promise<Preview> {
  const { until } = assertBegun(payRun, payRun.record);
  const base = { name: payRun, digest: payRun.record.digest };
  const { invited, unseen } = await previewRounds(base, deps);
  const judged = await judgeHeld(invited, payRun, createStanding(deps));
  const ended = isOver(until, await deps.nowMs())
    ? ({ state: 'past-date', reason: describeEnd(payRun, until) } as const)
    : {};
  const held = judged.map((standing) => ({ ...standing, ...ended }));
  const ready = held.filter(({ reason }) => reason === undefined);
  const stop = await findStop(payRun, await groupByCeiling(ready, deps), deps);
  return {
    ...{ until, held },
    unseen: unseen.map((round) => ({
      payRun: nameOfRound(payRun, round).payRun,
      amounts: listRound(invited, round).map(({ amount }) => amount),
    })),
    ...(stop === undefined ? {} : { stop }),
  };
}

function mayHavePaid({ parts }: SplitOutcome): boolean {
  return parts.some(
    ({ job, isUnseen }) => isUnseen === true || (job !== undefined && !hasNoEffect(job)),
  );
}

/** What prevents the payments now. */
async function findStop(
  payRun: NamedPayRun,
  groups: readonly (readonly InvitedStanding[])[],
  { client }: Pick<InvitedDeps, 'client'>,
): Promise<Stop | undefined> {
  const parts = groups.map((group, index) => {
    const entries = group.map(({ payee: { amount, memo, line }, invitee: { address = '' } }) => ({
      ...{ recipientAddress: address, amount, line },
      ...(memo === undefined ? {} : { memo }),
    }));
    return { part: index + 1, entries, request: createRequest(payRun, entries, undefined) };
  });
  const { issues } = await checkParts(parts, client.validate);
  const blocking = issues.filter(({ code }) => code !== 'chain_unreachable');
  return blocking[0] && createStop(blocking);
}

/**
 * Its first payment was sent, if it has one.
 * @throws PoolError `invalid_request`
 */
export function assertBegun(
  { payRun }: PayRunName,
  record: PayRunRecord | undefined,
): InvitedRecord {
  if (record?.invited === undefined) {
    throw new PoolError(
      'invalid_request',
      `pay run ${payRun} holds nobody back: its roster names no invited person`,
    );
  }
  const { invited, parts } = record;
  const hasFirst = invited.direct.length > 0 || listRound(invited, 1).length > 0;
  if (hasFirst && !parts.every(isSent)) {
    throw new PoolError(
      'invalid_request',
      `nothing was sent: pay run ${payRun} itself is not sent, or only in part; run its disburse command again first`,
    );
  }
  return invited;
}

function describeEnd({ payRun }: PayRunName, until: string): string {
  return `pay run ${payRun} pays the people whom it held back until ${until}, and that day has passed. To pay them nevertheless, run its disburse command again with a later --until, then this one`;
}

function planRound(payRun: NamedPayRun, invited: InvitedRecord, round: number): SplitPlan {
  return {
    ...nameOfRound(payRun, round),
    digest: computeRoundDigest(payRun.record.digest, round),
    entries: listRound(invited, round),
    retry: [],
  };
}

/** @throws PoolError `payment_declined` */
async function approve(
  { payRun, chain }: NamedPayRun,
  ready: readonly InvitedStanding[],
  {
    terminal,
    ask,
    unit,
    invitations,
  }: Pick<InvitedDeps, 'terminal' | 'ask' | 'unit' | 'invitations'>,
): Promise<void> {
  if (ready.length === 0) {
    return;
  }
  const total = sumAmounts(ready.map(({ payee }) => payee));
  const lines = [
    `pay run ${payRun} on ${chain}: ${ready.length} recipient(s) who were held back, ${formatTokenAmount(total, unit)} in total`,
    ...describeWallets(ready, unit),
    '  the platform says which wallet is whose: compare those that are not confirmed before with what the people tell you',
  ];
  terminal.write(lines.map((line) => `${line}\n`).join(''));
  if (!(await isConfirmed({ ask }, 'Send this payment?'))) {
    throw new PoolError('payment_declined', 'nothing was sent: the payment was not confirmed');
  }
  await invitations.confirm(mapWallets(ready));
}

/** @returns the exit code */
function report(
  { payRun, chain, token }: NamedPayRun,
  { until, payments, held, stop }: Resumed,
  unit: TokenUnit,
  { json, out }: Pick<Output, 'out'> & { readonly json?: boolean },
): number {
  out(
    json === true
      ? {
          ...{ payRun, chain, token, until },
          payments: payments.map(({ plan, outcome }) => createSplitDocument(plan, outcome)),
          heldBack: listHeld(held),
          ...listStopped(stop),
        }
      : [
          ...(payments.length === 0 ? ['this run sent nothing'] : []),
          ...payments.map(({ plan, outcome }) => describeSplit(plan, outcome, unit.decimals)),
          ...(stop === undefined ? [] : [`stopped: ${stop.code}: ${stop.message}`]),
          ...describeHeldBack(held, until, payRun, unit),
        ].join('\n'),
  );
  const codes = payments.map(({ outcome }) => exitCodeOfSplit(outcome));
  codes.push(stop?.exitCode ?? exitCodes.ok);
  const rest = held.length > 0 ? exitCodes.someUnpaid : exitCodes.ok;
  return codes.find((code) => code !== exitCodes.ok) ?? rest;
}

/** @returns the exit code */
function reportPreview(
  { payRun, chain, token }: NamedPayRun,
  { until, held, unseen, stop }: Preview,
  unit: TokenUnit,
  { json, out }: Pick<Output, 'out'> & { readonly json?: boolean },
): number {
  const ready = held.filter(({ reason }) => reason === undefined);
  const total = sumAmounts(ready.map(({ payee }) => payee));
  const inTokens = (amount: bigint): string => formatTokenUnits(amount, unit.decimals);
  const isEnded = held.some(({ state }) => state === 'past-date');
  out(
    json === true
      ? {
          ...{ ok: stop === undefined && !isEnded, payRun, chain, token, until },
          payment: {
            ...{ recipients: ready.length, total: total.toString() },
            inTokenUnits: { total: inTokens(total) },
          },
          heldBack: listHeld(held).map((one, index) => ({
            ...one,
            inTokenUnits: { amount: inTokens(BigInt(held[index]?.payee.amount ?? 0)) },
          })),
          unseen,
          ...listStopped(stop),
        }
      : [
          `dry run: pay run ${payRun} on ${chain} would pay ${ready.length} of ${held.length} recipient(s) who are held back until ${until}, ${formatTokenAmount(total, unit)} in total`,
          ...held.map((standing) => `  ${describeStanding(standing, unit)}`),
          ...unseen.map(
            (one) =>
              `and send the payment ${one.payRun} again, whose answer was not seen: ${one.amounts.length} recipient(s), ${formatTokenAmount(sumAmounts(one.amounts.map((amount) => ({ amount }))), unit)}, paid once`,
          ),
          ...(stop === undefined ? [] : [`stopped: ${stop.code}: ${stop.message}`]),
        ].join('\n'),
  );
  const rest = ready.length < held.length ? exitCodes.someUnpaid : exitCodes.ok;
  return isEnded ? exitCodeOfError('pay_run_ended') : (stop?.exitCode ?? rest);
}
