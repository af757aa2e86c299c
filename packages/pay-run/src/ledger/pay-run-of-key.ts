/**
 * Which part of which pay run a key pays.
 *
 * @module
 */
import type { LedgerPlace } from '../ports.ts';
import { computePartKey } from './pay-run-key.ts';
import type { NamedPayRun } from './pay-run-ledger.ts';
import { listAllPayRuns } from './shared-ledger.ts';

/** @returns a function that gives the label of a key; undefined: it was not sent from this ledger */
export function createLabelFinder(
  place: LedgerPlace,
): (key: string) => Promise<string | undefined> {
  const known = new Map<string, string>();
  return async (key) => {
    if (!known.has(key)) {
      for (const [sent, { payRun }] of (await listAllPayRuns(place)).flatMap(listPartKeys)) {
        // A later payment to invited people is of the same label.
        known.set(sent, payRun.replace(/#[0-9]+$/, ''));
      }
    }
    return known.get(key);
  };
}

export type PartPlace = {
  /** Label, perhaps with the number of a later payment. */
  readonly payRun: string;
  /** From 1. */
  readonly part: number;
  readonly of: number;
};

/** Every key that a record used so far, with the part that it pays. */
export function listPartKeys({
  payRun,
  record: { digest, parts },
}: NamedPayRun): readonly (readonly [string, PartPlace])[] {
  return parts.flatMap(({ attempt: attempts }, index) => {
    const place = { part: index + 1, of: parts.length };
    return Array.from({ length: attempts }, (_, earlier) => {
      const name = { payRun, digest, part: place.part, count: place.of, attempt: earlier + 1 };
      return [computePartKey(name), { payRun, ...place }] as const;
    });
  });
}
