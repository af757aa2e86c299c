/**
 * Which payments a disclosure shows, and for what and how long. Pure.
 *
 * @module
 */
import {
  type DisclosedInsertion,
  type Disclosure,
  type DisclosureContent,
  type EvmAddress,
  type EvmChainSettings,
  PoolError,
} from '@pool/core';
import { createDisclosure } from '@pool/notes';

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

/** What the discloser says about the document. */
export type DisclosurePurpose = {
  /** One line of plain text. */
  readonly purpose: string;
  /** After which the document proves nothing. */
  readonly days: number;
  /** Text of the verifier, if it gave one. */
  readonly challenge?: string | undefined;
};

/** Who discloses, and which token of which pool. */
export type DisclosureParties = Pick<DisclosureContent, 'role'> & {
  readonly settings: Pick<EvmChainSettings, 'chainId' | 'pool'>;
  readonly token: EvmAddress;
  readonly discloser: EvmAddress;
};

/** The checked content, which the discloser signs. @throws PoolError `invalid_request` */
export function createDisclosureContent(
  { purpose, days, challenge }: DisclosurePurpose,
  { settings: { chainId, pool }, token, role, discloser }: DisclosureParties,
  insertions: readonly DisclosedInsertion[],
  nowMs: number,
): DisclosureContent {
  const issuedAt = Math.floor(nowMs / 1_000);
  return createDisclosure({
    ...{ version: 1, kind: 'disclosure', chainId, pool, token, role, discloser, purpose },
    ...(challenge === undefined ? {} : { challenge }),
    issuedAt,
    expiresAt: issuedAt + 86_400 * days,
    insertions: [...insertions],
  });
}

/** The document as a file. Confidential. */
export function serializeDisclosure(document: Disclosure): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
