/**
 * The checks of all parts of a pay run before the first is sent (docs/decisions/0009): somebody in the last
 * part who cannot be paid must be known before anybody in the first one is.
 *
 * @module
 */
import type { DisburseRequest } from '@pool/core';
import type { CheckedRequest } from './agent-client.ts';
import type { RosterEntry } from './roster-csv.ts';

export type UncheckedPart = { readonly part: number; readonly request: DisburseRequest };

export type PartIssue = {
  /** Absent: it concerns what all parts need together, or a service they all pass through. */
  readonly part?: number;
  readonly recipientAddress?: string;
  readonly code: string;
  readonly message: string;
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
    recipients: entries.map((entry) => ({ ...entry })),
    ...(unregistered === undefined ? {} : { unregistered }),
  };
}

/** Everything that stands against paying these parts. */
export async function checkParts(
  parts: readonly UncheckedPart[],
  validate: Validate,
): Promise<readonly PartIssue[]> {
  const shared = new Map<string, PartIssue>();
  const issues: PartIssue[] = [];
  const noteShared = (findings: readonly PartIssue[] = []): void => {
    for (const finding of findings) {
      // What all parts need together comes first and says more than what one of them needs.
      shared.set(finding.code, shared.get(finding.code) ?? finding);
    }
  };
  if (parts.length > 1) {
    const report = await validate(joinRequests(parts));
    noteShared(listObstacles(report));
    noteShared(report.issues.filter(({ code }) => code === 'invalid_request').map(stripIndex));
  }
  for (const { part, request } of parts) {
    const report = await validate(request);
    noteShared(listObstacles(report));
    for (const issue of report.issues) {
      const recipientAddress = request.recipients[issue.requestIndex]?.recipientAddress;
      issues.push({
        part,
        ...(recipientAddress === undefined ? {} : { recipientAddress }),
        ...stripIndex(issue),
      });
    }
  }
  return [...issues, ...shared.values()];
}

/** What would stop the part. A warning would not. */
function listObstacles({ preflight = [] }: CheckedRequest): readonly PartIssue[] {
  return preflight
    .filter(({ severity }) => severity !== 'warning')
    .map(({ code, message }) => ({ code, message }));
}

/** One line for people. */
export function describeIssue({ part, recipientAddress, code, message }: PartIssue): string {
  const where = part === undefined ? [] : [`part ${part}`];
  return [
    ...where,
    ...(recipientAddress === undefined ? [] : [recipientAddress]),
    code,
    message,
  ].join(': ');
}

/** For the funder's money alone: a list that is too long is not asked about its people. */
function joinRequests(parts: readonly UncheckedPart[]): DisburseRequest {
  const recipients = parts.flatMap(({ request }) =>
    request.recipients.map(({ recipientAddress, amount }) => ({ recipientAddress, amount })),
  );
  const { token, chain } = parts[0]?.request ?? { token: '' };
  return { token, ...(chain === undefined ? {} : { chain }), recipients };
}

/** Positions within a part mean nothing to whoever wrote the file. */
function stripIndex({ code, message }: { code: string; message: string }): PartIssue {
  return { code, message: message.replace(/^recipients\[[0-9]+\]: /, '') };
}
