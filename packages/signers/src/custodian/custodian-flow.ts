/**
 * The way of a request through a custodian that votes: its file goes to the approve process, the account is verified, an equal request is
 * looked up, and only then is one created. Both custodians' adapters use it.
 *
 * A create that did not answer with a 4xx (other than 408) may have been accepted, so it is looked up by the id of its content and not
 * repeated. Waiting for votes is a state at the custodian, never a time limit here.
 *
 * @module
 */
import { type EvmAddress, isPoolError, type ManifestFile, PoolError, peerCode } from '@pool/core';
import { type HttpAnswer, isSuccess } from '@pool/http-client';
import { findRefusal, type RefusalReason, type SignerAllow, type SignRequest } from '@pool/policy';
import type { Approver } from '../approver/approver-client.ts';
import { refuse } from '../refusal.ts';
import { isProgress, type Outcome, type Progress, type Signer } from '../signer.ts';
import { describeFailure, failUnknown, type Step } from './custodian-outcomes.ts';

// When the approve process gets the manifest file of a request: before the custodian is asked, and again while the request waits for
// its vote. A gate that was restored from a backup has lost the manifests of today, and would wait for them without an end.

type Delivered = { readonly externalId: string; readonly file?: ManifestFile };

/** A gate that was restored and re-baselined has the manifests of waiting requests again after this time. */
const repeatMs = 5 * 60_000;

/** A gate that refuses a file has rebuilt it first, which takes a second of computing. */
const retryMs = 60_000;

export function createManifestDelivery(approver: Approver | undefined, nowMs: () => number) {
  /** By externalId: the last answer of the gate while the request waits. */
  const answers = new Map<string, { readonly atMs: number; readonly failure?: PoolError }>();

  /** @returns why the gate did not take the file. Undefined: it has it, or there is nothing to send */
  async function handOver(
    { externalId, file }: Delivered,
    signal?: AbortSignal,
  ): Promise<PoolError | undefined> {
    if (approver === undefined || file === undefined) {
      return undefined;
    }
    try {
      await approver.postManifest(file, signal);
      answers.set(externalId, { atMs: nowMs() });
      return undefined;
    } catch (error) {
      signal?.throwIfAborted();
      if (!isPoolError(error)) {
        throw error;
      }
      return error;
    }
  }

  return {
    /** Before a request is created. */
    handOver,
    /**
     * While a request waits at the custodian: hands the file over again every few minutes, and at the first call of this process.
     * @throws PoolError retryable, whatever the gate answers: the request is at the custodian, and can still be approved
     */
    async remind(request: Delivered, signal?: AbortSignal): Promise<void> {
      const { externalId } = request;
      const known = answers.get(externalId);
      const isDue =
        known === undefined ||
        nowMs() - known.atMs >= (known.failure === undefined ? repeatMs : retryMs);
      const refusal = isDue ? await handOver(request, signal) : known.failure;
      if (refusal !== undefined) {
        const { code, message, cause } = refusal;
        const failure = new PoolError(peerCode(code), message, { retryable: true, cause });
        if (isDue) {
          answers.set(externalId, { atMs: nowMs(), failure });
        }
        throw failure;
      }
    },
    /** The request does not wait any more. */
    forget({ externalId }: Delivered): void {
      answers.delete(externalId);
    },
  };
}

/** A request that was accepted is shown after this time. */
const settleMs = 60_000;

/** A signer without its key's routes. */
export type CustodianFlow = Omit<Signer, 'publicKey' | 'probe' | 'close'>;

/** @typeParam TRequest - a request that the custodian can sign */
export type CustodianFlowDeps<TRequest extends SignRequest> = {
  /** Kind of the signer in the configuration. */
  readonly name: string;
  /** In messages: what signs. */
  readonly signerName: string;
  readonly address: EvmAddress;
  readonly kinds: readonly TRequest['kind'][];
  /** By this side's own configuration. */
  readonly allow: SignerAllow | undefined;
  readonly approver: Approver | undefined;
  readonly nowMs: () => number;
  /** What is refused beside what `allow` refuses. */
  readonly findRefusal?: (request: SignRequest) => RefusalReason | undefined;
  /** @throws PoolError `custodian_misconfigured` unless the account has the configured address */
  readonly verify: (signal?: AbortSignal) => Promise<unknown>;
  /** The equal request that the custodian has. */
  readonly lookUp: (request: TRequest, signal?: AbortSignal) => Promise<Step | undefined>;
  /** Makes a create ready. The function that it returns sends it. */
  readonly prepare: (request: TRequest, signal?: AbortSignal) => Promise<() => Promise<HttpAnswer>>;
  /** Of a create that succeeded. Undefined: the answer cannot be read. */
  readonly readCreated: (
    body: unknown,
    request: TRequest,
    signal?: AbortSignal,
  ) => Promise<Step | undefined>;
  /** The request that stood in the way of a create. Undefined: the answer names none. */
  readonly readExisting: (
    answer: HttpAnswer,
    request: TRequest,
    signal?: AbortSignal,
  ) => Promise<Step | undefined>;
  /** The error of an answer that is not a success, without credentials. */
  readonly createRefusal: (answer: HttpAnswer, what: string) => PoolError;
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
  const { name, signerName, address, readKnown, nowMs } = deps;
  const allow = {
    ...deps.allow,
    kinds: deps.kinds.filter((kind) => deps.allow?.kinds?.includes(kind) ?? true),
  };
  const delivery = createManifestDelivery(deps.approver, nowMs);
  /** By externalId: when a create was sent whose outcome is unknown. */
  const lostAtMs = new Map<string, number>();

  function findOwnRefusal(request: SignRequest): RefusalReason | undefined {
    return findRefusal(request, address, allow, nowMs()) ?? deps.findRefusal?.(request);
  }

  function isSupported(request: SignRequest): request is TRequest {
    return deps.kinds.some((kind) => kind === request.kind);
  }

  async function lookUp(request: TRequest, signal?: AbortSignal): Promise<Step | undefined> {
    const step = await deps.lookUp(request, signal);
    if (step !== undefined) {
      lostAtMs.delete(request.externalId);
    }
    return step;
  }

  /** True after a create whose outcome is unknown, until the custodian has had time to show it. */
  function isUncertain({ externalId }: TRequest): boolean {
    const sentAtMs = lostAtMs.get(externalId);
    return sentAtMs !== undefined && nowMs() - sentAtMs < settleMs;
  }

  async function create(request: TRequest, signal?: AbortSignal): Promise<Step> {
    const send = await deps.prepare(request, signal);
    // From here on the request may be accepted, also when this call is aborted.
    lostAtMs.set(request.externalId, nowMs());
    const answer = await send().catch((error: unknown) => {
      if (isPoolError(error)) {
        return undefined;
      }
      throw error;
    });
    const isAnswered = answer !== undefined && !isUnknown(answer);
    const isCreated = isAnswered && isSuccess(answer);
    if (isAnswered && !isCreated) {
      lostAtMs.delete(request.externalId);
      const existing = await deps.readExisting(answer, request, signal);
      if (existing === undefined) {
        throw deps.createRefusal(answer, 'the request');
      }
      return existing;
    }
    const created = isCreated ? await deps.readCreated(answer.body, request, signal) : undefined;
    if (created === undefined) {
      return (await lookUp(request, signal)) ?? failUnknown();
    }
    lostAtMs.delete(request.externalId);
    return created;
  }

  async function submit(request: TRequest, signal?: AbortSignal): Promise<Step> {
    const untaken = await delivery.handOver(request, signal);
    await deps.verify(signal);
    const existing = await lookUp(request, signal);
    if (existing !== undefined) {
      // The next read hands the file over again.
      return existing;
    }
    if (isUncertain(request)) {
      return failUnknown();
    }
    if (untaken !== undefined) {
      throw untaken;
    }
    const refusal = findOwnRefusal(request);
    return refusal === undefined ? create(request, signal) : refuse(refusal, signerName);
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
    const refusal = findOwnRefusal(request);
    // A text that waits for a vote grows old. It was fresh when it was sent.
    if (refusal !== undefined && refusal !== 'stale-sign-in' && refusal !== 'stale-disclosure') {
      return refuse(refusal, signerName);
    }
    if (!isSupported(request)) {
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
    name,
    capabilities: { deterministic: false, needsApprover: true, curves: ['secp256k1'] },
    address: async () => address,
    submit: (request, { signal } = {}) =>
      perform(request, { signal }, (own) => submit(own, signal)),
    read: (providerId, request, { signal } = {}) =>
      perform(request, { providerId, signal }, (own) => read(providerId, own, signal)),
    find: (request, { signal } = {}) => perform(request, { signal }, (own) => lookUp(own, signal)),
    withdraw: (providerId, request, { signal } = {}) =>
      perform(request, { providerId, signal }, (own) => withdraw(providerId, own, signal)),
  };
}

/** Everything but a success and a 4xx; a 408 is a time-out, and says nothing about the work. */
function isUnknown({ status }: HttpAnswer): boolean {
  return status === 408 || status < 200 || status >= 500;
}
