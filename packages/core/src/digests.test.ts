import { describe, expect, it } from 'vitest';
import vectors from '../../../vectors/digests.json' with { type: 'json' };
import { computeAssetId, computeBatchId, computeBatchNonce } from './digests.ts';
import { fieldModulus } from './field.ts';
import { hexToBigint } from './hex.ts';

const [example] = vectors.batchNonces;
if (example === undefined) {
  throw new Error('no vectors');
}

describe('computeAssetId', () => {
  it.each(vectors.assetIds)('matches on chain $chainId', ({ chainId, pool, token, assetId }) => {
    expect(computeAssetId(chainId, pool, token)).toBe(hexToBigint(assetId));
    expect(computeAssetId(chainId, pool.toLowerCase(), token.toLowerCase())).toBe(
      hexToBigint(assetId),
    );
  });
});

describe('computeBatchNonce', () => {
  it.each(vectors.batchNonces)('matches for $jobKey, attempt $attempt', (vector) => {
    expect(computeBatchNonce(vector)).toBe(hexToBigint(vector.batchNonce));
  });

  it('is one for one job, however it is spelled', () => {
    const spelled = {
      ...example,
      pool: example.pool.toLowerCase(),
      funder: example.funder.toLowerCase(),
      employerId: example.employerId.toUpperCase(),
    };
    expect(computeBatchNonce(spelled)).toBe(hexToBigint(example.batchNonce));
  });

  it.each([
    ['employerId', { employerId: '00000000-0000-4000-8000-000000000000' }],
    ['chainId', { chainId: 1 }],
    ['pool', { pool: example.funder }],
    ['funder', { funder: example.pool }],
    ['jobKey', { jobKey: `${example.jobKey} ` }],
    ['attempt', { attempt: 2 }],
  ])('is another for another %s', (_, change) => {
    expect(computeBatchNonce({ ...example, ...change })).not.toBe(hexToBigint(example.batchNonce));
  });

  it('refuses what is no address', () => {
    expect(() => computeBatchNonce({ ...example, pool: '0x00' })).toThrow(
      expect.objectContaining({ code: 'invalid-address' }),
    );
  });
});

describe('computeBatchId', () => {
  it.each(vectors.batchIds)('matches for $funder', ({ funder, batchNonce, batchId }) => {
    const nonce = hexToBigint(batchNonce);
    expect(computeBatchId(funder, nonce)).toBe(hexToBigint(batchId));
    expect(computeBatchId(funder.toLowerCase(), nonce)).toBe(hexToBigint(batchId));
  });

  it('is another for another funder with the same nonce', () => {
    const [one, two] = vectors.batchIds;
    expect(one?.batchNonce).toBe(two?.batchNonce);
    expect(one?.batchId).not.toBe(two?.batchId);
  });

  it('refuses a nonce outside the field, and what is no address', () => {
    const funder = example.funder;
    expect(() => computeBatchId(funder, fieldModulus)).toThrow(
      expect.objectContaining({ code: 'invalid_field_element' }),
    );
    expect(() => computeBatchId('0x00', 1n)).toThrow(
      expect.objectContaining({ code: 'invalid-address' }),
    );
  });
});
