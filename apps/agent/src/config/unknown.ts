/**
 * Names that look like ours and are not: most often a slip of the keyboard that would otherwise go unnoticed.
 *
 * @module
 */
import type { ConfigRemark } from './types.ts';

const ownPrefixes = ['DISBURSE_', 'POOL_GATE_OAUTH_', 'ONBOARD_'] as const;

/** @param isKnown - also for families of names, which have no list */
export function findUnknownVariables(
  names: Iterable<string>,
  known: readonly string[],
  isKnown: (name: string) => boolean,
): ConfigRemark[] {
  return [...new Set(names)]
    .filter((name) => findPrefix(name) !== undefined && !known.includes(name) && !isKnown(name))
    .sort()
    .map((variable) => {
      const nearest = findNearest(variable, known);
      const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
      return {
        variable,
        message: `${variable} is not a variable of this agent and has no effect${hint}`,
      };
    });
}

function findPrefix(name: string): string | undefined {
  return ownPrefixes.find((prefix) => name.toUpperCase().startsWith(prefix));
}

/** The known name that the fewest edits reach, if these are few for the length of the name. */
function findNearest(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toUpperCase();
  const length = wanted.length - (findPrefix(wanted)?.length ?? 0);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(length / 3)) + 1;
  for (const candidate of known) {
    const distance = computeEditDistance(wanted, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Insertions, deletions and replacements between two texts. */
function computeEditDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (const [index, letter] of [...left].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...right].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      const inserted = (next[column] ?? 0) + 1;
      const deleted = (row[column + 1] ?? 0) + 1;
      next.push(Math.min(replaced, inserted, deleted));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
