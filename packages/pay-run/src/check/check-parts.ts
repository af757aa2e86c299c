/**
 * The checks of all parts of a pay run before the first is sent (docs/decisions/0008). A recipient of the last part who
 * cannot be paid must be known before the first part is paid.
 *
 * @module
 */
import { type DisburseRequest, isPoolError } from '@pool/core';
import { preflightCodes } from '@pool/operations';
import type { PayRun } from '../ledger/pay-run-key.ts';
import type { CheckedRequest } from '../ports.ts';
import { sumAmounts } from '../roster/roster-amount.ts';
import type { Roster, RosterEntry } from '../roster/roster-csv.ts';
import { locateSkipped, type SkippedEntry } from './pay-run-echo.ts';
import {
  describeProblem,
  locateFinding,
  locateIssue,
  mergeProblems,
  type RosterProblem,
  sortProblems,
} from './roster-problems.ts';

export type UncheckedPart = {
  readonly part: number;
  readonly entries: readonly RosterEntry[];
  /** Of these entries. */
  readonly request: DisburseRequest;
};

export type PartIssue = RosterProblem & {
  /** Absent: it concerns the funds of all parts together, or a service that all parts use. */
  readonly part?: number;
};

export type Validate = (request: DisburseRequest) => Promise<CheckedRequest>;

/** The body of one part, or of a roster that is paid whole. */
export function createRequest(
  place: { readonly chain: string; readonly token: string },
  entries: readonly RosterEntry[],
  unregistered: 'fail' | 'skip' | undefined,
): DisburseRequest {
  const { chain, token } = place;
  return {
    token,
    chain,
    recipients: entries.map(({ line: _line, ...recipient }) => recipient),
    ...(unregistered === undefined ? {} : { unregistered }),
  };
}

export type CheckedParts = {
  /** Everything that prevents the payment, in the order of the lines of the file. */
  readonly issues: readonly PartIssue[];
  /** What the operator should know and does not prevent the payment. */
  readonly warnings: readonly PartIssue[];
  /** Recipients that `unregistered: skip` leaves out. */
  readonly skipped: readonly SkippedEntry[];
};

export async function checkParts(
  parts: readonly UncheckedPart[],
  validate: Validate,
): Promise<CheckedParts> {
  const shared = new Map<string, PartIssue>();
  const issues: PartIssue[] = [];
  const warnings: PartIssue[] = [];
  const skipped: SkippedEntry[] = [];
  const keepShared = (findings: readonly PartIssue[] = []): void => {
    for (const finding of findings) {
      // A finding about all parts together comes first, and replaces the same finding about one part.
      shared.set(finding.code, shared.get(finding.code) ?? finding);
    }
  };
  if (parts.length > 1) {
    const report = await validate(joinRequests(parts));
    // Parts that were prepared before count with the next one, so the sum says which rule the last part reaches.
    warnings.push(...listWarnings(report).filter(({ code }) => code === sharedWarning));
    keepShared(listObstacles(report));
    keepShared(report.issues.filter(({ code }) => code === 'invalid-amount').map(describeSum));
  }
  for (const { part, entries, request } of parts) {
    const report = await validate(request);
    keepShared(listObstacles(report));
    issues.push(...report.issues.map((issue) => ({ part, ...locateIssue(entries, issue) })));
    warnings.push(
      ...listWarnings(report)
        .filter(({ code }) => parts.length === 1 || code !== sharedWarning)
        .map((finding) => ({ part, ...locateFinding(entries, finding) })),
    );
    skipped.push(...locateSkipped(entries, report.skipped));
  }
  return {
    issues: [...sortProblems(issues), ...shared.values()],
    warnings: sortProblems(warnings),
    skipped: sortProblems(skipped),
  };
}

/** True for what prevents a payment now, although nothing is wrong with its roster. */
export function isFinding({ code }: { readonly code: string }): boolean {
  return preflightCodes.some((known) => known === code);
}

/** It concerns the amounts of all parts together. */
const sharedWarning = 'release_required';

function listWarnings({ preflight = [] }: CheckedRequest): readonly PartIssue[] {
  return preflight
    .filter(({ severity }) => severity === 'warning')
    .map(({ code, message }) => ({ code, message }));
}

/** What prevents the part now. Warnings are not listed. */
function listObstacles({ preflight = [] }: CheckedRequest): readonly PartIssue[] {
  return preflight
    .filter(({ severity }) => severity !== 'warning')
    .map(({ code, message }) => ({ code, message }));
}

/** One line for people. */
export function describeIssue({ part, ...problem }: PartIssue): string {
  const where = part === undefined ? '' : `part ${part}${problem.line === undefined ? ':' : ','} `;
  return `${where}${describeProblem(problem)}`;
}

/** For the check of the funder's money: one recipient with the sum. Each part looks up its own recipients. */
function joinRequests(parts: readonly UncheckedPart[]): DisburseRequest {
  const [first] = parts;
  const { token, chain } = first?.request ?? { token: '' };
  const recipientAddress = first?.entries[0]?.recipientAddress ?? '';
  const amount = sumAmounts(parts.flatMap(({ entries }) => entries)).toString();
  return {
    token,
    ...(chain === undefined ? {} : { chain }),
    recipients: [{ recipientAddress, amount }],
  };
}

function describeSum({ code }: { readonly code: string }): PartIssue {
  return { code, message: 'the amounts of all parts together exceed 2^128-1 base units' };
}

type Place = Pick<PayRun, 'chain' | 'token'> & {
  readonly unregistered?: 'fail' | 'skip' | undefined;
  /** The roster is sent in parts, so it may be longer than one call allows. */
  readonly isSplit: boolean;
};

/**
 * Every problem of a roster whose file has mistakes. The list includes the recipients who are not registered, so that the
 * operator has to correct the file only once.
 */
export async function explainMistakes(
  { entries, mistakes }: Roster,
  place: Place,
  validate: Validate,
): Promise<readonly RosterProblem[]> {
  if (entries.length === 0) {
    return mistakes;
  }
  try {
    const report = await validate(createRequest(place, entries, place.unregistered));
    const issues = place.isSplit
      ? report.issues.filter(({ code }) => code !== 'batch-too-large')
      : report.issues;
    // A warning prevents nothing. A run without problems prints it.
    const obstacles = (report.preflight ?? [])
      .filter(({ severity }) => severity !== 'warning')
      .map((finding) => locateFinding(entries, finding));
    return [...mergeProblems(entries, mistakes, issues), ...obstacles];
  } catch (error) {
    if (!isPoolError(error)) {
      throw error;
    }
    const { code, message } = error;
    return [...mistakes, { code, message: `registration was not checked: ${message}` }];
  }
}
