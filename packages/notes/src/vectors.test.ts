/** The committed vectors equal the output of their script. */
import { expect, it } from 'vitest';
import { findStaleVectors } from '../test/generate-vectors.ts';

it('vectors are up to date', { timeout: 180_000 }, () => {
  expect(findStaleVectors()).toEqual([]);
});
