/**
 * One transfer or withdrawal, from the request to its receipt, and the memory of Idempotency-Keys.
 *
 * A key reaches one spend. A call with a key that is underway waits for the same outcome. A spend that failed before anything left is
 * abandoned, which frees its notes, and the same request may be sent again under the same key. A spend that may have left ends by what
 * the chain decides, and never otherwise.
 *
 * @module
 */

import {
  bytesToBigint,
  canonicalDigest,
  type Hex32,
  isPoolError,
  PoolError,
  type SpendOperationName,
  type SpendReceipt,
} from '@pool/core';
import { isTooLateToLeave, passPoint, rethrowInterruption } from '@pool/idempotency/engine';
import { type ArchivedSpend, changeSpendState } from '../archive/spend-archive.ts';
import { isOpen, isUnreleased } from '../archive/spend-state.ts';
import { isTooLateHere, parseStoredSignature, signSpend } from './authorize-spend.ts';
import { checkSpend, parseSpendBody, type SpendRequestBody } from './check-spend.ts';
import { concludeSpend, createReceipt, createUnfinishedError } from './conclude-spend.ts';
import { abandonSpend, createKeptError, withdrawSpendRequest } from './give-up-spend.ts';
import { archiveSpend, planArchived, planNewSpend } from './plan-spend.ts';
import { createSubmission, proveSpend } from './prove-spend.ts';
import {
  computePlatformKey,
  fetchNow,
  requireSpendContext,
  retrySpend,
  type SpendDeps,
  type SpendEvent,
  storeSpendState,
  withEvents,
} from './spend-deps.ts';
import type { SpendContext, SpendSubmission } from './spend-ports.ts';
import { explainAlreadySpent } from './used-inputs.ts';
import { readDecision, watchSpend } from './watch-spend.ts';

export type SpendCall = {
  readonly operation: SpendOperationName;
  /** The Idempotency-Key without quotes. */
  readonly key: string;
  /** The body as it was parsed from JSON. */
  readonly body: unknown;
  /** One of the agent's chains. Undefined: the chain of the holder. */
  readonly chain?: string | undefined;
  /** Reads the outcome of a spend that began before, and begins none. */
  readonly isAttached?: boolean;
  /** Of this spend. A call that attaches to another one gets none. */
  readonly onEvent?: (event: SpendEvent) => void;
};

export type Spender = {
  /**
   * Performs a transfer or a withdrawal and waits for its outcome, which takes minutes.
   * @returns the receipt. `status: 'reverted'` is answered with 422
   * @throws PoolError the code of the problem. `spend_unfinished` is the only one after which the spend can still land
   */
  spend(call: SpendCall): Promise<SpendReceipt>;
};

type KeyedRequest = {
  readonly request: RoutedRequest;
  readonly key: string;
  readonly fingerprint: Hex32;
  readonly isAttached: boolean;
};

type InFlight = { readonly fingerprint: Hex32; readonly outcome: Promise<SpendReceipt> };

/**
 * Created once per process.
 *
 * @example
 * const spender = createSpender(deps);
 * const receipt = await spender.spend({ operation: 'send', key, body });
 */
export function createSpender(deps: SpendDeps): Spender {
  const inFlight = new Map<string, InFlight>();
  return {
    async spend({ operation, key, body, chain, isAttached, onEvent }) {
      const request = { ...parseSpendBody(operation, body), chain };
      const fingerprint = canonicalDigest({
        operation,
        body: request.body,
        ...(chain === undefined ? {} : { chain }),
      });
      const running = inFlight.get(key);
      if (running !== undefined) {
        assertSameRequest(running.fingerprint, fingerprint);
        return running.outcome;
      }
      if (request.body.dryRun === true) {
        // It has no effect, so it does not use up the key.
        assertSameRequest(await deps.journal.findFingerprint(key), fingerprint);
        return performDryRun(request, withEvents(deps, onEvent));
      }
      // Nothing awaits between the look-up and this line, so that a second call finds the first one.
      const begun = { request, key, fingerprint, isAttached: isAttached === true };
      const outcome = performOnce(begun, withEvents(deps, onEvent));
      inFlight.set(key, { fingerprint, outcome });
      try {
        return await outcome;
      } finally {
        inFlight.delete(key);
      }
    },
  };
}

function assertSameRequest(known: string | undefined, fingerprint: Hex32): void {
  if (known !== undefined && known !== fingerprint) {
    throw new PoolError(
      'idempotency_conflict',
      'this Idempotency-Key was used for another request; use a new key for a new payment',
    );
  }
}

/** How often one call begins again after its spend was given up. Two processes could otherwise do it to each other for ever. */
const maxStarted = 3;

async function performOnce(keyed: KeyedRequest, deps: SpendDeps): Promise<SpendReceipt> {
  const { key, fingerprint, isAttached } = keyed;
  await passPoint(deps.onFaultPoint, 'started');
  const used = await deps.journal.findFingerprint(key);
  if (used === undefined && isAttached) {
    throw new PoolError(
      'spend_unknown',
      'the agent has no spend of this key: it was refused, never arrived, or the agent was restarted since',
    );
  }
  assertSameRequest(used, fingerprint);
  let started = 0;
  for (let attempt = 1; ; attempt += 1) {
    const known = await findAttempt(key, attempt, deps);
    if (known === undefined && isAttached) {
      throw new PoolError(
        'spend_unknown',
        'the spend of this key was given up before anything of it was sent, and attaching begins no other one',
      );
    }
    if (known === undefined && started === maxStarted) {
      throw new PoolError(
        'notes_unavailable',
        `something gave up this spend ${maxStarted} times before it was sent, so nothing was sent; look for another agent of this directory, and send the same request again`,
        { status: 503, retryable: true },
      );
    }
    started += known === undefined ? 1 : 0;
    const spend = known ?? (await startAttempt(keyed, attempt, deps));
    const ended = await finishSpend(spend, known !== undefined, deps);
    if (ended.state.kind === 'already-spent') {
      await explainAlreadySpent(ended, deps);
    }
    if (ended.state.kind !== 'abandoned') {
      return createReceipt(ended);
    }
  }
}

async function findAttempt(
  key: string,
  attempt: number,
  { journal, archive }: SpendDeps,
): Promise<ArchivedSpend | undefined> {
  const outRoot = await journal.findSpend(key, attempt);
  return outRoot === undefined ? undefined : requireSpend(await archive.get(outRoot));
}

function requireSpend(spend: ArchivedSpend | undefined): ArchivedSpend {
  if (spend === undefined) {
    throw new PoolError(
      'spend_unreadable',
      'the archive does not have the spend of this key; restore the archive of spends from a backup, and do not pay again under a new key before you have read the chain',
    );
  }
  return spend;
}

/** Checks the request and archives a spend for it, then gives the key this spend. Nothing is signed. */
async function startAttempt(
  { request, key, fingerprint }: KeyedRequest,
  attempt: number,
  deps: SpendDeps,
): Promise<ArchivedSpend> {
  const { journal, archive } = deps;
  if (deps.prover.mode === 'mock') {
    throw new PoolError(
      'prover_mock',
      'DISBURSE_PROVER=mock proves nothing: unset it to spend; dry runs work with it',
    );
  }
  deps.onEvent({ kind: 'stage', stage: 'checking' });
  const checked = await checkSpend(request, deps, request.chain);
  await passPoint(deps.onFaultPoint, 'checked');
  const own = await archiveSpend(checked, deps);
  let outRoot: Hex32;
  try {
    assertSameRequest(await journal.claim(key, fingerprint), fingerprint);
    await passPoint(deps.onFaultPoint, 'key.after-claim');
    outRoot = await journal.bindSpend(key, attempt, own.outRoot);
  } catch (error) {
    rethrowInterruption(error);
    await abandonSpend(own, error, deps);
    throw error;
  }
  await passPoint(deps.onFaultPoint, 'key.after-bind');
  if (outRoot === own.outRoot) {
    return own;
  }
  // Another process with the same journal was faster. There is one spend per key.
  await abandonSpend(own, undefined, deps);
  return requireSpend(await archive.get(outRoot));
}

/**
 * Takes a spend from its state to its end.
 * @param isOld - it was archived before this call, so more may have happened than the archive knows
 * @returns an ended spend; `abandoned`: nothing of it left, and another attempt may begin
 */
export async function finishSpend(
  spend: ArchivedSpend,
  isOld: boolean,
  deps: SpendDeps,
): Promise<ArchivedSpend> {
  if (!isOpen(spend.state)) {
    return spend;
  }
  const context = requireSpendContext(deps, spend);
  const current = isOld ? await reconcile(context, await takeUp(spend, deps), deps) : spend;
  if (!isOpen(current.state)) {
    return current;
  }
  if (!isUnreleased(current.state)) {
    return watchToEnd(current, () => watchSpend(context, current, deps));
  }
  // After a restore the key may have been paid by a later attempt, which this archive does not have.
  deps.assertSpendsKnown();
  return releaseSpend(context, current, deps);
}

/** From now on this process performs it, so that no other one gives it up. @returns the spend as it is stored then */
function takeUp({ outRoot }: ArchivedSpend, { archive, owner }: SpendDeps): Promise<ArchivedSpend> {
  return archive.change(outRoot, (now) => (isUnreleased(now.state) ? { ...now, owner } : now));
}

/**
 * Asks chain and platform what became of a spend that this archive believes unsent. The archive may have been restored from a backup:
 * the signature that left then counts, and no second one may be made.
 */
async function reconcile(
  context: SpendContext,
  spend: ArchivedSpend,
  deps: SpendDeps,
): Promise<ArchivedSpend> {
  if (!isUnreleased(spend.state)) {
    return spend;
  }
  const decision = await retrySpend(deps, () => readDecision(context, spend));
  if (decision.kind === 'expired' || decision.kind === 'already-spent') {
    await withdrawSpendRequest(spend, deps);
  }
  if (decision.kind !== 'wait') {
    return concludeSpend(context, spend, decision, deps);
  }
  const row = await retrySpend(deps, () =>
    deps.platform[spend.operation].getSpend(computePlatformKey(spend)),
  );
  if (row !== undefined || decision.isUsed) {
    return changeSpendState(deps.archive, spend.outRoot, (state) => {
      if (state.kind === 'signed') {
        return { kind: 'released', signature: state.signature };
      }
      return state.kind === 'archived' ? { kind: 'recovered' } : undefined;
    });
  }
  if (!(await isTooLate(context, spend, deps))) {
    return spend;
  }
  const ended = await abandonSpend(
    spend,
    new PoolError('settlement_expired', 'too late to send'),
    deps,
  );
  if (isUnreleased(ended.state)) {
    await withdrawSpendRequest(ended, deps);
    throw createKeptError(ended);
  }
  return ended;
}

async function isTooLate(
  context: SpendContext,
  { deadline }: ArchivedSpend,
  deps: SpendDeps,
): Promise<boolean> {
  const nowSeconds = await retrySpend(deps, () => fetchNow(deps, context));
  return isTooLateToLeave(nowSeconds, deadline, deps.deadlineSeconds);
}

/** Signs, proves and sends a spend of which nothing has left, then follows it. */
async function releaseSpend(
  context: SpendContext,
  spend: ArchivedSpend,
  deps: SpendDeps,
): Promise<ArchivedSpend> {
  let step: Released;
  try {
    step = await prepareRelease(context, spend, deps);
  } catch (error) {
    rethrowInterruption(error);
    return failUnreleased(spend, error, deps);
  }
  const { released, submission } = step;
  if (submission === undefined || released.state.kind !== 'released') {
    // Another process, or the follower, was faster.
    return finishSpend(released, true, deps);
  }
  return watchToEnd(released, () => watchSpend(context, released, deps, submission));
}

type Released = {
  readonly released: ArchivedSpend;
  /** Undefined: the spend is in another state, and this process has nothing to send. */
  readonly submission?: SpendSubmission;
};

async function prepareRelease(
  context: SpendContext,
  spend: ArchivedSpend,
  deps: SpendDeps,
): Promise<Released> {
  const planned = planArchived(spend, deps);
  const signed = spend.state.kind === 'archived' ? await signSpend(spend, planned, deps) : spend;
  if (signed.state.kind !== 'signed') {
    return { released: signed };
  }
  const signature = parseStoredSignature(signed.state.signature);
  const proved = await proveSpend(context, planned, signature.rSig, deps);
  await passPoint(deps.onFaultPoint, 'proof.made');
  if (await isTooLate(context, spend, deps)) {
    throw new PoolError(
      'settlement_expired',
      'signing and proving took until the deadline of the spend, so nothing was sent; send the same request again',
      { status: 504 },
    );
  }
  const submission = createSubmission(planned, signature, proved);
  deps.signal.throwIfAborted();
  // Stored before it is sent: after a crash the spend must not be taken for unsent.
  const released = await storeSpendState(deps, spend.outRoot, 'released', (now) =>
    now.kind === 'signed' ? { kind: 'released', signature: now.signature } : undefined,
  );
  return { released, submission };
}

/** @throws the error, if nothing of the spend left; otherwise `spend_unfinished` */
async function failUnreleased(
  spend: ArchivedSpend,
  error: unknown,
  deps: SpendDeps,
): Promise<ArchivedSpend> {
  let ended: ArchivedSpend;
  try {
    ended = await abandonSpend(spend, error, deps);
  } catch (cause) {
    // The archive does not answer. The spend is dead after its deadline, and its notes are free then.
    throw createUnfinishedError(spend, cause);
  }
  if (ended.state.kind !== 'abandoned' && !isUnreleased(ended.state)) {
    // Another process has sent the same authorisation, or the chain has ended it.
    return finishSpend(ended, true, deps);
  }
  if (deps.signal.aborted) {
    throw new PoolError(
      'stopping',
      'the agent stops, and nothing of the spend was sent; send the same request again',
      { cause: error },
    );
  }
  if (isTooLateHere(ended, deps)) {
    await withdrawSpendRequest(ended, deps);
  }
  throw error;
}

/** @throws PoolError `spend_unfinished` if the agent cannot wait for the outcome */
async function watchToEnd(
  spend: ArchivedSpend,
  watch: () => Promise<ArchivedSpend>,
): Promise<ArchivedSpend> {
  try {
    return await watch();
  } catch (error) {
    rethrowInterruption(error);
    // It names the time already.
    const isNamed = isPoolError(error) && error.code === 'spend_unfinished';
    throw isNamed ? error : createUnfinishedError(spend, error);
  }
}

/** A request with the chain that its caller chose. */
type RoutedRequest = SpendRequestBody & { readonly chain: string | undefined };

/** Proves the whole spend and stops. Stores nothing, locks nothing and never asks the signer. */
async function performDryRun(request: RoutedRequest, deps: SpendDeps): Promise<SpendReceipt> {
  deps.onEvent({ kind: 'stage', stage: 'checking' });
  const checked = await checkSpend(request, deps, request.chain);
  const planned = await planNewSpend(checked, deps);
  if (deps.prover.mode === 'real') {
    // The circuit does not verify the signature, so any rSig proves as well. 31 random bytes are always below n.
    const rSig = bytesToBigint(deps.randomBytes(31)) + 1n;
    await proveSpend(checked.context, planned, rSig, deps);
  }
  const { inputNullifiers, changeAmount } = planned.manifest;
  return {
    operation: checked.operation,
    status: 'dry-run',
    nullifiers: [...inputNullifiers],
    changeAmount,
  };
}
