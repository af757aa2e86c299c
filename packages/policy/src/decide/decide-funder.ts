/**
 * Decisions about a funder's requests: the authorisation of a batch, its withdrawal, its permit and its token approval.
 *
 * @module
 */
import { fieldToHex } from '@pool/core';
import {
  computeApprovalScope,
  computeBatchGuardId,
  computeDay,
  computeFeeScope,
  computePayeeKey,
} from '../history/guard-id.ts';
import type { CountEntry, GuardEntry, LedgerHistory } from '../history/ledger-history.ts';
import {
  findApprovalMismatch,
  findFundMismatch,
  findPermitMismatch,
} from '../rebuild/find-mismatch.ts';
import type { RebuiltFund } from '../rebuild/rebuild-manifest.ts';
import type {
  FundAuthorizationRequest,
  PermitSignRequest,
  TokenApprovalRequest,
  VoidRequest,
} from '../requests/requests.ts';
import { maxApprovalFeeWei, readApproval } from '../requests/token-approval.ts';
import {
  checkAttempts,
  checkBatchFact,
  checkDeadline,
  checkDenial,
  checkFirstApproval,
  checkStaticRules,
  findTokenRule,
} from '../rules/check-batch.ts';
import { listBatchCounts, readRollingSum } from '../rules/check-day.ts';
import { checkGuard, createRecord, type Guarded } from '../rules/check-guard.ts';
import { listPins } from '../rules/check-payees.ts';
import { checkOrigin, checkRequest, explainMissing } from '../rules/check-request.ts';
import {
  check,
  checkLater,
  conclude,
  type DecideInput,
  type Decision,
  type Finding,
  fail,
  pass,
} from '../rules/findings.ts';

// How many token approvals a funder pays for, and how much they may cost. A caller that invents batches, or asks again under new account
// nonces, would otherwise spend the funder's coin on gas. Resets to zero count: they cost as much.

/**
 * Different account nonces and values for which one batch may be approved: zero first, the total, and zero again is three, and each may
 * have to be made again once.
 */
const maxApprovalsPerBatch = 6;

/** For a token without permits, where the policy does not say. */
const defaultApprovalsPerDay = 20;

/** Half a coin of 18 decimals, where the policy does not say. */
const defaultFeePerDayWei = 5n * 10n ** 17n;

function checkApprovals(
  { policy, ledger, nowMs }: DecideInput,
  request: TokenApprovalRequest,
  manifest: RebuiltFund,
  { entry, isRepeat }: Guarded,
): readonly Finding[] {
  const { chainId, pool, funder, batchNonce } = manifest;
  const signer = request.expectedSigner;
  const rule = policy.funders.find(({ address }) => address === signer);
  const prefix = `${computeBatchGuardId('token-approval', chainId, pool, funder, batchNonce)}/`;
  const isFew = isRepeat || ledger.countGuards(prefix) < maxApprovalsPerBatch;
  // A token with permits needs no approvals, so it has none unless the policy says so.
  const hasPermits = findTokenRule(policy, manifest)?.permit !== undefined;
  const most = rule?.maxApprovalsPerDay ?? (hasPermits ? 0 : defaultApprovalsPerDay);
  // The 24 hours contain the day, and both would wait.
  const isBelow =
    isRepeat || readRollingSum(ledger, computeApprovalScope(signer), nowMs) < BigInt(most);
  const mostWei = BigInt(rule?.maxFeePerDay ?? defaultFeePerDayWei);
  const scope = computeFeeScope(signer);
  // A replacement may cost more than what it replaces: the difference counts.
  const added = entry === undefined ? 0n : readFee(request) - ledger.countOf(entry.id, scope);
  const isCheap = added <= 0n || readRollingSum(ledger, scope, nowMs) + added <= mostWei;
  const perDay = 'approvals-per-day';
  return [
    check('approvals-per-batch', isFew, 'too-many-approvals'),
    most === 0
      ? fail(perDay, 'approvals-not-allowed')
      : checkLater(perDay, isBelow, 'approval-day-limit', `The limit is ${most}.`),
    checkLater(
      'approval-fees-per-day',
      isCheap,
      'approval-fee-limit',
      `The limit is ${mostWei} wei.`,
    ),
  ];
}

/** What the transaction may cost. A custodian that chooses the fees itself may choose the most that is signed. */
function readFee({ payload }: TokenApprovalRequest): bigint {
  const feeWei = readApproval(payload.unsignedTransaction)?.maxFeeWei ?? 0n;
  return feeWei === 0n ? maxApprovalFeeWei : feeWei;
}

/** What the ledger counts for an approval: one more, and its fee. */
function listApprovalCounts(
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

/** The authorisation that pays a batch: every rule of the policy. */
export function decideFund(input: DecideInput, request: FundAuthorizationRequest): Decision {
  const { common, manifest } = findStoredBatch(input);
  if (manifest === undefined) {
    return conclude(common, undefined);
  }
  const guarded = checkGuard(input, {});
  const { entry, isRepeat } = guarded;
  const findings = [
    ...common,
    checkMatch(findFundMismatch(request, manifest)),
    ...checkAttempts(input, manifest),
    ...checkStaticRules(input, manifest),
    ...checkDeadline(input, manifest.file.deadline, isRepeat),
    guarded.finding,
    checkDenial(input, manifest, isRepeat),
    ...(isRepeat ? [] : checkFirstApproval(input, manifest, entry?.id)),
    checkBatchFact(input),
  ];
  return conclude(
    findings,
    createRecord(guarded, manifest.manifestDigest, (guard) =>
      listFundHistory(input, manifest, guard),
    ),
  );
}

/** What the ledger stores with an approval besides the guard. */
function listFundHistory(
  input: DecideInput,
  manifest: RebuiltFund,
  { id: guardId, firstAtMs }: GuardEntry,
): Partial<LedgerHistory> {
  const { ledger, policy } = input;
  const { rosterDigest, payRunLabel: label = '' } = manifest;
  return {
    counts: ledger.hasCounted(guardId)
      ? []
      : listBatchCounts(input, manifest, findTokenRule(policy, manifest), guardId),
    pins: listPins(input, manifest),
    payees: manifest.payees.map(({ address }) => computePayeeKey(address)),
    // Of a repeat too: the first approval may be known from a custodian's history only, without its people.
    rosters: [{ rosterDigest, guardId, label, approvedAtMs: firstAtMs }],
  };
}

/** The withdrawal of a batch: always granted for a stored manifest, also when its people and seed were erased. */
export function decideVoid(input: DecideInput, request: VoidRequest): Decision {
  const { chainId, pool, funder, batchNonce } = request.payload;
  const stored = input.ledger.findBatch(chainId, pool, funder, fieldToHex(batchNonce));
  const guarded = checkGuard(input, {});
  const findings = [
    ...checkFunder(input),
    stored === undefined ? explainMissing(input) : pass('manifest'),
    guarded.finding,
  ];
  const record = stored === undefined ? undefined : createRecord(guarded, stored.manifestDigest);
  return conclude(findings, record);
}

/** A permit for the pool, of the total of a stored batch that the policy allows. People are not asked. */
export function decidePermit(input: DecideInput, request: PermitSignRequest): Decision {
  const { common, manifest } = findStoredBatch(input);
  if (manifest === undefined) {
    return conclude(common, undefined);
  }
  const { name, version } = request.payload.domain;
  const listed = findTokenRule(input.policy, manifest)?.permit;
  const guarded = checkGuard(input, { batchNonce: manifest.batchNonce });
  const findings = [
    ...common,
    checkMatch(findPermitMismatch(request, manifest)),
    ...checkStaticRules(input, manifest),
    check(
      'permit-domain',
      listed !== undefined && listed.name === name && listed.version === version,
      'permit-not-listed',
    ),
    guarded.finding,
  ];
  return conclude(findings, createRecord(guarded, manifest.manifestDigest));
}

/** `approve(pool, v)` of the total of a stored batch that the policy allows, or of zero. */
export function decideTokenApproval(input: DecideInput, request: TokenApprovalRequest): Decision {
  const { common, manifest } = findStoredBatch(input);
  if (manifest === undefined) {
    return conclude(common, undefined);
  }
  const guarded = checkGuard(input, { batchNonce: manifest.batchNonce });
  const findings = [
    ...common,
    checkMatch(findApprovalMismatch(request, manifest)),
    // Taking an allowance back harms nobody, whatever the policy says by now.
    ...(isReset(request) ? [] : checkStaticRules(input, manifest)),
    ...checkApprovals(input, request, manifest, guarded),
    guarded.finding,
  ];
  return conclude(
    findings,
    createRecord(guarded, manifest.manifestDigest, () => ({
      counts: listApprovalCounts(input, request, guarded),
    })),
  );
}

function isReset({ payload }: TokenApprovalRequest): boolean {
  return readApproval(payload.unsignedTransaction)?.value === 0n;
}

function checkFunder(input: DecideInput): readonly Finding[] {
  const { policy, request } = input;
  const funder = policy.funders.find(({ address }) => address === request.expectedSigner);
  return funder === undefined
    ? [fail('funder', 'funder-not-listed'), ...checkRequest(input)]
    : [...checkRequest(input), ...checkOrigin(input, funder)];
}

/**
 * The batch of the request, if the ledger has it. A manifest that only came with a request is not stored. Its digest covers neither seed
 * nor deadline, so the digest to sign is compared too.
 */
function findStoredBatch(input: DecideInput) {
  const { manifest, ledger } = input;
  const common = checkFunder(input);
  return manifest?.kind === 'fund' &&
    ledger.findManifest(manifest.manifestDigest)?.digest === manifest.fundDigest
    ? { common, manifest }
    : { common: [...common, explainMissing(input)], manifest: undefined };
}

function checkMatch(difference: string | undefined): Finding {
  return check(
    'follows-from-manifest',
    difference === undefined,
    'manifest-mismatch',
    `First difference: ${difference}.`,
  );
}
