/**
 * Ceremonies against snarkjs, both ways: what one tool writes, the other checks and continues. Then keys that somebody spoilt, each
 * with its own answer.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bn254 } from '@noble/curves/bn254.js';
import * as snarkjs from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sample } from '../../test/fund-batch.ts';
import { createPowersOfTau } from '../../test/powers-of-tau.ts';
import { compileTest, endSnarkjsThreads } from '../../test/witness.ts';
import { applyBeacon, contributeToKey } from './contribute.ts';
import { exportVerificationKey, renderSolidityVerifier } from './export-verifier.ts';
import { initialiseKey } from './initialise.ts';
import { createNobleArithmetic } from './noble-arithmetic.ts';
import { decodeG1, encodeG1 } from './points.ts';
import { verifyKey } from './verify-key.ts';

const { groth16, powersOfTau, curves, wtns } = snarkjs;
// The ambient types name only what other tests call.
const zKey = snarkjs.zKey as typeof snarkjs.zKey & {
  beacon(from: string, to: string, name: string, hex: string, exponent: number): Promise<unknown>;
};

const MAIN = `
  template Small() {
    signal input a; signal input b; signal input d; signal output y;
    signal t; signal s; signal u;
    t <== a*b; s <== (t + 7*a)*(b - d); u <== 3*t*d; y <== s*s + u;
  }
  component main {public [b]} = Small();`;
// Same counts, another constraint.
const OTHER = MAIN.replace('7*a', '8*a');

const BEACON = '0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20';
const beacon = { value: Buffer.from(BEACON, 'hex'), exponent: 10 };
const arithmetic = createNobleArithmetic();
const options = { arithmetic };

let folder: string;
const path = (name: string) => join(folder, name);
const init = (circuit: string, ptau: string, out: string) =>
  initialiseKey({ r1cs: path(circuit), ptau: path(ptau), out: path(out) }, options);
const contribute = (from: string, to: string) =>
  contributeToKey({ in: path(from), out: path(to) }, { ...options, name: to });
const verify = (zkey: string, circuit = 'c.r1cs', ptau = 'p.ptau') =>
  verifyKey({ r1cs: path(circuit), ptau: path(ptau), zkey: path(zkey) }, options);
const problemsOf = async (...args: Parameters<typeof verify>): Promise<string[]> =>
  (await verify(...args)).problems.map(({ code }) => code);
const verifyWithSnarkjs = (zkey: string) =>
  zKey.verifyFromR1cs(path('c.r1cs'), path('p.ptau'), path(zkey));

type Place = { readonly start: number; readonly length: number };
const placesOf = (file: Buffer): Map<number, Place> => {
  const places = new Map<number, Place>();
  let position = 12;
  for (let left = file.readUInt32LE(8); left > 0; left--) {
    const length = Number(file.readBigUInt64LE(position + 4));
    places.set(file.readUInt32LE(position), { start: position + 12, length });
    position += 12 + length;
  }
  return places;
};
const sectionOf = (file: Buffer, id: number): Buffer => {
  const { start, length } = placesOf(file).get(id) ?? { start: 0, length: 0 };
  return file.subarray(start, start + length);
};

/** Copies a key with one change to one of its sections. */
const spoil = async (
  from: string,
  to: string,
  id: number,
  change: (section: Buffer) => void,
): Promise<string> => {
  const file = await readFile(path(from));
  change(sectionOf(file, id));
  await writeFile(path(to), file);
  return to;
};
const negateAt = (offset: number) => (section: Buffer) => {
  const point = decodeG1(section.subarray(offset, offset + 64));
  encodeG1(point.negate()).copy(section, offset);
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pool-ceremony-test-'));
  const [circuit, other] = [await compileTest(MAIN), await compileTest(OTHER)];
  await writeFile(path('c.r1cs'), circuit.r1csBytes);
  await writeFile(path('c.wasm'), circuit.wasm);
  await writeFile(path('other.r1cs'), other.r1csBytes);
  const powers = { tau: sample('tau'), alpha: sample('alpha'), beta: sample('beta') };
  await writeFile(path('p.ptau'), createPowersOfTau(powers, 4));
  await writeFile(path('q.ptau'), createPowersOfTau({ ...powers, alpha: sample('x') }, 4));
  await init('c.r1cs', 'p.ptau', 'ours-0.zkey');
  await zKey.newZKey(path('c.r1cs'), path('p.ptau'), path('theirs-0.zkey'));
  await contribute('ours-0.zkey', 'one.zkey');
  await contribute('one.zkey', 'two.zkey');
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await endSnarkjsThreads();
});

describe('with snarkjs', () => {
  it('begins with the same bytes', async () => {
    const [ours, theirs] = [
      await readFile(path('ours-0.zkey')),
      await readFile(path('theirs-0.zkey')),
    ];
    expect(ours.equals(theirs)).toBe(true);
  });

  it("reads snarkjs' own powers of tau, up to their last row", async () => {
    const curve = await curves.getCurveFromName('bn128');
    await powersOfTau.newAccumulator(curve, 3, path('a.ptau'));
    await powersOfTau.contribute(path('a.ptau'), path('b.ptau'), 'x', 'entropy');
    await powersOfTau.preparePhase2(path('b.ptau'), path('real.ptau'));
    await init('c.r1cs', 'real.ptau', 'real-0.zkey');
    await zKey.newZKey(path('c.r1cs'), path('real.ptau'), path('real-theirs.zkey'));
    const theirs = await readFile(path('real-theirs.zkey'));
    expect((await readFile(path('real-0.zkey'))).equals(theirs)).toBe(true);
    await contribute('real-0.zkey', 'real-1.zkey');
    expect(await problemsOf('real-1.zkey', 'c.r1cs', 'real.ptau')).toEqual([]);
    await expect(init('c.r1cs', 'b.ptau', 'unprepared.zkey')).rejects.toMatchObject({
      code: 'ptau_not_prepared',
    });
  });

  it('agrees on contributions', async () => {
    expect(await verifyWithSnarkjs('one.zkey')).toBe(true);
    const hash = (await zKey.contribute(
      path('theirs-0.zkey'),
      path('theirs-1.zkey'),
      'they',
      'entropy',
    )) as Uint8Array;
    const verdict = await verify('theirs-1.zkey');
    expect(verdict.problems).toEqual([]);
    expect(verdict.contributions).toEqual([
      { name: 'they', type: 'secret', hash: expect.anything() },
    ]);
    expect(Buffer.from(verdict.contributions[0]?.hash ?? []).equals(hash)).toBe(true);
  });

  it('writes the same beacon, byte for byte', async () => {
    await zKey.beacon(path('one.zkey'), path('theirs-b.zkey'), 'beacon', BEACON, 10);
    await applyBeacon({ in: path('one.zkey'), out: path('ours-b.zkey') }, beacon, {
      ...options,
      name: 'beacon',
    });
    const theirs = await readFile(path('theirs-b.zkey'));
    expect((await readFile(path('ours-b.zkey'))).equals(theirs)).toBe(true);
    expect(await verifyWithSnarkjs('ours-b.zkey')).toBe(true);
    expect(await problemsOf('theirs-b.zkey')).toEqual([]);
    await expect(contribute('ours-b.zkey', 'late.zkey')).rejects.toMatchObject({
      code: 'ceremony_closed',
    });
  });

  it('takes turns in one chain, whose key proves', async () => {
    await zKey.contribute(path('two.zkey'), path('three.zkey'), 'they', 'entropy');
    await contribute('three.zkey', 'four.zkey');
    await applyBeacon({ in: path('four.zkey'), out: path('final.zkey') }, beacon, options);
    expect(await verifyWithSnarkjs('final.zkey')).toBe(true);
    const verdict = await verify('final.zkey');
    expect(verdict.isValid).toBe(true);
    expect(verdict.contributions.map(({ name }) => name)).toEqual([
      'one.zkey',
      'two.zkey',
      'they',
      'four.zkey',
      undefined,
    ]);
    const key = await exportVerificationKey(path('final.zkey'));
    expect(key).toEqual(await zKey.exportVerificationKey(path('final.zkey')));
    expect(Object.keys(key)).toEqual(
      Object.keys(await zKey.exportVerificationKey(path('final.zkey'))),
    );
    const witness = { type: 'mem' as const };
    await wtns.calculate({ a: 12n, b: 34n, d: 5n }, path('c.wasm'), witness);
    const { proof, publicSignals } = await groth16.prove(path('final.zkey'), witness);
    expect(await groth16.verify(key, publicSignals, proof)).toBe(true);
    expect(await groth16.verify(key, ['1', ...publicSignals.slice(1)], proof)).toBe(false);
  });
});

describe('a key is refused', () => {
  it('when nobody contributed', async () => {
    expect(await problemsOf('ours-0.zkey')).toEqual(['no_contribution']);
    await expect(exportVerificationKey(path('ours-0.zkey'))).rejects.toMatchObject({
      code: 'no_contribution',
    });
  });

  it.each([
    [3, 'public_points_mismatch'],
    [5, 'a_points_mismatch'],
    [6, 'b1_points_mismatch'],
    [8, 'private_points_mismatch'],
    [9, 'quotient_points_mismatch'],
  ])('when a point of section %i is another', async (id, code) => {
    const name = await spoil('two.zkey', `point-${id}.zkey`, id, (section) => {
      const at = section.length - 64;
      const isZero = section.subarray(at).every((byte) => byte === 0);
      if (isZero) {
        encodeG1(bn254.G1.Point.BASE).copy(section, at);
      } else {
        negateAt(at)(section);
      }
    });
    expect(await problemsOf(name)).toEqual([code]);
  });

  it('when a point of section 7 or a coefficient is another', async () => {
    const flip = (section: Buffer) =>
      section.writeUInt8(section.readUInt8(section.length - 1) ^ 1, section.length - 1);
    expect(await problemsOf(await spoil('two.zkey', 'b2.zkey', 7, flip))).toEqual([
      'b2_points_mismatch',
    ]);
    expect(await problemsOf(await spoil('two.zkey', 'coef.zkey', 4, flip))).toEqual([
      'coefficients_mismatch',
    ]);
  });

  it('when a divided point is off the curve', async () => {
    const name = await spoil('two.zkey', 'off.zkey', 9, (section) =>
      section.writeUInt8(section.readUInt8(0) ^ 1, 0),
    );
    expect(await problemsOf(name)).toEqual(['quotient_points_mismatch']);
    await expect(contribute(name, 'leak.zkey')).rejects.toMatchObject({
      code: 'zkey_malformed',
      message: expect.stringContaining('not on the curve'),
    });
  });

  it('when it is for another circuit or from other powers of tau', async () => {
    expect(await problemsOf('two.zkey', 'other.r1cs')).toEqual(
      expect.arrayContaining(['coefficients_mismatch', 'circuit_hash_mismatch']),
    );
    expect(await problemsOf('two.zkey', 'c.r1cs', 'q.ptau')).toEqual(['powers_mismatch']);
  });

  // Section 10: circuit hash (64), count (4), then each contribution: delta, s, x·s (64 each), x·p (128), transcript (64), 8 + parameters.
  const FIRST = 68;
  it.each([
    [
      'circuit hash',
      (s: Buffer) => s.writeUInt8(s.readUInt8(0) ^ 1, 0),
      [
        'contribution_transcript_mismatch',
        'contribution_transcript_mismatch',
        'circuit_hash_mismatch',
      ],
    ],
    [
      'transcript',
      (s: Buffer) => s.writeUInt8(s.readUInt8(FIRST + 320) ^ 1, FIRST + 320),
      ['contribution_transcript_mismatch', 'contribution_transcript_mismatch'],
    ],
    ['delta', negateAt(FIRST), ['contribution_delta_mismatch', 'contribution_transcript_mismatch']],
    ['infinity', (s: Buffer) => s.fill(0, FIRST, FIRST + 64), ['contribution_point_invalid']],
    [
      'proof',
      (s: Buffer) => s.fill(0, FIRST + 192, FIRST + 320),
      ['contribution_point_invalid', 'contribution_transcript_mismatch'],
    ],
  ])('when the %s of a contribution is another', async (what, change, codes) => {
    const name = await spoil('two.zkey', `record-${what}.zkey`, 10, change);
    expect(await problemsOf(name)).toEqual(codes);
  });

  it('when a proof of knowledge is that of another factor', async () => {
    await contribute('ours-0.zkey', 'elsewhere.zkey');
    const elsewhere = sectionOf(await readFile(path('elsewhere.zkey')), 10).subarray(
      FIRST + 192,
      FIRST + 320,
    );
    const name = await spoil('one.zkey', 'pok.zkey', 10, (section) =>
      elsewhere.copy(section, FIRST + 192),
    );
    expect(await problemsOf(name)).toEqual(['contribution_proof_invalid']);
  });

  it('when delta is not what the contributions say', async () => {
    const DELTA1 = 84 + 64 + 64 + 128 + 128;
    const one = sectionOf(await readFile(path('one.zkey')), 2).subarray(DELTA1, DELTA1 + 192);
    const name = await spoil('two.zkey', 'old-delta.zkey', 2, (section) =>
      one.copy(section, DELTA1),
    );
    expect(await problemsOf(name)).toEqual([
      'delta_mismatch',
      'quotient_points_mismatch',
      'private_points_mismatch',
    ]);
    const half = await spoil('two.zkey', 'half-delta.zkey', 2, negateAt(DELTA1));
    expect(await problemsOf(half)).toEqual(['delta_mismatch', 'delta_pair_mismatch']);
    await expect(contribute(half, 'never.zkey')).rejects.toMatchObject({ code: 'zkey_malformed' });
  });

  it('when a contribution was left out, or a beacon is not its own', async () => {
    const [one, two] = [await readFile(path('one.zkey')), await readFile(path('two.zkey'))];
    // The points of two contributions under the record of one.
    const start = placesOf(two).get(10)?.start ?? 0;
    const record = sectionOf(one, 10);
    const cut = Buffer.concat([two.subarray(0, start), record]);
    cut.writeBigUInt64LE(BigInt(record.length), start - 8);
    await writeFile(path('left-out.zkey'), cut);
    expect(await problemsOf('left-out.zkey')).toEqual(['delta_mismatch']);

    await applyBeacon({ in: path('one.zkey'), out: path('b.zkey') }, beacon, options);
    const name = await spoil('b.zkey', 'other-beacon.zkey', 10, (section) => {
      section.writeUInt8(section.readUInt8(section.length - 1) ^ 1, section.length - 1);
    });
    expect(await problemsOf(name)).toEqual(['beacon_mismatch']);
  });

  it('when it is cut off anywhere', async () => {
    const file = await readFile(path('two.zkey'));
    for (const length of [0, 11, 20, 300, file.length - 1]) {
      await writeFile(path('cut.zkey'), file.subarray(0, length));
      await expect(verify('cut.zkey')).rejects.toMatchObject({ code: 'zkey_malformed' });
    }
    const ptau = await readFile(path('p.ptau'));
    await writeFile(path('cut.ptau'), ptau.subarray(0, ptau.length - 64));
    await expect(verify('two.zkey', 'c.r1cs', 'cut.ptau')).rejects.toMatchObject({
      code: 'ptau_malformed',
    });
  });
});

describe('files', () => {
  it('are not replaced unless that is asked for, and leave nothing beside them', async () => {
    const before = await readFile(path('one.zkey'));
    await expect(contribute('ours-0.zkey', 'one.zkey')).rejects.toMatchObject({
      code: 'file_exists',
    });
    expect((await readFile(path('one.zkey'))).equals(before)).toBe(true);
    const { readdir } = await import('node:fs/promises');
    expect((await readdir(folder)).filter((name) => name.endsWith('.partial'))).toEqual([]);
  });

  it.each([
    [2, 5],
    [4, 3],
    [5, 0],
    [12, 7 + 2],
    [12, 15 + 3],
    [14, 7 + 1],
    [15, 7 + 6],
  ])(
    'of powers of tau with another point in section %i, place %i, are refused',
    async (id, place) => {
      const file = await readFile(path('p.ptau'));
      negateAt(64 * place)(sectionOf(file, id));
      await writeFile(path('negated.ptau'), file);
      await init('c.r1cs', 'negated.ptau', `negated-${id}-${place}-0.zkey`);
      await contribute(`negated-${id}-${place}-0.zkey`, `negated-${id}-${place}.zkey`);
      const problems = await problemsOf(`negated-${id}-${place}.zkey`, 'c.r1cs', 'negated.ptau');
      expect(new Set(problems)).toEqual(new Set(['ptau_inconsistent']));
    },
  );

  it('of powers of tau with another basis in G2 are refused', async () => {
    const file = await readFile(path('p.ptau'));
    const basis = sectionOf(file, 13).subarray(7 * 128);
    basis.copy(basis, 128, 0, 128);
    await writeFile(path('basis.ptau'), file);
    await init('c.r1cs', 'basis.ptau', 'basis-0.zkey');
    await contribute('basis-0.zkey', 'basis-1.zkey');
    expect(await problemsOf('basis-1.zkey', 'c.r1cs', 'basis.ptau')).toEqual(['ptau_inconsistent']);
  });

  it('of powers of tau with a point off the curve, or too few rows, begin no key', async () => {
    const file = await readFile(path('p.ptau'));
    const section = sectionOf(file, 14);
    section.writeUInt8(section.readUInt8(7 * 64) ^ 1, 7 * 64);
    await writeFile(path('off.ptau'), file);
    await expect(init('c.r1cs', 'off.ptau', 'x.zkey')).rejects.toMatchObject({
      code: 'ptau_malformed',
    });
    const powers = { tau: 2n, alpha: 3n, beta: 5n };
    await writeFile(path('small.ptau'), createPowersOfTau(powers, 2));
    await expect(init('c.r1cs', 'small.ptau', 'x.zkey')).rejects.toMatchObject({
      code: 'ptau_too_small',
    });
  });
});

describe('the Solidity verifier', () => {
  it('is the one packages/contracts generates, without what ties development keys to their chains', async () => {
    const { verificationKeys } = await import('../generated/verification-keys.ts');
    const ours = renderSolidityVerifier(verificationKeys['fund-16'], {
      circuit: 'fund-16',
      contract: 'Fund16Verifier',
    });
    const theirs = await readFile(
      new URL('../../../contracts/solidity/verifiers/Fund16Verifier.sol', import.meta.url),
      'utf8',
    );
    const strip = (text: string) =>
      text
        .replace(/^\/\/ Generated by .*$/m, '')
        .replace(/\n {4}\/\/\/ @dev The secrets[\s\S]*?\n {4}\}\n/, '')
        .replace(/\n+/g, '\n');
    expect(strip(ours)).toBe(strip(theirs));
    expect(ours).not.toContain('constructor');
  });

  it('is refused for other shapes and for names that are no names', async () => {
    const key = await exportVerificationKey(path('one.zkey'));
    expect(() => renderSolidityVerifier(key, { circuit: 'x', contract: 'X' })).toThrow(
      'three public inputs',
    );
    expect(() =>
      renderSolidityVerifier({ ...key, nPublic: 3 }, { circuit: 'x', contract: 'X {' }),
    ).toThrow('names');
  });
});
