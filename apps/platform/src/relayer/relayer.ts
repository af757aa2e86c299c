/**
 * The relayer: sends stored settlements and follows them to a final outcome (docs/decisions/0007, protocol §8).
 *
 * The order that makes a crash harmless: simulate → sign → store the signed bytes → broadcast. After a
 * restart the stored bytes are broadcast again, which the chain accepts once; a settlement with open bytes
 * is signed anew for the nonce of those bytes alone. Success is decided elsewhere, by the indexer alone: a settlement is settled when
 * its batch is in a final block, whoever's transaction put it there.
 *
 * @module
 */
import { deriveTraceId, type ErrorBody, errorCodeOf } from '@pool/core';
import type { FinalBlock } from '../chain/finality.ts';
import type { VoidCall } from '../chain/pool-chain.ts';
import { describeFailure } from '../log.ts';
import {
  followNonce,
  insertFund,
  insertTransaction,
  type RelayerDeps,
  selectOpenNonces,
} from './nonces.ts';
import { describeWithdrawal, parseStoredCall, type SettlementRow } from './settlement-store.ts';

export type { RelayerDeps } from './nonces.ts';

/** One pass over everything unfinished on the chain. Passes must not overlap: nonces are given out here. */
export async function runRelayerPass(deps: RelayerDeps): Promise<void> {
  const final = await deps.chain.fetchFinalBlock();
  for (const sent of await selectOpenNonces(deps)) {
    const { id, key } = await selectSettlement(deps, sent[0].settlement_id);
    await isolate(deps, id, key, (own) => followNonce(own, sent, final));
  }
  for (const row of await selectUnfinished(deps)) {
    await isolate(deps, row.id, row.key, (own) => advance(own, row, final));
  }
}

async function advance(deps: RelayerDeps, row: SettlementRow, final: FinalBlock): Promise<void> {
  const withdrawal = describeWithdrawal(row);
  if (withdrawal !== undefined) {
    await withdraw(deps, row, withdrawal, final);
  } else if (row.state === 'accepted') {
    await send(deps, row, final);
  } else {
    await recover(deps, row, final);
  }
}

/** One settlement's trouble must not hold up the others. Every line of `work` tells which settlement and job it is. */
async function isolate(
  deps: RelayerDeps,
  id: number,
  key: string,
  work: (own: RelayerDeps) => Promise<void>,
): Promise<void> {
  const log = deps.log.child({ settlement: id, trace: deriveTraceId(key) });
  try {
    await work({ ...deps, log });
  } catch (error) {
    // Fees above the cap last for many passes; the health of the relayer tells it once.
    const level = errorCodeOf(error) === 'fee_cap_reached' ? 'debug' : 'warn';
    log[level]({ ...describeFailure(error) }, 'settlement step failed');
  }
  deps.onStep?.();
}

/** Simulates, signs, stores, broadcasts. */
async function send(deps: RelayerDeps, row: SettlementRow, final: FinalBlock): Promise<void> {
  const { chain, log } = deps;
  if (await isNonceTaken(deps, row, final)) {
    return;
  }
  const call = parseStoredCall(row);
  const refusal = await chain.simulateFund(call);
  if (refusal !== undefined) {
    log.info({ code: refusal.code }, 'simulation refused');
    await markRefused(deps, row.id, refusal);
    return;
  }
  const signed = await chain.signFund(call, await nextNonce(deps));
  if (!(await insertFund(deps, row.id, signed))) {
    return;
  }
  await chain.broadcast(signed.rawTransaction);
  log.info({ txHash: signed.txHash }, 'settlement sent');
}

/**
 * Withdraws the batch where nothing of ours is out for it; a `fund()` that is out gives its nonce to the
 * withdrawal (`followNonce`). The row ends when a final block shows that the batch can never land, or that it did.
 */
async function withdraw(
  deps: RelayerDeps,
  row: SettlementRow,
  withdrawal: VoidCall,
  final: FinalBlock,
): Promise<void> {
  const { chain, db, log } = deps;
  if (await chain.fetchIsVoided(row.funder, row.batch_nonce, final.number)) {
    await markReverted(deps, row.id, {
      code: 'batch_voided',
      message: 'the funder withdrew this batch: it can never land',
    });
    return;
  }
  if ((await isUnderWay(deps, row)) || (await isNonceTaken(deps, row, final))) {
    return;
  }
  if (Number(row.deadline) < final.timestamp) {
    await markReverted(deps, row.id, {
      code: 'authorization-expired',
      message: 'the deadline passed before the withdrawal landed: the batch can never land',
    });
    return;
  }
  const refusal = await chain.simulateVoid(withdrawal);
  if (refusal !== undefined) {
    log.debug({ code: refusal.code }, 'withdrawal refused');
    return;
  }
  const signed = await chain.signVoid(withdrawal, await nextNonce(deps));
  await db.transaction().execute(async (trx) => {
    await insertTransaction({ ...deps, db: trx }, row.id, 'void', signed);
    await trx
      .updateTable('settlements')
      .set({ state: 'submitted' })
      .where('id', '=', row.id)
      .where('state', '=', 'accepted')
      .execute();
  });
  await chain.broadcast(signed.rawTransaction);
  log.info({ txHash: signed.txHash }, 'withdrawal sent');
}

async function isUnderWay({ db }: RelayerDeps, row: SettlementRow): Promise<boolean> {
  const pending = await db
    .selectFrom('relayer_transactions')
    .select('id')
    .where('settlement_id', '=', row.id)
    .where('state', 'in', ['open', 'succeeded'])
    .executeTakeFirst();
  return pending !== undefined;
}

// The chain's count alone would reuse the nonce of bytes that are stored and not yet mined.
async function nextNonce({ chain, db }: RelayerDeps): Promise<number> {
  const onChain = await chain.fetchNonce();
  const open = await db
    .selectFrom('relayer_transactions')
    .select((eb) => eb.fn.max('nonce').as('highest'))
    .where('chain', '=', chain.key)
    .where('state', '=', 'open')
    .executeTakeFirst();
  const highest = open?.highest ?? null;
  return highest === null ? onChain : Math.max(onChain, Number(highest) + 1);
}

/** `submitted` with nothing of ours under way: the batch landed by itself, or everything sent was dropped. */
async function recover(deps: RelayerDeps, row: SettlementRow, final: FinalBlock): Promise<void> {
  if ((await isUnderWay(deps, row)) || (await isNonceTaken(deps, row, final))) {
    return;
  }
  await deps.db
    .updateTable('settlements')
    .set({ state: 'accepted' })
    .where('id', '=', row.id)
    .where('state', '=', 'submitted')
    .execute();
}

/**
 * True when this funder's batch nonce is used as far as the chain's head knows: then nothing is sent. Used for our own
 * root, the indexer settles the row once that is final; used for another root, the row is closed once final.
 */
async function isNonceTaken(
  deps: RelayerDeps,
  row: SettlementRow,
  final: FinalBlock,
): Promise<boolean> {
  const { chain } = deps;
  if ((await chain.fetchBatchRootOf(row.funder, row.batch_nonce, 'latest')) === undefined) {
    return false;
  }
  const finalRoot = await chain.fetchBatchRootOf(row.funder, row.batch_nonce, final.number);
  if (finalRoot !== undefined && finalRoot !== row.batch_root) {
    await markReverted(deps, row.id, {
      code: 'settled_elsewhere',
      message:
        'the funder used this batch nonce for another batch: the job was paid elsewhere, do not resubmit',
    });
  }
  return true;
}

/** Refused by the simulation. A withdrawal that came meanwhile is still to be sent, so its row stays unfinished. */
async function markRefused(deps: RelayerDeps, id: number, reason: ErrorBody): Promise<void> {
  await deps.db
    .updateTable('settlements')
    .set({ state: 'reverted', error_code: reason.code, error_message: reason.message })
    .where('id', '=', id)
    .where('state', '!=', 'settled')
    .where('void_signature', 'is', null)
    .execute();
}

async function markReverted(deps: RelayerDeps, id: number, reason: ErrorBody): Promise<void> {
  await deps.db
    .updateTable('settlements')
    .set({ state: 'reverted', error_code: reason.code, error_message: reason.message })
    .where('id', '=', id)
    .where('state', '!=', 'settled')
    .execute();
}

async function selectSettlement({ db }: RelayerDeps, id: number) {
  return await db
    .selectFrom('settlements')
    .select(['id', 'key'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

async function selectUnfinished({ db, chain }: RelayerDeps): Promise<SettlementRow[]> {
  return await db
    .selectFrom('settlements')
    .selectAll()
    .where('chain', '=', chain.key)
    .where('state', 'in', ['accepted', 'submitted'])
    .where('superseded_at', 'is', null)
    .orderBy('id')
    .execute();
}
