/**
 * Takes the holder's archived notes into the store: after a rescan or a damaged cache, and what another process imported. So a note that
 * the platform does not serve any more is not lost.
 *
 * @module
 */
import type { Field } from '@pool/core';
import {
  archiveNotes,
  type Candidate,
  createLeafReader,
  hasCommitment,
  type NoteSourceDeps,
  notesPerScan,
  openCandidates,
} from './own-candidates.ts';
import type { ArchivedNote, ArchiveMark } from './ports.ts';

type Record = { readonly position: number; readonly end: number; readonly note: ArchivedNote };

/** @throws the errors of the ports */
export async function readArchive(deps: NoteSourceDeps): Promise<void> {
  const { archive, store } = deps;
  const isShorter = archive.end < store.archived.end;
  if (isShorter) {
    // Another file, or a part of it. The store still has what it had taken from it.
    archiveNotes(store, archive);
  }
  const before = isShorter ? beginning : store.archived;
  if (before.waitingFrom === undefined) {
    if (archive.end === before.end) {
      return;
    }
  } else if (archive.end === before.end && (await readToEnd(deps)) === before.leafCount) {
    return;
  }
  const misplaced: Record[] = [];
  let end = before.end;
  let records: Record[] = [];
  const take = async (): Promise<void> => {
    misplaced.push(...(await takeRecords(records, deps)));
    end = records.reduce((last, record) => Math.max(last, record.end), end);
    records = [];
    // Not searched for yet.
    writeMark(deps, { end, waitingFrom: misplaced[0]?.position, leafCount: 0 });
  };
  for (const record of archive.read(before.waitingFrom ?? before.end)) {
    records.push(record);
    if (records.length === notesPerScan) {
      await take();
    }
  }
  await take();
  if (misplaced.length > 0) {
    const isNew = misplaced.some(({ position }) => position >= before.end);
    const waiting = await takeMisplaced(misplaced, isNew ? 0 : before.leafCount, deps);
    writeMark(deps, { end, waitingFrom: waiting[0]?.position, leafCount: store.leafCount });
  }
}

const beginning: ArchiveMark = { end: 0, waitingFrom: undefined, leafCount: 0 };

/**
 * @returns those whose leaf has another commitment, or is not there
 * @throws PoolError `note_history_incomplete` (retryable) if the node changed a commitment of such a leaf
 */
async function takeRecords(
  records: readonly Record[],
  deps: NoteSourceDeps,
): Promise<readonly Record[]> {
  const { store, waitForLeaf, leafCheck } = deps;
  const last = records.reduce((most, { note }) => Math.max(most, note.leafIndex), -1);
  const leafCount = last < 0 ? 0 : await waitForLeaf(last);
  const readLeaf = createLeafReader(store);
  const isInPlace = ({ note: { leafIndex, slot, commitment } }: Record): boolean => {
    const leaf = leafIndex < leafCount ? readLeaf(leafIndex) : undefined;
    return leaf !== undefined && hasCommitment(leaf, slot, commitment);
  };
  const inPlace = records.filter(isInPlace);
  const placed = new Set(inPlace);
  const misplaced = records.filter((record) => !placed.has(record));
  // One that belongs to another chain by now is at a place that has another note.
  await leafCheck.assertHonest(misplaced.map(({ note }) => note.leafIndex));
  await takeCandidates(
    inPlace.map(({ note }) => note),
    deps,
  );
  return misplaced;
}

/** Searches the chain for them: a chain that replaced blocks has them at other places. @returns those that it does not have */
async function takeMisplaced(
  misplaced: readonly Record[],
  fromLeaf: number,
  deps: NoteSourceDeps,
): Promise<readonly Record[]> {
  await readToEnd(deps);
  const wanted = new Set<Field>(misplaced.map(({ note }) => note.commitment));
  const places = deps.store.findPlaces(wanted, fromLeaf);
  await takeCandidates(
    misplaced.flatMap(({ note }) => {
      const place = places.get(note.commitment);
      return place === undefined ? [] : [{ ...note, ...place }];
    }),
    deps,
  );
  return misplaced.filter(({ note }) => !places.has(note.commitment));
}

async function takeCandidates(
  candidates: readonly Candidate[],
  deps: NoteSourceDeps,
): Promise<void> {
  const added = await openCandidates(candidates, deps);
  if (added.length > 0) {
    deps.store.appendNotes(added, {});
  }
  deps.onNotes(candidates.length, added);
}

/** @returns the number of leaves when the history is complete */
function readToEnd({ waitForLeaf }: NoteSourceDeps): Promise<number> {
  return waitForLeaf(Number.MAX_SAFE_INTEGER);
}

function writeMark({ store }: NoteSourceDeps, mark: ArchiveMark): void {
  const { end, waitingFrom, leafCount } = store.archived;
  if (mark.end !== end || mark.waitingFrom !== waitingFrom || mark.leafCount !== leafCount) {
    store.appendNotes([], { archived: mark });
  }
}
