/**
 * The routes of custodian B that concern one vault account: its address and key, and its transactions.
 *
 * @module
 */
import {
  computeWalletAddress,
  type EvmAddress,
  PoolError,
  parseHex,
  parseWalletPub,
  tryParseEvmAddress,
  type WalletPub,
} from '@pool/core';
import { type HttpAnswer, isSuccess } from '@pool/http-client';
import * as v from 'valibot';
import { parseAnswer } from '../custodian/custodian-outcomes.ts';
import { createLostCreates } from '../custodian/lost-creates.ts';
import {
  addressPageSchema,
  createdSchema,
  publicKeySchema,
  type TransactionRecord,
  transactionSchema,
} from './answers.ts';
import type { CustodianBClient } from './custodian-client.ts';
import type { TransactionBody, VaultPlace } from './transaction-body.ts';

export type CreateAnswer =
  | { readonly kind: 'created'; readonly id: string }
  /** A transaction has this externalTxId already; it may be ours. */
  | { readonly kind: 'exists'; readonly record: TransactionRecord }
  /** The request may have been accepted. */
  | { readonly kind: 'unknown' };

export type VaultRequests = {
  /** @throws PoolError `custodian_misconfigured` unless the vault account signs with the address */
  assertAddress(address: EvmAddress, signal?: AbortSignal): Promise<void>;
  /** W. Only administrators may read it. @throws PoolError `custodian_misconfigured` unless it has the address */
  fetchWalletPub(address: EvmAddress): Promise<WalletPub>;
  /** @throws PoolError `custodian_refused` and others if it was certainly not accepted */
  create(body: TransactionBody, signal?: AbortSignal): Promise<CreateAnswer>;
  /** True after a create whose outcome is unknown, until the custodian has had time to show it. */
  isUncertain(externalTxId: string): boolean;
  fetch(id: string, signal?: AbortSignal): Promise<TransactionRecord | undefined>;
  find(externalTxId: string, signal?: AbortSignal): Promise<TransactionRecord | undefined>;
  /** A transaction that can no longer be cancelled stays as it is. */
  cancel(id: string, signal?: AbortSignal): Promise<void>;
};

export function createVaultRequests(deps: {
  readonly client: CustodianBClient;
  readonly place: VaultPlace;
  readonly nowMs: () => number;
}): VaultRequests {
  const { client, place, nowMs } = deps;
  const assetPath = `/v1/vault/accounts/${encodeURIComponent(place.vaultAccountId)}/${encodeURIComponent(place.assetId)}`;
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

  async function read(
    path: string,
    signal: AbortSignal | undefined,
  ): Promise<TransactionRecord | undefined> {
    const answer = await client.get(path, { signal });
    return answer.status === 404
      ? undefined
      : parseSuccess(transactionSchema, answer, 'the transaction');
  }

  async function find(
    externalTxId: string,
    signal?: AbortSignal,
  ): Promise<TransactionRecord | undefined> {
    const path = `/v1/transactions/external_tx_id/${encodeURIComponent(externalTxId)}`;
    const record = await read(path, signal);
    if (record !== undefined) {
      lost.settle(externalTxId);
    }
    return record;
  }

  return {
    async assertAddress(address, signal) {
      const answer = await client.get(`${assetPath}/addresses_paginated`, { signal });
      if (answer.status === 404) {
        throw misconfigured(
          'the custodian has no such vault account, or the account lacks the asset',
        );
      }
      const { addresses } = parseSuccess(addressPageSchema, answer, 'the vault account');
      const signing = addresses.filter(({ bip44AddressIndex }) => (bip44AddressIndex ?? 0) === 0);
      if (!signing.some((entry) => tryParseEvmAddress(entry.address) === address)) {
        throw misconfigured(
          'the vault account at the custodian has another address than the configured one',
        );
      }
    },

    async fetchWalletPub(address) {
      const answer = await client.get(`${assetPath}/0/0/public_key_info`, {
        query: { compressed: 'true' },
      });
      const { publicKey } = parseSuccess(publicKeySchema, answer, 'the public key');
      const walletPub = parseWalletPub(parseHex(`0x${publicKey.replace(/^0x/, '').toLowerCase()}`));
      if (computeWalletAddress(walletPub) !== address) {
        throw misconfigured(
          'the vault account at the custodian has the key of another address than the configured one',
        );
      }
      return walletPub;
    },

    async create(body, signal) {
      const { externalTxId } = body;
      signal?.throwIfAborted();
      const content = { body: JSON.stringify(body), idempotencyKey: externalTxId, signal };
      const answer = await lost.send(externalTxId, () => client.post('/v1/transactions', content));
      if (answer === undefined) {
        return { kind: 'unknown' };
      }
      if (isSuccess(answer)) {
        const created = v.safeParse(createdSchema, answer.body);
        if (!created.success) {
          return { kind: 'unknown' };
        }
        lost.settle(externalTxId);
        return { kind: 'created', id: created.output.id };
      }
      lost.settle(externalTxId);
      // The code of a repeated externalTxId is not documented, so every 400 is looked up.
      const record = answer.status === 400 ? await find(externalTxId, signal) : undefined;
      if (record !== undefined) {
        return { kind: 'exists', record };
      }
      throw client.createRefusal(answer, 'the request');
    },

    isUncertain: lost.isUncertain,

    fetch: (id, signal) => read(`/v1/transactions/${encodeURIComponent(id)}`, signal),

    find,

    async cancel(id, signal) {
      const path = `/v1/transactions/${encodeURIComponent(id)}/cancel`;
      const answer = await client.post(path, { signal });
      const isTooLate = answer.status === 400 || answer.status === 404 || answer.status === 409;
      if (!isSuccess(answer) && !isTooLate) {
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
