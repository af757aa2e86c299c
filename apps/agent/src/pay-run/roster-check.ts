/**
 * Has the people of a roster checked before anything is sent: by the running agent, or in this process for a dry run.
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
  /** The roster is cut, so that it may be longer than one call takes. */
  readonly isSplit: boolean;
};

/**
 * Every problem of a roster whose file has mistakes. Who on it is not registered is said in the same list, so that
 * nobody has to mend a file twice.
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
    // A warning stops nothing, and is told by the run that has no problem.
    const obstacles = (report.preflight ?? [])
      .filter(({ severity }) => severity !== 'warning')
      .map((finding) => locateFinding(entries, finding));
    return [...mergeProblems(entries, mistakes, issues), ...obstacles];
  } catch (error) {
    if (!isPoolError(error)) {
      throw error;
    }
    const { code, message } = error;
    return [...mistakes, { code, message: `who is registered was not checked: ${message}` }];
  }
}
