/**
 * The routes of custodian A that concern one wallet: its key, its signature requests, and the approvals that they wait for.
 *
 * @module
 */
import {
  computeWalletAddress,
  type EvmAddress,
  isPoolError,
  PoolError,
  parseHex,
  parseWalletPub,
  tryParseEvmAddress,
  type WalletPub,
} from '@pool/core';
import { type Cut, type HttpAnswer, isSuccess } from '@pool/http-client';
import * as v from 'valibot';
import { parseAnswer } from '../custodian/custodian-outcomes.ts';
import { createLostCreates } from '../custodian/lost-creates.ts';
import {
  type Approval,
  approvalSchema,
  conflictSchema,
  type SignatureRecord,
  signaturePageSchema,
  signatureSchema,
  walletSchema,
} from './answers.ts';
import type { CustodianAClient } from './custodian-client.ts';
import type { SignatureBody } from './signature-body.ts';

export type CreateAnswer =
  | { readonly kind: 'accepted'; readonly record: SignatureRecord }
  /** Another request has the externalId; it may be ours. */
  | { readonly kind: 'duplicate'; readonly id: string }
  /** The request may have been accepted. */
  | { readonly kind: 'unknown' };

export type WalletRequests = {
  /** W. @throws PoolError `custodian_misconfigured` unless the wallet has the address */
  fetchWalletPub(address: EvmAddress, signal?: AbortSignal): Promise<WalletPub>;
  /**
   * Has the account's key sign a request that is never sent: the bearer token alone only reads.
   * @throws PoolError `custodian_misconfigured` if the custodian refuses key, credential or origin
   */
  proveKey(signal?: AbortSignal): Promise<void>;
  /** @throws PoolError `custodian_refused` and others if the request was certainly not accepted */
  create(body: SignatureBody, signal?: AbortSignal): Promise<CreateAnswer>;
  /** True after a create whose outcome is unknown, until the custodian has had time to show it. */
  isUncertain(externalId: string): boolean;
  fetch(id: string, signal?: AbortSignal): Promise<SignatureRecord | undefined>;
  /** The id of the request with this externalId. */
  find(externalId: string, signal?: AbortSignal): Promise<string | undefined>;
  /** Undefined: it does not exist, or this account may not read it. */
  fetchApproval(id: string, signal?: AbortSignal): Promise<Approval | undefined>;
  /** Denies an approval as the initiator. An approval that is decided already stays as it is. */
  deny(id: string, signal?: AbortSignal): Promise<void>;
};

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

export function createWalletRequests(deps: {
  readonly client: CustodianAClient;
  readonly walletId: string;
  readonly nowMs: () => number;
}): WalletRequests {
  const { client, nowMs } = deps;
  const walletPath = `/wallets/${encodeURIComponent(deps.walletId)}`;
  const signaturesPath = `${walletPath}/signatures`;
  const lost = createLostCreates(nowMs);

  function parseSuccess<TSchema extends v.GenericSchema>(
    schema: TSchema,
    answer: HttpAnswer,
    what: string,
  ): v.InferOutput<TSchema> {
    if (!isSuccess(answer)) {
      throw client.createRefusal(answer, what);
    }
    return parseAnswer(schema, answer, what);
  }

  return {
    async fetchWalletPub(address, signal) {
      const answer = await client.get(walletPath, { signal });
      const wallet = parseSuccess(walletSchema, answer, 'the wallet');
      const walletPub = parseWalletPub(
        parseHex(`0x${wallet.signingKey.publicKey.replace(/^0x/, '').toLowerCase()}`),
      );
      const shown = wallet.address ?? address;
      const isPinned =
        wallet.id === deps.walletId &&
        computeWalletAddress(walletPub) === address &&
        tryParseEvmAddress(shown) === address;
      if (!isPinned) {
        throw new PoolError(
          'custodian_misconfigured',
          'the wallet at the custodian has another key than the configured address; correct the wallet id or the address',
        );
      }
      return walletPub;
    },

    async proveKey(signal) {
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
    },

    async create(body, signal) {
      const change = await client.authorize({
        method: 'POST',
        path: signaturesPath,
        body: JSON.stringify(body),
        signal,
      });
      const answer = await lost.send(body.externalId, () => client.send(change));
      if (answer === undefined) {
        return { kind: 'unknown' };
      }
      if (isSuccess(answer)) {
        const record = v.safeParse(signatureSchema, answer.body);
        if (!record.success) {
          return { kind: 'unknown' };
        }
        lost.settle(body.externalId);
        return { kind: 'accepted', record: record.output };
      }
      lost.settle(body.externalId);
      const conflict = v.safeParse(conflictSchema, answer.body);
      if (answer.status === 409 && conflict.success) {
        return { kind: 'duplicate', id: conflict.output.error.details.duplicate.id };
      }
      throw client.createRefusal(answer, 'the request');
    },

    isUncertain: lost.isUncertain,

    async fetch(id, signal) {
      const answer = await client.get(`${signaturesPath}/${encodeURIComponent(id)}`, { signal });
      return answer.status === 404
        ? undefined
        : parseSuccess(signatureSchema, answer, 'the request');
    },

    async find(externalId, signal) {
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
        const page = parseSuccess(signaturePageSchema, answer, 'the list of requests');
        const found = page.items.find((item) => item.externalId === externalId);
        if (found !== undefined) {
          lost.settle(externalId);
          return found.id;
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
    },

    async fetchApproval(id, signal) {
      const answer = await client.get(`/v2/policy-approvals/${encodeURIComponent(id)}`, { signal });
      return answer.status === 404 || answer.status === 403
        ? undefined
        : parseSuccess(approvalSchema, answer, 'the approval');
    },

    async deny(id, signal) {
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
    },
  };
}
