/**
 * `disburse --unregistered invite`: pays a roster that names invited people, and holds those back who have not enrolled
 * (docs/decisions/0008). `pay-runs resume` pays them.
 *
 * @module
 */
import { PoolError, quote, type TokenUnit } from '@pool/core';
import { createApproval } from '../check/confirm-payment.ts';
import {
  describeHeld,
  describeWallets,
  type InvitedStanding,
  judgeHeld,
  listHeld,
  type StandingDeps,
} from '../check/invited-standing.ts';
import { exitCodes } from '../exit-codes.ts';
import {
  createInvited,
  createOlder,
  holdBack,
  isGivenUp,
  keepInvited,
  listLive,
  listRound,
  nameInvited,
  nameOfRound,
} from '../ledger/invited-record.ts';
import { type ClaimDeps, claimPayRun, isFixed } from '../ledger/pay-run-claim.ts';
import { hasAnyPayment } from '../ledger/pay-run-find.ts';
import { computePayRunDigest, type PayRun } from '../ledger/pay-run-key.ts';
import type { InvitedRecord, PayRunRecord } from '../ledger/pay-run-ledger.ts';
import { listAllPayRuns } from '../ledger/shared-ledger.ts';
import {
  paySplit,
  type SplitDeps,
  type SplitOutcome,
  type SplitPlan,
} from '../pay/split-pay-run.ts';
import type { AgentClient, Invitations, Output, Payer } from '../ports.ts';
import { createSplitDocument, describeSplit, exitCodeOfSplit } from '../report/split-report.ts';
import type { ReadInvited } from '../roster/roster-csv.ts';
import { type DryRunOptions, runDry } from './dry-run.ts';

/** The day as the ledger keeps it. @throws PoolError `invalid_request` */
export function parseUntil(text: string | undefined, nowMs: number): string {
  if (text === undefined) {
    throw refuse(
      '--unregistered invite needs --until <day>, for example 2027-01-15: the last day on which "pay-runs resume" pays those who are held back',
    );
  }
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== text) {
    throw refuse(`--until: ${quote(text)} is not a day such as 2027-01-15`);
  }
  if (isOver(text, nowMs)) {
    throw refuse(`--until: ${text} has passed; name a later day`);
  }
  return text;
}

/** @param until - a day, in UTC */
export function isOver(until: string, nowMs: number): boolean {
  return new Date(nowMs).toISOString().slice(0, 10) > until;
}

/** Reads `invite:<name>` by the people whom this machine has invited. The messages contain names: for the payer's own terminal. */
export function createReadInvited({ find }: Pick<Invitations, 'find'>): ReadInvited {
  return (name) => {
    const [found, ...others] = find(name);
    if (found === undefined) {
      return {
        kind: 'mistake',
        message: `this machine has invited nobody as ${quote(name)}; write the name, the e-mail address or the reference as "disburse-agent invite list" prints it`,
      };
    }
    return others.length === 0
      ? { kind: 'person', place: nameInvited(found.person) }
      : {
          kind: 'mistake',
          message: `${others.length + 1} invited people are called ${quote(name)}; write the e-mail address or the reference instead`,
        };
  };
}

/** A first payment that is decided and not made. */
type FirstRound = {
  readonly plan: SplitPlan;
  readonly invited: InvitedRecord;
  /** Of the first payment. */
  readonly wallets: readonly InvitedStanding[];
  readonly held: readonly InvitedStanding[];
  /** An earlier run chose who is paid first, and may have paid. */
  readonly isKept: boolean;
};

/**
 * Who is paid first. Once anything may have been paid, that is who was chosen then.
 * @param plan - `entries` is the whole roster
 */
async function planFirstRound(
  plan: SplitPlan,
  until: string,
  record: PayRunRecord | undefined,
  deps: StandingDeps & { readonly listLive: (kept: InvitedRecord) => Promise<ReadonlySet<number>> },
): Promise<FirstRound> {
  const whole = plan.entries;
  const fresh = createInvited(whole, new Map(), until);
  const isSame = record !== undefined && record.digest === computePayRunDigest(plan);
  const kept = isSame && isFixed(record) ? record.invited : undefined;
  const live = kept === undefined ? new Set<number>() : await deps.listLive(kept);
  const shown = holdBack(kept ?? fresh, (round) => live.has(round));
  const standings = await judgeHeld(shown, plan, deps);
  const ready = kept === undefined ? standings.filter(({ reason }) => reason === undefined) : [];
  const invited =
    kept === undefined ? createInvited(whole, mapWallets(ready), until) : { ...kept, until };
  return {
    plan: { ...plan, whole, entries: listRound(invited, 1, whole) },
    invited,
    wallets: ready,
    held: standings.filter((standing) => !ready.includes(standing)),
    isKept: kept !== undefined,
  };
}

/** By person. */
export function mapWallets(standings: readonly InvitedStanding[]): ReadonlyMap<string, string> {
  return new Map(
    standings.flatMap(({ payee: { person }, invitee: { address } }) =>
      address === undefined ? [] : [[person, address] as const],
    ),
  );
}

export type InvitedDeps = Omit<SplitDeps, 'approve' | 'client'> & {
  readonly client: AgentClient;
  readonly ask: Output['ask'];
  readonly invitations: Pick<Invitations, 'readStates' | 'confirm'>;
  /** Pays wallets that nobody has confirmed, also where nobody is asked. */
  readonly acceptWallets: boolean;
  readonly unit: TokenUnit;
};

/** Where nobody is asked, nobody would notice that the platform names a wallet of its own. */
export function createStanding({
  invitations: { readStates },
  client: { validate },
  ask,
  acceptWallets,
}: Pick<InvitedDeps, 'invitations' | 'client' | 'ask' | 'acceptWallets'>): StandingDeps {
  return { readStates, validate, mustBeConfirmed: ask === undefined && !acceptWallets };
}

export type InvitedOutcome = {
  /** Undefined: nobody can be paid now. */
  readonly outcome: SplitOutcome | undefined;
  readonly held: readonly InvitedStanding[];
};

/**
 * The first payment.
 * @param plan - `entries` is the whole roster
 * @throws as `paySplit`
 */
export async function payFirstRound(
  plan: SplitPlan,
  until: string,
  deps: InvitedDeps,
): Promise<InvitedOutcome> {
  const { terminal, unit } = deps;
  const record = await deps.ledger.read(plan);
  const first = await planFirstRound(plan, until, record, {
    ...createStanding(deps),
    listLive: (kept) => listLive(plan, kept, deps),
  });
  if (!first.isKept) {
    await assertUnknown(plan, deps);
  }
  const ledger = keepInvited(deps.ledger, first.invited);
  if (first.plan.entries.length === 0) {
    await claimPayRun(plan, { digest: computePayRunDigest(plan), count: 1 }, { ...deps, ledger });
    return { outcome: undefined, held: first.held };
  }
  const approve = createApproval({ ...deps, ledger, decimals: unit.decimals });
  const outcome = await paySplit(first.plan, {
    ...deps,
    ledger,
    approve: async (whole, pending) => {
      for (const line of [
        ...describeWallets(first.wallets, unit),
        ...describeHeld(first.held, unit),
      ]) {
        terminal.write(`${line}\n`);
      }
      await approve(whole, pending);
      await deps.invitations.confirm(mapWallets(first.wallets));
    },
  });
  return { outcome, held: first.held };
}

/**
 * Without the ledger it is not known which invited people a payment of this roster included.
 * @throws PoolError `pay_run_conflict`
 */
async function assertUnknown(plan: PayRun, { client }: Pick<ClaimDeps, 'client'>): Promise<void> {
  const name = { payRun: plan.payRun, digest: computePayRunDigest(plan) };
  if (await hasAnyPayment(name, plan.entries.length, client)) {
    throw createOlder(plan);
  }
}

/** The dry run of the first payment. Signs in to the platform, to read what became of the links. @returns the exit code */
export async function runDryInvited(
  payer: Pick<Payer, 'ledger' | 'withChecks' | 'invitations'>,
  plan: SplitPlan,
  {
    until,
    mustBeConfirmed,
    ...options
  }: DryRunOptions & Pick<StandingDeps, 'mustBeConfirmed'> & { readonly until: string },
  output: Output,
): Promise<number> {
  const unit = { symbol: plan.token, decimals: options.decimals };
  const sameToken = (await listAllPayRuns(payer.ledger)).filter(
    ({ chain, token }) => chain === plan.chain && token === plan.token,
  );
  const record = sameToken.find(({ payRun }) => payRun === plan.payRun)?.record;
  const sent = new Set(
    sameToken.flatMap(({ payRun, record: one }) =>
      isFixed(one) && !isGivenUp(one) ? [payRun] : [],
    ),
  );
  const { readStates } = payer.invitations;
  const first = await payer.withChecks(({ validate }) =>
    planFirstRound(plan, until, record, {
      ...{ readStates, validate, mustBeConfirmed },
      listLive: async ({ rounds }) =>
        new Set(
          Array.from({ length: rounds }, (_, index) => index + 1).filter((round) =>
            sent.has(nameOfRound(plan, round).payRun),
          ),
        ),
    }),
  );
  const beside = { until, heldBack: listHeld(first.held) };
  let code: number = exitCodes.ok;
  if (first.plan.entries.length > 0) {
    code = await runDry(payer, first.plan, { ...options, split: true, beside }, output);
  } else if (options.json === true) {
    output.out({ ok: true, payRun: plan.payRun, parts: [], ...beside });
  } else {
    output.out('dry run: nobody can be paid now');
  }
  if (options.json !== true) {
    const wallets = describeWallets(first.wallets, unit);
    output.out([...wallets, ...describeHeldBack(first.held, until, plan.payRun, unit)].join('\n'));
  }
  return code === exitCodes.ok && first.held.length > 0 ? exitCodes.someUnpaid : code;
}

/** @returns the exit code */
export function reportFirstRound(
  plan: PayRun,
  until: string,
  { outcome, held }: InvitedOutcome,
  unit: TokenUnit,
  { json, out }: Pick<Output, 'out'> & { readonly json: boolean | undefined },
): number {
  const { payRun, chain, token } = plan;
  const shown = outcome ?? { parts: [] };
  out(
    json === true
      ? { ...createSplitDocument(plan, shown), until, heldBack: listHeld(held) }
      : [
          outcome === undefined
            ? `pay run ${payRun} on ${chain}: nobody can be paid in ${token} now`
            : describeSplit(plan, outcome, unit.decimals),
          ...describeHeldBack(held, until, payRun, unit),
        ].join('\n'),
  );
  const code = outcome === undefined ? exitCodes.ok : exitCodeOfSplit(outcome);
  return code === exitCodes.ok && held.length > 0 ? exitCodes.someUnpaid : code;
}

export function describeHeldBack(
  held: readonly InvitedStanding[],
  until: string,
  payRun: string,
  unit: TokenUnit,
): readonly string[] {
  return held.length === 0
    ? ['nobody is held back']
    : [
        `${held.length} held back until ${until}: "disburse-agent pay-runs resume '${payRun}'" pays those who have enrolled`,
        ...describeHeld(held, unit),
      ];
}

function refuse(message: string): PoolError {
  return new PoolError('invalid_request', message);
}
