/**
 * Retention (docs/decisions/0009, §17): some days after a spend, its manifest and seed are erased, and with them payees and amounts. Its
 * nullifiers, change and outcome stay, so that its key can still be answered. The change itself is not lost: the chain keeps its sealed
 * note.
 *
 * @module
 */
import { type KeptOpenings, openSpend } from '../disclosure/kept-openings.ts';
import type { SpendArchive } from './spend-archive.ts';
import { isOpen } from './spend-state.ts';

const dayMs = 86_400_000;

/** Spends that are listed at once. */
const batchLimit = 100;

/**
 * Erases every decided spend whose retention has ended.
 * @param keepOpenings - stores what proves a spend later, before its manifest and seed are erased. If it throws, the spend stays
 * @returns how many
 */
export async function eraseExpiredSpends(
  archive: SpendArchive,
  retentionDays: number,
  nowMs: number,
  keepOpenings: (openings: KeptOpenings) => void = () => undefined,
): Promise<number> {
  let erased = 0;
  for (;;) {
    const expired = await archive.listErasable(nowMs - retentionDays * dayMs, batchLimit);
    if (expired.length === 0) {
      return erased;
    }
    for (const spend of expired) {
      const { outRoot } = spend;
      const openings = openSpend(spend);
      if (openings !== undefined) {
        keepOpenings(openings);
      }
      await archive.change(outRoot, ({ secrets, ...spend }) =>
        isOpen(spend.state) && secrets !== undefined ? { ...spend, secrets } : spend,
      );
    }
    erased += expired.length;
  }
}
