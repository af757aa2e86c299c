// Reading a request in steps gives the same verdict as the schema, and names each malformed recipient.
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import {
  disburseRequestSchema,
  type MalformedRecipient,
  type ReadRequest,
  stepRequest,
} from './disbursement.ts';

type Reading = {
  readonly read: ReadRequest;
  readonly stops: number;
  readonly malformed: readonly MalformedRecipient[];
};

function read(body: unknown): Reading {
  const steps = stepRequest(body);
  const malformed: MalformedRecipient[] = [];
  for (let stops = 0; ; ) {
    const step = steps.next();
    if (step.done === true) {
      return { read: step.value, stops, malformed };
    }
    if (step.value === undefined) {
      stops += 1;
    } else {
      malformed.push(step.value);
    }
  }
}

const entry = { recipientAddress: 'a', amount: '1' };
const request = { token: 'USDC', recipients: [entry] };
function listOf(length: number, one: unknown): object {
  return {
    ...request,
    recipients: Array.from({ length }, () => one),
  };
}

describe('stepRequest', () => {
  it('reads what the schema reads, and stops regularly in a long list', () => {
    const long = listOf(1_000, { ...entry, memo: 'm' });
    expect(read(request)).toEqual({
      read: { ...v.parse(disburseRequestSchema, request), isWellFormed: true },
      stops: 0,
      malformed: [],
    });
    expect(read(long).read.recipients).toEqual(v.parse(disburseRequestSchema, long).recipients);
    expect(read(long).stops).toBe(15);
  });

  it.each<[string, unknown, string]>([
    ['null', null, '(body): must be an object'],
    ['a missing token', { recipients: [entry] }, 'token: missing'],
    ['a null chain', { ...request, chain: null }, 'chain: must be a string'],
    ['no recipients', { ...request, recipients: [] }, 'recipients: must list at least 1 entry'],
    ['an unknown field', { ...request, extra: 1 }, 'extra: is not a known field'],
  ])('refuses %s and names its place', (_what, body, place) => {
    expect(() => read(body)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        message: `the request body is malformed: ${place}`,
      }),
    );
  });

  it.each<[string, unknown, string]>([
    ['an unknown field', { ...entry, extra: 1 }, '.extra: is not a known field'],
    ['no object', 7, ': must be an object'],
    ['an amount that is a number', { ...entry, amount: 1 }, '.amount: must be a string'],
    [
      'an unpaired surrogate in a memo',
      { ...entry, memo: 'a\ud800' },
      '.memo contains an unpaired surrogate',
    ],
    [
      'an override of direction',
      { ...entry, memo: 'a\u202e' },
      '.memo contains the character U+202E',
    ],
    ['a memo of 112 bytes', { ...entry, memo: 'x'.repeat(112) }, '.memo has 112 bytes'],
  ])('names a recipient with %s and continues with the next', (_what, bad, place) => {
    const recipients = [entry, bad, { ...entry, recipientAddress: 'b' }];
    const { read: whole, malformed } = read({ ...request, recipients });
    expect(malformed).toEqual([
      {
        requestIndex: 1,
        message: expect.stringContaining(`the request body is malformed: recipients[1]${place}`),
      },
    ]);
    expect(whole.isWellFormed).toBe(false);
    expect(whole.recipients).toHaveLength(3);
    expect(whole.recipients[2]).toMatchObject({ recipientAddress: 'b', amount: '1' });
  });

  it('reports every malformed recipient, and the first before it reads the second', () => {
    const bad = listOf(1_000, 7);
    expect(read(bad).malformed).toHaveLength(1_000);
    expect(stepRequest(bad).next()).toMatchObject({ value: { requestIndex: 0 } });
  });

  it('reads only the strings of a malformed recipient', () => {
    const [first] = read(listOf(1, { recipientAddress: 'a', amount: 1, extra: {} })).read
      .recipients;
    expect(first).toEqual({ recipientAddress: 'a', amount: undefined, memo: undefined });
  });
});
