import { expect, it } from 'vitest';
import { requests } from '../fixtures/requests.ts';
import {
  createTransactionBody,
  isSameTransaction,
  type SupportedRequest,
} from './transaction-body.ts';

it('does not take a transaction with a second document for its own', () => {
  const request = requests.fund as SupportedRequest;
  const place = { vaultAccountId: '0', assetId: 'ETH' };
  const { operation, externalTxId, extraParameters } = createTransactionBody(request, place);
  const [document] = (extraParameters as { rawMessageData: { messages: readonly unknown[] } })
    .rawMessageData.messages;
  const shows = (messages: readonly unknown[]) =>
    isSameTransaction(
      {
        id: 'transaction',
        status: 'SUBMITTED',
        operation,
        externalTxId,
        assetId: place.assetId,
        source: { type: 'VAULT_ACCOUNT', id: '0' },
        extraParameters: { rawMessageData: { messages } },
      },
      request,
      place,
    );
  expect(shows([document])).toBe(true);
  expect(shows([document, document])).toBe(false);
});
