/**
 * A batch waits for its release by people before its funder signs it, where the agent has a release policy. The wait is durable: policy and
 * log decide again after every restart. It ends with the release, a denial, a cancellation, or its time. A scheduled batch is released
 * before its deadline, and then waits for the time of its payment.
 *
 * @module
 */
import { type ErrorBody, PoolError, parseEvmAddress } from '@pool/core';
import { InterruptedRunError, rethrowInterruption } from '@pool/idempotency/engine';
import type { ReleaseEntry } from '@pool/policy';
import type { StoredWindow } from '../../releases/payment-windows.ts';
import {
  describeBatch,
  type PaidBatch,
  type ReleaseDeps,
  readStanding,
} from '../../releases/release-state.ts';
import { type Batch, cancellationName } from '../job/record.ts';
import type { DisbursementDeps, OpenDisbursement, Run } from '../job/run.ts';

/** Name of the write-once value: an agent with a release policy has prepared the job, so an agent without one does not sign it. */
const askedName = 'release-asked/1';

/** The longest pause between two readings of the log. */
const maxPauseMs = 15_000;

/**
 * @param isOnce - the batch was released before. It holds its turn, so it does not wait here: a later run does
 * @throws PoolError `release_policy_refused`, `release_denied`, `release_expired`, `cancelled`
 */
export async function awaitRelease(run: Run, batch: Batch, isOnce = false): Promise<void> {
  const { releases } = run.deps;
  if (releases === undefined) {
    return refuseWithoutPolicy(run, (await findWindow(run)) !== undefined);
  }
  const paid = describePaid(run, batch);
  const prepared = await ask(run, () => prepare(run, releases, paid));
  await run.putOnce(askedName, JSON.stringify({ policy: releases.policy.sha256 }));
  for (let pauseMs = run.deps.pollMs; ; pauseMs = Math.min(pauseMs * 1.2, maxPauseMs)) {
    await run.assertNotCancelled();
    // Read each time: its schedule may withdraw it.
    const window = await findWindow(run);
    const { earliestMs, latestMs: nowMs } = await readClocks(run);
    const isReleasedNow = await isReleased(run, { releases, paid, prepared, nowMs, window });
    if (isReleasedNow && (window === undefined || earliestMs >= window.payAtMs)) {
      return;
    }
    if (isOnce) {
      throw new InterruptedRunError('the batch is not released any more');
    }
    // Nothing of the batch holds up another one while people decide.
    run.hold.leave();
    await run.announce('awaiting-release');
    await run.pause(pauseMs);
  }
}

async function isReleased(
  run: Run,
  wait: {
    readonly releases: ReleaseDeps;
    readonly paid: PaidBatch;
    readonly prepared: ReleaseEntry;
    readonly nowMs: number;
    readonly window: StoredWindow | undefined;
  },
): Promise<boolean> {
  const { releases, paid, prepared, nowMs, window } = wait;
  const standing = await ask(run, () => readStanding(releases, prepared, paid, nowMs));
  if (standing.kind === 'refused') {
    throw new PoolError('release_policy_refused', `${standing.message}; nothing was paid`);
  }
  if (standing.deniedBy !== undefined) {
    throw new PoolError(
      'release_denied',
      `${standing.deniedBy} denied the release, and nothing was paid; correct the payment and prepare it under a new Idempotency-Key`,
    );
  }
  if (window !== undefined) {
    assertInWindow(window, {
      nowMs,
      isStored: standing.isStored,
      required: standing.need.required,
    });
  }
  if (standing.isStored) {
    return true;
  }
  if (nowMs >= standing.untilMs) {
    throw new PoolError(
      'release_expired',
      `the batch was not released within ${releases.policy.waitHours} hours, and nothing was paid; prepare it under a new Idempotency-Key`,
    );
  }
  if (standing.isReleased) {
    const by = standing.releasedBy.map(({ name }) => name).join(', ') || 'no person is required';
    const entry = { ...describeBatch(paid, releases.policy), event: 'released', by } as const;
    await ask(run, () =>
      releases.log.append(
        { ...entry, by: by.slice(0, 128), at: new Date(nowMs).toISOString() },
        `released ${paid.manifestDigest} ${releases.policy.sha256}`,
      ),
    );
    return true;
  }
  return false;
}

/** @throws PoolError `cancelled`, `release_policy_refused`, `release_expired` */
function assertInWindow(
  window: StoredWindow,
  state: { readonly nowMs: number; readonly isStored: boolean; readonly required: number },
): void {
  const { releaseByMs, payByMs, isWithdrawn } = window;
  if (isWithdrawn) {
    throw createWithdrawn();
  }
  if (state.required === 0) {
    throw new PoolError(
      'release_policy_refused',
      'the release policy requires no person for this amount, and a scheduled batch is paid with the release of a person only; nothing was paid',
    );
  }
  if (!state.isStored && state.nowMs >= releaseByMs) {
    throw new PoolError(
      'release_expired',
      `the batch was not released before its deadline, ${new Date(releaseByMs).toISOString()}, and nothing was paid`,
    );
  }
  if (state.nowMs >= payByMs) {
    throw new PoolError(
      'release_expired',
      `the batch was released, and was not signed before the end of its time, ${new Date(payByMs).toISOString()}; nothing was paid`,
    );
  }
}

function createWithdrawn(): PoolError {
  return new PoolError(
    'cancelled',
    'its schedule has withdrawn the batch, and nothing was paid; "disburse-agent schedule show" prints why',
  );
}

/**
 * Before an authorisation leaves: a vote, a queue or a restart may have lasted until after the end of its time.
 * @throws PoolError `cancelled`, `release_expired`
 */
export async function assertWindowOpen(run: Run): Promise<void> {
  const window = await findWindow(run);
  if (window?.isWithdrawn === true) {
    throw createWithdrawn();
  }
  if (window !== undefined && (await readClocks(run)).latestMs >= window.payByMs) {
    throw new PoolError(
      'release_expired',
      `the authorisation had not left this agent before the end of the batch's time, ${new Date(window.payByMs).toISOString()}; nothing was paid`,
    );
  }
}

async function findWindow(run: Run): Promise<StoredWindow | undefined> {
  const { windows } = run.deps;
  return windows && (await ask(run, () => windows.find(run.record.key)));
}

async function prepare(run: Run, { log, policy }: ReleaseDeps, paid: PaidBatch) {
  const by = run.record.preparedBy ?? 'unknown';
  const at = new Date(run.deps.clock.nowMs()).toISOString();
  const entry = { ...describeBatch(paid, policy), event: 'prepare', by, at } as const;
  return log.append(entry, `prepare ${paid.manifestDigest}`);
}

/** What the batch pays, from its own manifest. */
function describePaid(run: Run, { manifest, plan }: Batch): PaidBatch {
  return {
    manifestDigest: plan.manifestDigest,
    total: plan.total.toString(),
    token: parseEvmAddress(manifest.token),
    key: manifest.jobKey,
    count: manifest.recipients.length,
    chain: manifest.chain,
    symbol: run.record.tokenSymbol,
    decimals: run.tokenSettings.decimals,
  };
}

/** @throws BlockedRunError if people were asked for the release, or the batch is scheduled */
async function refuseWithoutPolicy(run: Run, isScheduled: boolean): Promise<void> {
  if (isScheduled || (await run.getValue(askedName)) !== undefined) {
    await run.block(
      {
        code: 'configuration_changed',
        message:
          'this job waits for its release by people, and this agent has no release policy. Set DISBURSE_RELEASE_POLICY and start the agent again, or cancel the job; nothing is signed until then',
      },
      'configuration-changed',
    );
  }
}

/**
 * Our clock and the chain's, which may be wrong either way. Nothing ends later than the later one says, and nothing is paid before the
 * earlier one says so. An RPC that does not answer ends no wait.
 */
async function readClocks(
  run: Run,
): Promise<{ readonly earliestMs: number; readonly latestMs: number }> {
  const ownMs = run.deps.clock.nowMs();
  const headMs = 1000 * (await run.context.chain.fetchHeadTimestamp().catch(() => 0));
  return { earliestMs: Math.min(ownMs, headMs), latestMs: Math.max(ownMs, headMs) };
}

/** A log that does not answer ends the run, like the job store. */
async function ask<T>(run: Pick<Run, 'signal'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    rethrowInterruption(cause, run.signal);
    throw new InterruptedRunError('the release log did not answer', { cause });
  }
}

/**
 * Logs how a prepared batch ends, before the job says so.
 * @param end - `paid`: the transaction. Otherwise why it is not paid
 */
export async function logEnd(
  { record, getValue }: Pick<OpenDisbursement, 'record' | 'getValue'>,
  { releases, clock }: DisbursementDeps,
  end: { readonly txHash: string } | ErrorBody,
): Promise<void> {
  if (releases === undefined) {
    return;
  }
  const { log } = releases;
  const unpaid = 'code' in end ? (end.code === 'cancelled' ? 'cancel' : 'failed') : undefined;
  try {
    const prepared = (await log.listOf(record.key)).findLast(({ event }) => event === 'prepare');
    if (prepared !== undefined) {
      const { number: _n, previous: _p, digest: _d, ...batch } = prepared;
      const at = new Date(clock.nowMs()).toISOString();
      const outcome = 'code' in end ? end.code : end.txHash;
      const by = unpaid === 'cancel' ? readCanceller(await getValue(cancellationName)) : 'agent';
      const entry = { ...batch, event: unpaid ?? 'paid', by, at, outcome } as const;
      await log.append(entry, `end ${prepared.manifestDigest}`);
    }
  } catch (cause) {
    throw new InterruptedRunError('the release log did not answer', { cause });
  }
}

/** Who asked for the cancellation. */
function readCanceller(stored: string | undefined): string {
  const value: unknown = stored === undefined ? {} : JSON.parse(stored);
  const by = typeof value === 'object' && value !== null && 'by' in value ? value.by : undefined;
  return typeof by === 'string' ? by : 'agent';
}
