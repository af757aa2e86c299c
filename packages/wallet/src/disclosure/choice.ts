/**
 * Which payments a disclosure shows. Pure.
 *
 * @module
 */
import { PoolError } from '@pool/core';

export type DisclosureChoice = {
  /** Hashes of transactions. Empty: of every one. */
  readonly transactions: readonly string[];
  /** Of notes. Empty: every one. */
  readonly commitments: readonly string[];
  /** Instants, ISO 8601 in UTC. The first is included, the second is not. */
  readonly range: { readonly from?: string | undefined; readonly to?: string | undefined };
  readonly withMemos: boolean;
};

/** True where it is among the chosen, or where nothing is chosen. */
export function isChosen(chosen: readonly string[], value: string | undefined): boolean {
  return chosen.length === 0 || chosen.some((text) => text.toLowerCase() === value?.toLowerCase());
}

export function isInRange({ from, to }: DisclosureChoice['range'], ms: number): boolean {
  return (
    (from === undefined || ms >= Date.parse(from)) && (to === undefined || ms < Date.parse(to))
  );
}

/** @throws PoolError `not_found` */
export function assertFound(count: number): void {
  if (count === 0) {
    throw new PoolError(
      'not_found',
      'no payment of this agent matches; look at "disburse-agent history" or at the keys of "disburse-agent tenancy keys". Openings are erased after DISBURSE_DISCLOSURE_YEARS',
    );
  }
}
