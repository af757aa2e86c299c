/**
 * The label under which a key was sent.
 *
 * @module
 */
import type { LedgerPlace } from '../ports.ts';
import { computePartKey, computeRoundDigest, formatRound } from './pay-run-key.ts';
import type { NamedPayRun } from './pay-run-ledger.ts';
import { listAllPayRuns } from './shared-ledger.ts';

/** @returns a function that gives the label of a key; undefined: it was not sent from this ledger */
export function createLabelFinder(
  place: LedgerPlace,
): (key: string) => Promise<string | undefined> {
  const known = new Map<string, string>();
  return async (key) => {
    if (!known.has(key)) {
      for (const payRun of await listAllPayRuns(place)) {
        for (const sent of listKeys(payRun)) {
          known.set(sent, payRun.payRun);
        }
      }
    }
    return known.get(key);
  };
}

/** Every key that the record can have sent. */
function listKeys({ payRun, record }: NamedPayRun): readonly string[] {
  const { digest, parts, invited } = record;
  const count = parts.length;
  const first = parts.flatMap(({ attempt: last }, index) =>
    listAttempts(last).map((attempt) =>
      computePartKey({ payRun, digest, part: index + 1, count, attempt }),
    ),
  );
  const later = listAttempts(invited?.rounds ?? 1)
    .slice(1)
    .map((round) =>
      computePartKey({
        ...{ payRun: formatRound(payRun, round), digest: computeRoundDigest(digest, round) },
        ...{ part: 1, count: 1, attempt: 1 },
      }),
    );
  return [...first, ...later];
}

function listAttempts(last: number): readonly number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}
