/**
 * One settlement in a pass of the relayer: sent, withdrawn, or found to have ended (protocol §8).
 *
 * @module
 */

import type { SignedTransaction } from '@pool/contracts';
import type { VoidCall } from '../chain/pool-chain.ts';
import { type Intent, markEnded, type SettlementRow } from '../store/intents.ts';
import { describeWithdrawal, parseStoredCall } from '../store/settlement-store.ts';
import type { RowOutcome } from './fair-queue.ts';
import { insertTransaction, type RelayerDeps } from './nonces.ts';
import { isUnderWay, type Line, nextNonce, type Pass, recover, sendCall } from './relayer-pass.ts';

/** The settlements of all employers. */
export const settlementLine: Line = {
  kind: 'settlement',
  async advance(pass, id) {
    const row = await selectRow(pass, id);
    return row === undefined ? 'done' : await advance(pass, row);
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
  const { chain, db } = pass;
  // These checks run no code of the funder, so a row ends even if no simulation of it ever succeeds.
  if (await isNonceTaken(pass, row)) {
    return 'done';
  }
  if (Number(row.deadline) < pass.final.timestampSeconds) {
    await markEnded(db, intentOf(row), {
      code: 'authorization-expired',
      message: "The authorisation's deadline has passed.",
    });
    return 'done';
  }
  const call = parseStoredCall(row);
  return await sendCall(pass, intentOf(row), {
    simulate: () => chain.simulateFund(call),
    decideGas: () => chain.decideFundGas(call),
    sign: (nonce, gasLimit) => chain.signFund(call, nonce, gasLimit),
  });
}

/**
 * Withdraws the batch if no transaction of ours is out for it. A `fund()` that is out gives its nonce to the withdrawal
 * (`followNonce`). The row ends when a final block shows that the batch landed or can never land.
 */
async function withdraw(pass: Pass, row: SettlementRow, withdrawal: VoidCall): Promise<RowOutcome> {
  const { chain, db, log, final } = pass;
  if (await chain.fetchIsVoided(row.funder, row.batch_nonce, final.number)) {
    await markEnded(db, intentOf(row), {
      code: 'batch_voided',
      message: 'the funder withdrew this batch: it can never land',
    });
    return 'done';
  }
  if ((await isUnderWay(pass, intentOf(row))) || (await isNonceTaken(pass, row))) {
    return 'done';
  }
  if (Number(row.deadline) < final.timestampSeconds) {
    await markEnded(db, intentOf(row), {
      code: 'authorization-expired',
      message: 'the deadline passed before the withdrawal landed: the batch can never land',
    });
    return 'done';
  }
  const refusal = await chain.simulateVoid(withdrawal);
  if (refusal !== undefined) {
    log.debug({ code: refusal.code }, 'withdrawal refused');
    return 'refused';
  }
  const gas = await chain.decideVoidGas(withdrawal);
  if (gas.kind === 'refused') {
    log.debug({ code: gas.reason.code }, 'withdrawal refused');
    return 'refused';
  }
  await pass.inTurn(async () => {
    const signed = await chain.signVoid(withdrawal, await nextNonce(pass), gas.gasLimit);
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

/**
 * True when this funder's batch nonce is used at the chain's head: then nothing is sent. If it is used for our own root,
 * the indexer settles the row once that is final. If it is used for another root, the row is closed once that is final.
 */
async function isNonceTaken({ chain, db, final }: Pass, row: SettlementRow): Promise<boolean> {
  if ((await chain.fetchBatchRootOf(row.funder, row.batch_nonce, 'latest')) === undefined) {
    return false;
  }
  const finalRoot = await chain.fetchBatchRootOf(row.funder, row.batch_nonce, final.number);
  if (finalRoot !== undefined && finalRoot !== row.batch_root) {
    await markEnded(db, intentOf(row), {
      code: 'settled_elsewhere',
      message:
        'the funder used this batch nonce for another batch: the job was paid elsewhere, do not resubmit',
    });
  }
  return true;
}

/** Undefined: the row ended while it waited for its turn. */
async function selectRow({ db }: RelayerDeps, id: number): Promise<SettlementRow | undefined> {
  return await db
    .selectFrom('settlements')
    .selectAll()
    .where('id', '=', id)
    .where('state', 'in', ['accepted', 'submitted'])
    .where('superseded_at', 'is', null)
    .executeTakeFirst();
}
