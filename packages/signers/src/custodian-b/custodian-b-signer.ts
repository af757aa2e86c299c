/**
 * `custodian_b` as the funder's signer: one vault account at a custodian whose co-signer asks the approve process before it signs. There
 * is no holder's signer for this custodian: a spend is a bare digest, and it would need RAW signing, which stays off.
 *
 * Every answer is checked against what this side asked for: the document that the custodian shows, and the digest that this side
 * computed.
 *
 * @module
 */
import {
  computeWalletAddress,
  type EvmAddress,
  type Hex,
  isPoolError,
  PoolError,
  parseHex32,
  tryParseEvmAddress,
  type WalletPub,
} from '@pool/core';
import { type HttpAnswer, isSuccess } from '@pool/http-client';
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
  addressPageSchema,
  createdSchema,
  publicKeySchema,
  type TransactionRecord,
  transactionSchema,
} from './answers.ts';
import {
  type CustodianBAccount,
  type CustodianBClient,
  createCustodianBClient,
} from './custodian-client.ts';
import {
  createTransactionBody,
  isSameTransaction,
  type SupportedRequest,
  supportedKinds,
  type TransactionBody,
  type VaultPlace,
} from './transaction-body.ts';

// What a transaction that custodian B shows means for the request that it belongs to. Nothing of it counts unless its content is that of
// the request, and a signature counts only for the digest that this side computed. Vectors: vectors/custodian-b.json.

/** This side's own configuration. */
type VaultExpectation = { readonly place: VaultPlace; readonly address: EvmAddress };

const denials = {
  REJECTED: 'denied',
  BLOCKED: 'blocked by a policy',
  CANCELLED: 'cancelled',
} as const;

/** @throws PoolError `custodian_invalid_response`, `signature_rejected` */
export function interpretTransaction(
  record: TransactionRecord,
  request: SupportedRequest,
  { place, address }: VaultExpectation,
): Step {
  const { id: providerId, status } = record;
  if (!isSameTransaction(record, request, place)) {
    return failForeign(providerId);
  }
  switch (status) {
    case 'SUBMITTED':
    case 'PENDING_AML_SCREENING':
    case 'PENDING_ENRICHMENT':
      return { state: 'submitted', providerId };
    case 'PENDING_AUTHORIZATION':
    case 'PENDING_3RD_PARTY':
    case 'PENDING_3RD_PARTY_MANUAL_APPROVAL':
      return { state: 'awaiting-approval', providerId };
    case 'CONFIRMING':
      // The call is on its way, and the caller watches the chain itself.
      return request.kind === 'token-approval'
        ? acceptSent(record)
        : { state: 'signing', providerId };
    case 'COMPLETED':
      return request.kind === 'token-approval'
        ? acceptSent(record)
        : { state: 'signed', providerId, signature: acceptMessage(record, request, address) };
    case 'REJECTED':
    case 'BLOCKED':
    case 'CANCELLED':
      return createDenial(providerId, denials[status], record.subStatus);
    case 'TIMEOUT':
      return { state: 'expired', providerId };
    case 'FAILED':
      // The approve process used up every RETRY: nobody decided in time.
      return record.subStatus === 'TIMEOUT'
        ? { state: 'expired', providerId }
        : createFailure(providerId, 'complete', record.subStatus);
    default:
      // `QUEUED`, `PENDING_SIGNATURE`, `BROADCASTING`, and statuses of another version: the custodian still works on it.
      return { state: 'signing', providerId };
  }
}

function acceptMessage(
  { signedMessages }: TransactionRecord,
  request: SupportedRequest,
  expectedSigner: EvmAddress,
): Hex {
  const [signed, ...others] = signedMessages ?? [];
  if (signed === undefined || others.length > 0) {
    throw invalidAnswer('does not show exactly one signed message');
  }
  const digest = computeRequestDigest(request);
  if (`0x${signed.content.replace(/^0x/, '').toLowerCase()}` !== digest) {
    throw invalidAnswer('shows the signature of another digest');
  }
  const { r, s, v, fullSig } = signed.signature;
  const isSplit = typeof r === 'string' && typeof s === 'string';
  return acceptSignature({
    signature: isSplit ? { r, s, v: v ?? undefined } : (fullSig ?? ''),
    digest,
    expectedSigner,
  });
}

/** The custodian says that it sent the call. Calldata, amount and destination were compared, if the destination is shown. */
function acceptSent({ id: providerId, txHash, destinationAddress }: TransactionRecord): Outcome {
  const hash = (txHash ?? '').toLowerCase();
  if ((destinationAddress ?? '') === '' || !/^0x[0-9a-f]{64}$/.test(hash)) {
    throw invalidAnswer('sent the call, and does not show its hash and its destination');
  }
  return { state: 'sent', providerId, txHash: parseHex32(hash) };
}

function invalidAnswer(what: string): PoolError {
  return new PoolError(
    'custodian_invalid_response',
    `the custodian ${what}; nothing of it is used`,
  );
}

// The routes of custodian B that concern one vault account: its address and key, and its transactions.

/** A transaction that can no longer be cancelled stays as it is. */
const lateStatuses: readonly number[] = [400, 404, 409];

export function createVaultRequests(client: CustodianBClient, place: VaultPlace) {
  const assetPath = `/v1/vault/accounts/${encodeURIComponent(place.vaultAccountId)}/${encodeURIComponent(place.assetId)}`;

  async function read(
    path: string,
    signal: AbortSignal | undefined,
  ): Promise<TransactionRecord | undefined> {
    const answer = await client.get(path, { signal });
    return answer.status === 404
      ? undefined
      : parseSuccess(client, transactionSchema, answer, 'the transaction');
  }

  return {
    /** @throws PoolError `custodian_misconfigured` unless the vault account signs with the address */
    async assertAddress(address: EvmAddress, signal?: AbortSignal): Promise<void> {
      const answer = await client.get(`${assetPath}/addresses_paginated`, { signal });
      if (answer.status === 404) {
        throw misconfigured(
          'the custodian has no such vault account, or the account lacks the asset',
        );
      }
      const { addresses } = parseSuccess(client, addressPageSchema, answer, 'the vault account');
      const signing = addresses.filter(({ bip44AddressIndex }) => (bip44AddressIndex ?? 0) === 0);
      if (!signing.some((entry) => tryParseEvmAddress(entry.address) === address)) {
        throw misconfigured(
          'the vault account at the custodian has another address than the configured one',
        );
      }
    },

    /** W. Only administrators may read it. @throws PoolError `custodian_misconfigured` unless it has the address */
    async fetchWalletPub(address: EvmAddress): Promise<WalletPub> {
      const answer = await client.get(`${assetPath}/0/0/public_key_info`, {
        query: { compressed: 'true' },
      });
      const { publicKey } = parseSuccess(client, publicKeySchema, answer, 'the public key');
      const walletPub = parsePublicKey(publicKey);
      if (computeWalletAddress(walletPub) !== address) {
        throw misconfigured(
          'the vault account at the custodian has the key of another address than the configured one',
        );
      }
      return walletPub;
    },

    /** The function that it returns sends the request. */
    async prepare(body: TransactionBody, signal?: AbortSignal): Promise<() => Promise<HttpAnswer>> {
      signal?.throwIfAborted();
      const idempotencyKey = body.externalTxId;
      const content = { body: JSON.stringify(body), idempotencyKey, signal };
      return () => client.post('/v1/transactions', content);
    },

    fetch: (id: string, signal?: AbortSignal) =>
      read(`/v1/transactions/${encodeURIComponent(id)}`, signal),

    find: (externalTxId: string, signal?: AbortSignal) =>
      read(`/v1/transactions/external_tx_id/${encodeURIComponent(externalTxId)}`, signal),

    async cancel(id: string, signal?: AbortSignal): Promise<void> {
      const path = `/v1/transactions/${encodeURIComponent(id)}/cancel`;
      const answer = await client.post(path, { signal });
      if (!isSuccess(answer) && !lateStatuses.includes(answer.status)) {
        throw client.createRefusal(answer, 'the cancellation');
      }
    },
  };
}

function misconfigured(what: string): PoolError {
  return new PoolError(
    'custodian_misconfigured',
    `${what}; correct the vault account, the asset or the address in the configuration`,
  );
}

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

/**
 * A funder at custodian B. A request waits there for the approve process, for hours if need be; `submit`, `read` and `find` say where it
 * stands. A token approval ends as `sent`: the custodian signs the transaction and sends it.
 *
 * @example
 * const signer = createCustodianBSigner({ url, apiKey, apiSecret, vaultAccountId: '0', assetId: 'ETH', address });
 * const step = await signer.submit(createSignRequest({ kind: 'void', payload, expectedSigner: address }));
 *
 * @throws PoolError `invalid_configuration`
 */
export function createCustodianBSigner(options: CustodianBSignerOptions): Signer {
  const { address, allow, approver, vaultAccountId, assetId, nowMs = Date.now } = options;
  const place = { vaultAccountId, assetId };
  const expectation = { place, address };
  const client = createCustodianBClient(options);
  const vault = createVaultRequests(client, place);
  let isVerified = false;

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

  return {
    ...createCustodianFlow<SupportedRequest>({
      name: 'custodian_b',
      signerName: 'the vault account at the custodian',
      ...{ address, kinds: supportedKinds, allow, approver, nowMs, lookUp, readKnown },
      findRefusal(request) {
        if (request.kind !== 'token-approval') {
          return undefined;
        }
        if (options.assetChainId === undefined) {
          return 'kind-not-allowed';
        }
        const isOwn = request.payload.expected.chainId === options.assetChainId;
        return isOwn ? undefined : 'foreign-chain';
      },
      async verify(signal) {
        if (!isVerified) {
          await vault.assertAddress(address, signal);
          isVerified = true;
        }
      },
      prepare: (request, signal) => vault.prepare(createTransactionBody(request, place), signal),
      async readCreated(body, request, signal) {
        const created = v.safeParse(createdSchema, body);
        if (!created.success) {
          return undefined;
        }
        const { id: providerId } = created.output;
        // What the custodian stored is compared at once. An outage does not lose the id.
        const step = await readKnown(providerId, request, signal).catch((error: unknown) => {
          signal?.throwIfAborted();
          ignoreOutage(error);
        });
        return step ?? { state: 'submitted', providerId };
      },
      // The code of a repeated externalTxId is not documented, so every 400 is looked up.
      readExisting: async ({ status }, request, signal) =>
        status === 400 ? lookUp(request, signal) : undefined,
      createRefusal: client.createRefusal,
      cancel: ({ providerId }, signal) => vault.cancel(providerId, signal),
    }),
    publicKey: (): Promise<WalletPub> => vault.fetchWalletPub(address),
    probe: ({ signal } = {}) => vault.assertAddress(address, signal),
  };
}

/** @throws the error itself unless the custodian may answer later */
function ignoreOutage(error: unknown): void {
  if (!isPoolError(error) || !error.retryable) {
    throw error;
  }
}
