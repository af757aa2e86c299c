import { expect, it } from 'vitest';
import { batchSizes, chooseBatchSize } from '../values/circuit-sizes.ts';

it('chooses the smallest batch that holds the recipients', () => {
  expect(batchSizes).toEqual([16, 64, 256]);
  expect([1, 16, 17, 64, 65, 256, 257].map(chooseBatchSize)).toEqual([
    16,
    16,
    64,
    64,
    256,
    256,
    undefined,
  ]);
});
