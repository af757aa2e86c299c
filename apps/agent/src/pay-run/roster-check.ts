/**
 * Checks the recipients of a roster before anything is sent: by the running agent, or in this process for a dry run
 * (docs/decisions/0008).
 *
 * @module
 */
import { isPoolError } from '@pool/core';
import type { Roster } from '../roster/roster-csv.ts';
import { createRequest, type Validate } from './check-parts.ts';
import type { PayRun } from './pay-run-key.ts';
import { locateFinding, mergeProblems, type RosterProblem } from './roster-problems.ts';

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
