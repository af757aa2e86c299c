import { beforeAll, describe, expect, it } from 'vitest';
import { type CompiledTest, compileTest } from '../test/witness.ts';
import { computeDomainSize, findBrokenConstraints, parseR1cs } from './r1cs.ts';

describe('the constraint file of x * x = y, y + 3 = z', () => {
  let compiled: CompiledTest;
  beforeAll(async () => {
    compiled = await compileTest(`
      template Tiny() {
        signal input x;
        signal output z;
        signal y <== x * x;
        z <== 2 * y + 3;
      }
      component main = Tiny();`);
  });

  it('is read', () => {
    const { r1cs, wireOf } = compiled;
    expect(r1cs).toMatchObject({ wires: 4, publicSignals: 1, constraints: 2 });
    const witness = [1n, 0n, 0n, 0n];
    witness[wireOf('x')] = 5n;
    witness[wireOf('y')] = 25n;
    witness[wireOf('z')] = 53n;
    expect(findBrokenConstraints(r1cs, witness)).toEqual([]);
    expect(findBrokenConstraints(r1cs, witness.with(wireOf('z'), 54n))).toHaveLength(1);
    expect(findBrokenConstraints(r1cs, witness.with(wireOf('y'), 26n))).toHaveLength(2);
  });

  it('refuses a witness of another length, or without the constant', () => {
    const refused = expect.objectContaining({ code: 'witness_malformed' });
    expect(() => findBrokenConstraints(compiled.r1cs, [1n])).toThrow(refused);
    expect(() => findBrokenConstraints(compiled.r1cs, [2n, 0n, 0n, 0n])).toThrow(refused);
  });

  it('is refused when cut off or not a constraint file', () => {
    const refused = expect.objectContaining({ code: 'r1cs_malformed' });
    const { r1csBytes } = compiled;
    for (const length of [0, 11, 20, 60, 130, r1csBytes.length - 1]) {
      expect(() => parseR1cs(r1csBytes.slice(0, length))).toThrow(refused);
    }
    expect(() => parseR1cs(Buffer.from('zkey').fill(0))).toThrow(refused);
    const otherField = Uint8Array.from(r1csBytes);
    const order = Buffer.from(r1csBytes).indexOf(Buffer.from('010000f093f5e143', 'hex'));
    otherField[order] = 3;
    expect(() => parseR1cs(otherField)).toThrow(refused);
  });
});

describe('the evaluation domain', () => {
  it.each([
    [65_532, 3, 65_536],
    [65_533, 3, 131_072],
    [1, 0, 2],
    [3, 1, 8],
  ])('of %i rows and %i public signals is %i', (constraints, publicSignals, size) => {
    expect(computeDomainSize({ constraints, publicSignals })).toBe(size);
  });
});
