/**
 * Notes that somebody brings in a file: an export of this holder, or what a funder delivered again. Each is compared with the chain and
 * opened with v before it is kept.
 *
 * @module
 */
import type { AssetId, Field, Hex } from '@pool/core';
import { keepNotes, type NoteSourceDeps, openCandidates } from './own-candidates.ts';
import type { ReceivedNote } from './ports.ts';

export type OfferedNote = {
  readonly commitment: Field;
  /** 209 bytes. */
  readonly sealed: Hex;
};

/**
 * - `accepted`: it is kept now
 * - `known`: it was kept before
 * - `not_ours`: v does not open it as a note of one of the assets, or its amount is 0
 * - `not_on_chain`: no final batch or spend has its commitment
 */
export type ImportOutcome = 'accepted' | 'known' | 'not_ours' | 'not_on_chain';

/** Of several that say they are the same note, so many are tried. */
const attemptsPerNote = 4;

/**
 * @returns an outcome for each, in their order
 * @throws PoolError `note_history_incomplete` (retryable) if the node changed a commitment
 */
export async function importNotes(
  offered: readonly OfferedNote[],
  assets: readonly AssetId[],
  deps: NoteSourceDeps,
): Promise<readonly ImportOutcome[]> {
  const { store, waitForLeaf, isKnown, leafCheck, onNotes } = deps;
  const leafCount = await waitForLeaf(Number.MAX_SAFE_INTEGER);
  const places = store.findPlaces(new Set(offered.map(({ commitment }) => commitment)), 0);
  if (offered.some(({ commitment }) => !places.has(commitment))) {
    // Before somebody is told that the chain does not have a note.
    await leafCheck.assertHonest(Array.from({ length: leafCount }, (_, leafIndex) => leafIndex));
  }
  const known = new Set<Field>();
  for (const [commitment, { leafIndex, slot }] of places) {
    if (isKnown(leafIndex, slot)) {
      known.add(commitment);
    }
  }
  const accepted = new Map<Field, ReceivedNote>();
  const open = Map.groupBy(
    offered.filter(({ commitment }) => places.has(commitment) && !known.has(commitment)),
    ({ commitment }) => commitment,
  );
  for (const assetId of assets) {
    for (let attempt = 0; attempt < attemptsPerNote; attempt += 1) {
      const candidates = [...open].flatMap(([commitment, copies]) => {
        const place = places.get(commitment);
        const note = copies[attempt];
        return place === undefined || note === undefined || accepted.has(commitment)
          ? []
          : [{ ...note, ...place, assetId }];
      });
      for (const note of await openCandidates(candidates, deps)) {
        accepted.set(note.commitment, note);
      }
    }
  }
  const received = [...accepted.values()];
  if (received.length > 0) {
    keepNotes(received, deps);
  }
  onNotes(offered.length, received);
  return offered.map(({ commitment, sealed }) => {
    if (!places.has(commitment)) {
      return 'not_on_chain';
    }
    if (known.has(commitment)) {
      return 'known';
    }
    return accepted.get(commitment)?.sealed === sealed ? 'accepted' : 'not_ours';
  });
}
