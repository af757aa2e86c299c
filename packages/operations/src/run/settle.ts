/**
 * Release, watch, resend or withdraw: from a signed authorisation to an outcome the chain has finalised (protocol §8,
 * "Late landing"). Nothing in here can fail the job but {@link decideSettlement}: once released, an
 * authorisation may land until it is dead, whatever platform, gate or relayer answer in between.
 *
 * @module
 */
import type { SettlementRecord } from '@pool/api';
import type { ErrorBody } from '@pool/core';
import { computeJobNonce } from './batch.ts';
import { isCancelled } from './cancellation.ts';
import { decideSettlement, type SettlementDecision } from './decide-settlement.ts';
import { keepDelivery } from './delivery.ts';
import {
  findForeign,
  pickForeign,
  rememberForeign,
  settledElsewhere,
} from './foreign-settlement.ts';
import { grantAllowance } from './grant-allowance.ts';
import { InterruptedRunError, rethrowInterruption } from './interrupted-run.ts';
import { createPacer } from './pacer.ts';
import { noteRevert, remember, setRefusal, toRefusal } from './refusal.ts';
import type { DatedBatch } from './release-record.ts';
import { canCollect, renewReleasedProof } from './resend.ts';
import type { Run } from './run.ts';
import { createSettlementRequest, isRowOf } from './settlement-request.ts';
import { postVoid } from './void-batch.ts';

export type Outcome = Exclude<SettlementDecision, { readonly kind: 'wait' }>;

/** @returns what the chain has finalised. Only interruptions end it otherwise. */
export async function settleBatch(run: Run, batch: DatedBatch): Promise<Outcome> {
  const watch = createWatch(run, batch);
  await keepDelivery(run, batch);
  if (run.record().releasedAtMs === undefined) {
    await run.update({ releasedAtMs: run.deps.clock.nowMs() });
    await run.reach('settling.released');
    await watch.post();
  }
  for (;;) {
    const decision = await watch.look();
    if (decision.kind !== 'wait') {
      await run.reach('settling.observed');
      return decision;
    }
    await ((await isCancelled(run)) ? watch.withdraw() : watch.attend());
    await run.pause(run.deps.pollMs);
  }
}

/** What the platform shows under this key. */
type RowView =
  /** Something of our batch nonce may be out. */
  | 'out'
  /** Nothing of ours is out. */
  | 'none'
  /** A settlement on other terms is not known to be dead: ours must not be sent again. */
  | 'foreign'
  | 'unknown';

type Watch = {
  /** What the chain says now. */
  look(): Promise<SettlementDecision>;
  /** Reads the platform's row and sends again what can be sent again. */
  attend(): Promise<void>;
  /** Sends nothing but the funder's withdrawal. */
  withdraw(): Promise<void>;
  post(): Promise<void>;
};

function createWatch(run: Run, batch: DatedBatch): Watch {
  const { chain } = run.context;
  const { platform } = run.deps;
  const key = run.record().key;
  const nonce = computeJobNonce(run, run.record().employerId, key);
  // The latest of any authorisation known under our nonce: another agent's lives until its own, and so does one of
  // ours that a restored store has forgotten.
  let deadline = Math.max(batch.deadline, run.record().latestDeadline ?? 0);
  // Used but not final, or not known: sending again could only spend another allowance.
  let mayBeUsed = true;
  // What the platform answered to the last post, when it refused it.
  let postRefusal: unknown;
  let hasPosted = false;
  const resending = createPacer(run);
  const withdrawing = createPacer(run);

  /** Keeps an error of the outside world from ending the watch. */
  async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      rethrowInterruption(error);
      if (run.signal.aborted) {
        throw new InterruptedRunError('shutting down or lease lost', { cause: error });
      }
      await remember(run, error);
      return undefined;
    }
  }

  async function note(row: SettlementRecord): Promise<void> {
    const foreign = pickForeign(run, row);
    if (foreign !== undefined) {
      return rememberForeign(run, foreign);
    }
    if (row.batch.deadline > deadline) {
      deadline = row.batch.deadline;
      await run.update({ latestDeadline: deadline });
    }
    if (isRowOf(batch, row) && row.state === 'reverted') {
      await noteRevert(run, batch, row);
    }
  }

  async function readRow(): Promise<RowView> {
    const answer = await attempt(async () => ({ row: await platform.getSettlement(key) }));
    const row = answer?.row;
    if (row !== undefined) {
      await attempt(() => note(row));
    }
    const foreign = await findForeign(run);
    if (foreign !== undefined) {
      await setRefusal(run, foreign);
      return 'foreign';
    }
    if (answer === undefined) {
      return 'unknown';
    }
    const own = row === undefined || pickForeign(run, row) !== undefined ? undefined : row;
    if (own !== undefined && (!isRowOf(batch, own) || own.state !== 'reverted')) {
      await setRefusal(run, undefined);
      return 'out';
    }
    // A run that has posted nothing yet knows no better than the one before it.
    const known = hasPosted ? undefined : knownRefusal(run);
    await setRefusal(run, toRefusal(own, postRefusal) ?? known);
    return 'none';
  }

  async function post(): Promise<void> {
    resending.next();
    postRefusal = undefined;
    hasPosted = true;
    await attempt(async () => {
      const { proved, signature } = run.record();
      if (proved === undefined || signature === undefined) {
        return;
      }
      const { fingerprints } = run.deps;
      const request = createSettlementRequest(batch, proved, run.record(), signature, fingerprints);
      try {
        await note(await platform.postSettlement(key, request));
      } catch (error) {
        postRefusal = error;
        throw error;
      }
    });
    await run.reach('settling.posted');
  }

  /**
   * Sends the same authorisation again, with a proof and an allowance that are good now.
   * @returns whether it was sent
   */
  async function resend(): Promise<boolean> {
    // What cannot be collected now is not worth a turn: others would wait for it.
    const isReady =
      (await canCollect(run)) &&
      (await attempt(() => renewReleasedProof(run, batch))) === 'current';
    if (!isReady) {
      resending.next();
      return false;
    }
    if (!run.hold.claim()) {
      return false;
    }
    await attempt(() => grantAllowance(run, batch));
    await post();
    return true;
  }

  /** While the platform says that nothing of this batch is out, others of its funder and token need not wait. */
  function shareTurn(): void {
    if (isRefused(run)) {
      run.hold.release();
    } else {
      run.hold.claim();
    }
  }

  return {
    post,
    async look() {
      const state = await attempt(() => chain.fetchNonceState(run.funder.address, nonce));
      mayBeUsed = state === undefined || state.pending;
      return state === undefined
        ? { kind: 'wait' }
        : decideSettlement({ batchRoot: batch.batchRoot, deadline, nonce: state });
    },
    async attend() {
      const view = await readRow();
      const canResend =
        (view === 'none' || view === 'unknown') &&
        !mayBeUsed &&
        resending.isDue() &&
        !(await isPastDeadline(run, batch));
      if (!(canResend && (await resend()))) {
        shareTurn();
      }
    },
    async withdraw() {
      await run.announce('cancelling');
      await readRow();
      shareTurn();
      if (mayBeUsed || !withdrawing.isDue()) {
        return;
      }
      withdrawing.next();
      await attempt(() => postVoid(run, batch));
    },
  };
}

/** What an earlier run was told, unless it was about a settlement on other terms: that one is dead by now. */
function knownRefusal(run: Run): ErrorBody | undefined {
  const { refusal } = run.record();
  return refusal === null || refusal?.code === settledElsewhere ? undefined : refusal;
}

function isRefused(run: Run): boolean {
  const { refusal } = run.record();
  return refusal !== undefined && refusal !== null;
}

async function isPastDeadline(run: Run, batch: DatedBatch): Promise<boolean> {
  try {
    return (await run.now()) > batch.deadline;
  } catch (error) {
    rethrowInterruption(error);
    return true;
  }
}
