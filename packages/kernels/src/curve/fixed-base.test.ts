// Multiples of the generators, compared with @noble/curves where signed digits end, carry and change sign.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bytesOf, encodeMultiple, R } from '../../test/curve-oracle.ts';
import { createKernels, type Kernels } from '../kernels.ts';

const digitBits = 11n;

/** Half of a digit's range, one less and one more, in every place; and numbers that carry through all places. */
const edges = [
  ...Array.from({ length: 24 }, (_, place) => digitBits * BigInt(place)).flatMap((bit) =>
    [1023n, 1024n, 1025n, 2047n, 2048n].map((digit) => digit << bit),
  ),
  ...[253n, 254n, 255n, 256n].map((bits) => (1n << bits) - 1n),
  R,
  R + 1n,
  0n,
].filter((scalar) => scalar < 1n << 256n);

describe.each(['float', 'integer'] as const)('with the %s multiplier', (multiplier) => {
  let kernels: Kernels;
  beforeAll(async () => {
    kernels = await createKernels({ threads: 2, multiplier, maximumBytes: 2 ** 28 });
  });
  afterAll(() => kernels.close());

  it.each(['g1', 'g2'] as const)('scalars at the edges of digits, in %s', async (group) => {
    const multiples = await kernels.multiplyGenerator(
      group,
      Buffer.concat(edges.map((scalar) => bytesOf(scalar))),
    );
    const expected = Buffer.concat(edges.map((scalar) => encodeMultiple(group, scalar % R)));
    expect(Buffer.from(multiples).equals(expected)).toBe(true);
  });

  it('keeps its tables and no other memory', async () => {
    const bytes = Buffer.concat(edges.map((scalar) => bytesOf(scalar)));
    await kernels.multiplyGenerator('g1', bytes);
    const before = kernels.bytesInUse;
    await kernels.multiplyGenerator('g1', bytes);
    expect(kernels.bytesInUse).toBe(before);
  });
});
