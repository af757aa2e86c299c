import { scalarFieldOrder } from '@pool/kernels';
import { describe, expect, it } from 'vitest';
import { power } from '../../test/modular.ts';
import { deriveToxicValues, hashToField } from './toxic-values.ts';

describe('the public trapdoor of the dev setup', () => {
  it('follows from the seed alone', () => {
    expect(deriveToxicValues('a seed', 1024)).toEqual(deriveToxicValues('a seed', 1024));
    expect(deriveToxicValues('a seed', 1024)).not.toEqual(deriveToxicValues('another', 1024));
  });

  it('has five different values below r, with tau outside the domain', () => {
    const values = deriveToxicValues('a seed', 1024);
    expect(new Set(Object.values(values)).size).toBe(5);
    expect(Object.values(values).every((value) => value > 0n && value < scalarFieldOrder)).toBe(
      true,
    );
    expect(power(values.tau, 2048n, scalarFieldOrder)).not.toBe(1n);
  });

  it('skips a refused value and derives the next one', () => {
    const first = hashToField('a seed', 'delta', () => false);
    const second = hashToField('a seed', 'delta', (value) => value === first);
    expect(second).not.toBe(first);
    expect(hashToField('a seed', 'delta', (value) => value === first)).toBe(second);
  });
});
