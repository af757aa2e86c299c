/** Sections of a key in which one point or coefficient was changed. */
import { bn254 } from '@noble/curves/bn254.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { small } from '../../../test/ceremony-circuits.ts';
import {
  type CeremonyFolder,
  createCeremonyFolder,
  flipAt,
  negateAt,
  sectionOf,
} from '../../../test/ceremony-folder.ts';
import { sample } from '../../../test/fund-batch.ts';
import { createNobleArithmetic } from '../../../test/noble-arithmetic.ts';
import { createPowersOfTau } from '../../../test/powers-of-tau.ts';
import { pointOutsideSubgroup } from '../../../test/twist-points.ts';
import { compileTest } from '../../../test/witness.ts';
import { openKeyFile } from '../files/key-file.ts';
import { openPowersOfTau } from '../files/powers-of-tau.ts';
import { readRecord } from '../files/transcript.ts';
import { readCircuit } from '../key/initialise.ts';
import { createKernelArithmetic, type PointArithmetic } from '../points/point-sums.ts';
import { decodeG2, encodeG1, encodeG2, type G2Point } from '../points/points.ts';
import { findSectionProblems } from './verify-sections.ts';

let kernels: PointArithmetic;
let at: CeremonyFolder;
beforeAll(async () => {
  kernels = await createKernelArithmetic();
  at = await createCeremonyFolder(kernels);
  await at.write('c.r1cs', (await compileTest(small)).r1csBytes);
  const powers = { tau: sample('tau'), alpha: sample('alpha'), beta: sample('beta') };
  await at.write('p.ptau', createPowersOfTau(powers, 4));
  await at.init('c.r1cs', 'p.ptau', '0.zkey');
  await at.contribute('0.zkey', 'one.zkey');
  await at.contribute('one.zkey', 'two.zkey');
});
afterAll(async () => {
  await at.remove();
  await kernels.close();
});

async function problemsOf(name: string, arithmetic = kernels): Promise<string[]> {
  const [key, powers] = [
    await openKeyFile(at.path(name)),
    await openPowersOfTau(at.path('p.ptau')),
  ];
  try {
    const { circuitHash } = await readRecord(key.file);
    const parts = { r1cs: readCircuit(at.path('c.r1cs')), powers, arithmetic };
    return (await findSectionProblems(key, circuitHash, parts)).map(({ code }) => code);
  } finally {
    await Promise.all([key.file.close(), powers.close()]);
  }
}

/** Codes of the sections' problems, and bytes of their points. */
const sections = [
  [3, 64, 'public_points_mismatch'],
  [5, 64, 'a_points_mismatch'],
  [6, 64, 'b1_points_mismatch'],
  [7, 128, 'b2_points_mismatch'],
  [8, 64, 'private_points_mismatch'],
  [9, 64, 'quotient_points_mismatch'],
] as const;

describe('sound sections', () => {
  it('are accepted with either arithmetic', async () => {
    expect(await problemsOf('two.zkey')).toEqual([]);
    expect(await problemsOf('two.zkey', createNobleArithmetic())).toEqual([]);
  });

  it('are distinguished from wrong sections', async () => {
    const b1 = await at.spoil('two.zkey', 'b1.zkey', 6, (section) => section.fill(0));
    const both = await at.spoil(b1, 'both.zkey', 8, flipAt(0));
    expect(await problemsOf(both)).toEqual(['private_points_mismatch', 'b1_points_mismatch']);
  });
});

describe.each(sections)('section %i', (id, size, code) => {
  const infinity = Buffer.alloc(size);
  const pointsOf = async () => {
    const section = sectionOf(await at.read('two.zkey'), id);
    return Array.from({ length: section.length / size }, (_, i) =>
      Buffer.from(section.subarray(i * size, (i + 1) * size)),
    );
  };
  const refuse = async (points: readonly Buffer[]) => {
    const name = await at.spoil('two.zkey', `points-${id}.zkey`, id, (section) =>
      Buffer.concat(points).copy(section),
    );
    expect(await problemsOf(name)).toEqual([code]);
  };

  it('is refused with another point at any place', async () => {
    const points = await pointsOf();
    const other = Buffer.from(
      size === 64
        ? encodeG1(bn254.G1.Point.BASE.multiply(5n))
        : encodeG2(bn254.G2.Point.BASE.multiply(5n)),
    );
    for (const place of [0, points.length >> 1, points.length - 1]) {
      await refuse(points.with(place, other));
    }
  });

  it('is refused with a point negated, or replaced by infinity', async () => {
    const points = await pointsOf();
    const place = points.findIndex((point) => !point.equals(infinity));
    const point = points[place] ?? infinity;
    const negative = Buffer.from(point);
    if (size === 64) {
      negateAt(0)(negative);
    } else {
      encodeG2(decodeG2(point).negate()).copy(negative);
    }
    await refuse(points.with(place, negative));
    await refuse(points.with(place, infinity));
  });

  it('is refused with two points exchanged', async () => {
    const points = await pointsOf();
    const first = points.findIndex((point) => !point.equals(infinity));
    const second = points.findIndex(
      (point, i) => i > first && !point.equals(points[first] ?? infinity),
    );
    expect(second).toBeGreaterThan(first);
    await refuse(
      points.with(first, points[second] ?? infinity).with(second, points[first] ?? infinity),
    );
  });

  it('is refused with one bit flipped, so that a point is off the curve', async () => {
    const points = await pointsOf();
    const last = Buffer.from(points.at(-1) ?? infinity);
    flipAt(size - 1)(last);
    await refuse(points.with(-1, last));
  });
});

describe('section 7', () => {
  it('is refused with a point outside the subgroup', async () => {
    const name = await at.spoil('two.zkey', 'outside.zkey', 7, (section) =>
      encodeG2(pointOutsideSubgroup(1n)).copy(section, section.length - 128),
    );
    expect(await problemsOf(name)).toEqual(['b2_points_mismatch']);
  });

  it('is refused with such a point even if its part outside the subgroup cancels in the weighted sum', async () => {
    const { h, n } = bn254.G2.Point.CURVE();
    const projection = h * bn254.fields.Fr.inv(h % n);
    const project = (point: G2Point): G2Point => {
      let [result, power] = [bn254.G2.Point.ZERO, point];
      for (let k = projection; k > 0n; k >>= 1n) {
        result = k & 1n ? result.add(power) : result;
        power = power.double();
      }
      return result;
    };
    const noble = createNobleArithmetic();
    /** Full weights detect only the part inside G2. So does one attempt in 10069. */
    const lucky: PointArithmetic = {
      ...noble,
      computeMsm: async (group, points, scalars) => {
        const sum = await noble.computeMsm(group, points, scalars);
        const isFull = scalars.some((byte, at) => at % 32 === 15 && byte !== 0);
        return group === 'g2' && isFull ? encodeG2(project(decodeG2(sum))) : sum;
      },
    };
    const small = pointOutsideSubgroup(1n);
    const torsion = small.subtract(project(small));
    const name = await at.spoil('two.zkey', 'lucky.zkey', 7, (section) => {
      const place = section.length - 128;
      const point = decodeG2(section.subarray(place));
      encodeG2(point.add(torsion)).copy(section, place);
    });
    expect(await problemsOf('two.zkey', lucky)).toEqual([]);
    expect(await problemsOf(name, lucky)).toEqual(['b2_points_mismatch']);
  });
});

describe('section 4', () => {
  it('is refused with another coefficient, row, wire or matrix', async () => {
    const length = sectionOf(await at.read('two.zkey'), 4).length;
    // The last entry's matrix, row, wire and value; and the first entry's value.
    for (const place of [length - 44, length - 40, length - 36, length - 1, 4 + 12]) {
      const name = await at.spoil('two.zkey', `coefficient-${place}.zkey`, 4, flipAt(place));
      expect(await problemsOf(name)).toEqual(['coefficients_mismatch']);
    }
  });
});
