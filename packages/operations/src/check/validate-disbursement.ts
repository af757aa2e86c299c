/**
 * The dry run of a disbursement, for `POST /api/validate` and for the command: all issues of the checks of `disburse`, and
 * what else would prevent the batch now (docs/decisions/0007). Proves and submits nothing.
 *
 * @module
 */
import {
  type AllowanceState,
  type EvmAddress,
  edgeTokenRefused,
  platformInvalidResponse,
  type SkippedRecipient,
} from '@pool/core';
import { loopbackCredential } from '@pool/policy';
import { collectIssues } from './check-disbursement.ts';
import type { CheckDeps, Issue, PaymentTarget } from './checks.ts';
import { describeRotation } from './key-rotations.ts';
import { observeFunds, type PreflightFinding } from './preflight.ts';

export type ValidationIssue = Issue & { readonly severity: 'error' };

export type ValidationReport = {
  /** There is no issue, and nothing else would prevent the batch. */
  readonly ok: boolean;
  readonly allowanceState: AllowanceState;
  readonly issues: readonly ValidationIssue[];
  /** Absent: there is no finding. */
  readonly preflight?: readonly PreflightFinding[];
  /** The recipients that `unregistered: skip` leaves out. Absent: none. */
  readonly skipped?: readonly SkippedRecipient[];
};

export type ValidateDeps = {
  readonly checks: CheckDeps;
  /** Undefined: no funder key is configured, so no chain is routable. */
  readonly funder: EvmAddress | undefined;
  /** The funder is a contract wallet, which gives the allowance itself. Default: no. */
  readonly approvesOutside?: boolean;
  /**
   * The services that could not handle a batch now. Never throws.
   * @param chain - key of the chain it is for; undefined: the request names no chain with a pool
   */
  readonly findOutages: (chain: string | undefined) => Promise<readonly PreflightFinding[]>;
  /**
   * What the release policy would ask of the payment. Undefined member: there is no policy.
   * @param preparedBy - the credential of the request
   */
  readonly forecastRelease?:
    | ((target: PaymentTarget, preparedBy: string) => Promise<PreflightFinding | undefined>)
    | undefined;
};

/**
 * @param body - parsed JSON, otherwise unchecked
 * @param preparedBy - the credential of the request. Default: that of the command line
 */
export async function validateDisbursement(
  body: unknown,
  deps: ValidateDeps,
  preparedBy: string = loopbackCredential,
): Promise<ValidationReport> {
  const { issues, checked, target, rotations, skipped, interrupted } = await collectIssues(
    body,
    deps.checks,
  );
  if (issues.some(({ code, requestIndex }) => code === 'invalid_request' && requestIndex < 0)) {
    return createReport({ issues, allowanceState: 'unknown', findings: [] });
  }
  const due = target && { ...target, total: checked?.total ?? target.total };
  const [funds, outages, release] = await Promise.all([
    due === undefined || deps.funder === undefined
      ? undefined
      : observeFunds(due, deps.funder, deps.approvesOutside),
    deps.findOutages(target?.context.key),
    due && deps.forecastRelease?.(due, preparedBy),
  ]);
  const findings = [
    ...(funds?.findings ?? []),
    ...outages,
    ...(release === undefined ? [] : [release]),
    ...rotations.map(describeRotation),
  ];
  const isExplained = findings.some(({ code }) => isPlatformFailure(code));
  if (interrupted !== undefined && !isExplained) {
    const { code, message } = interrupted;
    findings.push({ code: isPlatformFailure(code) ? code : 'platform_unreachable', message });
  }
  // The total lacks amounts that were refused, so an allowance that covers it may still be too small.
  const isWhole = issues.every(
    ({ code }) => code !== 'invalid-amount' && code !== 'invalid_request',
  );
  const seen = funds?.allowanceState ?? 'unknown';
  const allowanceState = isWhole || seen === 'insufficient' ? seen : 'unknown';
  return createReport({ issues, allowanceState, findings, skipped });
}

const platformFailures = [
  'platform_unreachable',
  'employer_mismatch',
  edgeTokenRefused,
  platformInvalidResponse,
] as const;

function isPlatformFailure(code: string): code is (typeof platformFailures)[number] {
  return platformFailures.some((known) => known === code);
}

/** The report on a body that is not JSON. @param message - says what to do, and does not quote the body */
export function createMalformedReport(message: string): ValidationReport {
  const issue: Issue = { requestIndex: -1, code: 'invalid_request', message };
  return createReport({ issues: [issue], allowanceState: 'unknown', findings: [] });
}

function createReport(input: {
  readonly issues: readonly Issue[];
  readonly allowanceState: AllowanceState;
  readonly findings: readonly PreflightFinding[];
  readonly skipped?: readonly SkippedRecipient[];
}): ValidationReport {
  const { issues, allowanceState, findings, skipped = [] } = input;
  return {
    ok: issues.length === 0 && findings.every(({ severity }) => severity === 'warning'),
    allowanceState,
    issues: issues.map((issue) => ({ ...issue, severity: 'error' })),
    ...(findings.length === 0 ? {} : { preflight: findings }),
    ...(skipped.length === 0 ? {} : { skipped }),
  };
}
