/**
 * One settlement or spend in a pass of the relayer: sent, withdrawn, or found to have ended (protocol §8). Anybody may send a spend, so
 * it may land without us; the indexer settles it then.
 *
 * @module
 */
import type { ErrorBody } from '@pool/core';
import { writeAsLeader } from '@pool/database';
import type { FinalBlock } from '@pool/evm-sender';
import { describeFailure } from '@pool/http-server';
import type { PoolCall } from '../chain/pool-chain.ts';
import { describeWithdrawal, fetchIsVoided, fetchRoot, readCall } from '../store/on-chain.ts';
import {
  isUnfinished,
  lockSubmission,
  markEnded,
  markRefused,
  queryOpen,
  type SubmissionKind,
  type SubmissionRow,
  selectSubmission,
} from '../store/submissions.ts';
import type { RowOutcome } from './fair-queue.ts';
import { decideCall, isRoleMissing } from './nonces.ts';
import { insertCall, insertTransaction, type RelayerDeps } from './sent-nonces.ts';

/** What the submissions of a pass share. */
export type Pass = RelayerDeps & {
  readonly final: FinalBlock;
  /** Runs work that assigns a nonce, one submission after the other. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
};

/** How a row ends whose inputs were used for other outputs, or whose deadline a final block has passed. */
const endings: Readonly<
  Record<SubmissionKind, { readonly elsewhere: ErrorBody; readonly expired: string }>
> = {
  settlement: {
    elsewhere: {
      code: 'settled_elsewhere',
      message:
        'the funder used this batch nonce for another batch: the job was paid elsewhere, do not resubmit',
    },
    expired: "The authorisation's deadline has passed.",
  },
  spend: {
    elsewhere: {
      code: 'note_already_spent',
      message: 'another spend used up a note of this one: it can never land',
    },
    expired: 'The deadline of the spend has passed, and it never landed.',
  },
};

/** Takes the next step of a submission that may have ended meanwhile. */
export async function advance(pass: Pass, id: number): Promise<RowOutcome> {
  const row = await selectSubmission(pass.db, id);
  if (!isUnfinished(row)) {
    return 'done';
  }
  const withdrawal = describeWithdrawal(row);
  if (withdrawal !== undefined) {
    return await withdraw(pass, row, withdrawal);
  }
  if (row.state === 'submitted') {
    return await recover(pass, row);
  }
  // These checks run no code of a funder, so a row ends even if no simulation of it ever succeeds.
  const isOver = (await isTaken(pass, row)) || (await endExpired(pass, row));
  return isOver ? 'done' : await sendCall(pass, row, await readCall(pass.db, row));
}

/** `submitted` with no transaction of ours under way: another transaction carried it, or ours were dropped. */
async function recover(pass: Pass, row: SubmissionRow): Promise<RowOutcome> {
  if (!(await isUnderWay(pass, row.id)) && !(await isTaken(pass, row))) {
    await writeAsLeader(pass, async (trx) => {
      // Another key's relayer may have sent it meanwhile.
      await lockSubmission(trx, row.id);
      if (!(await isUnderWay({ db: trx }, row.id))) {
        await trx
          .updateTable('submissions')
          .set({ state: 'accepted' })
          .where('id', '=', row.id)
          .where('state', '=', 'submitted')
          .execute();
      }
    });
  }
  return 'done';
}

/** Simulates, signs, stores, broadcasts. */
async function sendCall(pass: Pass, { id, kind }: SubmissionRow, call: PoolCall) {
  const { chain, log } = pass;
  const gas = await decideCall(chain, call);
  if (gas.kind === 'refused') {
    if (await isRoleMissing(chain, gas.reason)) {
      return 'refused';
    }
    log.info({ code: gas.reason.code }, 'simulation refused');
    await writeAsLeader(pass, (trx) => markRefused(trx, id, gas.reason));
    return 'done';
  }
  if (kind === 'settlement' && (await failsWhenPending(pass, call))) {
    return 'refused';
  }
  await pass.inTurn(async () => {
    const { nonce, attempt } = await nextNonce(pass);
    const signed = await chain.sign(call, nonce, gas.gasLimit);
    if (await insertCall(pass, { id, kind }, signed, true, attempt)) {
      await chain.broadcast(signed.rawTransaction);
      log.info({ txHash: signed.txHash }, `${kind} sent`);
    }
  });
  return 'done';
}

/**
 * Whether a batch that the head accepts would fail after what is not mined yet, such as an earlier batch of its funder. It waits then: what
 * is pending may never be mined, so it decides nothing. Not for spends: a stranger's copy that is never mined must not hold one up.
 */
async function failsWhenPending({ chain, log }: Pass, call: PoolCall): Promise<boolean> {
  try {
    const refusal = await chain.simulate(call, 'pending');
    if (refusal !== undefined) {
      log.info({ code: refusal.code }, 'waits for what is pending');
    }
    return refusal !== undefined;
  } catch (error) {
    // Not every node has a pending state.
    log.debug({ ...describeFailure(error) }, 'the pending state was not asked');
    return false;
  }
}

/**
 * Withdraws the batch if no transaction of ours is out for it. A `fund()` that is out gives its nonce to the withdrawal
 * (`followNonce`). The row ends when a final block shows that the batch landed or can never land.
 */
async function withdraw(pass: Pass, row: SubmissionRow, withdrawal: PoolCall): Promise<RowOutcome> {
  const { chain, log, final } = pass;
  if (await fetchIsVoided(chain, row, final.number)) {
    await end(pass, row.id, {
      code: 'batch_voided',
      message: 'the funder withdrew this batch: it can never land',
    });
    return 'done';
  }
  const tooLate = 'the deadline passed before the withdrawal landed: the batch can never land';
  if (
    (await isUnderWay(pass, row.id)) ||
    (await isTaken(pass, row)) ||
    (await endExpired(pass, row, tooLate))
  ) {
    return 'done';
  }
  const gas = await decideCall(chain, withdrawal);
  if (gas.kind === 'refused') {
    log.debug({ code: gas.reason.code }, 'withdrawal refused');
    return 'refused';
  }
  await pass.inTurn(async () => {
    const { nonce, attempt } = await nextNonce(pass);
    const signed = await chain.sign(withdrawal, nonce, gas.gasLimit);
    const isStored = await writeAsLeader(pass, async (trx) => {
      // Another key's relayer may have sent something for it meanwhile.
      await lockSubmission(trx, row.id);
      if (await isUnderWay({ db: trx }, row.id)) {
        return false;
      }
      await trx
        .updateTable('submissions')
        .set({ state: 'submitted' })
        .where('id', '=', row.id)
        .where('state', '=', 'accepted')
        .execute();
      const as = { id: row.id, purpose: 'void', attempt } as const;
      await insertTransaction({ ...pass, db: trx }, as, signed);
      return true;
    });
    if (isStored) {
      await chain.broadcast(signed.rawTransaction);
      log.info({ txHash: signed.txHash }, 'withdrawal sent');
    }
  });
  return 'done';
}

/**
 * True when the chain's head has outputs for the inputs of a row: then nothing is sent. If they are its own, the indexer settles the
 * row once that is final. If they are others, the row ends once that is final.
 */
async function isTaken(pass: Pass, row: SubmissionRow): Promise<boolean> {
  const { chain, final } = pass;
  if ((await fetchRoot(chain, row, 'latest')) === undefined) {
    return false;
  }
  const finalRoot = await fetchRoot(chain, row, final.number);
  if (finalRoot !== undefined && finalRoot !== row.root) {
    await end(pass, row.id, endings[row.kind].elsewhere);
  }
  return true;
}

/** Ends a row whose deadline a final block has passed: it can never land. @returns whether it did */
async function endExpired(
  pass: Pass,
  { id, kind, deadline }: SubmissionRow,
  message = endings[kind].expired,
): Promise<boolean> {
  const isOver = Number(deadline) < pass.final.timestampSeconds;
  if (isOver) {
    await end(pass, id, { code: 'authorization-expired', message });
  }
  return isOver;
}

async function end(pass: Pass, id: number, reason: ErrorBody): Promise<void> {
  await writeAsLeader(pass, (trx) => markEnded(trx, id, reason));
}

/** Whether a transaction of ours may still be mined for the row, or landed and is not indexed yet. */
async function isUnderWay({ db }: Pick<RelayerDeps, 'db'>, id: number): Promise<boolean> {
  const pending = await db
    .selectFrom('relayer_transactions')
    .select('id')
    .where('submission_id', '=', id)
    .where('state', 'in', ['open', 'succeeded'])
    .executeTakeFirst();
  return pending !== undefined;
}

// The chain's count alone would reuse the nonce of bytes that are stored and not yet mined.
async function nextNonce({
  chain,
  db,
}: RelayerDeps): Promise<{ readonly nonce: number; readonly attempt: number }> {
  const onChain = await chain.fetchNonce();
  const sender = chain.relayerAddress;
  const open = await queryOpen(db, chain.key, sender)
    .select((eb) => eb.fn.max('nonce').as('highest'))
    .executeTakeFirst();
  const highest = open?.highest ?? null;
  const nonce = highest === null ? onChain : Math.max(onChain, Number(highest) + 1);
  // Of a key that was replaced, given up, and is in use again.
  const { count } = await db
    .selectFrom('relayer_transactions')
    .select((eb) => eb.fn.countAll<string | number>().as('count'))
    .where('chain', '=', chain.key)
    .where('sender', '=', sender)
    .where('nonce', '=', nonce)
    .executeTakeFirstOrThrow();
  return { nonce, attempt: Number(count) };
}
