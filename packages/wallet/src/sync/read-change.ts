/**
 * Keeps the change of the holder's own spends once the chain has it. The bytes are those of the spend itself, so neither the platform that
 * lists notes nor whoever sent the transaction can hide it.
 *
 * @module
 */
import { type Hex32, parseField } from '@pool/core';
import type { OwnChangePort } from '../note-ports.ts';
import { keepNotes, type NoteSourceDeps, openCandidates } from './own-candidates.ts';

/** One for each store. Leaves that were searched for a spend are not searched again. */
export function createChangeReader({
  list,
  markKept,
}: OwnChangePort): (deps: NoteSourceDeps) => Promise<void> {
  /** Leaves before this index are not those of the spend. */
  const searched = new Map<Hex32, number>();

  return async (deps) => {
    const wanted = await list();
    if (wanted.length === 0) {
      return;
    }
    const leafCount = await deps.waitForLeaf(Number.MAX_SAFE_INTEGER);
    const isNew = wanted.some(({ outRoot }) => (searched.get(outRoot) ?? 0) < leafCount);
    const roots = isNew ? deps.store.readRoots() : [];
    const found = wanted.flatMap((change) => {
      // By the root of its outputs, which the tree proves: a node that changes the commitments of the event is found out.
      const { outRoot } = change;
      const leafIndex = roots.indexOf(parseField(outRoot), searched.get(outRoot) ?? 0);
      if (leafIndex < 0) {
        searched.set(outRoot, leafCount);
        return [];
      }
      return [{ ...change, leafIndex, slot: 0 }];
    });
    const added = await openCandidates(found, deps);
    if (added.length > 0) {
      keepNotes(added, deps);
    }
    deps.onNotes(found.length, added);
    for (const { outRoot, leafIndex, slot } of found) {
      // Every note of the store is in the archive of notes first.
      if (deps.isKnown(leafIndex, slot)) {
        await markKept(outRoot);
      }
    }
  };
}
