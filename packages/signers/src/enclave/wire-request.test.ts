import { createSignRequest, type SignRequest } from '@pool/policy';
import { describe, expect, it } from 'vitest';
import { fundFile } from '../fixtures/manifest-files.ts';
import { pool, requests, spendOperation } from '../fixtures/requests.ts';
import { parseSignRequest, serializeSignRequest } from './wire-request.ts';

const samples: readonly SignRequest[] = [
  ...Object.values(requests),
  { ...requests.fund, file: fundFile },
  createSignRequest({
    kind: 'spend',
    expectedSigner: requests.spend.expectedSigner,
    payload: {
      operation: { ...spendOperation, withdrawAmount: 5n, recipient: pool },
      salt: new Uint8Array(31).fill(9),
    },
  }),
];

/** Across the socket. */
function send(request: unknown): unknown {
  return JSON.parse(JSON.stringify(request));
}

describe('a sign request on the wire', () => {
  it.each(samples)('is the same on the other side: $kind', (request) => {
    expect(parseSignRequest(send(serializeSignRequest(request)))).toEqual(request);
  });

  it.each([
    ['an unknown kind', { kind: 'digest' }],
    ['a field that is not known', { digest: '0x00' }],
    ['a foreign file', { file: {} }],
    ['the zero address', { expectedSigner: `0x${'00'.repeat(20)}` }],
    ['a wrong checksum', { expectedSigner: requests.fund.expectedSigner.replace('D', 'd') }],
    ['an empty payload', { payload: {} }],
  ])('is refused with %s', (_what, change) => {
    const wire = { ...(send(serializeSignRequest(requests.fund)) as object), ...change };
    expect(() => parseSignRequest(wire)).toThrow(/^sign request is malformed/);
  });

  it('is refused with a number out of range', () => {
    const wire = send(serializeSignRequest(requests.fund)) as {
      payload: { authorization: Record<string, unknown> };
    };
    for (const total of ['-1', '01', '1.5', String(2n ** 256n), 5]) {
      wire.payload.authorization['total'] = total;
      expect(() => parseSignRequest(wire)).toThrow(/total/);
    }
    wire.payload.authorization['total'] = '5';
    wire.payload.authorization['batchNonce'] = String(2n ** 255n);
    expect(() => parseSignRequest(wire)).toThrow(/batchNonce/);
  });
});
