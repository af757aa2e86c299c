/**
 * Everything that prevents the payment of a roster, in one list by line: the mistakes of the file, and what the agent finds
 * about its recipients (docs/decisions/0008).
 *
 * @module
 */
import { PoolError, peerCode } from '@pool/core';
import type { CheckedRequest } from '../ports.ts';
import type { RosterColumn, RosterEntry, RosterMistake } from '../roster/roster-csv.ts';

export type RosterProblem = {
  /** From 1, as an editor counts. Absent: it concerns the roster as a whole. */
  readonly line?: number;
  readonly column?: RosterColumn;
  /** The recipient's, in checksum form. */
  readonly address?: string;
  readonly code: string;
  readonly message: string;
};

type Issue = CheckedRequest['issues'][number];

/**
 * One list in the order of lines. Problems of the whole roster come first.
 * @param entries - as they were sent to be checked: an issue's `requestIndex` counts them
 */
export function mergeProblems(
  entries: readonly RosterEntry[],
  mistakes: readonly RosterMistake[],
  issues: readonly Issue[],
): readonly RosterProblem[] {
  // A field that was refused when the file was read is sent empty and refused again. The first message says more.
  const known = new Set(mistakes.map(({ line, code }) => `${line} ${code}`));
  const found = issues.flatMap((issue): readonly RosterProblem[] => {
    const problem = nameSplit(locateIssue(entries, issue));
    return known.has(`${problem.line} ${problem.code}`) ? [] : [problem];
  });
  return sortProblems([...mistakes, ...found]);
}

/** The agent's message is for HTTP clients, which make their own calls and keys. The command has an option instead. */
function nameSplit(problem: RosterProblem): RosterProblem {
  const { code, message } = problem;
  const ceiling = /^a call may list at most [^;]+/.exec(message)?.[0];
  return code === 'batch-too-large' && ceiling !== undefined
    ? { ...problem, message: `${ceiling}; run it with --split, which pays it in parts` }
    : problem;
}

export function sortProblems<T extends { readonly line?: number }>(
  problems: readonly T[],
): readonly T[] {
  return [...problems].sort((left, right) => (left.line ?? 0) - (right.line ?? 0));
}

/** The place in the file of an issue of the agent. */
export function locateIssue(entries: readonly RosterEntry[], issue: Issue): RosterProblem {
  const { requestIndex, code, message } = issue;
  const entry = entries[requestIndex];
  if (entry === undefined) {
    return { code, message };
  }
  const { line, recipientAddress } = entry;
  return {
    ...(line === undefined ? {} : { line }),
    column: columnOf(code),
    ...(recipientAddress === '' ? {} : { address: recipientAddress }),
    code,
    // The author of the file does not know positions in the request.
    message: message.replace(/^recipients\[[0-9]+\]: /, ''),
  };
}

/** The place in the file of a finding. Most findings concern no line. */
export function locateFinding(
  entries: readonly RosterEntry[],
  { code, message }: Omit<Issue, 'requestIndex'>,
): RosterProblem {
  const index = /^recipients\[([0-9]+)\]: /.exec(message)?.[1];
  return index === undefined
    ? { code, message }
    : locateIssue(entries, { requestIndex: Number(index), code, message });
}

function columnOf(code: string): RosterColumn {
  switch (code) {
    case 'invalid-amount':
      return 'amount';
    case 'invalid-address':
    case 'duplicate-recipient':
    case 'unregistered-recipient':
    case 'recipient_key_rotated':
      return 'address';
    default:
      return 'row';
  }
}

/** One line of text: `line 6, amount: "1,500.00" is not … (0x8EF3…, invalid-amount)`. */
export function describeProblem({ line, column, address, code, message }: RosterProblem): string {
  if (line === undefined) {
    return `${code}: ${message}${address === undefined ? '' : ` (${address})`}`;
  }
  const notes = [address, code === 'invalid_roster' ? undefined : code].filter(
    (note) => note !== undefined,
  );
  const suffix = notes.length === 0 ? '' : ` (${notes.join(', ')})`;
  return `line ${line}, ${column ?? 'row'}: ${message}${suffix}`;
}

/** A roster that is refused before anything is sent, with all its problems. Its message is for the command's own terminal: it shows the file. */
export function createRosterError(problems: readonly RosterProblem[]): PoolError {
  const [first, ...others] = problems;
  const isWhole = first !== undefined && first.line === undefined && others.length === 0;
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  return new PoolError(
    isWhole ? peerCode(first.code) : 'invalid_roster',
    isWhole
      ? first.message
      : [`nothing was sent: the roster has ${count}`, ...problems.map(describeProblem)].join('\n'),
    { problems },
  );
}
