/**
 * One wallet at custodian A as a {@link Signer}. Every answer is checked against what this side asked for: the body that the
 * custodian says it signs, and the digest that this side computed.
 *
 * A create that did not answer with a 4xx (other than 408) may have been accepted, so it is looked up by its externalId and not
 * repeated. Waiting for votes is a state at the custodian, never a time limit here.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import {
  cleanMessage,
  type EvmAddress,
  type Hex,
  isPoolError,
  PoolError,
  type WalletPub,
} from '@pool/core';
import {
  computeRequestDigest,
  findRefusal,
  type SignerAllow,
  type SignKind,
  type SignRequest,
} from '@pool/policy';
import { acceptSignature } from '../accept-signature.ts';
import type { Approver } from '../approver/approver-client.ts';
import { createManifestDelivery } from '../approver/manifest-delivery.ts';
import { refuse } from '../refusal.ts';
import { isProgress, type Outcome, type Progress, type Signer } from '../signer.ts';
import type { SignatureRecord } from './answers.ts';
import { type CustodianAAccount, createCustodianAClient } from './custodian-client.ts';
import { createSignatureBody, type SignatureBody, type VotedRequest } from './signature-body.ts';
import { createWalletRequests } from './wallet-requests.ts';

export type WalletSignerOptions = CustodianAAccount & {
  /** Id of the wallet at the custodian. */
  readonly walletId: string;
  /** Address of that wallet, from this side's own configuration, never from the custodian. */
  readonly address: EvmAddress;
  readonly allow?: SignerAllow;
  /** Gets the manifest file of a request before the custodian is asked. Omitted: people vote without it. */
  readonly approver?: Approver;
  /** Clock of the adapter, milliseconds since the epoch. Default: the system clock. */
  readonly nowMs?: () => number;
};

type Step = Progress | Outcome;

const signerName = 'the wallet at the custodian';

/** @throws PoolError `invalid_url`, `invalid_private_key` */
export function createWalletSigner(
  options: WalletSignerOptions & { readonly kinds: readonly SignKind[] },
): Signer {
  const { address, approver, nowMs = Date.now } = options;
  const allow = {
    ...options.allow,
    kinds: options.kinds.filter((kind) => options.allow?.kinds?.includes(kind) ?? true),
  };
  const client = createCustodianAClient(options);
  const requests = createWalletRequests({ client, walletId: options.walletId, nowMs });
  const delivery = createManifestDelivery(approver, nowMs);
  let verified: WalletPub | undefined;

  async function verifyWallet(signal?: AbortSignal): Promise<WalletPub> {
    verified ??= await requests.fetchWalletPub(address, signal);
    return verified;
  }

  async function create(request: VotedRequest, signal?: AbortSignal): Promise<Step> {
    const answer = await requests.create(createSignatureBody(request), signal);
    switch (answer.kind) {
      case 'accepted':
        return interpret(answer.record, request, signal);
      case 'duplicate':
        return (await readKnown(answer.id, request, signal)) ?? failForeign(answer.id);
      case 'unknown':
        return (await lookUp(request, signal)) ?? failUnknown();
    }
  }

  async function lookUp(request: VotedRequest, signal?: AbortSignal): Promise<Step | undefined> {
    const id = await requests.find(request.externalId, signal);
    return id === undefined ? undefined : readKnown(id, request, signal);
  }

  async function readKnown(
    id: string,
    request: VotedRequest,
    signal?: AbortSignal,
  ): Promise<Step | undefined> {
    const record = await requests.fetch(id, signal);
    return record === undefined ? undefined : interpret(record, request, signal);
  }

  async function interpret(
    record: SignatureRecord,
    request: VotedRequest,
    signal?: AbortSignal,
  ): Promise<Step> {
    const { id: providerId, status } = record;
    const approvalId = record.approvalId ?? undefined;
    const isOurs =
      record.walletId === options.walletId &&
      isSameBody(record.requestBody, createSignatureBody(request));
    if (!isOurs) {
      return failForeign(providerId);
    }
    switch (status) {
      case 'Pending':
        return approvalId === undefined
          ? { state: 'submitted', providerId }
          : { state: 'awaiting-approval', providerId, approvalId };
      case 'Signed':
      case 'Confirmed':
        return { state: 'signed', providerId, signature: accept(record, request) };
      case 'Rejected':
        return explainRejection(record, signal);
      case 'Failed':
        return {
          state: 'failed',
          providerId,
          retryable: false,
          code: 'custodian_failed',
          message: `the custodian could not sign the request: ${describeReason(record.reason)}`,
        };
      default:
        // `Executing`, and states of another version: the custodian still works on it.
        return { state: 'signing', providerId };
    }
  }

  function accept({ signature }: SignatureRecord, request: VotedRequest): Hex {
    if (signature === null || signature === undefined) {
      throw new PoolError(
        'custodian_invalid_response',
        'the custodian says that the request is signed, and shows no signature',
      );
    }
    const { r, s, recid } = signature;
    return acceptSignature({
      signature: { r, s, v: recid ?? undefined },
      digest: computeRequestDigest(request),
      expectedSigner: address,
    });
  }

  /** Nobody voted in time, or somebody voted no. */
  async function explainRejection(
    { id: providerId, approvalId, reason }: SignatureRecord,
    signal?: AbortSignal,
  ): Promise<Outcome> {
    const approval =
      typeof approvalId === 'string' ? await requests.fetchApproval(approvalId, signal) : undefined;
    // `AutoRejected`: the time-out of the custodian's policy.
    if (approval?.status === 'Expired' || approval?.status === 'AutoRejected') {
      return { state: 'expired', providerId };
    }
    const denial = approval?.decisions?.find(({ value }) => value === 'Denied');
    return {
      state: 'refused',
      providerId,
      reason: 'denied',
      message: `the request was denied at the custodian: ${describeReason(denial?.reason ?? reason)}`,
    };
  }

  async function submitNow(request: VotedRequest, signal?: AbortSignal): Promise<Step> {
    const untaken = await delivery.handOver(request, signal);
    await verifyWallet(signal);
    const existing = await lookUp(request, signal);
    if (existing !== undefined) {
      // The next read hands the file over again.
      return existing;
    }
    if (requests.isUncertain(request.externalId)) {
      return failUnknown();
    }
    if (untaken !== undefined) {
      throw untaken;
    }
    const refusal = findRefusal(request, address, allow, nowMs());
    return refusal === undefined ? create(request, signal) : refuse(refusal, signerName);
  }

  async function readWaiting(
    id: string,
    request: VotedRequest,
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

  async function withdrawNow(
    providerId: string,
    request: VotedRequest,
    signal?: AbortSignal,
  ): Promise<Step | undefined> {
    const step = await readKnown(providerId, request, signal);
    if (step?.state !== 'awaiting-approval' || step.approvalId === undefined) {
      return step;
    }
    await requests.deny(step.approvalId, signal);
    return readKnown(providerId, request, signal);
  }

  /** Refuses what this wallet never signs. A failure of the custodian or the gate is an outcome; an abort is thrown. */
  async function perform<T>(
    request: SignRequest,
    known: { readonly providerId?: string; readonly signal?: AbortSignal | undefined },
    work: (request: VotedRequest) => Promise<T>,
  ): Promise<T | Outcome> {
    if (request.kind === 'viewing-key') {
      return refuse('not-deterministic', signerName);
    }
    const refusal = findRefusal(request, address, allow, nowMs());
    // A text that waits for a vote grows old. It was fresh when it was sent.
    if (refusal !== undefined && refusal !== 'stale-sign-in' && refusal !== 'stale-disclosure') {
      return refuse(refusal, signerName);
    }
    try {
      return await work(request);
    } catch (error) {
      known.signal?.throwIfAborted();
      return describeFailure(error, known.providerId);
    }
  }

  return {
    name: 'custodian_a',
    capabilities: { deterministic: false, needsApprover: true, curves: ['secp256k1'] },
    address: async () => address,
    publicKey: () => verifyWallet(),
    // Asks again each time: a probe must not answer from memory.
    probe: async ({ signal } = {}) => {
      await requests.fetchWalletPub(address, signal);
    },
    submit: (request, { signal } = {}) =>
      perform(request, { signal }, (own) => submitNow(own, signal)),
    read: (providerId, request, { signal } = {}) =>
      perform(request, { providerId, signal }, (own) => readWaiting(providerId, own, signal)),
    find: (request, { signal } = {}) => perform(request, { signal }, (own) => lookUp(own, signal)),
    withdraw: (providerId, request, { signal } = {}) =>
      perform(request, { providerId, signal }, (own) => withdrawNow(providerId, own, signal)),
  };
}

/** @throws the error itself unless it is about the custodian or the gate */
function describeFailure(error: unknown, providerId: string | undefined): Outcome {
  if (!isPoolError(error)) {
    throw error;
  }
  const { code, retryable, message } = error;
  if (code === 'custodian_misconfigured') {
    return { state: 'refused', reason: 'foreign-signer', message };
  }
  const known = providerId === undefined ? {} : { providerId };
  return { state: 'failed', ...known, retryable, code, message };
}

function failForeign(providerId: string): Outcome {
  return {
    state: 'failed',
    providerId,
    retryable: false,
    code: 'custodian_invalid_response',
    message:
      'the request that the custodian shows under this id signs another document than this one; nothing of it is used',
  };
}

function failUnknown(): Outcome {
  return {
    state: 'failed',
    retryable: true,
    code: 'custodian_outcome_unknown',
    message:
      'the answer of the custodian was lost, and its list does not show the request yet; it is looked up again',
  };
}

function describeReason(reason: string | null | undefined): string {
  const cleaned = cleanMessage(reason ?? '');
  return cleaned === '' ? 'it gave no reason' : cleaned;
}

/** Equal as JSON values. The custodian may add the family of the chain, which the wallet decides anyway. */
function isSameBody(shown: unknown, body: SignatureBody): boolean {
  const own = JSON.parse(JSON.stringify(body)) as object;
  return (
    isDeepStrictEqual(shown, own) || isDeepStrictEqual(shown, { ...own, blockchainKind: 'Evm' })
  );
}
