/**
 * The checks of all parts of a pay run before the first is sent (docs/decisions/0009, §10): somebody in the last
 * part who cannot be paid must be known before anybody in the first one is.
 *
 * @module
 */
import type { DisburseRequest } from '@pool/core';
import { preflightCodes } from '@pool/operations';
import { sumAmounts } from '../roster/roster-amount.ts';
import type { RosterEntry } from '../roster/roster-csv.ts';
import type { CheckedRequest } from '../services/agent-client.ts';
import { locateSkipped, type SkippedEntry } from './pay-run-echo.ts';
import {
  describeProblem,
  locateFinding,
  locateIssue,
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
  /** Absent: it concerns what all parts need together, or a service they all pass through. */
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
    recipients: entries.map(({ recipientAddress, amount, memo }) => ({
      recipientAddress,
      amount,
      ...(memo === undefined ? {} : { memo }),
    })),
    ...(unregistered === undefined ? {} : { unregistered }),
  };
}

export type CheckedParts = {
  /** Everything that stands against paying them, in the order of the file's lines. */
  readonly issues: readonly PartIssue[];
  /** What stops nothing, and is worth a word. */
  readonly warnings: readonly PartIssue[];
  /** Who would be left out under `unregistered: skip`. */
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
  const noteShared = (findings: readonly PartIssue[] = []): void => {
    for (const finding of findings) {
      // What all parts need together comes first and says more than what one of them needs.
      shared.set(finding.code, shared.get(finding.code) ?? finding);
    }
  };
  if (parts.length > 1) {
    const report = await validate(joinRequests(parts));
    noteShared(listObstacles(report));
    noteShared(report.issues.filter(({ code }) => code === 'invalid-amount').map(describeSum));
  }
  for (const { part, entries, request } of parts) {
    const report = await validate(request);
    noteShared(listObstacles(report));
    issues.push(...report.issues.map((issue) => ({ part, ...locateIssue(entries, issue) })));
    warnings.push(
      ...(report.preflight ?? [])
        .filter(({ severity }) => severity === 'warning')
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

/** True for what stops a payment now, although nothing is wrong with its roster. */
export function isFinding({ code }: { readonly code: string }): boolean {
  return preflightCodes.some((known) => known === code);
}

/** What would stop the part. A warning would not. */
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

/** For the funder's money alone: one payee with the sum, since the people of each part are looked up with it. */
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
