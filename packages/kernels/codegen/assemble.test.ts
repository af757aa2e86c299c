import { expect, it } from 'vitest';
import { sourceDigest } from '../src/generated/digest.ts';
import { computeSourceDigest } from './assemble.ts';

it('the generated kernels match these sources (if not, run `pnpm --filter @pool/kernels build:wasm`)', () => {
  expect(sourceDigest).toBe(computeSourceDigest());
});
