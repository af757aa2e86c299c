/**
 * Retention (docs/decisions/0007): some days after a spend, its manifest and seed are erased, and with them payees and amounts. Its
 * nullifiers, outcome and the amount of its change stay, so that its key can still be answered. Nothing is erased before the archive of
 * notes has the change: manifest and seed are what rebuilds it (docs/decisions/0012).
 *
 * @module
 */
import type { Hex32 } from '@pool/core';
import { type KeptOpenings, openSpend } from './kept-openings.ts';
import { isChangeSafe } from './own-change.ts';
import type { ArchivedSpend, SpendArchive } from './spend-archive.ts';
import { isOpen } from './spend-state.ts';

const dayMs = 86_400_000;

/** Spends that are listed at once. */
const batchLimit = 100;

/**
 * Erases every decided spend whose retention has ended and whose change is safe.
 * @param isRead - see {@link isChangeSafe}
 * @param keepOpenings - stores what proves a spend later, before its manifest and seed are erased. If it throws, the spend stays, and the
 *   pass ends
 * @param onUnopened - called for each spend of which that cannot be made. It stays as it is, and the pass goes on
 * @returns how many
 */
export async function eraseExpiredSpends(
  archive: SpendArchive,
  retentionDays: number,
  nowMs: number,
  isRead: (spend: ArchivedSpend) => boolean,
  keepOpenings: (openings: KeptOpenings) => void = () => undefined,
  onUnopened: (outRoot: Hex32, error: unknown) => void = () => undefined,
): Promise<number> {
  let erased = 0;
  const left = new Set<Hex32>();
  for (;;) {
    const listed = await archive.listErasable(
      nowMs - retentionDays * dayMs,
      batchLimit + left.size,
    );
    const expired = listed.filter(({ outRoot }) => !left.has(outRoot));
    if (expired.length === 0) {
      return erased;
    }
    for (const spend of expired) {
      const { outRoot } = spend;
      if (!isChangeSafe(spend, isRead(spend))) {
        left.add(outRoot);
        continue;
      }
      let openings: KeptOpenings | undefined;
      try {
        openings = openSpend(spend);
      } catch (error) {
        left.add(outRoot);
        onUnopened(outRoot, error);
        continue;
      }
      if (openings !== undefined) {
        keepOpenings(openings);
      }
      await archive.change(outRoot, ({ secrets, ...spend }) =>
        isOpen(spend.state) && secrets !== undefined ? { ...spend, secrets } : spend,
      );
      erased += 1;
    }
  }
}
