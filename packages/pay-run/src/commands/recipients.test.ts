// The recipients that are not ready, as text, JSON and CSV.

import { encodeCsvField, parseEvmAddress } from '@pool/core';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CheckedRecipient,
  createRecipientsDocument,
  describeRecipients,
  encodeRecipientsCsv,
} from './recipients.ts';

const ready: CheckedRecipient = {
  address: parseEvmAddress('0x8EF31ED37e5320931Bf85677De447824a66c9991'),
  isReady: true,
  readiness: 'ready',
  line: 2,
  signedInAtMs: Date.UTC(2026, 10, 20, 9, 30),
};
const pending: CheckedRecipient = {
  address: parseEvmAddress('0x751CA7928deBE9e5DBE56adC2A366E5F61bed0B0'),
  isReady: false,
  readiness: 'eligibility_pending',
  reason: 'the recipient is enrolled but not eligible (eligibility_pending)',
  line: 3,
  signedInAtMs: Date.UTC(2026, 10, 21, 9, 30),
};

describe('the report of recipients', () => {
  it('names recipients that are not ready, with line, reason, time and advice', () => {
    expect(describeRecipients([ready])).toBe('all 1 recipient(s) are ready to be paid');
    expect(describeRecipients([ready, pending]).split('\n')).toEqual([
      '1 of 2 recipient(s) cannot be paid now',
      'line 3: 0x751CA7928deBE9e5DBE56adC2A366E5F61bed0B0: eligibility_pending: the recipient is enrolled but not eligible (eligibility_pending); signed in 2026-11-21T09:30:00.000Z; wait for the pool-gate, or ask them to enrol again, which repeats its check',
    ]);
  });

  it('lists every recipient as JSON', () => {
    expect(createRecipientsDocument('anvil', [ready, pending])).toMatchObject({
      chain: 'anvil',
      total: 2,
      ready: 1,
      recipients: [
        { line: 2, ready: true, signedInAt: '2026-11-20T09:30:00.000Z' },
        { line: 3, ready: false, readiness: 'eligibility_pending', reason: pending.reason },
      ],
    });
  });

  it('lists every recipient as CSV', () => {
    expect(parse(encodeRecipientsCsv([ready, pending]))).toEqual([
      ['line', 'address', 'ready', 'readiness', 'reason', 'signed_in_at'],
      ['2', ready.address, 'yes', 'ready', '', '2026-11-20T09:30:00.000Z'],
      [
        '3',
        pending.address,
        'no',
        'eligibility_pending',
        pending.reason,
        '2026-11-21T09:30:00.000Z',
      ],
    ]);
  });
});

describe('encodeCsvField', () => {
  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', ' =1', '\uff1d1'])(
    'turns a formula into text: %j',
    (text) => {
      expect(parse(encodeCsvField(text), { relax_quotes: false })[0]).toEqual([`'${text}`]);
    },
  );

  it('is parsed as one field for any text, and never begins like a formula', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
        const [fields] = parse(`${encodeCsvField(text)},end\r\n`, {
          record_delimiter: '\r\n',
        });
        expect(fields?.[0]?.replace(/^'/, '')).toBe(text.replace(/^'/, ''));
        expect(fields?.[0]).not.toMatch(/^[=+\-@\t\r]/);
      }),
    );
  });
});
