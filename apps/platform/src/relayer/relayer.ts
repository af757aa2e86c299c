/**
 * The relayer: sends stored settlements and follows them to a final outcome (docs/decisions/0007, protocol §8).
 *
 * The order makes a crash harmless: simulate → sign → store the signed bytes → broadcast. After a restart the stored bytes
 * are broadcast again, which the chain accepts once. A settlement with open bytes is signed again only for the nonce of
 * those bytes. The indexer alone decides success: a settlement is settled when its batch is in a final block, whichever
 * transaction carried it.
 *
 * Settlements are tried in parallel, since a funder's contract may keep the node busy. Employers take turns
 * (docs/decisions/0027). Nonces are assigned one at a time.
 *
 * @module
 */
import type { FinalBlock } from '@pool/contracts';
import { deriveTraceId, errorCodeOf } from '@pool/core';
import type { VoidCall } from '../chain/pool-chain.ts';
import type { SignedTransaction } from '../chain/transaction-signer.ts';
import { describeFailure } from '../log.ts';
import { createFairQueue, type FairQueue, type RowOutcome, runBounded } from './fair-queue.ts';
import {
  followNonce,
  insertFund,
  insertTransaction,
  type RelayerDeps,
  selectOpenNonces,
} from './nonces.ts';
import {
  describeWithdrawal,
  markRefused,
  markReverted,
  parseStoredCall,
  type SettlementRow,
} from './settlement-store.ts';

export type { RelayerDeps } from './nonces.ts';

export type Relayer = {
  /** Works on every unfinished settlement of the chain. Passes must not overlap, since they assign nonces. */
  pass(): Promise<void>;
};

/** Calls of the chain's node at once. */
const parallel = 8;
/** Calls of one employer at once: a contract that blocks its calls leaves most of them free. */
const perEmployer = 2;

export function createRelayer(deps: RelayerDeps): Relayer {
  const queue = createFairQueue(deps.nowMs);
  return { pass: () => runPass(deps, queue) };
}

/** One pass of a relayer without state of earlier passes. */
export async function runRelayerPass(deps: RelayerDeps): Promise<void> {
  await createRelayer(deps).pass();
}

/** What the settlements of a pass share. */
type Pass = RelayerDeps & {
  readonly final: FinalBlock;
  /** Runs work that assigns a nonce, one settlement after the other. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
};

async function runPass(deps: RelayerDeps, queue: FairQueue): Promise<void> {
  const final = await deps.chain.fetchFinalBlock();
  const open = await selectOpenNonces(deps);
  // Nonces have no limit per employer: every transaction behind a nonce would wait too.
  await runBounded(
    open,
    { parallel, perOwner: parallel },
    () => '',
    async (sent) => {
      const id = sent[0].settlement_id;
      await isolate(deps, id, await selectKey(deps, id), (own) => followNonce(own, sent, final));
    },
  );
  const pass: Pass = { ...deps, final, inTurn: createTurns() };
  await runBounded(
    queue.choose(await selectUnfinished(deps)),
    { parallel, perOwner: perEmployer },
    ({ employerId }) => employerId,
    async (row) => {
      if (!queue.isPaused(row.employerId)) {
        queue.note(row, await attempt(pass, row.id, row.key));
      }
    },
  );
}

async function attempt(pass: Pass, id: number, key: string): Promise<RowOutcome> {
  let outcome: RowOutcome = 'done';
  await isolate(pass, id, key, async ({ log }) => {
    const row = await selectRow(pass, id);
    outcome = 'failed';
    outcome = row === undefined ? 'done' : await advance({ ...pass, log }, row);
  }).then((error) => {
    // Fees and missing coin are not caused by the employer's contract.
    outcome = errorCodeOf(error) === 'fee_cap_reached' ? 'refused' : outcome;
  });
  return outcome;
}

function createTurns(): Pass['inTurn'] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
}

async function advance(pass: Pass, row: SettlementRow): Promise<RowOutcome> {
  const withdrawal = describeWithdrawal(row);
  if (withdrawal !== undefined) {
    return await withdraw(pass, row, withdrawal);
  }
  if (row.state === 'accepted') {
    return await send(pass, row);
  }
  return await recover(pass, row);
}

/**
 * Keeps a failure of one settlement from the others. Every log line of `work` names its settlement and job.
 * @returns what `work` threw, after it was logged
 */
async function isolate(
  deps: RelayerDeps,
  id: number,
  key: string,
  work: (own: RelayerDeps) => Promise<void>,
): Promise<unknown> {
  const log = deps.log.child({ settlement: id, trace: deriveTraceId(key) });
  let failure: unknown;
  try {
    await work({ ...deps, log });
  } catch (error) {
    failure = error;
    // Fees above the cap last for many passes; the relayer health reports them once.
    const level = errorCodeOf(error) === 'fee_cap_reached' ? 'debug' : 'warn';
    log[level]({ ...describeFailure(error) }, 'settlement step failed');
  }
  deps.onStep?.();
  return failure;
}

/** Simulates, signs, stores, broadcasts. */
async function send(pass: Pass, row: SettlementRow): Promise<RowOutcome> {
  const { chain, log, db } = pass;
  // These checks run no code of the funder, so a row ends even if no simulation of it ever succeeds.
  if (await isNonceTaken(pass, row)) {
    return 'done';
  }
  if (Number(row.deadline) < pass.final.timestampSeconds) {
    await markReverted(db, row.id, {
      code: 'authorization-expired',
      message: "The authorisation's deadline has passed.",
    });
    return 'done';
  }
  const call = parseStoredCall(row);
  const refusal = await chain.simulateFund(call);
  if (refusal !== undefined) {
    log.info({ code: refusal.code }, 'simulation refused');
    await markRefused(db, row.id, refusal);
    return 'done';
  }
  const gas = await chain.decideFundGas(call);
  if (gas.kind === 'refused') {
    log.info({ code: gas.reason.code }, 'simulation refused');
    await markRefused(db, row.id, gas.reason);
    return 'done';
  }
  await pass.inTurn(async () => {
    const signed = await chain.signFund(call, await nextNonce(pass), gas.gasLimit);
    if (await insertFund(pass, row.id, signed, true)) {
      await chain.broadcast(signed.rawTransaction);
      log.info({ txHash: signed.txHash }, 'settlement sent');
    }
  });
  return 'done';
}

/**
 * Withdraws the batch if no transaction of ours is out for it. A `fund()` that is out gives its nonce to the withdrawal
 * (`followNonce`). The row ends when a final block shows that the batch landed or can never land.
 */
async function withdraw(pass: Pass, row: SettlementRow, withdrawal: VoidCall): Promise<RowOutcome> {
  const { chain, db, log, final } = pass;
  if (await chain.fetchIsVoided(row.funder, row.batch_nonce, final.number)) {
    await markReverted(db, row.id, {
      code: 'batch_voided',
      message: 'the funder withdrew this batch: it can never land',
    });
    return 'done';
  }
  if ((await isUnderWay(pass, row)) || (await isNonceTaken(pass, row))) {
    return 'done';
  }
  if (Number(row.deadline) < final.timestampSeconds) {
    await markReverted(db, row.id, {
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
    await insertTransaction({ ...deps, db: trx }, id, 'void', signed);
  });
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

/** `submitted` with no transaction of ours under way: another transaction carried the batch, or ours were dropped. */
async function recover(pass: Pass, row: SettlementRow): Promise<RowOutcome> {
  if ((await isUnderWay(pass, row)) || (await isNonceTaken(pass, row))) {
    return 'done';
  }
  await pass.db
    .updateTable('settlements')
    .set({ state: 'accepted' })
    .where('id', '=', row.id)
    .where('state', '=', 'submitted')
    .execute();
  return 'done';
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
    await markReverted(db, row.id, {
      code: 'settled_elsewhere',
      message:
        'the funder used this batch nonce for another batch: the job was paid elsewhere, do not resubmit',
    });
  }
  return true;
}

async function selectKey({ db }: RelayerDeps, id: number): Promise<string> {
  const { key } = await db
    .selectFrom('settlements')
    .select('key')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return key;
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

async function selectUnfinished({ db, chain }: RelayerDeps) {
  return await db
    .selectFrom('settlements')
    .select(['id', 'key', 'employer_id as employerId'])
    .where('chain', '=', chain.key)
    .where('state', 'in', ['accepted', 'submitted'])
    .where('superseded_at', 'is', null)
    .orderBy('id')
    .execute();
}
