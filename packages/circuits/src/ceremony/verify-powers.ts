/**
 * Checks that a powers-of-tau file is what its name says, as far as a key uses it: its sections are powers of one tau, times one alpha
 * and one beta, and its Lagrange bases are those of the same tau. Who took part in phase 1 is not looked at: compare the file's digest
 * with the published one for that.
 *
 * Runs of powers: with random weights w, sum w_i P_(i+1) must be tau times sum w_i P_i, by a pairing. Bases: with random values v,
 * sum v_j L_j(tau) is the polynomial through v at tau, so it must be sum c_i tau^i, c its coefficients. A wrong point passes with
 * probability about 2^-128.
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import { FIELD_ORDER } from '../field.ts';
import { invert, power } from '../modular.ts';
import type { BulkOptions, PointArithmetic } from './point-arithmetic.ts';
import { createSumG1, createSumG2 } from './point-sums.ts';
import { decodeG1, decodeG2, type G1Point, writeInteger } from './points.ts';
import type { PowersOfTau, PowersSection } from './powers-of-tau.ts';
import { createWeights, readWeights } from './random-weights.ts';
import { chunksOf } from './section-file.ts';
import { areInSubgroup } from './subgroup.ts';
import { haveSameRatio, isSoundG2, type KeyProblem } from './verify-contributions.ts';

const POINTS_AT_ONCE = 1 << 16;
/** Sums over the domain that the checks take, counting the doubled domain twice. */
const SUMS = 19;
const TWO_ADICITY = 28;
const NON_RESIDUE = 5n;

/** The root of unity of order 2^exponent that orders the bases. */
const rootOfUnity = (exponent: number): bigint => {
  const generator = power(NON_RESIDUE, (FIELD_ORDER - 1n) >> BigInt(TWO_ADICITY), FIELD_ORDER);
  return power(generator, 1n << BigInt(TWO_ADICITY - exponent), FIELD_ORDER);
};

/** Coefficients of the polynomial with these values on the 2^exponent-th roots of unity (Cooley and Tukey, in place). */
const interpolate = (values: readonly bigint[], exponent: number): bigint[] => {
  const size = 2 ** exponent;
  const result = new Array<bigint>(size).fill(0n);
  for (const [index, value] of values.entries()) {
    let reversed = 0;
    for (let bit = 0; bit < exponent; bit++) {
      reversed = 2 * reversed + ((index >> bit) & 1);
    }
    result[reversed] = value;
  }
  for (let level = 1; level <= exponent; level++) {
    const half = 2 ** (level - 1);
    const step = invert(rootOfUnity(level), FIELD_ORDER);
    const twiddles: bigint[] = [1n];
    for (let i = 1; i < half; i++) {
      twiddles.push(((twiddles[i - 1] ?? 0n) * step) % FIELD_ORDER);
    }
    for (let start = 0; start < size; start += 2 * half) {
      for (let i = start; i < start + half; i++) {
        const left = result[i] ?? 0n;
        const right = ((result[i + half] ?? 0n) * (twiddles[i - start] ?? 0n)) % FIELD_ORDER;
        result[i] = left + right < FIELD_ORDER ? left + right : left + right - FIELD_ORDER;
        result[i + half] = left < right ? left - right + FIELD_ORDER : left - right;
      }
    }
  }
  const scale = invert(BigInt(size), FIELD_ORDER);
  return result.map((value) => (value * scale) % FIELD_ORDER);
};

const randomWeights = (count: number): bigint[] => readWeights(createWeights(count));

const encodeScalars = (values: readonly bigint[]): Buffer => {
  const bytes = Buffer.alloc(32 * values.length);
  for (const [index, value] of values.entries()) {
    writeInteger(value, bytes, 32 * index);
  }
  return bytes;
};

/** sum weights[i]·(point first + i of a section of G1) */
const sumPoints = async (
  powers: PowersOfTau,
  section: PowersSection,
  first: number,
  weights: readonly bigint[],
  arithmetic: PointArithmetic,
  options: BulkOptions,
): Promise<G1Point> => {
  const sum = createSumG1(arithmetic, options);
  for (const { start, count } of chunksOf(weights.length, POINTS_AT_ONCE)) {
    const points = await powers.readPoints(section, first + start, count);
    await sum.add(points, encodeScalars(weights.slice(start, start + count)));
  }
  return sum.total();
};

export type PowersOptions = BulkOptions & {
  /** fraction in 0..1 */
  readonly onProgress?: ((fraction: number) => void) | undefined;
};

/**
 * Everything wrong with the part of the file that circuits of 2^exponent rows use. Empty if it is sound.
 * @throws PoolError `ptau_malformed` if a point is not on its curve
 */
export const findPowersProblems = async (
  powers: PowersOfTau,
  exponent: number,
  arithmetic: PointArithmetic,
  { signal, onProgress }: PowersOptions = {},
): Promise<KeyProblem[]> => {
  const size = 2 ** exponent;
  const problems: KeyProblem[] = [];
  const report = (section: number, what: string): void => {
    problems.push({
      code: 'ptau_inconsistent',
      message: `Section ${section} of the powers-of-tau file ${what}.`,
    });
  };
  const { BASE: one1 } = bn254.G1.Point;
  const { BASE: one2 } = bn254.G2.Point;
  const tauBytes = await powers.readPoints('tau2', 1, 1);
  const beta2 = await powers.readPoints('beta2', 0, 1);
  if (!isSoundG2(tauBytes) || !isSoundG2(beta2)) {
    report(3, 'or 6 has a point outside the subgroup');
    return problems;
  }
  const tau2 = decodeG2(tauBytes);

  if (!decodeG1(await powers.readPoints('tau1', 0, 1)).equals(one1)) {
    report(2, 'does not begin with the generator');
  }
  const beta1 = decodeG1(await powers.readPoints('betaTau1', 0, 1));
  if (!haveSameRatio(one1, beta1, one2, decodeG2(beta2))) {
    report(6, 'holds another beta than section 5');
  }
  let done = 0;
  const note = (sums: number): void => {
    done += sums;
    onProgress?.(Math.min(1, done / SUMS));
  };
  const sum = async (section: PowersSection, first: number, weights: readonly bigint[]) => {
    const total = await sumPoints(powers, section, first, weights, arithmetic, { signal });
    note(weights.length / size);
    return total;
  };
  for (const [section, id, count] of [
    ['tau1', 2, 2 * size - 1],
    ['alphaTau1', 4, size],
    ['betaTau1', 5, size],
  ] as const) {
    const weights = randomWeights(count - 1);
    const low = await sum(section, 0, weights);
    if (!haveSameRatio(low, await sum(section, 1, weights), one2, tau2)) {
      report(id, 'does not hold the powers of one tau');
    }
  }

  const values = randomWeights(size);
  const coefficients = interpolate(values, exponent);
  const basis1 = await sum('lagrange1', size - 1, values);
  for (const [section, id, monomials] of [
    ['lagrange1', 12, 'tau1'],
    ['alphaLagrange1', 14, 'alphaTau1'],
    ['betaLagrange1', 15, 'betaTau1'],
  ] as const) {
    const basis = section === 'lagrange1' ? basis1 : await sum(section, size - 1, values);
    if (!basis.equals(await sum(monomials, 0, coefficients))) {
      report(id, `is not the Lagrange basis of the powers in it`);
    }
  }
  const sum2 = createSumG2(arithmetic, { signal });
  let areMembers = true;
  for (const { start, count } of chunksOf(size, POINTS_AT_ONCE)) {
    const points = await powers.readBasis('lagrange2', exponent, start, count);
    // A sum alone would not notice points outside: most of their orders are small.
    areMembers &&= await areInSubgroup(arithmetic, points, { signal });
    if (areMembers) {
      await sum2.add(points, encodeScalars(values.slice(start, start + count)));
    }
  }
  note(4);
  if (!areMembers || !haveSameRatio(one1, basis1, one2, sum2.total())) {
    report(13, 'is not the Lagrange basis of section 12 in G2');
  }

  // Of the doubled domain the key takes the odd elements. Files end before the last power that its basis would need, so the
  // polynomial must do without: its leading coefficient is sum v_j root^j / n, and one value makes it zero.
  const doubled = randomWeights(2 * size).map((weight, j) => (j % 2 === 1 ? weight : 0n));
  const root = rootOfUnity(exponent + 1);
  let [leading, current] = [0n, 1n];
  for (const value of doubled) {
    leading = (leading + value * current) % FIELD_ORDER;
    current = (current * root) % FIELD_ORDER;
  }
  doubled[1] =
    ((((doubled[1] ?? 0n) - leading * invert(root, FIELD_ORDER)) % FIELD_ORDER) + FIELD_ORDER) %
    FIELD_ORDER;
  const last = interpolate(doubled, exponent + 1);
  const odd = await sum('lagrange1', 2 * size - 1, doubled);
  if (!odd.equals(await sum('tau1', 0, last.slice(0, -1)))) {
    report(12, 'is not the Lagrange basis of the doubled domain');
  }
  return problems;
};
