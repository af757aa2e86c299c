/**
 * Writes a subject to the gate, and derives its readiness from the answer. Writes may overtake each other, so each
 * has a number: an answer never undoes that of a later write, and a failure undoes nothing. The answer also decides whether the
 * wallet is admitted: what the platform pays for admitted wallets must not follow from a write that the gate denied.
 *
 * @module
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { GateWallet, Readiness } from '@pool/api';
import { errorCodeOf, PoolError } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import type { ShellLog } from '@pool/http-server';
import { describeFailure } from '@pool/http-server';

/** The part of the gate that enrolment needs. A `GateClient` of @pool/platform-client implements it. */
export type EnrolmentGate = {
  putWallet(walletId: string, walletPub: string): Promise<GateWallet>;
};

export type ConfirmationDeps = {
  readonly db: PlatformDatabase;
  /** Absent: this deployment has no gate, and no wallet becomes fundable. */
  readonly gate: EnrolmentGate | undefined;
  /** How long a request waits for the gate; its answer is recorded whenever it comes. */
  readonly gateWaitMs: number;
  /** Aborted when the process stops: who still waits is answered. */
  readonly stopping?: AbortSignal | undefined;
  readonly log: Pick<ShellLog, 'warn'>;
  readonly nowMs: () => number;
};

/**
 * Writes the enrolled wallet to the gate and waits for the answer, for `gateWaitMs` at most.
 * @returns the readiness to report for this request. For a wallet on the list it may differ from the stored one: this
 *   request's write failed, and the wallet stays fundable
 * @throws PoolError `tree_full` (503) when the gate has no place left for the wallet
 */
export async function confirmAtGate(deps: ConfirmationDeps, address: string): Promise<Readiness> {
  const { gate, db } = deps;
  if (gate === undefined) {
    await db
      .updateTable('subjects')
      .set({ readiness: 'eligibility_disabled', whitelisted_at: null })
      .where('address', '=', address)
      .execute();
    return 'eligibility_disabled';
  }
  const { attempt, walletId, walletPub } = await beginAttempt(db, address);
  const confirmed = (async (): Promise<Readiness> => {
    try {
      const answer = await putWallet(deps, gate, walletId, walletPub);
      const ready = answer.status === 'whitelisted';
      const readiness: Readiness = ready ? 'ready' : 'eligibility_failed';
      const at = answer.whitelistedAt ?? new Date(deps.nowMs()).toISOString();
      await recordAnswer(db, address, attempt, readiness, ready ? at : null);
      return readiness;
    } catch (error) {
      deps.log.warn({ ...describeFailure(error) }, 'gate write failed');
      await recordFailure(db, address, attempt);
      if (errorCodeOf(error) === 'tree_full') {
        throw treeFull();
      }
      return 'eligibility_failed';
    }
  })();
  return await within(confirmed, deps, 'eligibility_pending');
}

// A wallet on the list stays there while it is confirmed again. Any other wallet is pending from here on.
async function beginAttempt(db: PlatformDatabase, address: string) {
  return await db
    .updateTable('subjects')
    .set((eb) => ({
      gate_attempts: eb('gate_attempts', '+', 1),
      readiness: eb
        .case()
        .when('readiness', '=', 'ready')
        .then(eb.val<Readiness>('ready'))
        .else(eb.val<Readiness>('eligibility_pending'))
        .end(),
    }))
    .where('address', '=', address)
    .returning(['gate_attempts as attempt', 'wallet_id as walletId', 'wallet_pub as walletPub'])
    .executeTakeFirstOrThrow();
}

async function recordAnswer(
  db: PlatformDatabase,
  address: string,
  attempt: number,
  readiness: Readiness,
  whitelistedAt: string | null,
): Promise<void> {
  await db
    .updateTable('subjects')
    .set({
      readiness,
      whitelisted_at: whitelistedAt,
      admitted_at: whitelistedAt,
      gate_answered: attempt,
    })
    .where('address', '=', address)
    .where('gate_answered', '<', attempt)
    .execute();
}

// Only for the newest write: while a later one is in progress, its outcome counts.
async function recordFailure(
  db: PlatformDatabase,
  address: string,
  attempt: number,
): Promise<void> {
  await db
    .updateTable('subjects')
    .set({ readiness: 'eligibility_failed', whitelisted_at: null })
    .where('address', '=', address)
    .where('gate_attempts', '=', attempt)
    .where('readiness', '!=', 'ready')
    .execute();
}

// Repeating the call does not help here, so the code is not `eligibility_failed`.
function treeFull(): PoolError {
  return new PoolError(
    'tree_full',
    'the eligibility tree is full: no wallet can be enrolled until the operator of the platform removes others; enrolled wallets are not affected',
  );
}

const nextGateMs = 500;

/** Asks again, since another gate goes on with what one was told that stops. */
async function putWallet(
  { gateWaitMs, stopping }: ConfirmationDeps,
  gate: EnrolmentGate,
  walletId: string,
  walletPub: string,
): Promise<GateWallet> {
  const deadline = performance.now() + gateWaitMs;
  for (;;) {
    try {
      return await gate.putWallet(walletId, walletPub);
    } catch (error) {
      const mayAsk = performance.now() < deadline && stopping?.aborted !== true;
      if (errorCodeOf(error) !== 'stopping' || !mayAsk) {
        throw error;
      }
      await delay(nextGateMs);
    }
  }
}

async function within<T>(
  promise: Promise<T>,
  { gateWaitMs, stopping }: ConfirmationDeps,
  otherwise: T,
): Promise<T> {
  const { promise: late, resolve } = Promise.withResolvers<T>();
  const giveUp = () => {
    resolve(otherwise);
  };
  const timer = setTimeout(giveUp, gateWaitMs);
  stopping?.addEventListener('abort', giveUp);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
    stopping?.removeEventListener('abort', giveUp);
  }
}
