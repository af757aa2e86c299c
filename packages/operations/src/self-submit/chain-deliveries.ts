/**
 * Sealed notes without a platform: those of spends from the chain itself, whose calldata has them all, and those of disbursements from
 * files that their holder kept. Nothing of either is trusted: the sync compares each note with the chain's own commitments.
 *
 * @module
 */
import type { LandedSpend } from '@pool/contracts';
import { errorCodeOf } from '@pool/core';
import type { DeliveredNote, DeliveryPort } from '../sync/ports.ts';
import type { GasChain } from './gas-chain.ts';

/** Transactions that are read side by side. */
const width = 8;

const firstWindowBlocks = 1_000;
const smallestWindowBlocks = 100;
const largestWindowBlocks = 64_000;

export type ChainDeliveryDeps = {
  readonly chain: Pick<GasChain, 'fetchFinalBlock' | 'fetchSpends' | 'fetchSealedNotes'>;
  readonly deployedAtBlock: number;
  /** From the holder's own files. */
  readonly kept: readonly DeliveredNote[];
};

/**
 * A listing of one page. It has no cursor, so the place up to which the platform's listing was read stays stored. Every call reads only
 * the blocks that are new.
 * @throws PoolError `chain_unreachable` (retryable), `wrong_chain`
 */
export function createChainDeliveries({
  chain,
  deployedAtBlock,
  kept,
}: ChainDeliveryDeps): DeliveryPort {
  const notes = new Map<string, DeliveredNote>();
  for (const note of kept) {
    notes.set(placeOf(note), note);
  }
  let next = deployedAtBlock;

  /** All spends, not the holder's own: which transactions are asked for must tell the RPC nothing. */
  async function readSpends(spends: readonly LandedSpend[]): Promise<void> {
    for (let from = 0; from < spends.length; from += width) {
      const chunk = spends.slice(from, from + width);
      const sealed = await Promise.all(chunk.map(({ txHash }) => chain.fetchSealedNotes(txHash)));
      for (const [place, { leafIndex, commitments }] of chunk.entries()) {
        for (const [slot, commitment] of commitments.entries()) {
          const text = sealed[place]?.[slot];
          if (text !== undefined) {
            const note = { commitment, sealed: text, batchIndex: leafIndex, slot };
            notes.set(placeOf(note), note);
          }
        }
      }
    }
  }

  async function readNewBlocks(): Promise<void> {
    const { number: last } = await chain.fetchFinalBlock();
    let window = firstWindowBlocks;
    while (next <= last) {
      const to = Math.min(last, next + window - 1);
      let spends: readonly LandedSpend[];
      try {
        spends = await chain.fetchSpends(next, to);
      } catch (error) {
        if (errorCodeOf(error) !== 'chain_unreachable' || window <= smallestWindowBlocks) {
          throw error;
        }
        // Many RPCs limit the range or the size of an answer.
        window = Math.max(smallestWindowBlocks, Math.floor(window / 2));
        continue;
      }
      await readSpends(spends);
      next = to + 1;
      window = Math.min(largestWindowBlocks, 2 * window);
    }
  }

  return {
    async fetchPage() {
      await readNewBlocks();
      return { notes: [...notes.values()].sort(comparePlaces) };
    },
  };
}

function placeOf({ batchIndex, slot }: DeliveredNote): string {
  return `${batchIndex}/${slot}`;
}

function comparePlaces(left: DeliveredNote, right: DeliveredNote): number {
  return left.batchIndex - right.batchIndex || left.slot - right.slot;
}
