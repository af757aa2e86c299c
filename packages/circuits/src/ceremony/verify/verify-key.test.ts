/** Changed keys, each with its own error: the record, delta, beacons, other files. Points: verify-sections.test.ts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { other, small } from '../../../test/ceremony-circuits.ts';
import {
  type CeremonyFolder,
  createCeremonyFolder,
  flipAt,
  negateAt,
  placesOf,
  sectionOf,
} from '../../../test/ceremony-folder.ts';
import { sample } from '../../../test/fund-batch.ts';
import { createPowersOfTau } from '../../../test/powers-of-tau.ts';
import { compileTest } from '../../../test/witness.ts';
import { exportVerificationKey } from '../key/export-verifier.ts';
import { createKernelArithmetic, type PointArithmetic } from '../points/point-sums.ts';

let kernels: PointArithmetic;
let at: CeremonyFolder;
beforeAll(async () => {
  kernels = await createKernelArithmetic();
  at = await createCeremonyFolder(kernels);
  await at.write('c.r1cs', (await compileTest(small)).r1csBytes);
  await at.write('other.r1cs', (await compileTest(other)).r1csBytes);
  const powers = { tau: sample('tau'), alpha: sample('alpha'), beta: sample('beta') };
  await at.write('p.ptau', createPowersOfTau(powers, 4));
  await at.write('q.ptau', createPowersOfTau({ ...powers, alpha: sample('x') }, 4));
  await at.init('c.r1cs', 'p.ptau', '0.zkey');
  await at.contribute('0.zkey', 'one.zkey');
  await at.contribute('one.zkey', 'two.zkey');
  await at.contribute('two.zkey', 'three.zkey');
});
afterAll(async () => {
  await at.remove();
  await kernels.close();
});

describe('a key', () => {
  it('is valid if it was not changed', async () => {
    const verdict = await at.verify('three.zkey');
    expect(verdict).toMatchObject({ isValid: true, problems: [] });
    expect(verdict.contributions.map(({ name }) => name)).toEqual([
      'one.zkey',
      'two.zkey',
      'three.zkey',
    ]);
  });

  it('is refused without a contribution', async () => {
    expect(await at.problemsOf('0.zkey')).toEqual(['no_contribution']);
    await expect(exportVerificationKey(at.path('0.zkey'))).rejects.toMatchObject({
      code: 'no_contribution',
    });
  });

  it('is refused for another circuit, or from other powers of tau', async () => {
    const problems = await at.problemsOf('two.zkey', 'other.r1cs');
    expect(problems).toEqual(
      expect.arrayContaining(['coefficients_mismatch', 'private_points_mismatch']),
    );
    expect(await at.problemsOf('two.zkey', 'c.r1cs', 'q.ptau')).toEqual(['powers_mismatch']);
  });

  it('is unreadable if it is cut off at any point', async () => {
    const file = await at.read('two.zkey');
    for (const length of [0, 11, 20, 300, file.length - 1]) {
      await at.write('cut.zkey', file.subarray(0, length));
      await expect(at.verify('cut.zkey')).rejects.toMatchObject({ code: 'zkey_malformed' });
    }
  });
});

// Section 10: circuit hash (64), count (4), then each contribution: delta, s, x·s (64 each), x·p (128), transcript (64), 8 + parameters.
const firstOffset = 68;
const fixed = 392;

describe('the record', () => {
  it.each([
    [
      'circuit hash',
      flipAt(0),
      [
        'contribution_transcript_mismatch',
        'contribution_transcript_mismatch',
        'circuit_hash_mismatch',
      ],
    ],
    [
      'transcript',
      flipAt(firstOffset + 320),
      ['contribution_transcript_mismatch', 'contribution_transcript_mismatch'],
    ],
    [
      'delta',
      negateAt(firstOffset),
      ['contribution_delta_mismatch', 'contribution_transcript_mismatch'],
    ],
    [
      'infinity',
      (s: Buffer) => s.fill(0, firstOffset, firstOffset + 64),
      ['contribution_point_invalid'],
    ],
    [
      'proof',
      (s: Buffer) => s.fill(0, firstOffset + 192, firstOffset + 320),
      ['contribution_point_invalid', 'contribution_transcript_mismatch'],
    ],
  ])('is refused with another %s', async (what, change, codes) => {
    const name = await at.spoil('two.zkey', `record-${what}.zkey`, 10, change);
    expect(await at.problemsOf(name)).toEqual(codes);
  });

  it('is refused with the proof of knowledge of another factor', async () => {
    await at.contribute('0.zkey', 'elsewhere.zkey');
    const elsewhere = sectionOf(await at.read('elsewhere.zkey'), 10).subarray(
      firstOffset + 192,
      firstOffset + 320,
    );
    const name = await at.spoil('one.zkey', 'pok.zkey', 10, (section) =>
      elsewhere.copy(section, firstOffset + 192),
    );
    expect(await at.problemsOf(name)).toEqual(['contribution_proof_invalid']);
  });

  it('is refused without its last contribution', async () => {
    const [one, two] = [await at.read('one.zkey'), await at.read('two.zkey')];
    // The points of two contributions under the record of one.
    const start = placesOf(two).get(10)?.start ?? 0;
    const record = sectionOf(one, 10);
    const cut = Buffer.concat([two.subarray(0, start), record]);
    cut.writeBigUInt64LE(BigInt(record.length), start - 8);
    await at.write('left-out.zkey', cut);
    expect(await at.problemsOf('left-out.zkey')).toEqual(['delta_mismatch']);
  });

  it('is refused without a middle contribution, or with two contributions exchanged', async () => {
    const file = await at.read('three.zkey');
    const { start, length } = placesOf(file).get(10) ?? { start: 0, length: 0 };
    const record = file.subarray(start, start + length);
    const contributions: Buffer[] = [];
    for (let position = firstOffset; position < record.length; ) {
      const bytes = fixed + record.readUInt32LE(position + fixed - 4);
      contributions.push(record.subarray(position, position + bytes));
      position += bytes;
    }
    const [first, second, third] = contributions;
    if (first === undefined || second === undefined || third === undefined) {
      throw new Error('three contributions were made');
    }
    const rewrite = async (name: string, kept: readonly Buffer[]) => {
      const body = Buffer.concat([record.subarray(0, firstOffset), ...kept]);
      body.writeUInt32LE(kept.length, 64);
      const changed = Buffer.concat([file.subarray(0, start), body]);
      changed.writeBigUInt64LE(BigInt(body.length), start - 8);
      await at.write(name, changed);
      return await at.problemsOf(name);
    };
    expect(await rewrite('same.zkey', contributions)).toEqual([]);
    expect(await rewrite('dropped.zkey', [first, third])).toEqual([
      'contribution_transcript_mismatch',
    ]);
    expect(await rewrite('reordered.zkey', [second, first, third])).toEqual([
      'contribution_transcript_mismatch',
      'contribution_transcript_mismatch',
      'contribution_transcript_mismatch',
    ]);
    expect(await rewrite('twice.zkey', [first, second, third, third])).toEqual([
      'contribution_transcript_mismatch',
    ]);
  });

  it('is refused with another beacon or another number of iterations', async () => {
    await at.end('one.zkey', 'b.zkey');
    expect(await at.problemsOf('b.zkey')).toEqual([]);
    const length = sectionOf(await at.read('b.zkey'), 10).length;
    // The beacon's 32 bytes end the record; tag and length precede them, and the exponent precedes both.
    for (const place of [length - 1, length - 32, length - 35]) {
      const name = await at.spoil('b.zkey', `beacon-${place}.zkey`, 10, flipAt(place));
      expect(await at.problemsOf(name)).toEqual(['beacon_mismatch']);
    }
  });
});

describe('delta', () => {
  const DELTA1 = 84 + 64 + 64 + 128 + 128;

  it('must match the contributions, in both groups', async () => {
    const one = sectionOf(await at.read('one.zkey'), 2).subarray(DELTA1, DELTA1 + 192);
    const name = await at.spoil('two.zkey', 'old-delta.zkey', 2, (section) =>
      one.copy(section, DELTA1),
    );
    expect(await at.problemsOf(name)).toEqual([
      'delta_mismatch',
      'quotient_points_mismatch',
      'private_points_mismatch',
    ]);
    const half = await at.spoil('two.zkey', 'half-delta.zkey', 2, negateAt(DELTA1));
    expect(await at.problemsOf(half)).toEqual(['delta_mismatch', 'delta_pair_mismatch']);
    await expect(at.contribute(half, 'never.zkey')).rejects.toMatchObject({
      code: 'zkey_malformed',
    });
  });

  it('must be a point of its group', async () => {
    const name = await at.spoil('two.zkey', 'off-delta.zkey', 2, flipAt(DELTA1 + 64));
    expect(await at.problemsOf(name)).toEqual(['delta_invalid']);
  });

  it('is refused with alpha, beta or gamma of another key', async () => {
    for (const place of [84, 84 + 64, 84 + 128, 84 + 256]) {
      const name = await at.spoil('two.zkey', `header-${place}.zkey`, 2, flipAt(place));
      expect(await at.problemsOf(name)).toEqual(['powers_mismatch']);
    }
  });
});
