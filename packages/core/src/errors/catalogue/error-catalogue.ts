/**
 * Every code that a {@link PoolError} of this repository can carry, in one table: meaning, HTTP status, and whether a retry
 * helps. The OpenAPI documents, docs/errors.md and the exit codes of the commands are generated from it. A code that is not in
 * it does not compile.
 *
 * @module
 */
import { approveErrors } from './approve-errors.ts';
import { artifactErrors } from './artifact-errors.ts';
import { commandErrors } from './command-errors.ts';
import { custodyErrors } from './custody-errors.ts';
import type { ErrorEntry } from './error-entry.ts';
import { holderErrors } from './holder-errors.ts';
import { paymentErrors } from './payment-errors.ts';
import { peerErrors } from './peer-errors.ts';
import { platformErrors } from './platform-errors.ts';
import { requestErrors } from './request-errors.ts';
import { spendErrors } from './spend-errors.ts';
import { toolErrors } from './tool-errors.ts';
import { valueErrors } from './value-errors.ts';

/** The rows by group, for documents. */
export const errorGroups = {
  'Any request': requestErrors,
  Payments: paymentErrors,
  'Spends of a holder': spendErrors,
  'Services that another one calls': peerErrors,
  'Custodians and the approve process': custodyErrors,
  'Platform and pool-gate': platformErrors,
  'Commands of the agent': commandErrors,
  'The approve process': approveErrors,
  Holders: holderErrors,
  'Values and cryptography': valueErrors,
  'Circuits, keys and the ceremony': artifactErrors,
  'Deployment and sandbox': toolErrors,
} as const;

export const errorCatalogue = {
  ...requestErrors,
  ...paymentErrors,
  ...spendErrors,
  ...peerErrors,
  ...custodyErrors,
  ...platformErrors,
  ...commandErrors,
  ...approveErrors,
  ...holderErrors,
  ...valueErrors,
  ...artifactErrors,
  ...toolErrors,
} as const;

/** A code of the catalogue. */
export type ErrorCode = keyof typeof errorCatalogue;

/** @returns the row of a code; undefined for a code of another version or service */
export function findErrorEntry(code: string): ErrorEntry | undefined {
  const entries: Readonly<Record<string, ErrorEntry>> = errorCatalogue;
  return Object.hasOwn(entries, code) ? entries[code] : undefined;
}
