// Which fields of a recipient the result repeats. The tables have a row per field: a new field does not compile without one.
import type { DisbursementResult, RequestedRecipient } from '@pool/core';
import { expect, it } from 'vitest';
import { createWorld, viewOf } from '../fixtures/fake-world.ts';

type Field = keyof RequestedRecipient;

it('the result repeats exactly these fields of a recipient', async () => {
  const world = await createWorld({ permit: true });
  const recipient: Readonly<Record<Field, string>> = {
    recipientAddress: world.holders[0]?.address ?? '',
    amount: '1000',
    memo: 'November',
  };
  const inResult: Readonly<Record<Field, string | undefined>> = {
    recipientAddress: recipient.recipientAddress,
    amount: recipient.amount,
    // Only the recipient reads it.
    memo: undefined,
  };
  const job = await world.accept('run-1', { recipients: [recipient] });
  await world.run(job);
  const note: DisbursementResult['notes'][number] | undefined = viewOf(job).result?.notes[0];
  const fields = Object.keys(inResult).map((field) => [
    field,
    Object.entries(note ?? {}).find(([name]) => name === field)?.[1],
  ]);
  expect(Object.fromEntries(fields)).toEqual(inResult);
});
