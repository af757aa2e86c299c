/**
 * One settlement in a pass of the relayer: sent, withdrawn, or found to have ended (protocol §8).
 *
 * @module
 */

import type { SignedTransaction } from '@pool/evm-sender';
import type { PoolCall } from '../chain/pool-chain.ts';
import {
  type Intent,
  isUnfinished,
  markEnded,
  type SettlementRow,
  selectSettlement,
} from '../store/intents.ts';
import { describeWithdrawal, parseStoredCall } from '../store/settlement-store.ts';
import type { RowOutcome } from './fair-queue.ts';
import { decideCall, insertTransaction, type RelayerDeps } from './nonces.ts';
import {
  endExpired,
  isTaken,
  isUnderWay,
  type Line,
  nextNonce,
  type Pass,
  recover,
  sendCall,
} from './relayer-pass.ts';

/** The settlements of all employers. */
export const settlementLine: Line = {
  kind: 'settlement',
  async advance(pass, id) {
    const row = await selectSettlement(pass.db, id);
    return isUnfinished(row) ? await advance(pass, row) : 'done';
  },
};

async function advance(pass: Pass, row: SettlementRow): Promise<RowOutcome> {
  const withdrawal = describeWithdrawal(row);
  if (withdrawal !== undefined) {
    return await withdraw(pass, row, withdrawal);
  }
  if (row.state === 'accepted') {
    return await send(pass, row);
  }
  return await recover(pass, intentOf(row), () => isNonceTaken(pass, row));
}

async function send(pass: Pass, row: SettlementRow): Promise<RowOutcome> {
  const intent = intentOf(row);
  // These checks run no code of the funder, so a row ends even if no simulation of it ever succeeds.
  const isOver =
    (await isNonceTaken(pass, row)) ||
    (await endExpired(pass, intent, row, "The authorisation's deadline has passed."));
  return isOver
    ? 'done'
    : await sendCall(pass, intent, { kind: 'fund', call: parseStoredCall(row) });
}

/**
 * Withdraws the batch if no transaction of ours is out for it. A `fund()` that is out gives its nonce to the withdrawal
 * (`followNonce`). The row ends when a final block shows that the batch landed or can never land.
 */
async function withdraw(pass: Pass, row: SettlementRow, withdrawal: PoolCall): Promise<RowOutcome> {
  const { chain, db, log, final } = pass;
  if (await chain.fetchIsVoided(row.funder, row.batch_nonce, final.number)) {
    await markEnded(db, intentOf(row), {
      code: 'batch_voided',
      message: 'the funder withdrew this batch: it can never land',
    });
    return 'done';
  }
  const tooLate = 'the deadline passed before the withdrawal landed: the batch can never land';
  if (
    (await isUnderWay(pass, intentOf(row))) ||
    (await isNonceTaken(pass, row)) ||
    (await endExpired(pass, intentOf(row), row, tooLate))
  ) {
    return 'done';
  }
  const gas = await decideCall(chain, withdrawal);
  if (gas.kind === 'refused') {
    log.debug({ code: gas.reason.code }, 'withdrawal refused');
    return 'refused';
  }
  await pass.inTurn(async () => {
    const signed = await chain.sign(withdrawal, await nextNonce(pass), gas.gasLimit);
    await insertVoid(pass, row.id, signed);
    await chain.broadcast(signed.rawTransaction);
    log.info({ txHash: signed.txHash }, 'withdrawal sent');
  });
  return 'done';
}

async function insertVoid(deps: RelayerDeps, id: number, signed: SignedTransaction): Promise<void> {
  await deps.db.transaction().execute(async (trx) => {
    await trx
      .updateTable('settlements')
      .set({ state: 'submitted' })
      .where('id', '=', id)
      .where('state', '=', 'accepted')
      .execute();
    await insertTransaction({ ...deps, db: trx }, { kind: 'settlement', id }, 'void', signed);
  });
}

function intentOf({ id }: SettlementRow): Intent {
  return { kind: 'settlement', id };
}

/** Whether the head has used this funder's batch nonce. */
async function isNonceTaken(pass: Pass, row: SettlementRow): Promise<boolean> {
  const { funder, batch_nonce, batch_root } = row;
  const fetchRoot = (block: number | 'latest') =>
    pass.chain.fetchBatchRootOf(funder, batch_nonce, block);
  return await isTaken(pass, intentOf(row), batch_root, fetchRoot, {
    code: 'settled_elsewhere',
    message:
      'the funder used this batch nonce for another batch: the job was paid elsewhere, do not resubmit',
  });
}
