// Reading a request in steps: the same verdict as the schema's, and an end to what it says about a bad one.
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import {
  type DisburseRequest,
  disburseRequestSchema,
  stepDisburseRequest,
} from './disbursement.ts';

function read(body: unknown): { readonly request: DisburseRequest; readonly stops: number } {
  const steps = stepDisburseRequest(body);
  for (let stops = 0; ; stops += 1) {
    const step = steps.next();
    if (step.done === true) {
      return { request: step.value, stops };
    }
  }
}

const entry = { recipientAddress: 'a', amount: '1' };
const request = { token: 'USDC', recipients: [entry] };
const listOf = (length: number, one: unknown): object => ({
  ...request,
  recipients: Array.from({ length }, () => one),
});

describe('stepDisburseRequest', () => {
  it('reads what the schema reads, and stops on the way through a long list', () => {
    const long = listOf(1_000, { ...entry, memo: 'm' });
    expect(read(request)).toEqual({ request, stops: 0 });
    expect(read(long).request).toEqual(v.parse(disburseRequestSchema, long));
    expect(read(long).stops).toBe(15);
  });

  it.each<[string, unknown, string]>([
    ['null', null, '(body): strict_object'],
    ['a missing token', { recipients: [entry] }, 'token: strict_object'],
    ['a null chain', { ...request, chain: null }, 'chain: string'],
    ['no recipients', { ...request, recipients: [] }, 'recipients: min_length'],
    ['an unknown field', { ...request, extra: 1 }, 'extra: strict_object'],
    [
      'an unknown field of a recipient',
      { ...request, recipients: [entry, { ...entry, extra: 1 }] },
      'recipients.1.extra: strict_object',
    ],
    ['a recipient that is none', { ...request, recipients: [7] }, 'recipients.0: strict_object'],
    [
      'half a character in a memo',
      { ...request, recipients: [{ ...entry, memo: 'a\ud800' }] },
      'recipients.0.memo: half a character',
    ],
  ])('refuses %s by its place', (_what, body, place) => {
    expect(() => read(body)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        message: `the request body is malformed: ${place}`,
      }),
    );
  });

  it('names three bad recipients, and reads no further', () => {
    const bad = listOf(100_000, 7);
    expect(() => read(bad)).toThrow(
      'the request body is malformed: recipients.0: strict_object; recipients.1: strict_object; recipients.2: strict_object; and maybe more',
    );
    // Before its first stop.
    expect(() => stepDisburseRequest(bad).next()).toThrow('and maybe more');
  });
});
