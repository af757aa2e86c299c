/**
 * What the erasers of dead notes share: those of settlements and those of spends.
 *
 * @module
 */
import type { FinalBlock } from '@pool/contracts';
import type { PoolChain } from '../chain/pool-chain.ts';
import type { PlatformDatabase } from '../database/platform-tables.ts';
import type { Log } from '../log.ts';

export type EraseDeps = {
  readonly db: PlatformDatabase;
  readonly chain: Pick<
    PoolChain,
    'key' | 'fetchFinalBlock' | 'fetchBatchRootOf' | 'fetchOutRootOf'
  >;
  readonly log: Log;
  readonly nowMs: () => number;
  /** How long after its deadline the notes of a batch or spend that never landed are kept. */
  readonly keepSeconds: number;
};

/** The notes of one kind of intent. */
export type DeadNotes = {
  readonly what: 'settlement' | 'spend';
  /** The next rows that seem dead, at most {@link rowsPerPass}. */
  select(deps: EraseDeps, indexed: FinalBlock, afterId: number): Promise<{ readonly id: number }[]>;
  /** Erases the notes of a row, unless the chain or the index has it. */
  erase(deps: EraseDeps, id: number, final: FinalBlock): Promise<void>;
};

export const rowsPerPass = 50;

/** A deadline before this time passed long ago, by the clock of a final block and by this machine's. Unix seconds. */
export function computeOldest(indexed: FinalBlock, nowMs: number, keepSeconds: number): number {
  return Math.min(indexed.timestampSeconds, Math.floor(nowMs / 1_000)) - keepSeconds;
}
