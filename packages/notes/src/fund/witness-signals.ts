/**
 * Parts of a witness input that fund and spend circuits share: the form of a signal, and the eligibility path of a slot.
 *
 * @module
 */
import {
  type EligibilityPathWire,
  eligibilityDepth,
  type Field,
  fieldToHex,
  PoolError,
  zeroField,
} from '@pool/core';
import type { NoteSlot } from '../note/note-slot.ts';
import type { VerifiedPath } from '../trees/verified-path.ts';

/** A circuit input: decimal strings, in arrays nested like the signal. */
export type WitnessSignal = string | WitnessSignal[];

/** A path as the circuit reads it. */
export type PlacedPath = Pick<EligibilityPathWire, 'index' | 'siblings'>;

const zeroWord = fieldToHex(zeroField);

/** The path of a dummy. The circuit does not check the path of a zero amount, so any path serves. */
export const dummyPath: PlacedPath = {
  index: 0,
  siblings: Array.from({ length: eligibilityDepth }, () => [zeroWord, zeroWord, zeroWord]),
};

/** The path of a payee's wallet. @throws PoolError `unregistered-recipient` if it has none under that root */
export function findPath(
  slot: NoteSlot,
  eligibilityRoot: Field,
  paths: ReadonlyMap<string, VerifiedPath>,
): PlacedPath {
  const path = paths.get(fieldToHex(slot.walletId));
  if (path === undefined || path.root !== eligibilityRoot || path.wallet !== slot.walletId) {
    throw new PoolError(
      'unregistered-recipient',
      `recipient ${slot.recipientIndex} has no path under the current eligibility root`,
    );
  }
  return path;
}
