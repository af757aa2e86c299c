import { createHash } from 'node:crypto';
import { parseHex, parseHex32 } from '@pool/core';
import {
  computeExternalId,
  computeRequestDigest,
  createSignRequest,
  encodeSignedTransaction,
} from '@pool/policy';
import { describe, expect, it } from 'vitest';
import { fundFile } from './fixtures/manifest-files.ts';
import { chainId, funder, pool, requests, stranger, wallet } from './fixtures/requests.ts';

const content = {
  kind: 'void',
  expectedSigner: funder,
  chainId,
  pool,
  authorizationId: '12',
  digest: parseHex32(`0x${'ab'.repeat(32)}`),
};

describe('computeExternalId', () => {
  it('is a hash of the content, short enough for every custodian', () => {
    const json = `["pool/v1/external-id","void",31337,"${pool}","${funder}","12","${content.digest}"]`;
    const hash = createHash('sha256').update(json).digest('hex');
    expect(computeExternalId(content)).toBe(`p1-${hash.slice(0, 36)}`);
    expect(computeExternalId(content).length).toBeLessThanOrEqual(40);
  });

  it.each([
    { kind: 'permit' },
    { expectedSigner: stranger },
    { chainId: 1 },
    { chainId: undefined },
    { pool: stranger },
    { authorizationId: '13' },
    { digest: parseHex32(`0x${'ac'.repeat(32)}`) },
  ])('differs for %j', (change) => {
    expect(computeExternalId({ ...content, ...change })).not.toBe(computeExternalId(content));
  });

  it.each([requests.permit, requests.approval])(
    'of a $kind names its batch',
    ({ externalId, ...content }) => {
      const { manifest } = fundFile;
      const ids = ['june', 'july', 'june'].map(
        (jobKey) =>
          createSignRequest({
            ...content,
            file: { ...fundFile, manifest: { ...manifest, jobKey } },
          }).externalId,
      );
      expect(ids[0]).toBe(ids[2]);
      expect(new Set([externalId, ...ids]).size).toBe(3);
    },
  );

  it('is the same if the same request is made again, and differs between kinds', () => {
    const ids = Object.values(requests).map((request) => request.externalId);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('computeRequestDigest', () => {
  it('refuses a transaction that is already signed, or not canonical', async () => {
    const { unsignedTransaction } = requests.approval.payload;
    const digest = computeRequestDigest(requests.approval);
    const signature = parseHex(wallet.signingKey.sign(digest).serialized);
    const signed = encodeSignedTransaction(unsignedTransaction, signature);
    for (const bytes of [signed, parseHex(`${unsignedTransaction}00`), '0x', '0x02'] as const) {
      const payload = { ...requests.approval.payload, unsignedTransaction: bytes };
      expect(() => computeRequestDigest({ ...requests.approval, payload })).toThrow(
        expect.objectContaining({ code: 'invalid_value' }),
      );
    }
  });
});
