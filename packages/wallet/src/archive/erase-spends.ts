/**
 * Retention (docs/decisions/0007): some days after a spend, its manifest and seed are erased, and with them payees and amounts. Its
 * nullifiers, outcome and the amount of its change stay, so that its key can still be answered. Nothing is erased before the archive of
 * notes has the change: manifest and seed are what rebuilds it (docs/decisions/0012).
 *
 * @module
 */
import type { Hex32 } from '@pool/core';
import { eraseEach } from '@pool/idempotency/engine';
import { type KeptOpenings, openSpend } from './kept-openings.ts';
import { isChangeSafe } from './own-change.ts';
import type { ArchivedSpend, SpendArchive } from './spend-archive.ts';
import { isOpen } from './spend-state.ts';

const dayMs = 86_400_000;

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
  keepOpenings: (openings: KeptOpenings) => Promise<void> = async () => undefined,
  onUnopened: (outRoot: Hex32, error: unknown) => void = () => undefined,
): Promise<number> {
  const createdBeforeMs = nowMs - retentionDays * dayMs;
  return await eraseEach(
    async ({ skip, limit }) =>
      (await archive.listErasable(createdBeforeMs, skip + limit)).slice(skip),
    async (spend) => {
      const { outRoot } = spend;
      if (!isChangeSafe(spend, isRead(spend))) {
        return false;
      }
      let openings: KeptOpenings | undefined;
      try {
        openings = openSpend(spend);
      } catch (error) {
        onUnopened(outRoot, error);
        return false;
      }
      if (openings !== undefined) {
        await keepOpenings(openings);
      }
      await archive.change(outRoot, ({ secrets, ...spend }) =>
        isOpen(spend.state) && secrets !== undefined ? { ...spend, secrets } : spend,
      );
      return true;
    },
  );
}
