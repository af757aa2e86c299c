/**
 * How many token approvals a funder pays for, and how much they may cost. A caller that invents batches, or asks again under new account
 * nonces, would otherwise spend the funder's coin on gas. Resets to zero count: they cost as much.
 *
 * @module
 */
import {
  computeApprovalScope,
  computeBatchGuardId,
  computeDay,
  computeFeeScope,
} from '../history/guard-id.ts';
import type { CountEntry } from '../history/ledger-history.ts';
import type { RebuiltFund } from '../rebuild/rebuilt.ts';
import type { TokenApprovalRequest } from '../requests/requests.ts';
import { maxApprovalFeeWei, readApproval } from '../requests/token-approval.ts';
import { findTokenRule } from './check-batch.ts';
import type { Guarded } from './check-guard.ts';
import { readRollingSum } from './check-sums.ts';
import type { DecideInput } from './decision.ts';
import { check, type Finding, fail, pass, wait } from './findings.ts';

/**
 * Different account nonces and values for which one batch may be approved: zero first, the total, and zero again is three, and each may
 * have to be made again once.
 */
const maxApprovalsPerBatch = 6;

/** For a token without permits, where the policy does not say. */
const defaultApprovalsPerDay = 20;

/** Half a coin of 18 decimals, where the policy does not say. */
const defaultFeePerDayWei = 5n * 10n ** 17n;

export function checkApprovals(
  input: DecideInput,
  request: TokenApprovalRequest,
  manifest: RebuiltFund,
  guarded: Guarded,
): readonly Finding[] {
  return [
    checkCountOfBatch(input, manifest, guarded),
    checkCountOfDay(input, manifest, guarded),
    checkFees(input, request, guarded),
  ];
}

function checkCountOfBatch(
  { ledger }: DecideInput,
  { chainId, pool, funder, batchNonce }: RebuiltFund,
  { isRepeat }: Guarded,
): Finding {
  const prefix = `${computeBatchGuardId('token-approval', chainId, pool, funder, batchNonce)}/`;
  const isFew = isRepeat || ledger.countGuards(prefix) < maxApprovalsPerBatch;
  return check('approvals-per-batch', isFew, 'too-many-approvals');
}

/** A token with permits needs no approvals, so it has none unless the policy says so. */
function checkCountOfDay(
  { policy, ledger, request, nowMs }: DecideInput,
  manifest: RebuiltFund,
  { isRepeat }: Guarded,
): Finding {
  const rule = 'approvals-per-day';
  const funder = policy.funders.find(({ address }) => address === request.expectedSigner);
  const hasPermits = findTokenRule(policy, manifest)?.permit !== undefined;
  const most = funder?.maxApprovalsPerDay ?? (hasPermits ? 0 : defaultApprovalsPerDay);
  if (most === 0) {
    return fail(rule, 'approvals-not-allowed');
  }
  const scope = computeApprovalScope(request.expectedSigner);
  // The 24 hours contain the day, and both would wait.
  return isRepeat || readRollingSum(ledger, scope, nowMs) < BigInt(most)
    ? pass(rule)
    : wait(rule, 'approval-day-limit', `The limit is ${most}.`);
}

/** A replacement may cost more than what it replaces: the difference counts. */
function checkFees(
  { policy, ledger, nowMs }: DecideInput,
  request: TokenApprovalRequest,
  { entry }: Guarded,
): Finding {
  const rule = 'approval-fees-per-day';
  const funder = policy.funders.find(({ address }) => address === request.expectedSigner);
  const most = BigInt(funder?.maxFeePerDay ?? defaultFeePerDayWei);
  const scope = computeFeeScope(request.expectedSigner);
  const added = entry === undefined ? 0n : readFee(request) - ledger.countOf(entry.id, scope);
  return added <= 0n || readRollingSum(ledger, scope, nowMs) + added <= most
    ? pass(rule)
    : wait(rule, 'approval-fee-limit', `The limit is ${most} wei.`);
}

/** What the transaction may cost. A custodian that chooses the fees itself may choose the most that is signed. */
function readFee({ payload }: TokenApprovalRequest): bigint {
  const feeWei = readApproval(payload.unsignedTransaction)?.maxFeeWei ?? 0n;
  return feeWei === 0n ? maxApprovalFeeWei : feeWei;
}

/** What the ledger counts for an approval: one more, and its fee. */
export function listApprovalCounts(
  { ledger, nowMs }: DecideInput,
  request: TokenApprovalRequest,
  { entry, isRepeat }: Guarded,
): readonly CountEntry[] {
  if (entry === undefined) {
    return [];
  }
  const funder = request.expectedSigner;
  const common = { guardId: entry.id, day: computeDay(nowMs), atMs: nowMs };
  const [fee, scope] = [readFee(request), computeFeeScope(funder)];
  return [
    ...(isRepeat ? [] : [{ ...common, scope: computeApprovalScope(funder), amount: 1n }]),
    ...(fee > ledger.countOf(entry.id, scope) ? [{ ...common, scope, amount: fee }] : []),
  ];
}
