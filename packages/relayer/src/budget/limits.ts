/**
 * Limits of new settlements and spends (docs/decisions/0006; 0009; 0011): a deadline must be near, and gas must be left for the
 * employer or the holder, for all who are limited together, and for the chain. There is no counter: the sums are read from the rows
 * (gas-budget.ts). They do not apply to replays, which are answered from the stored row.
 *
 * @module
 */
import type { SettlementRequest } from '@pool/api';
import { computeFundGasCeiling, computeSpendGasCeiling, voidGasCeiling } from '@pool/contracts';
import { PoolError, type SpendCircuit } from '@pool/core';
import { lockEmployer, lockName, type PlatformDatabase } from '@pool/database';
import { askChain } from '@pool/evm-sender';
import type { PoolChain } from '../chain/pool-chain.ts';
import type { SubmissionKind } from '../store/submissions.ts';
import { assertGasLeft, type Counted, isCustomer, selectUse } from './gas-budget.ts';
import { assertTotalLeft, type RelayerTotal } from './relayer-total.ts';

/** Agents sign for 60 minutes, rounded up to 15; the rest is for clocks that differ. */
export const authorisationSeconds = 7_200;

/** Agents sign for 15 minutes, rounded up to a quarter of an hour; the rest is for clocks that differ. */
export const spendSeconds = 3_600;

/**
 * 150 batches of 256 slots: 38,400 people paid by one employer in a day, at 1 gwei for a tenth of the chain's coin. At most
 * 28 accepted ones wait at once, each with all that a hostile contract could make of it.
 */
export const defaultEmployerDailyGas = 100_000_000;

/** One batch at a time, and two or three small ones in a day. */
export const defaultSelfEnrolledDailyGas = 4_000_000;

/** 41 withdrawals of 2 inputs, or 25 transfers of 16; 21 of the small ones may wait at once. */
export const defaultHolderDailyGas = 20_000_000;

/** About 1,000 spends in a day; at 1 gwei half of the chain's coin. */
export const defaultSpendsDailyGas = 500_000_000;

type Limits = {
  /** Gas of a chain's relayer that one employer or holder may take in 24 hours. */
  readonly dailyGas: number;
  /** How far ahead a deadline may lie. */
  readonly deadlineSeconds: number;
  /** What the relayer of a chain may spend for everybody together. Absent: no limit, in tests only. */
  readonly totalOf?: (chain: string) => RelayerTotal;
};

export type SettlementLimits = Limits & {
  /** `dailyGas` of an employer without a live edge token of the operator. All of them together may take `dailyGas`. */
  readonly selfEnrolledDailyGas: number;
};

export type SpendLimits = Limits & {
  /** Gas of a chain's relayer that all holders together may take in 24 hours. */
  readonly dailyGasOfAll: number;
};

export const defaultSettlementLimits: SettlementLimits = {
  dailyGas: defaultEmployerDailyGas,
  selfEnrolledDailyGas: defaultSelfEnrolledDailyGas,
  deadlineSeconds: authorisationSeconds,
};

export const defaultSpendLimits: SpendLimits = {
  dailyGas: defaultHolderDailyGas,
  dailyGasOfAll: defaultSpendsDailyGas,
  deadlineSeconds: spendSeconds,
};

/** What the deadline of a settlement or a spend follows from. */
const agentVariables = {
  settlement: 'DISBURSE_VOTE_LIMIT_SECONDS, DISBURSE_BATCH_DEADLINE_SECONDS',
  spend: 'DISBURSE_HOLDER_VOTE_LIMIT_SECONDS',
} as const;

/**
 * Reads the chain only when the deadline is too far by our own clock: the chain's clock may be ahead.
 * @throws PoolError `deadline_too_far` (400), `chain_unreachable` (503)
 */
export async function assertDeadline(
  chain: PoolChain,
  deadline: number,
  { deadlineSeconds }: Pick<Limits, 'deadlineSeconds'>,
  nowMs: number,
  what: SubmissionKind = 'settlement',
): Promise<void> {
  if (deadline <= nowMs / 1_000 + deadlineSeconds) {
    return;
  }
  if (deadline > (await askChain(() => chain.fetchHeadTimestamp())) + deadlineSeconds) {
    throw new PoolError(
      'deadline_too_far',
      `${what} refused: its deadline lies more than ${deadlineSeconds} seconds ahead, the most that this platform accepts; sign for less time (${agentVariables[what]} of the agent), or have its operator raise PLATFORM_VOTE_LIMIT_SECONDS`,
    );
  }
}

/** Gas that the `fund()` of a batch may use. The withdrawal comes on top. */
export function computeReserve(size: number): number {
  return Number(computeFundGasCeiling(size));
}

/**
 * Must run in the transaction that stores the row: settlements of one employer are counted one after the other.
 * @param instead - row of the same key that this one follows or retries
 * @returns gas to store with the row
 * @throws PoolError `gas_budget_exceeded` (429, retryable)
 */
export async function reserveGas(
  trx: PlatformDatabase,
  employerId: string,
  { chain, batch }: Pick<SettlementRequest, 'chain' | 'batch'>,
  instead: number | undefined,
  limits: SettlementLimits,
  nowMs: number,
): Promise<number> {
  await lockEmployer(trx, employerId);
  const { dailyGas, selfEnrolledDailyGas } = limits;
  const gas = computeReserve(batch.commitments.length);
  const isOfCustomer = await isCustomer(trx, employerId);
  if (!isOfCustomer) {
    // An account costs nothing: without a limit for all of them together, many accounts take what one must not take.
    await lockName(trx, `gas of self-enrolled employers on ${chain}`);
  }
  const rules: Rule[] = isOfCustomer
    ? [
        {
          ...{ of: { owner: employerId }, dailyGas },
          reason: `this employer has used its ${dailyGas} gas for 24 hours on this chain; the agent tries again later, or the operator of the platform raises PLATFORM_EMPLOYER_DAILY_GAS`,
        },
      ]
    : [
        {
          ...{ of: { owner: employerId }, dailyGas: selfEnrolledDailyGas },
          reason: `an employer to which the operator issued no edge token has ${selfEnrolledDailyGas} gas for 24 hours on this chain (PLATFORM_SELF_ENROLLED_DAILY_GAS), and this one needs more; ask the operator of the platform for an edge token`,
        },
        {
          ...{ of: { isWithoutToken: true }, dailyGas },
          reason: `all employers to which the operator issued no edge token have used their ${dailyGas} gas for 24 hours on this chain (PLATFORM_EMPLOYER_DAILY_GAS); ask the operator of the platform for an edge token`,
        },
      ];
  const needed = gas + Number(voidGasCeiling);
  const asked = { chain, kind: 'settlement', instead } as const;
  await assertRules(trx, asked, needed, rules, limits, isOfCustomer, nowMs);
  return gas;
}

const withoutRelayer =
  'or withdraw with `disburse-agent send --self-submit`: anybody may call the spend of the pool';

/** As {@link reserveGas}: spends of one chain are counted one after the other. */
export async function reserveSpendGas(
  trx: PlatformDatabase,
  holder: string,
  { chain, circuit }: { readonly chain: string; readonly circuit: SpendCircuit },
  instead: number | undefined,
  limits: SpendLimits,
  nowMs: number,
): Promise<number> {
  await lockName(trx, `gas of spends on ${chain}`);
  const { dailyGas, dailyGasOfAll } = limits;
  const gas = Number(computeSpendGasCeiling(circuit));
  const rules: Rule[] = [
    {
      ...{ of: { owner: holder }, dailyGas },
      reason: `this holder has used its ${dailyGas} gas for 24 hours on this chain; try again later, ${withoutRelayer}`,
    },
    {
      ...{ of: {}, dailyGas: dailyGasOfAll },
      reason: `all holders together have used the ${dailyGasOfAll} gas that the relayer has for spends in 24 hours on this chain (PLATFORM_SPENDS_DAILY_GAS); try again later, ${withoutRelayer}`,
    },
  ];
  await assertRules(trx, { chain, kind: 'spend', instead }, gas, rules, limits, false, nowMs);
  return gas;
}

/** How much gas those who are counted together may take in 24 hours. */
type Rule = {
  readonly of: Pick<Counted, 'owner' | 'isWithoutToken'>;
  readonly dailyGas: number;
  readonly reason: string;
};

async function assertRules(
  trx: PlatformDatabase,
  asked: Pick<Counted, 'chain' | 'instead'> & { readonly kind: SubmissionKind },
  needed: number,
  rules: readonly Rule[],
  { totalOf }: Limits,
  isOfCustomer: boolean,
  nowMs: number,
): Promise<void> {
  const { chain, kind, instead } = asked;
  for (const { of, dailyGas, reason } of rules) {
    const use = await selectUse(trx, { ...asked, ...of }, nowMs);
    assertGasLeft({ ...use, needed, dailyGas, nowMs }, `${kind} not accepted now: ${reason}`);
  }
  const total = totalOf?.(chain);
  if (total !== undefined) {
    const question = { chain, neededGas: needed, instead, isCustomer: isOfCustomer };
    await assertTotalLeft(trx, question, total, nowMs);
  }
}
