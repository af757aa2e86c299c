/**
 * The holder's notes in the events of spends: the contract emits the sealed notes of all outputs (protocol §8), so no platform and no
 * relayer can hide a transfer or a change. Whose they are is not said, so the viewing key is tried on each.
 *
 * @module
 */
import { type AssetId, bigintToHex32, hexToBigint, hexToBytes } from '@pool/core';
import { createLeafCheck } from './leaf-check.ts';
import { type CandidateDeps, openCandidates } from './own-candidates.ts';
import type { HistoryLeaf, HistoryPort, NoteArchive, StoredLeaf } from './ports.ts';

export type EventDeps = Pick<CandidateDeps, 'kernels' | 'viewingKey' | 'walletId'> & {
  readonly archive: NoteArchive;
  readonly history: Pick<HistoryPort, 'node'>;
  readonly assets: readonly AssetId[];
};

export function createEventReader(deps: EventDeps) {
  const { archive, history, kernels } = deps;
  const found = new Set<string>();
  /** What the archive had before this process found something. */
  let archived: ReadonlySet<string> | undefined;

  const has = (leafIndex: number, slot: number): boolean => found.has(`${leafIndex}.${slot}`);

  return {
    /** Whether the note at a place was found in an event. It is in the archive. */
    has,
    /**
     * Archives what is the holder's. The leaves need not be stored yet.
     * @throws PoolError `note_history_incomplete` (retryable) if the commitments of an event do not give its root; errors of the archive
     */
    async read(leaves: readonly HistoryLeaf[]): Promise<void> {
      const spends = new Map(
        leaves.flatMap((leaf) => (leaf.sealedNotes.length === 0 ? [] : [[leaf.leafIndex, leaf]])),
      );
      const store = { readLeaf: (leafIndex: number) => toStored(spends.get(leafIndex)) };
      const leafCheck = createLeafCheck({ store, kernels, history });
      // A changed commitment would hide a note without a trace.
      await leafCheck.assertHonest(spends.keys());
      const candidates = [...spends.values()].flatMap(({ leafIndex, commitments, sealedNotes }) =>
        commitments.flatMap((commitment, slot) => {
          const sealed = sealedNotes[slot];
          return sealed === undefined
            ? []
            : [{ leafIndex, slot, sealed, commitment: hexToBigint(commitment) }];
        }),
      );
      for (const assetId of deps.assets) {
        const own = await openCandidates(
          candidates.map((candidate) => ({ ...candidate, assetId })),
          { ...deps, store, leafCheck, isKnown: has },
        );
        if (own.length > 0) {
          archived ??= new Set(
            [...archive.read(0)].map(({ note }) => bigintToHex32(note.commitment)),
          );
          const before = archived;
          archive.append(own.filter(({ commitment }) => !before.has(bigintToHex32(commitment))));
        }
        for (const { leafIndex, slot } of own) {
          found.add(`${leafIndex}.${slot}`);
        }
      }
    },
  };
}

function toStored(leaf: HistoryLeaf | undefined): StoredLeaf | undefined {
  return leaf === undefined
    ? undefined
    : {
        ...{ root: leaf.root, isSpend: true, txHash: leaf.txHash, blockNumber: leaf.blockNumber },
        commitments: hexToBytes(`0x${leaf.commitments.map((word) => word.slice(2)).join('')}`),
      };
}
