/**
 * One wallet at custodian A as a {@link Signer}. Every answer is checked against what this side asked for: the body that the
 * custodian says it signs, and the digest that this side computed.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import { type EvmAddress, type Hex, PoolError, type WalletPub } from '@pool/core';
import { computeRequestDigest, findRefusal, type SignerAllow, type SignKind } from '@pool/policy';
import * as v from 'valibot';
import { acceptSignature } from '../accept-signature.ts';
import type { Approver } from '../approver/approver-client.ts';
import { createCustodianFlow } from '../custodian/custodian-flow.ts';
import { describeReason, failForeign, type Step } from '../custodian/custodian-outcomes.ts';
import type { Outcome, Signer } from '../signer.ts';
import { conflictSchema, type SignatureRecord, signatureSchema } from './answers.ts';
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

const signerName = 'the wallet at the custodian';

/** @throws PoolError `invalid_configuration` */
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
  let verified: WalletPub | undefined;
  /** Readiness probes often, and a key is proven once. */
  let isKeyProven = false;

  async function verifyWallet(signal?: AbortSignal): Promise<WalletPub> {
    verified ??= await requests.fetchWalletPub(address, signal);
    return verified;
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

  const flow = createCustodianFlow<VotedRequest>({
    signerName,
    approver,
    nowMs,
    isSupported: (request): request is VotedRequest => request.kind !== 'viewing-key',
    findRefusal: (request) => findRefusal(request, address, allow, nowMs()),
    verify: verifyWallet,
    lookUp,
    prepare: (request, signal) => requests.prepare(createSignatureBody(request), signal),
    async readCreated(body, request, signal) {
      const record = v.safeParse(signatureSchema, body);
      return record.success ? interpret(record.output, request, signal) : undefined;
    },
    /** Another request has the externalId; it may be ours. */
    async readExisting({ status, body }, request, signal) {
      const conflict = v.safeParse(conflictSchema, body);
      if (status !== 409 || !conflict.success) {
        return undefined;
      }
      const { id } = conflict.output.error.details.duplicate;
      return (await readKnown(id, request, signal)) ?? failForeign(id);
    },
    createRefusal: client.createRefusal,
    readKnown,
    async cancel(step, signal) {
      if (step.state === 'awaiting-approval' && step.approvalId !== undefined) {
        await requests.deny(step.approvalId, signal);
      }
    },
  });

  return {
    name: 'custodian_a',
    capabilities: { deterministic: false, needsApprover: true, curves: ['secp256k1'] },
    address: async () => address,
    publicKey: () => verifyWallet(),
    // Asks again each time: a probe must not answer from memory.
    probe: async ({ signal } = {}) => {
      await requests.fetchWalletPub(address, signal);
      if (!isKeyProven) {
        await requests.proveKey(signal);
        isKeyProven = true;
      }
    },
    ...flow,
  };
}

/** Equal as JSON values. The custodian may add the family of the chain, which the wallet decides anyway. */
function isSameBody(shown: unknown, body: SignatureBody): boolean {
  const own = JSON.parse(JSON.stringify(body)) as object;
  return (
    isDeepStrictEqual(shown, own) || isDeepStrictEqual(shown, { ...own, blockchainKind: 'Evm' })
  );
}
