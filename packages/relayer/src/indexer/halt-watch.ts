/**
 * Whether the indexer of a chain has halted, as its worker saw it after its last pass.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import type { Check } from '@pool/http-server';

export type HaltWatch = {
  look(): Promise<void>;
  readonly check: Check;
};

export function createHaltWatch(db: PlatformDatabase, chain: string): HaltWatch {
  let isHalted = false;
  return {
    async look() {
      const row = await db
        .selectFrom('indexer_cursors')
        .select('halted')
        .where('chain', '=', chain)
        .executeTakeFirst();
      isHalted = (row?.halted ?? null) !== null;
    },
    check: () =>
      isHalted
        ? new PoolError(
            'notes_unavailable',
            `chain ${chain}: the indexer has halted, because the index disagrees with the chain; see "The indexer has halted" in docs/operations`,
          )
        : undefined,
  };
}
