/**
 * One wallet at custodian A as a {@link Signer}: its approval policy votes on every signature. Every answer is checked against what this
 * side asked for: the body that the custodian says it signs, and the digest that this side computed.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import {
  computeWalletAddress,
  type EvmAddress,
  type Hex,
  isPoolError,
  PoolError,
  tryParseEvmAddress,
  type WalletPub,
} from '@pool/core';
import { type Cut, isSuccess } from '@pool/http-client';
import { computeRequestDigest, type SignerAllow } from '@pool/policy';
import * as v from 'valibot';
import { acceptSignature } from '../accept-signature.ts';
import type { Approver } from '../approver/approver-client.ts';
import { createCustodianFlow } from '../custodian/custodian-flow.ts';
import {
  createDenial,
  createFailure,
  failForeign,
  parsePublicKey,
  parseSuccess,
  type Step,
} from '../custodian/custodian-outcomes.ts';
import type { Outcome, Signer } from '../signer.ts';
import {
  approvalSchema,
  conflictSchema,
  type SignatureRecord,
  signaturePageSchema,
  signatureSchema,
  walletSchema,
} from './answers.ts';
import { type CustodianAAccount, createCustodianAClient } from './custodian-client.ts';
import { createSignatureBody, type SignatureBody, type VotedRequest } from './signature-body.ts';

/** The provider's largest page. */
const pageSize = 100;

/** Whoever may ask for signatures decides how large the items of the list are. */
const listCut: Cut = { depth: 3, maxLength: 16_384, maxBytes: Number.POSITIVE_INFINITY };

/** Guards against a list that never ends. */
const maxPages = 1000;

/**
 * A request older than this is not searched for: the deadline of what it signs has passed. If it exists after all, the custodian
 * answers a create with the existing request.
 */
const historyMs = 45 * 24 * 3_600_000;

export type CustodianASignerOptions = CustodianAAccount & {
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

/** A spend is not in it: its digest shows an approver nothing, so the funder's wallet never signs one. */
const funderKinds: readonly VotedRequest['kind'][] = [
  'fund-authorization',
  'void',
  'permit',
  'token-approval',
  'sign-in',
  'disclosure',
];

/**
 * A funder at custodian A. A request waits there for votes, for hours if need be; `submit`, `read` and `find` say where it stands.
 *
 * @example
 * const signer = createCustodianASigner({ url, token, credentialId, serviceKey, walletId, address });
 * const step = await signer.submit(createSignRequest({ kind: 'void', payload, expectedSigner: address }));
 *
 * @throws PoolError `invalid_configuration`
 */
export function createCustodianASigner(options: CustodianASignerOptions): Signer {
  return createWalletSigner(options, funderKinds);
}

/** @param kinds - what the wallet may sign */
export function createWalletSigner(
  options: CustodianASignerOptions,
  kinds: readonly VotedRequest['kind'][],
): Signer {
  const { walletId, address, allow, approver, nowMs = Date.now } = options;
  const client = createCustodianAClient(options);
  const walletPath = `/wallets/${encodeURIComponent(walletId)}`;
  const signaturesPath = `${walletPath}/signatures`;
  let verified: WalletPub | undefined;
  /** Readiness probes often, and a key is proven once. */
  let isKeyProven = false;

  async function verifyWallet(signal?: AbortSignal): Promise<WalletPub> {
    verified ??= await fetchWalletPub(signal);
    return verified;
  }

  /** W. @throws PoolError `custodian_misconfigured` unless the wallet has the address */
  async function fetchWalletPub(signal?: AbortSignal): Promise<WalletPub> {
    const answer = await client.get(walletPath, { signal });
    const wallet = parseSuccess(client, walletSchema, answer, 'the wallet');
    const walletPub = parsePublicKey(wallet.signingKey.publicKey);
    const isPinned =
      wallet.id === walletId &&
      computeWalletAddress(walletPub) === address &&
      tryParseEvmAddress(wallet.address ?? address) === address;
    if (!isPinned) {
      throw new PoolError(
        'custodian_misconfigured',
        'the wallet at the custodian has another key than the configured address; correct the wallet id or the address',
      );
    }
    return walletPub;
  }

  /**
   * Has the account's key sign a request that is never sent: the bearer token alone only reads.
   * @throws PoolError `custodian_misconfigured` if the custodian refuses key, credential or origin
   */
  async function proveKey(signal?: AbortSignal): Promise<void> {
    try {
      await client.authorize({ method: 'POST', path: signaturesPath, body: '{}', signal });
    } catch (error) {
      if (!isPoolError(error) || error.code !== 'custodian_refused') {
        throw error;
      }
      throw new PoolError(
        'custodian_misconfigured',
        `nothing could be signed: ${error.message}; correct the key, the credential id or the origin of the service account`,
        { cause: error },
      );
    }
  }

  async function lookUp(request: VotedRequest, signal?: AbortSignal): Promise<Step | undefined> {
    const oldestMs = nowMs() - historyMs;
    let paginationToken: string | undefined;
    for (let pages = 0; pages < maxPages; pages += 1) {
      const answer = await client.get(signaturesPath, {
        query: {
          limit: String(pageSize),
          ...(paginationToken === undefined ? {} : { paginationToken }),
        },
        cut: listCut,
        signal,
      });
      const page = parseSuccess(client, signaturePageSchema, answer, 'the list of requests');
      const found = page.items.find((item) => item.externalId === request.externalId);
      if (found !== undefined) {
        return readKnown(found.id, request, signal);
      }
      paginationToken = page.nextPageToken ?? undefined;
      const isOld =
        page.items.length > 0 &&
        page.items.every(({ dateRequested }) => Date.parse(dateRequested ?? '') < oldestMs);
      if (paginationToken === undefined || isOld) {
        return undefined;
      }
    }
    return undefined;
  }

  async function readKnown(
    id: string,
    request: VotedRequest,
    signal?: AbortSignal,
  ): Promise<Step | undefined> {
    const answer = await client.get(`${signaturesPath}/${encodeURIComponent(id)}`, { signal });
    return answer.status === 404
      ? undefined
      : interpret(parseSuccess(client, signatureSchema, answer, 'the request'), request, signal);
  }

  async function interpret(
    record: SignatureRecord,
    request: VotedRequest,
    signal?: AbortSignal,
  ): Promise<Step> {
    const { id: providerId, status } = record;
    const approvalId = record.approvalId ?? undefined;
    const isOurs =
      record.walletId === walletId && isSameBody(record.requestBody, createSignatureBody(request));
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
        return createFailure(providerId, 'sign', record.reason);
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
      typeof approvalId === 'string' ? await fetchApproval(approvalId, signal) : undefined;
    // `AutoRejected`: the time-out of the custodian's policy.
    if (approval?.status === 'Expired' || approval?.status === 'AutoRejected') {
      return { state: 'expired', providerId };
    }
    const denial = approval?.decisions?.find(({ value }) => value === 'Denied');
    return createDenial(providerId, 'denied', denial?.reason ?? reason);
  }

  /** Undefined: it does not exist, or this account may not read it. */
  async function fetchApproval(id: string, signal?: AbortSignal) {
    const answer = await client.get(`/v2/policy-approvals/${encodeURIComponent(id)}`, { signal });
    return answer.status === 404 || answer.status === 403
      ? undefined
      : parseSuccess(client, approvalSchema, answer, 'the approval');
  }

  /** Denies an approval as the initiator. An approval that is decided already stays as it is. */
  async function deny(id: string, signal?: AbortSignal): Promise<void> {
    const change = await client.authorize({
      method: 'POST',
      path: `/v2/policy-approvals/${encodeURIComponent(id)}/decisions`,
      body: JSON.stringify({ value: 'Denied', reason: 'withdrawn by the initiator' }),
      signal,
    });
    const answer = await client.send(change);
    // 409: this account has voted. 412: the approval is decided.
    if (!isSuccess(answer) && answer.status !== 409 && answer.status !== 412) {
      throw client.createRefusal(answer, 'the withdrawal');
    }
  }

  return {
    ...createCustodianFlow<VotedRequest>({
      name: 'custodian_a',
      signerName: 'the wallet at the custodian',
      ...{ address, kinds, allow, approver, nowMs, lookUp, readKnown },
      verify: verifyWallet,
      async prepare(request, signal) {
        const body = JSON.stringify(createSignatureBody(request));
        const change = await client.authorize({
          method: 'POST',
          path: signaturesPath,
          body,
          signal,
        });
        return () => client.send(change);
      },
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
      async cancel(step, signal) {
        if (step.state === 'awaiting-approval' && step.approvalId !== undefined) {
          await deny(step.approvalId, signal);
        }
      },
    }),
    publicKey: () => verifyWallet(),
    // Asks again each time: a probe must not answer from memory.
    probe: async ({ signal } = {}) => {
      await fetchWalletPub(signal);
      if (!isKeyProven) {
        await proveKey(signal);
        isKeyProven = true;
      }
    },
  };
}

/** Equal as JSON values. The custodian may add the family of the chain, which the wallet decides anyway. */
function isSameBody(shown: unknown, body: SignatureBody): boolean {
  const own = JSON.parse(JSON.stringify(body)) as object;
  return (
    isDeepStrictEqual(shown, own) || isDeepStrictEqual(shown, { ...own, blockchainKind: 'Evm' })
  );
}
