/**
 * The routes of custodian B that concern one vault account: its address and key, and its transactions.
 *
 * @module
 */
import {
  computeWalletAddress,
  type EvmAddress,
  PoolError,
  tryParseEvmAddress,
  type WalletPub,
} from '@pool/core';
import { type HttpAnswer, isSuccess } from '@pool/http-client';
import { parsePublicKey, parseSuccess } from '../custodian/custodian-outcomes.ts';
import {
  addressPageSchema,
  publicKeySchema,
  type TransactionRecord,
  transactionSchema,
} from './answers.ts';
import type { CustodianBClient } from './custodian-client.ts';
import type { TransactionBody, VaultPlace } from './transaction-body.ts';

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
