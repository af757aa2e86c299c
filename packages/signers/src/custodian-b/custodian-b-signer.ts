/**
 * `custodian_b` as the funder's signer: one vault account at a custodian whose co-signer asks the approve process before it signs. There
 * is no holder's signer for this custodian: a spend is a bare digest, and it would need RAW signing, which stays off.
 *
 * Every answer is checked against what this side asked for: the document that the custodian shows, and the digest that this side
 * computed. A create that did not answer with a 4xx (other than 408) may have been accepted, so it is looked up by its externalTxId.
 *
 * @module
 */
import { type EvmAddress, isPoolError, type WalletPub } from '@pool/core';
import {
  findRefusal,
  type RefusalReason,
  type SignerAllow,
  type SignRequest,
  type TokenApprovalRequest,
} from '@pool/policy';
import type { Approver } from '../approver/approver-client.ts';
import { createManifestDelivery } from '../approver/manifest-delivery.ts';
import { refuse } from '../refusal.ts';
import { isProgress, type Outcome, type Signer } from '../signer.ts';
import { type CustodianBAccount, createCustodianBClient } from './custodian-client.ts';
import { failForeign, interpretTransaction, type Step } from './interpret-transaction.ts';
import {
  createTransactionBody,
  isSupported,
  type SupportedRequest,
  supportedKinds,
} from './transaction-body.ts';
import { createVaultRequests } from './vault-requests.ts';

export type CustodianBSignerOptions = CustodianBAccount & {
  /** Id of the vault account that signs. */
  readonly vaultAccountId: string;
  /** Id of the asset at the custodian, which chooses the key, and the chain of a contract call. */
  readonly assetId: string;
  /**
   * EIP-155 id of the chain of `assetId`. The custodian sends token approvals there, so an approval for another chain is refused.
   * Omitted: every token approval is refused.
   */
  readonly assetChainId?: number;
  /** Address of the vault account, from this side's own configuration, never from the custodian. */
  readonly address: EvmAddress;
  readonly allow?: SignerAllow;
  /** Gets the manifest file of a request before the custodian is asked. Omitted: the co-signer's handler decides without it. */
  readonly approver?: Approver;
};

const signerName = 'the vault account at the custodian';

/**
 * A funder at custodian B. A request waits there for the approve process, for hours if need be; `submit`, `read` and `find` say where it
 * stands. A token approval ends as `sent`: the custodian signs the transaction and sends it.
 *
 * @example
 * const signer = createCustodianBSigner({ url, apiKey, apiSecret, vaultAccountId: '0', assetId: 'ETH', address });
 * const step = await signer.submit(createSignRequest({ kind: 'void', payload, expectedSigner: address }));
 *
 * @throws PoolError `invalid_url`, `invalid_private_key`
 */
export function createCustodianBSigner(options: CustodianBSignerOptions): Signer {
  const { address, approver, vaultAccountId, assetId, assetChainId, nowMs = Date.now } = options;
  const place = { vaultAccountId, assetId };
  const expectation = { place, address };
  const allow = {
    ...options.allow,
    kinds: supportedKinds.filter((kind) => options.allow?.kinds?.includes(kind) ?? true),
  };
  const client = createCustodianBClient(options);
  const vault = createVaultRequests({ client, place, nowMs });
  const delivery = createManifestDelivery(approver, nowMs);
  let isVerified = false;

  async function verifyAddress(signal?: AbortSignal): Promise<void> {
    if (!isVerified) {
      await vault.assertAddress(address, signal);
      isVerified = true;
    }
  }

  function findOwnRefusal(request: SignRequest): RefusalReason | undefined {
    return (
      findRefusal(request, address, allow, nowMs()) ??
      (request.kind === 'token-approval' ? findChainRefusal(request) : undefined)
    );
  }

  function findChainRefusal({ payload }: TokenApprovalRequest): RefusalReason | undefined {
    if (assetChainId === undefined) {
      return 'kind-not-allowed';
    }
    return payload.expected.chainId === assetChainId ? undefined : 'foreign-chain';
  }

  async function submitNow(request: SupportedRequest, signal?: AbortSignal): Promise<Step> {
    const untaken = await delivery.handOver(request, signal);
    await verifyAddress(signal);
    const existing = await lookUp(request, signal);
    if (existing !== undefined) {
      // The next read hands the file over again.
      return existing;
    }
    if (vault.isUncertain(request.externalId)) {
      return failUnknown();
    }
    if (untaken !== undefined) {
      throw untaken;
    }
    const refusal = findOwnRefusal(request);
    return refusal === undefined ? create(request, signal) : refuse(refusal, signerName);
  }

  async function create(request: SupportedRequest, signal?: AbortSignal): Promise<Step> {
    const answer = await vault.create(createTransactionBody(request, place), signal);
    switch (answer.kind) {
      case 'created': {
        const { id: providerId } = answer;
        // What the custodian stored is compared at once. An outage does not lose the id.
        const step = await readKnown(providerId, request, signal).catch((error: unknown) => {
          signal?.throwIfAborted();
          ignoreOutage(error);
        });
        return step ?? { state: 'submitted', providerId };
      }
      case 'exists':
        return interpretTransaction(answer.record, request, expectation);
      case 'unknown':
        return (await lookUp(request, signal)) ?? failUnknown();
    }
  }

  async function lookUp(
    request: SupportedRequest,
    signal?: AbortSignal,
  ): Promise<Step | undefined> {
    const record = await vault.find(request.externalId, signal);
    return record === undefined ? undefined : interpretTransaction(record, request, expectation);
  }

  async function readKnown(
    id: string,
    request: SupportedRequest,
    signal?: AbortSignal,
  ): Promise<Step | undefined> {
    const record = await vault.fetch(id, signal);
    if (record === undefined) {
      return undefined;
    }
    return record.id === id ? interpretTransaction(record, request, expectation) : failForeign(id);
  }

  async function readWaiting(
    id: string,
    request: SupportedRequest,
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
    request: SupportedRequest,
    signal?: AbortSignal,
  ): Promise<Step | undefined> {
    const step = await readKnown(providerId, request, signal);
    if (step === undefined || !isProgress(step)) {
      return step;
    }
    await vault.cancel(providerId, signal);
    return readKnown(providerId, request, signal);
  }

  /** Refuses what this account never signs. A failure of the custodian or the gate is an outcome; an abort is thrown. */
  async function perform<T>(
    request: SignRequest,
    known: { readonly providerId?: string; readonly signal?: AbortSignal | undefined },
    work: (request: SupportedRequest) => Promise<T>,
  ): Promise<T | Outcome> {
    if (request.kind === 'viewing-key') {
      return refuse('not-deterministic', signerName);
    }
    const refusal = findOwnRefusal(request);
    // A text that waits for a vote grows old. It was fresh when it was sent.
    if (refusal !== undefined && refusal !== 'stale-sign-in') {
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
    name: 'custodian_b',
    capabilities: { deterministic: false, needsApprover: true, curves: ['secp256k1'] },
    address: async () => address,
    publicKey: (): Promise<WalletPub> => vault.fetchWalletPub(address),
    probe: ({ signal } = {}) => vault.assertAddress(address, signal),
    submit: (request, { signal } = {}) =>
      perform(request, { signal }, (own) => submitNow(own, signal)),
    read: (providerId, request, { signal } = {}) =>
      perform(request, { providerId, signal }, (own) => readWaiting(providerId, own, signal)),
    find: (request, { signal } = {}) => perform(request, { signal }, (own) => lookUp(own, signal)),
    withdraw: (providerId, request, { signal } = {}) =>
      perform(request, { providerId, signal }, (own) => withdrawNow(providerId, own, signal)),
  };
}

/** @throws the error itself unless the custodian may answer later */
function ignoreOutage(error: unknown): void {
  if (!isPoolError(error) || !error.retryable) {
    throw error;
  }
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

function failUnknown(): Outcome {
  return {
    state: 'failed',
    retryable: true,
    code: 'custodian_outcome_unknown',
    message:
      'the answer of the custodian was lost, and it does not show the transaction yet; it is looked up again',
  };
}
