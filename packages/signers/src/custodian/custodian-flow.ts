/**
 * The way of a request through a custodian that votes: its file goes to the approve process, the account is verified, an equal request is
 * looked up, and only then is one created. Both custodians' adapters use it.
 *
 * A create that did not answer with a 4xx (other than 408) may have been accepted, so it is looked up by the id of its content and not
 * repeated. Waiting for votes is a state at the custodian, never a time limit here.
 *
 * @module
 */
import type { RefusalReason, SignRequest } from '@pool/policy';
import type { Approver } from '../approver/approver-client.ts';
import { createManifestDelivery } from '../approver/manifest-delivery.ts';
import { refuse } from '../refusal.ts';
import { isProgress, type Outcome, type Progress, type Signer } from '../signer.ts';
import { describeFailure, failUnknown, type Step } from './custodian-outcomes.ts';

export type CustodianFlow = Required<Pick<Signer, 'submit' | 'read' | 'find' | 'withdraw'>>;

/** @typeParam TRequest - a request that the custodian can sign */
export type CustodianFlowDeps<TRequest extends SignRequest> = {
  /** In messages: what signs. */
  readonly signerName: string;
  readonly approver: Approver | undefined;
  readonly nowMs: () => number;
  readonly isSupported: (request: SignRequest) => request is TRequest;
  /** By this side's own configuration. */
  readonly findRefusal: (request: SignRequest) => RefusalReason | undefined;
  /** @throws PoolError `custodian_misconfigured` unless the account has the configured address */
  readonly verify: (signal?: AbortSignal) => Promise<unknown>;
  /** The equal request that the custodian has. */
  readonly lookUp: (request: TRequest, signal?: AbortSignal) => Promise<Step | undefined>;
  /** An equal request was sent, and may be there although it is not shown yet. */
  readonly isUncertain: (externalId: string) => boolean;
  readonly create: (request: TRequest, signal?: AbortSignal) => Promise<Step>;
  readonly readKnown: (
    id: string,
    request: TRequest,
    signal?: AbortSignal,
  ) => Promise<Step | undefined>;
  /** Asks the custodian to end a request that waits. What it does not end stays as it is. */
  readonly cancel: (step: Progress, signal?: AbortSignal) => Promise<void>;
};

export function createCustodianFlow<TRequest extends SignRequest>(
  deps: CustodianFlowDeps<TRequest>,
): CustodianFlow {
  const { signerName, lookUp, readKnown } = deps;
  const delivery = createManifestDelivery(deps.approver, deps.nowMs);

  async function submit(request: TRequest, signal?: AbortSignal): Promise<Step> {
    const untaken = await delivery.handOver(request, signal);
    await deps.verify(signal);
    const existing = await lookUp(request, signal);
    if (existing !== undefined) {
      // The next read hands the file over again.
      return existing;
    }
    if (deps.isUncertain(request.externalId)) {
      return failUnknown();
    }
    if (untaken !== undefined) {
      throw untaken;
    }
    const refusal = deps.findRefusal(request);
    return refusal === undefined ? deps.create(request, signal) : refuse(refusal, signerName);
  }

  async function read(
    id: string,
    request: TRequest,
    signal?: AbortSignal,
  ): Promise<Step | undefined> {
    const step = await readKnown(id, request, signal);
    if (step !== undefined && isProgress(step)) {
      await delivery.remind(request, signal);
    } else {
      delivery.forget(request);
    }
    return step;
  }

  async function withdraw(
    id: string,
    request: TRequest,
    signal?: AbortSignal,
  ): Promise<Step | undefined> {
    const step = await readKnown(id, request, signal);
    if (step === undefined || !isProgress(step)) {
      return step;
    }
    await deps.cancel(step, signal);
    return readKnown(id, request, signal);
  }

  /** Refuses what this account never signs. A failure of the custodian or the gate is an outcome; an abort is thrown. */
  async function perform<T>(
    request: SignRequest,
    known: { readonly providerId?: string; readonly signal?: AbortSignal | undefined },
    work: (request: TRequest) => Promise<T>,
  ): Promise<T | Outcome> {
    if (request.kind === 'viewing-key') {
      return refuse('not-deterministic', signerName);
    }
    const refusal = deps.findRefusal(request);
    // A text that waits for a vote grows old. It was fresh when it was sent.
    if (refusal !== undefined && refusal !== 'stale-sign-in' && refusal !== 'stale-disclosure') {
      return refuse(refusal, signerName);
    }
    if (!deps.isSupported(request)) {
      return refuse('kind-not-allowed', signerName);
    }
    try {
      return await work(request);
    } catch (error) {
      known.signal?.throwIfAborted();
      return describeFailure(error, known.providerId);
    }
  }

  return {
    submit: (request, { signal } = {}) =>
      perform(request, { signal }, (own) => submit(own, signal)),
    read: (providerId, request, { signal } = {}) =>
      perform(request, { providerId, signal }, (own) => read(providerId, own, signal)),
    find: (request, { signal } = {}) => perform(request, { signal }, (own) => lookUp(own, signal)),
    withdraw: (providerId, request, { signal } = {}) =>
      perform(request, { providerId, signal }, (own) => withdraw(providerId, own, signal)),
  };
}
