import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/digests.json' with { type: 'json' };
import { parseEvmAddress } from '../values/evm-address.ts';
import { fieldModulus, parseField } from '../values/field.ts';
import { hexToBigint } from '../values/hex.ts';
import { computeAssetId, computeBatchId, computeBatchNonce } from './digests.ts';

const [first] = vectors.batchNonces;
if (first === undefined) {
  throw new Error('no vectors');
}

function partsOf(vector: (typeof vectors.batchNonces)[number]) {
  return {
    ...vector,
    pool: parseEvmAddress(vector.pool),
    funder: parseEvmAddress(vector.funder),
  };
}
const example = partsOf(first);

describe('computeAssetId', () => {
  it.each(vectors.assetIds)('matches on chain $chainId', ({ chainId, pool, token, assetId }) => {
    const spelled = [pool.toLowerCase(), token.toLowerCase()];
    expect(computeAssetId(chainId, parseEvmAddress(pool), parseEvmAddress(token))).toBe(
      parseField(assetId),
    );
    expect(Reflect.apply(computeAssetId, undefined, [chainId, ...spelled])).toBe(
      parseField(assetId),
    );
  });
});

describe('computeBatchNonce', () => {
  it.each(vectors.batchNonces)('matches for $jobKey, attempt $attempt', (vector) => {
    expect(computeBatchNonce(partsOf(vector))).toBe(hexToBigint(vector.batchNonce));
  });

  it('is equal for every spelling of a job', () => {
    const spelled = {
      ...example,
      pool: example.pool.toLowerCase(),
      funder: example.funder.toLowerCase(),
      employerId: example.employerId.toUpperCase(),
    };
    expect(Reflect.apply(computeBatchNonce, undefined, [spelled])).toBe(
      parseField(example.batchNonce),
    );
  });

  it.each([
    ['employerId', { employerId: '00000000-0000-4000-8000-000000000000' }],
    ['chainId', { chainId: 1 }],
    ['pool', { pool: example.funder }],
    ['funder', { funder: example.pool }],
    ['jobKey', { jobKey: `${example.jobKey} ` }],
    ['attempt', { attempt: 2 }],
  ])('differs for another %s', (_, change) => {
    expect(computeBatchNonce({ ...example, ...change })).not.toBe(parseField(example.batchNonce));
  });

  it('refuses a value that is not an address', () => {
    const wrong = { ...example, pool: '0x00' };
    expect(() => Reflect.apply(computeBatchNonce, undefined, [wrong])).toThrow(
      expect.objectContaining({ code: 'invalid-address' }),
    );
  });
});

describe('computeBatchId', () => {
  it.each(vectors.batchIds)('matches for $funder', ({ funder, batchNonce, batchId }) => {
    const nonce = parseField(batchNonce);
    const spelled = funder.toLowerCase();
    expect(computeBatchId(parseEvmAddress(funder), nonce)).toBe(parseField(batchId));
    expect(Reflect.apply(computeBatchId, undefined, [spelled, nonce])).toBe(parseField(batchId));
  });

  it('differs for another funder with the same nonce', () => {
    const [one, two] = vectors.batchIds;
    expect(one?.batchNonce).toBe(two?.batchNonce);
    expect(one?.batchId).not.toBe(two?.batchId);
  });

  it('refuses a nonce outside the field, and a value that is not an address', () => {
    const funder = example.funder;
    const compute = (...parts: unknown[]) => Reflect.apply(computeBatchId, undefined, parts);
    expect(() => compute(funder, fieldModulus)).toThrow(
      expect.objectContaining({ code: 'invalid_field_element' }),
    );
    expect(() => compute('0x00', 1n)).toThrow(expect.objectContaining({ code: 'invalid-address' }));
  });
});
