import { expect, it } from 'vitest';
import { fundBody } from '../fixtures/bodies.ts';
import { typedMessage } from '../fixtures/custodian-b.ts';
import { fundFile, recipient } from '../fixtures/payroll.ts';
import { parseTransaction, readTransactionContent } from './wire.ts';

it('reads exactly one document, because the custodian signs every document of a transaction', () => {
  const { operation, extraParameters } = typedMessage(
    fundBody(fundFile({ recipients: [recipient(1, '300')] })),
  );
  const [document] = extraParameters.rawMessageData.messages;
  const read = (messages: readonly unknown[]) => {
    const transaction = parseTransaction({
      id: 'transaction',
      operation,
      source: { type: 'VAULT_ACCOUNT', id: '0' },
      extraParameters: { rawMessageData: { messages } },
    });
    const kind = transaction && readTransactionContent(transaction, {}, undefined).kind;
    return kind === 'fund-authorization' ? 'preimage' : kind;
  };
  expect(read([document])).toBe('preimage');
  for (const messages of [[], [document, document], [document, { type: 'EIP712', content: {} }]]) {
    expect(read(messages)).toBe('foreign');
  }
});
