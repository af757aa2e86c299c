// The keyed fingerprint of a request: compared with an independent computation, and what it must not reveal.
import { createHash, createHmac } from 'node:crypto';
import { canonicalDigest, Secret } from '@pool/core';
import { expect, it } from 'vitest';
import { compareFingerprints, createFingerprinter } from './body-fingerprint.ts';

const keyBytes = Buffer.alloc(32, 7);
const fingerprints = createFingerprinter(new Secret(`0x${keyBytes.toString('hex')}`));
const request = { token: 'USDC', recipients: [{ recipientAddress: '0xab', amount: '5' }] };
const requestDigest = canonicalDigest(request);

it('is an HMAC over the Idempotency-Key and the digest of the canonical body', () => {
  // RFC 8785 by hand: members in the order of their names, no blanks.
  const body = '{"recipients":[{"amount":"5","recipientAddress":"0xab"}],"token":"USDC"}';
  const digest = `0x${createHash('sha256').update(body).digest('hex')}`;
  const text = `pool/v1/body-fingerprint["june","${digest}"]`;
  expect(fingerprints.compute('june', requestDigest)).toEqual({
    keyId: `0x${createHmac('sha256', keyBytes).update('pool/v1/fingerprint-key-id').digest('hex').slice(0, 16)}`,
    value: `0x${createHmac('sha256', keyBytes).update(text).digest('hex')}`,
  });
});

it('differs for another body, and for the same body under another key', () => {
  const own = fingerprints.compute('june', requestDigest);
  const other = fingerprints.compute('june', canonicalDigest({ ...request, token: 'EURC' }));
  expect(
    compareFingerprints(own, fingerprints.compute('june', canonicalDigest({ ...request }))),
  ).toBe('same');
  expect(compareFingerprints(own, other)).toBe('other');
  expect(fingerprints.compute('july', requestDigest).value).not.toBe(own.value);
});

it('cannot be compared across agents with different keys, or with a settlement without one', () => {
  const own = fingerprints.compute('june', requestDigest);
  const foreign = createFingerprinter(new Secret(`0x${'09'.repeat(32)}`));
  expect(compareFingerprints(own, foreign.compute('june', requestDigest))).toBe('unknown');
  expect(compareFingerprints(own, undefined)).toBe('unknown');
});
