/**
 * What the lines of the relayer share in one pass: settlements of employers and spends of holders are sent in the same way, and
 * their transactions take the nonces of one account.
 *
 * @module
 */

import type { ErrorBody } from '@pool/core';
import type { FinalBlock } from '@pool/evm-sender';
import type { PoolCall } from '../chain/pool-chain.ts';
import {
  type Intent,
  type IntentKind,
  intentKinds,
  markEnded,
  markRefused,
} from '../store/intents.ts';
import type { RowOutcome } from './fair-queue.ts';
import { decideCall, insertCall, isRoleMissing, type RelayerDeps } from './nonces.ts';

/** What the intents of a pass share. */
export type Pass = RelayerDeps & {
  readonly final: FinalBlock;
  /** Runs work that assigns a nonce, one intent after the other. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
};

/** The intents of one kind. */
export type Line = {
  readonly kind: IntentKind;
  /** Takes the next step of one that may have ended meanwhile. */
  advance(pass: Pass, id: number): Promise<RowOutcome>;
};

/** Those of one kind that have not ended, the oldest first. */
export async function selectUnfinished({ db, chain }: RelayerDeps, kind: IntentKind) {
  return await db
    .selectFrom(intentKinds[kind].table)
    .select(['id', 'key', kind === 'settlement' ? 'employer_id as owner' : 'address as owner'])
    .where('chain', '=', chain.key)
    .where('state', 'in', ['accepted', 'submitted'])
    .where('superseded_at', 'is', null)
    .orderBy('id')
    .execute();
}

/**
 * `submitted` with no transaction of ours under way: another transaction carried it, or ours were dropped.
 * @param isOver - whether nothing must be sent; it ends a row that can never land
 */
export async function recover(
  pass: Pass,
  intent: Intent,
  isOver: () => Promise<boolean>,
): Promise<RowOutcome> {
  if ((await isUnderWay(pass, intent)) || (await isOver())) {
    return 'done';
  }
  await pass.db
    .updateTable(intentKinds[intent.kind].table)
    .set({ state: 'accepted' })
    .where('id', '=', intent.id)
    .where('state', '=', 'submitted')
    .execute();
  return 'done';
}

/** Simulates, signs, stores, broadcasts. */
export async function sendCall(pass: Pass, intent: Intent, call: PoolCall): Promise<RowOutcome> {
  const { chain, log, db } = pass;
  const gas = await decideCall(chain, call);
  if (gas.kind === 'refused') {
    if (await isRoleMissing(chain, gas.reason)) {
      return 'refused';
    }
    log.info({ code: gas.reason.code }, 'simulation refused');
    await markRefused(db, intent, gas.reason);
    return 'done';
  }
  await pass.inTurn(async () => {
    const signed = await chain.sign(call, await nextNonce(pass), gas.gasLimit);
    if (await insertCall(pass, intent, signed, true)) {
      await chain.broadcast(signed.rawTransaction);
      log.info({ txHash: signed.txHash }, `${intent.kind} sent`);
    }
  });
  return 'done';
}

/**
 * True when the chain's head has outputs for the inputs of a row: then nothing is sent. If they are its own, the indexer settles the
 * row once that is final. If they are others, the row ends once that is final.
 * @param fetchRoot - the outputs at a block
 */
export async function isTaken(
  { db, final }: Pass,
  intent: Intent,
  ownRoot: string,
  fetchRoot: (block: number | 'latest') => Promise<string | undefined>,
  elsewhere: ErrorBody,
): Promise<boolean> {
  if ((await fetchRoot('latest')) === undefined) {
    return false;
  }
  const finalRoot = await fetchRoot(final.number);
  if (finalRoot !== undefined && finalRoot !== ownRoot) {
    await markEnded(db, intent, elsewhere);
  }
  return true;
}

/** Ends a row whose deadline a final block has passed: it can never land. @returns whether it did */
export async function endExpired(
  { db, final }: Pass,
  intent: Intent,
  { deadline }: { readonly deadline: number },
  message: string,
): Promise<boolean> {
  const isOver = Number(deadline) < final.timestampSeconds;
  if (isOver) {
    await markEnded(db, intent, { code: 'authorization-expired', message });
  }
  return isOver;
}

/** Whether a transaction of ours may still be mined for the intent, or landed and is not indexed yet. */
export async function isUnderWay({ db }: RelayerDeps, intent: Intent): Promise<boolean> {
  const pending = await db
    .selectFrom('relayer_transactions')
    .select('id')
    .where(intentKinds[intent.kind].column, '=', intent.id)
    .where('state', 'in', ['open', 'succeeded'])
    .executeTakeFirst();
  return pending !== undefined;
}

// The chain's count alone would reuse the nonce of bytes that are stored and not yet mined.
export async function nextNonce({ chain, db }: RelayerDeps): Promise<number> {
  const onChain = await chain.fetchNonce();
  const open = await db
    .selectFrom('relayer_transactions')
    .select((eb) => eb.fn.max('nonce').as('highest'))
    .where('chain', '=', chain.key)
    .where('sender', '=', chain.relayerAddress)
    .where('state', '=', 'open')
    .executeTakeFirst();
  const highest = open?.highest ?? null;
  return highest === null ? onChain : Math.max(onChain, Number(highest) + 1);
}
