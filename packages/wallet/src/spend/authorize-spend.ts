/**
 * The holder's signature of a spend. At most one rSig per manifest ever leaves this agent (protocol §7, "One rSig per manifest"): two
 * signatures over one m reveal W. So the signature is stored before the first proof is made, and another one over the same m is
 * discarded, whichever process or signer made it.
 *
 * @module
 */

import {
  bigintToHex32,
  fieldToHex,
  hexToBigint,
  isPoolError,
  PoolError,
  type SpendFile,
} from '@pool/core';
import { isTooLateToLeave, passPoint, rethrowInterruption } from '@pool/idempotency/engine';
import { computeMaskedSigner, type SpendSignature, verifyMaskedSigner } from '@pool/notes';
import {
  type HolderSpendOptions,
  OwnRefusalError,
  RequestExpiredError,
} from '@pool/signers/holder-signer';
import { type ArchivedSpend, changeSpendState } from '../archive/spend-archive.ts';
import type { StoredSignature } from '../archive/spend-state.ts';
import type { PlannedSpend } from './plan-spend.ts';
import { reportRetry, type SpendDeps, type SpendStage, storeSpendState } from './spend-deps.ts';

/** Pause between two tries of a signer that does not answer, milliseconds. */
const retryMs = 5_000;

/** Signs a spend that has no signature yet. @returns the spend as it is stored now, with whichever signature was stored first */
export async function signSpend(
  spend: ArchivedSpend,
  planned: PlannedSpend,
  deps: SpendDeps,
): Promise<ArchivedSpend> {
  deps.onEvent({ kind: 'stage', stage: 'signing' });
  // Stored before the signer is asked: from here on, another spend of these notes may be refused until this one is dead.
  let isFirst = false;
  const asked = await changeSpendState(deps.archive, spend.outRoot, (state) => {
    isFirst = state.kind === 'archived' && state.isAsked !== true;
    return state.kind === 'archived' ? { kind: 'archived', isAsked: true } : undefined;
  });
  await passPoint(deps.onFaultPoint, 'signature.before-ask');
  if (asked.state.kind !== 'archived') {
    return asked;
  }
  const signature = await askHolder(spend, planned, isFirst, deps);
  assertSignature(planned, signature);
  return storeSpendState(deps, spend.outRoot, 'signed', (state) =>
    state.kind === 'archived'
      ? { kind: 'signed', signature: serializeSignature(signature) }
      : undefined,
  );
}

/**
 * Asks until the signer answers. A signer that needs a vote is asked through its outages, until the spend is too old to be sent.
 * @param isFirst - nothing of the request can be at the provider yet
 */
async function askHolder(
  spend: ArchivedSpend,
  planned: PlannedSpend,
  isFirst: boolean,
  deps: SpendDeps,
): Promise<SpendSignature> {
  const { signer, clock, onEvent } = deps;
  const { operation, salt } = planned.plan;
  const late = new AbortController();
  const signal = AbortSignal.any([deps.signal, late.signal]);
  let stage: SpendStage = 'signing';
  let outage: PoolError | undefined;
  let mayBeAsked = !isFirst;
  const enter = (next: SpendStage): void => {
    if (next !== stage) {
      onEvent({ kind: 'stage', stage: next });
    }
    stage = next;
  };
  const options: HolderSpendOptions = {
    file: createSpendFile(planned),
    signal,
    onProgress: ({ state }) => {
      outage = undefined;
      mayBeAsked = true;
      enter(state === 'awaiting-approval' ? 'awaiting-approval' : 'signing');
      if (isTooLateHere(spend, deps)) {
        late.abort();
      }
    },
  };
  for (;;) {
    try {
      return await signer.signSpend(operation, salt, options);
    } catch (error) {
      rethrowInterruption(error);
      if (error instanceof RequestExpiredError) {
        throw error;
      }
      if (late.signal.aborted || (signer.needsVote === true && isTooLateHere(spend, deps))) {
        throw createVoteExpired(spend, outage);
      }
      // The configuration of this side has changed. The request that was sent before may still be signed.
      const isOutage = mayBeAsked && error instanceof OwnRefusalError;
      // An earlier process may have asked, before the gate lost the spend and came to refuse it.
      const isRefusedLate = mayBeAsked && isPoolError(error) && error.code === 'manifest_refused';
      mayBeAsked = true;
      const mayRetry =
        signer.needsVote === true && isPoolError(error) && (error.retryable || isOutage);
      if (!mayRetry || deps.signal.aborted) {
        throw isOutage || isRefusedLate ? createUnusable(spend, error) : error;
      }
      if (error.code !== outage?.code) {
        reportRetry(deps, error);
      }
      outage = error;
    }
    await clock.sleep(retryMs, deps.signal);
  }
}

/** The spend as a signer outside this process receives it. Secret. */
export function createSpendFile({ manifest, seed, dummies }: PlannedSpend): SpendFile {
  const dummyNullifiers = dummies.map(({ nullifier }) => fieldToHex(nullifier));
  return { version: 1, manifest, seed, dummyNullifiers };
}

/** By the clock of this machine. */
export function isTooLateHere(
  { deadline }: ArchivedSpend,
  { clock, deadlineSeconds }: SpendDeps,
): boolean {
  return isTooLateToLeave(Math.floor(clock.nowMs() / 1000), deadline, deadlineSeconds);
}

/** @param outage - what kept the vote from ending, if anything did */
function createVoteExpired({ deadline }: ArchivedSpend, outage: PoolError | undefined): PoolError {
  const why = outage === undefined ? '' : ` (${outage.code}: ${outage.message})`;
  return new PoolError(
    'signer_expired',
    `the vote on the holder's signature did not end in time, and nothing was sent${why}; the notes of the spend are free again after ${new Date(deadline * 1000).toISOString()}, then send it under a new Idempotency-Key`,
    { status: 504 },
  );
}

/** Its signer may have signed it, so its notes stay locked. */
function createUnusable({ deadline }: ArchivedSpend, cause: PoolError): PoolError {
  return new PoolError(
    'holder_unavailable',
    `${cause.message}; an earlier request for this spend may still be signed: correct the configuration and send the same request again. Its notes are free at the latest after ${new Date(deadline * 1000).toISOString()}`,
    { cause },
  );
}

/** The contract's own check. A wrong signature must not be stored: the manifest could have no other. */
function assertSignature({ manifest, plan }: PlannedSpend, signature: SpendSignature): void {
  const { walletPub } = manifest;
  let isValid = false;
  try {
    const masked = computeMaskedSigner({ ...plan, walletPub, rSig: signature.rSig });
    isValid = verifyMaskedSigner(masked, signature);
  } catch {
    // An rSig out of range. The message would repeat nothing, and the answer is the same.
  }
  if (!isValid) {
    throw new PoolError(
      'signature_rejected',
      'the signature was rejected: the configured wallet did not make it for this spend',
    );
  }
}

function serializeSignature({ rSig, s, parity }: SpendSignature): StoredSignature {
  return { rSig: bigintToHex32(rSig), s: bigintToHex32(s), parity };
}

export function parseStoredSignature({ rSig, s, parity }: StoredSignature): SpendSignature {
  return { rSig: hexToBigint(rSig), s: hexToBigint(s), parity };
}
