/**
 * One spend in a pass of the relayer: sent, or found to have ended (protocol §8). Anybody may send a spend, so it may land without
 * us; the indexer settles it then.
 *
 * @module
 */

import { type Intent, markEnded, type SpendRow } from '../store/intents.ts';
import { readSpendCall } from '../store/spend-store.ts';
import type { RowOutcome } from './fair-queue.ts';
import type { RelayerDeps } from './nonces.ts';
import { type Line, type Pass, recover, sendCall } from './relayer-pass.ts';

/** The spends of all holders. */
export const spendLine: Line = {
  kind: 'spend',
  async advance(pass, id) {
    const row = await selectRow(pass, id);
    return row === undefined ? 'done' : await advance(pass, row);
  },
};

async function advance(pass: Pass, row: SpendRow): Promise<RowOutcome> {
  const intent: Intent = { kind: 'spend', id: row.id };
  if (row.state === 'submitted') {
    return await recover(pass, intent, () => isSpentOrDead(pass, row));
  }
  if (await isSpentOrDead(pass, row)) {
    return 'done';
  }
  const call = await readSpendCall(pass.db, row);
  const { chain } = pass;
  return await sendCall(pass, intent, {
    simulate: () => chain.simulateSpend(call),
    decideGas: () => chain.decideSpendGas(call),
    sign: (nonce, gasLimit) => chain.signSpend(call, nonce, gasLimit),
  });
}

/** True when nothing must be sent. A row that can never land ends here; one that has landed is settled by the indexer. */
async function isSpentOrDead({ chain, db, final }: Pass, row: SpendRow): Promise<boolean> {
  if ((await chain.fetchOutRootOf(row.first_nullifier, 'latest')) !== undefined) {
    const finalRoot = await chain.fetchOutRootOf(row.first_nullifier, final.number);
    if (finalRoot !== undefined && finalRoot !== row.out_root) {
      await markEnded(
        db,
        { kind: 'spend', id: row.id },
        {
          code: 'note_already_spent',
          message: 'another spend used up a note of this one: it can never land',
        },
      );
    }
    return true;
  }
  if (Number(row.deadline) < final.timestampSeconds) {
    await markEnded(
      db,
      { kind: 'spend', id: row.id },
      {
        code: 'authorization-expired',
        message: 'The deadline of the spend has passed, and it never landed.',
      },
    );
    return true;
  }
  return false;
}

/** Undefined: the row ended while it waited for its turn. */
async function selectRow({ db }: RelayerDeps, id: number): Promise<SpendRow | undefined> {
  return await db
    .selectFrom('spends')
    .selectAll()
    .where('id', '=', id)
    .where('state', 'in', ['accepted', 'submitted'])
    .where('superseded_at', 'is', null)
    .executeTakeFirst();
}
