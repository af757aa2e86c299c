import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectation, signFields } from '../fixtures/attestation.ts';
import { verifyAttestation } from './verify-attestation.ts';

const valid = signFields();

describe('verifyAttestation', () => {
  it('refuses a valid document with any one bit flipped', () => {
    const position = fc.nat({ max: 8 * valid.length - 1 });
    const property = fc.property(position, (bit) => {
      const at = bit >> 3;
      const flipped = valid.with(at, (valid[at] ?? 0) ^ (1 << (bit & 7)));
      expect(verifyAttestation(flipped, expectation).state).toBe('refused');
    });
    fc.assert(property, { numRuns: 100 });
  });

  it('gives a verdict on any bytes', () => {
    const property = fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      expect(verifyAttestation(bytes, expectation).state).toBe('refused');
    });
    fc.assert(property);
  });

  it('refuses any beginning of a document, and one with a piece replaced', () => {
    const piece = fc.tuple(fc.nat({ max: valid.length - 65 }), fc.uint8Array({ maxLength: 64 }));
    const property = fc.property(piece, ([at, bytes]) => {
      const changed = Uint8Array.from([...valid.subarray(0, at), ...bytes]);
      expect(verifyAttestation(changed, expectation).state).toBe('refused');
      const replaced = Uint8Array.from([...changed, ...valid.subarray(changed.length)]);
      const isSame = Buffer.compare(replaced, valid) === 0;
      expect(verifyAttestation(replaced, expectation).state).toBe(isSame ? 'valid' : 'refused');
    });
    fc.assert(property);
  });
});
