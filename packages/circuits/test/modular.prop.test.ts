import { bn254 } from '@noble/curves/bn254.js';
import { scalarFieldOrder } from '@pool/kernels';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { invert, power, reduce } from './modular.ts';

const { Fr } = bn254.fields;
const element = fc.bigInt({ min: 0n, max: scalarFieldOrder - 1n });
const unit = fc.bigInt({ min: 1n, max: scalarFieldOrder - 1n });

describe('arithmetic mod r agrees with noble-curves', () => {
  it('inverse', () => {
    fc.assert(fc.property(unit, (a) => invert(a, scalarFieldOrder) === Fr.inv(a)));
  });

  it('power', () => {
    fc.assert(
      fc.property(element, element, (a, e) => power(a, e, scalarFieldOrder) === Fr.pow(a, e)),
    );
  });

  it('reduction, of negative values too', () => {
    fc.assert(fc.property(fc.bigInt(), (a) => reduce(a, scalarFieldOrder) === Fr.create(a)));
  });

  it('zero has no inverse', () => {
    expect(() => invert(0n, scalarFieldOrder)).toThrow(RangeError);
  });
});
