/**
 * How much coin the relayer of a chain may spend in 24 hours, whoever caused it (docs/decisions/0009). The limits per employer and
 * holder bound what one of them takes; accounts cost nothing, so only a total bounds the relayer. As in gas-budget.ts there is no
 * counter: the sum is read from the stored rows. Each transaction counts with the most that it offered for its gas.
 *
 * Spends of holders and settlements of employers without an edge token of the operator, here `others`, have a share of the total, so
 * that the settlements of customers always have the rest.
 *
 * @module
 */

import type { PlatformDatabase } from '@pool/database';
import { lockName } from '@pool/database';
import type { SignedTransaction } from '@pool/evm-sender';
import {
  assertGasLeft,
  chargePerNonce,
  type GasCharge,
  isCustomer,
  selectSent,
  selectUnsent,
} from './gas-budget.ts';

/** Ten employers who use up their gas, and all spends of holders, at 1 gwei. */
export const defaultDailyWei = 2n * 10n ** 18n;

/** Of a total. From here on the log and the health warn. */
const nearShare = 0.8;

export type RelayerTotal = {
  readonly dailyWei: bigint;
  /** What a transaction would offer now per unit of gas. Undefined: not known yet; the check before signing still holds. */
  readonly feeWei: bigint | undefined;
};

/** In gwei, so that sums stay exact numbers. */
export type TotalUse = {
  readonly usedGwei: number;
  readonly dailyGwei: number;
  /** Of `othersDailyGwei`. */
  readonly othersGwei: number;
  readonly othersDailyGwei: number;
};

type TotalQuestion = {
  readonly chain: string;
  /** Gas of the submission to be accepted. */
  readonly neededGas: number;
  /** The row of the same key that the new one replaces or retries. */
  readonly instead: number | undefined;
  /** Whether a customer's settlement asks. */
  readonly isCustomer: boolean;
};

/** Of customers, or of all others, in gwei. */
type Use = {
  readonly charges: readonly GasCharge[];
  /** Of what is accepted and not sent yet. */
  readonly reserved: number;
};
type Uses = { readonly customers: Use; readonly others: Use };

/**
 * Must run in the transaction that stores the row: submissions of one chain are counted one after the other.
 * @throws PoolError `gas_budget_exceeded` (429) with `retryAfterSeconds`
 */
export async function assertTotalLeft(
  trx: PlatformDatabase,
  { chain, neededGas, instead, isCustomer: mayUseAll }: TotalQuestion,
  { dailyWei, feeWei = 0n }: RelayerTotal,
  nowMs: number,
): Promise<void> {
  await lockTotal(trx, chain);
  const uses = await selectUses(trx, chain, instead, feeWei, nowMs);
  const needed = toGwei(neededGas, feeWei);
  assertCoinLeft(uses, { needed, dailyWei, nowMs }, mayUseAll, 'not accepted now');
}

/** First in a transaction that counts and adds: relayers of several keys, and new submissions, are counted one after the other. */
export async function lockTotal(trx: PlatformDatabase, chain: string): Promise<void> {
  await lockName(trx, `coin of the relayer on ${chain}`);
}

/**
 * The last check before a transaction is stored and sent: fees may have risen since its submission was accepted.
 * @throws PoolError `gas_budget_exceeded`
 */
export async function assertMaySign(
  trx: PlatformDatabase,
  chain: string,
  submissionId: number,
  { gasLimit, maxFeePerGas }: SignedTransaction,
  dailyWei: bigint,
  nowMs: number,
): Promise<void> {
  const { customers, others } = await selectUses(trx, chain, undefined, maxFeePerGas, nowMs);
  // What is only reserved is not sent before this one.
  const sent = { customers: { ...customers, reserved: 0 }, others: { ...others, reserved: 0 } };
  const asked = { needed: toGwei(Number(gasLimit), maxFeePerGas), dailyWei, nowMs };
  assertCoinLeft(sent, asked, await isOfCustomer(trx, submissionId), 'not sent now');
}

/** @throws PoolError `gas_budget_exceeded` for others whose share is used up, and for all when the total is */
function assertCoinLeft(
  { customers, others }: Uses,
  { needed, dailyWei, nowMs }: { needed: number; dailyWei: bigint; nowMs: number },
  mayUseAll: boolean,
  what: string,
): void {
  if (!mayUseAll) {
    const dailyGas = shareOfOthers(dailyWei);
    const { charges, reserved: outstanding } = others;
    assertGasLeft({ charges, outstanding, needed, dailyGas, nowMs }, describeShare(what));
  }
  const outstanding = customers.reserved + countOthers(others, dailyWei);
  const dailyGas = toGwei(1, dailyWei);
  const { charges } = customers;
  assertGasLeft({ charges, outstanding, needed, dailyGas, nowMs }, describeTotal(what));
}

/** What is used and reserved now. */
export async function readTotalUse(
  db: PlatformDatabase,
  chain: string,
  { dailyWei, feeWei = 0n }: RelayerTotal,
  nowMs: number,
): Promise<TotalUse> {
  const { customers, others } = await selectUses(db, chain, undefined, feeWei, nowMs);
  const othersGwei = countOthers(others, dailyWei);
  return {
    usedGwei: sumOf(customers.charges) + customers.reserved + othersGwei,
    dailyGwei: toGwei(1, dailyWei),
    othersGwei,
    othersDailyGwei: shareOfOthers(dailyWei),
  };
}

export function isNearTotal({ usedGwei, dailyGwei }: TotalUse): boolean {
  return usedGwei >= dailyGwei * nearShare;
}

export function isShareNear({ othersGwei, othersDailyGwei }: TotalUse): boolean {
  return othersGwei >= othersDailyGwei * nearShare;
}

/** What is reserved for others counts up to their share, since nothing is sent above it: fees that rise take nothing from customers. */
function countOthers({ charges, reserved }: Use, dailyWei: bigint): number {
  const sent = sumOf(charges);
  return Math.max(sent, Math.min(sent + reserved, shareOfOthers(dailyWei)));
}

function shareOfOthers(dailyWei: bigint): number {
  return toGwei(1, dailyWei / 2n);
}

function sumOf(charges: readonly GasCharge[]): number {
  return charges.reduce((sum, { gas }) => sum + gas, 0);
}

async function isOfCustomer(db: PlatformDatabase, submissionId: number): Promise<boolean> {
  const { employer_id } = await db
    .selectFrom('submissions')
    .select('employer_id')
    .where('id', '=', submissionId)
    .executeTakeFirstOrThrow();
  return employer_id !== null && (await isCustomer(db, employer_id));
}

async function selectUses(
  db: PlatformDatabase,
  chain: string,
  instead: number | undefined,
  feeWei: bigint,
  nowMs: number,
): Promise<Uses> {
  const sent = (await selectSent(db, { chain }, nowMs)).map(
    ({ max_fee_wei, gas_limit, gas_used, ...row }) => {
      const fee = max_fee_wei === null ? feeWei : BigInt(max_fee_wei);
      const cost = (gas: number | null) => (gas === null ? null : toGwei(gas, fee));
      return { ...row, gas_limit: cost(gas_limit), gas_used: cost(gas_used) };
    },
  );
  const unsent = await selectUnsent(db, { chain, instead }, nowMs);
  const useOf = (areOthers: boolean): Use => ({
    charges: chargePerNonce(sent.filter(({ others }) => others === areOthers)),
    reserved: toGwei(
      unsent.reduce((sum, { others, gas }) => (others === areOthers ? sum + gas : sum), 0),
      feeWei,
    ),
  });
  return { customers: useOf(false), others: useOf(true) };
}

/** Rounded up. */
function toGwei(gas: number, weiPerGas: bigint): number {
  return Number((BigInt(gas) * weiPerGas + 999_999_999n) / 1_000_000_000n);
}

function describeTotal(what: string): string {
  return `${what}: the relayer has used the coin that it may spend on this chain in 24 hours (PLATFORM_RELAYER_DAILY_COIN); try again later, or ask the operator of the platform`;
}

function describeShare(what: string): string {
  return `${what}: spends of holders, and employers to which the operator issued no edge token, have used their half of the coin that the relayer may spend on this chain in 24 hours (PLATFORM_RELAYER_DAILY_COIN); try again later; holders can withdraw with \`disburse-agent send --self-submit\``;
}
