/**
 * The questions of `--dry-run`, asked before a payment is sent: the checks of the running agent, and what would prevent
 * the batch although nothing is wrong with the roster (docs/decisions/0008).
 *
 * @module
 */
import { type DisburseRequest, PoolError } from '@pool/core';
import type { AgentClient, Terminal } from '../ports.ts';
import type { RosterEntry } from '../roster/roster-csv.ts';
import { locateSkipped, type SkippedEntry } from './pay-run-echo.ts';
import {
  createRosterError,
  describeProblem,
  locateFinding,
  mergeProblems,
  type RosterProblem,
} from './roster-problems.ts';

/**
 * Findings that do not prevent a payment: a read that failed says nothing about the payment, and the agent waits for what
 * it needs. `platform_unreachable`: the submission asks the platform again, and is refused if that does not answer.
 */
const unreadCodes: readonly string[] = ['chain_unreachable', 'platform_unreachable'];

/**
 * @param entries - of the request, in its order
 * @returns the recipients that would be skipped
 * @throws PoolError `invalid_roster` with every problem of the roster, `payment_blocked` with all other problems
 */
export async function askFirst(
  entries: readonly RosterEntry[],
  request: DisburseRequest,
  {
    client,
    terminal,
  }: { readonly client: Pick<AgentClient, 'validate'>; readonly terminal: Terminal },
): Promise<readonly SkippedEntry[]> {
  const { issues, preflight = [], skipped } = await client.validate(request);
  const problems = mergeProblems(entries, [], issues);
  if (problems.length > 0) {
    throw createRosterError(problems);
  }
  const blocking = preflight.filter(
    ({ code, severity }) => severity !== 'warning' && !unreadCodes.includes(code),
  );
  if (blocking.length > 0) {
    throw createBlocked(blocking.map((finding) => locateFinding(entries, finding)));
  }
  for (const finding of preflight) {
    terminal.write(`warning: ${describeProblem(locateFinding(entries, finding))}\n`);
  }
  return locateSkipped(entries, skipped);
}

function createBlocked(findings: readonly RosterProblem[]): PoolError {
  return new PoolError(
    'payment_blocked',
    [
      'nothing was sent: the roster can be paid, but not now',
      ...findings.map(describeProblem),
      'run the same command again when this is corrected',
    ].join('\n'),
  );
}
