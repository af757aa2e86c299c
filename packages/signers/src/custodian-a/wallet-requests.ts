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
  tryParseEvmAddress,
  type WalletPub,
} from '@pool/core';
import { type Cut, type HttpAnswer, isSuccess } from '@pool/http-client';
import { parsePublicKey, parseSuccess } from '../custodian/custodian-outcomes.ts';
import {
  type Approval,
  approvalSchema,
  type SignatureRecord,
  signaturePageSchema,
  signatureSchema,
  walletSchema,
} from './answers.ts';
import type { CustodianAClient } from './custodian-client.ts';
import type { SignatureBody } from './signature-body.ts';

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
}) {
  const { client, nowMs } = deps;
  const walletPath = `/wallets/${encodeURIComponent(deps.walletId)}`;
  const signaturesPath = `${walletPath}/signatures`;

  return {
    /** W. @throws PoolError `custodian_misconfigured` unless the wallet has the address */
    async fetchWalletPub(address: EvmAddress, signal?: AbortSignal): Promise<WalletPub> {
      const answer = await client.get(walletPath, { signal });
      const wallet = parseSuccess(client, walletSchema, answer, 'the wallet');
      const walletPub = parsePublicKey(wallet.signingKey.publicKey);
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

    /**
     * Has the account's key sign a request that is never sent: the bearer token alone only reads.
     * @throws PoolError `custodian_misconfigured` if the custodian refuses key, credential or origin
     */
    async proveKey(signal?: AbortSignal): Promise<void> {
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

    /** Authorises a request. The function that it returns sends it. */
    async prepare(body: SignatureBody, signal?: AbortSignal): Promise<() => Promise<HttpAnswer>> {
      const change = await client.authorize({
        method: 'POST',
        path: signaturesPath,
        body: JSON.stringify(body),
        signal,
      });
      return () => client.send(change);
    },

    async fetch(id: string, signal?: AbortSignal): Promise<SignatureRecord | undefined> {
      const answer = await client.get(`${signaturesPath}/${encodeURIComponent(id)}`, { signal });
      return answer.status === 404
        ? undefined
        : parseSuccess(client, signatureSchema, answer, 'the request');
    },

    /** The id of the request with this externalId. */
    async find(externalId: string, signal?: AbortSignal): Promise<string | undefined> {
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
        const found = page.items.find((item) => item.externalId === externalId);
        if (found !== undefined) {
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

    /** Undefined: it does not exist, or this account may not read it. */
    async fetchApproval(id: string, signal?: AbortSignal): Promise<Approval | undefined> {
      const answer = await client.get(`/v2/policy-approvals/${encodeURIComponent(id)}`, { signal });
      return answer.status === 404 || answer.status === 403
        ? undefined
        : parseSuccess(client, approvalSchema, answer, 'the approval');
    },

    /** Denies an approval as the initiator. An approval that is decided already stays as it is. */
    async deny(id: string, signal?: AbortSignal): Promise<void> {
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
