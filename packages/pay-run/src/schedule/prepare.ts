/**
 * Gives one occurrence to the agent: reads its roster, checks it as a dry run does, decides its keys, and sends its parts. Everything is
 * decided once; sending again is the same payment (docs/decisions/0008).
 *
 * @module
 */
import { type Stats, statSync } from 'node:fs';
import { type AmountUnit, PoolError, quote } from '@pool/core';
import type { PaymentWindows } from '@pool/operations';
import { findReleaseNeed, loopbackCredential, type ReleasePolicy } from '@pool/policy';
import { checkParts, createRequest, describeIssue, isFinding } from '../check/check-parts.ts';
import { createRosterError } from '../check/roster-problems.ts';
import { claimPayRun, findPayRun } from '../ledger/pay-run-claim.ts';
import { computePartKey, computePayRunDigest, cutRoster } from '../ledger/pay-run-key.ts';
import type { PayRunLedger } from '../ledger/pay-run-ledger.ts';
import { recordKnownPart, sendPart, submitOrFind } from '../ledger/pay-run-send.ts';
import { computePartCount, type SplitPlan } from '../pay/split-pay-run.ts';
import type { AgentClient } from '../ports.ts';
import { decideRosterUnit, sumAmounts } from '../roster/roster-amount.ts';
import { parseRoster } from '../roster/roster-csv.ts';
import { readRosterText } from '../roster/roster-file.ts';
import type { OccurrencePlan } from './definition.ts';
import { type Cause, formatId, type OccurrenceRecord } from './schedule-store.ts';

export type Prepared = NonNullable<OccurrenceRecord['prepared']>;

export type PrepareDeps = {
  readonly client: AgentClient;
  readonly openLedger: () => Promise<PayRunLedger>;
  /** Recipients that one call may list. */
  readonly readCeiling: (chain: string) => Promise<number>;
  /** The token in chains.json as it is now. Undefined: it is not there. */
  readonly findToken: (
    chain: string,
    token: string,
  ) => { readonly address: string; readonly decimals: number } | undefined;
  readonly windows: PaymentWindows;
  /** Undefined: this agent has no release policy, so it prepares nothing. */
  readonly policy: ReleasePolicy | undefined;
  readonly nowMs: () => number;
};

/**
 * What passes, or can be put right between preparation and payment. The agent asks again before it signs.
 */
const passingCodes: readonly string[] = [
  'chain_unreachable',
  'gate_unreachable',
  'platform_unreachable',
  'relayer_unavailable',
  'insufficient_balance',
  'insufficient_gas',
];

/** @throws PoolError `invalid_roster`, `invalid-amount` */
export async function readPayRun(plan: OccurrencePlan): Promise<SplitPlan> {
  const { chain, token, decimals, format, unregistered, label: payRun } = plan;
  const unit: AmountUnit = { decimals, symbol: token, format };
  const roster = parseRoster(readRosterText(plan.roster), unit);
  if (roster.kind === 'mistakes') {
    throw createRosterError(roster.mistakes);
  }
  // Nobody can answer, so what has no unit must be plausible.
  await decideRosterUnit(roster.entries, unit, { isUnasked: true, ask: undefined });
  return { chain, token, payRun, entries: roster.entries, unregistered, retry: [] };
}

/** A program that writes a file in steps is done after this time without a change. */
const settleMs = 60_000;

/**
 * Whether nobody writes the file at this moment. Half a roster is a roster too, and would pay half of the people. A file that is not there
 * is not written.
 */
export function isSettled({ roster }: OccurrencePlan, nowMs: number): boolean {
  const stat = findStat(roster);
  return stat === undefined || Math.abs(nowMs - stat.mtimeMs) >= settleMs;
}

/** Names what is in a file without reading it. Undefined: there is no file. */
export function stampOf({ roster }: OccurrencePlan): string | undefined {
  const stat = findStat(roster);
  return stat && [stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs].join(' ');
}

/** Who reads the file says why it cannot be read. */
function findStat(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** @throws PoolError `invalid_roster`, `invalid-amount` */
async function readSettled(plan: OccurrencePlan, nowMs: number): Promise<SplitPlan> {
  const before = stampOf(plan);
  if (!isSettled(plan, nowMs)) {
    throw createUnsettled(plan);
  }
  const payRun = await readPayRun(plan);
  if (stampOf(plan) !== before) {
    throw createUnsettled(plan);
  }
  return payRun;
}

function createUnsettled({ roster }: OccurrencePlan): PoolError {
  return new PoolError(
    'invalid_roster',
    `the roster ${quote(roster)} was changed less than a minute ago, by the clock of its file; it is read when nobody has changed it for a minute`,
  );
}

/** What the roster of an occurrence is now, as the ledger names it. */
export async function computeRosterDigest(plan: OccurrencePlan): Promise<string> {
  return computePayRunDigest(await readPayRun(plan));
}

/**
 * Checks the roster and decides the keys. Sends nothing.
 * @returns also what may still prevent the payment
 * @throws PoolError why it cannot be prepared now
 */
export async function decidePreparation(
  plan: OccurrencePlan,
  deps: PrepareDeps,
): Promise<{ readonly prepared: Prepared; readonly warning: Cause | undefined }> {
  const { client, nowMs } = deps;
  assertSameToken(plan, deps);
  const payRun = await readSettled(plan, nowMs());
  const { digest, count } = await withLedger(deps, async (claim) => {
    const found = await findPayRun(payRun, claim);
    if (found.count !== undefined) {
      throw new PoolError(
        'pay_run_conflict',
        `the label ${quote(plan.label)} was used for this roster outside of the schedule, so the schedule does not pay it; "disburse-agent pay-runs show" prints what became of it`,
      );
    }
    const ceiling = await deps.readCeiling(plan.chain);
    return { digest: found.digest, count: computePartCount(payRun.entries, ceiling) };
  });
  const parts = cutRoster(payRun.entries, count);
  const { issues } = await checkParts(
    parts.map((entries, index) => ({
      part: index + 1,
      entries,
      request: createRequest(payRun, entries, plan.unregistered),
    })),
    (request) => client.validate(request),
  );
  const serious = issues.filter(({ code }) => !passingCodes.includes(code));
  if (serious[0] !== undefined) {
    const code = serious.every(isFinding) ? 'payment_blocked' : 'invalid_roster';
    const message = serious.slice(0, 20).map(describeIssue).join('\n');
    throw new PoolError(code, message, { problems: serious });
  }
  for (const entries of parts) {
    assertNeedsPerson(plan, sumAmounts(entries), deps.policy);
  }
  const keys = parts.map((_, index) => keyOf(plan, { digest, part: index + 1, count }));
  await claimWindows(plan, keys, deps);
  const [first] = issues;
  const warning = first && { code: first.code, message: describeIssue(first), atMs: nowMs() };
  return { prepared: { digest, keys, atMs: nowMs() }, warning };
}

/** @throws PoolError `release_policy_refused`, `invalid_policy` */
function assertNeedsPerson(
  { chain, token, decimals }: OccurrencePlan,
  amount: bigint,
  policy: ReleasePolicy | undefined,
): void {
  if (policy === undefined) {
    throw createPolicyMissing();
  }
  const need = findReleaseNeed(policy, {
    chain,
    token,
    decimals,
    preparedBy: loopbackCredential,
    amount,
  });
  if (need.kind === 'refused' || need.required === 0) {
    throw new PoolError(
      'release_policy_refused',
      need.kind === 'refused'
        ? need.message
        : `the release policy requires no person for this amount of ${token} on ${chain}, and a schedule pays with the release of a person only`,
    );
  }
}

/** Amounts were written for this token. @throws PoolError `configuration_changed` */
function assertSameToken(
  { chain, token, tokenAddress, decimals, schedule }: OccurrencePlan,
  { findToken }: Pick<PrepareDeps, 'findToken'>,
): void {
  const now = findToken(chain, token);
  const isSame =
    now?.decimals === decimals && now.address.toLowerCase() === tokenAddress.toLowerCase();
  if (!isSame) {
    throw new PoolError(
      'configuration_changed',
      `the token ${token} on ${chain} is another one in chains.json, or has other decimals, than when the schedule was added. Correct chains.json, or remove the schedule and add it again: "disburse-agent schedule remove ${schedule}"`,
    );
  }
}

/**
 * Each key belongs to one occurrence, which alone sends and withdraws it. Before the job: an agent that has the job without its window
 * would pay it at once.
 * @throws PoolError `pay_run_conflict`
 */
async function claimWindows(
  plan: OccurrencePlan,
  keys: readonly string[],
  { windows, nowMs }: Pick<PrepareDeps, 'windows' | 'nowMs'>,
): Promise<void> {
  const { releaseByMs, payAtMs, payByMs } = plan;
  const owner = formatId(plan.schedule, plan.period);
  for (const key of keys) {
    const stored = await windows.put(key, { owner, releaseByMs, payAtMs, payByMs }, nowMs());
    if (stored.isWithdrawn) {
      throw new PoolError(
        'pay_run_conflict',
        `the payment of this roster under the label ${quote(plan.label)} was withdrawn`,
      );
    }
    const isSame =
      stored.releaseByMs === releaseByMs &&
      stored.payAtMs === payAtMs &&
      stored.payByMs === payByMs;
    if (stored.owner !== owner || !isSame) {
      throw new PoolError(
        'pay_run_conflict',
        `the label ${quote(plan.label)} and this roster belong to the occurrence ${stored.owner}${stored.owner === owner ? ', with other times' : ''}, so this one does not pay it`,
      );
    }
  }
}

export function createPolicyMissing(): PoolError {
  return new PoolError(
    'invalid_policy',
    'this agent has no release policy, and a schedule pays nothing without the release of a person: set DISBURSE_RELEASE_POLICY (docs/operations/release.md) and start the agent again',
  );
}

function keyOf(
  { label }: OccurrencePlan,
  place: { readonly digest: string; readonly part: number; readonly count: number },
): string {
  return computePartKey({ payRun: label, ...place, attempt: 1 });
}

/**
 * Sends the parts that the agent does not have. May run again after any interruption.
 * @throws PoolError `pay_run_conflict` if the roster is another one by now, or the label is taken; and the errors of the agent
 */
export async function sendPrepared(
  plan: OccurrencePlan,
  { digest, keys }: Prepared,
  deps: PrepareDeps,
): Promise<void> {
  const { client, nowMs } = deps;
  assertSameToken(plan, deps);
  const payRun = await readSettled(plan, nowMs());
  if (computePayRunDigest(payRun) !== digest) {
    throw new PoolError('pay_run_conflict', describeChanged(plan));
  }
  await claimWindows(plan, keys, deps);
  const count = keys.length;
  await withLedger(deps, async (claim) => {
    await claimPayRun(payRun, { digest, count }, claim);
    for (const [index, entries] of cutRoster(payRun.entries, count).entries()) {
      const place = { digest, part: index + 1, count, attempt: 1 };
      const key = keyOf(plan, place);
      if ((await client.find(key)) === undefined) {
        const request = createRequest(payRun, entries, plan.unregistered);
        await sendPart(payRun, place, () => submitOrFind(client, key, request), claim);
      } else {
        await recordKnownPart(payRun, place, claim);
      }
    }
  });
}

export function describeChanged({ roster, label }: OccurrencePlan): string {
  return `the roster ${quote(roster)} changed after it was prepared, so its release does not cover it; nothing of ${quote(label)} is paid. Pay what is right with "disburse-agent disburse", under this label if nothing of it was paid`;
}

async function withLedger<T>(
  { openLedger, client }: Pick<PrepareDeps, 'openLedger' | 'client'>,
  work: (claim: {
    readonly ledger: PayRunLedger;
    readonly client: AgentClient;
    readonly nowMs: PayRunLedger['nowMs'];
  }) => Promise<T>,
): Promise<T> {
  const ledger = await openLedger();
  try {
    return await work({ ledger, client, nowMs: ledger.nowMs });
  } finally {
    await ledger.close();
  }
}
