/**
 * One spend in a pass of the relayer: sent, or found to have ended (protocol §8). Anybody may send a spend, so it may land without
 * us; the indexer settles it then.
 *
 * @module
 */

import { isUnfinished, type SpendRow, selectSpend } from '../store/intents.ts';
import { readSpendCall } from '../store/spend-store.ts';
import type { RowOutcome } from './fair-queue.ts';
import { endExpired, isTaken, type Line, type Pass, recover, sendCall } from './relayer-pass.ts';

/** The spends of all holders. */
export const spendLine: Line = {
  kind: 'spend',
  async advance(pass, id) {
    const row = await selectSpend(pass.db, id);
    return isUnfinished(row) ? await advance(pass, row) : 'done';
  },
};

async function advance(pass: Pass, row: SpendRow): Promise<RowOutcome> {
  const intent = { kind: 'spend', id: row.id } as const;
  if (row.state === 'submitted') {
    return await recover(pass, intent, () => isSpentOrDead(pass, row));
  }
  if (await isSpentOrDead(pass, row)) {
    return 'done';
  }
  return await sendCall(pass, intent, { kind: 'spend', call: await readSpendCall(pass.db, row) });
}

/** True when nothing must be sent. A row that can never land ends here; one that has landed is settled by the indexer. */
async function isSpentOrDead(pass: Pass, row: SpendRow): Promise<boolean> {
  const intent = { kind: 'spend', id: row.id } as const;
  const fetchRoot = (block: number | 'latest') =>
    pass.chain.fetchOutRootOf(row.first_nullifier, block);
  const isSpent = await isTaken(pass, intent, row.out_root, fetchRoot, {
    code: 'note_already_spent',
    message: 'another spend used up a note of this one: it can never land',
  });
  const expired = 'The deadline of the spend has passed, and it never landed.';
  return isSpent || (await endExpired(pass, intent, row, expired));
}
