/** What the audit must know about the hidden-signer gadget (protocol §7), alone or as a component of a spend circuit. */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { R, sample } from '../fund-batch.ts';
import { toSignals } from '../hidden-signer.ts';
import { invert, reduce } from '../modular.ts';
import type { KnownNumber } from './attacks.ts';
import type { AuditedCircuit } from './circuits.ts';
import type { HintProgram } from './recompute.ts';
import type { Symbols } from './symbols.ts';

const { Point } = secp256k1;
const p = Point.Fp.ORDER;
const n = Point.Fn.ORDER;
const limbs = 8;
const limbBits = 32n;
const half = 1n << 128n;

/** The names of the gadget's inputs where it is used, in the order wxLo, wxHi, wyLo, wyHi, m, rLo, rHi; and of the bits of b. */
export type SignerNames = {
  /** Path of the component, with a dot, or empty. */
  readonly path: string;
  readonly windows: number;
  readonly wallet: readonly string[];
  /** Names of m, of which one has a wire. */
  readonly digest: readonly string[];
  readonly scalar: readonly string[];
  readonly bit: (index: number) => string;
  /** Names of wpxLo, wpxHi, wpyLo, wpyHi, mpLo, mpHi, of which one each has a wire. */
  readonly outputs: readonly (readonly string[])[];
};

/** Halves of W' and m'. */
export const outputNames = ['wpxLo', 'wpxHi', 'wpyLo', 'wpyHi', 'mpLo', 'mpHi'] as const;

const signerAlone: Omit<SignerNames, 'windows'> = {
  path: '',
  wallet: ['wxLo', 'wxHi', 'wyLo', 'wyHi'],
  digest: ['m'],
  scalar: ['rLo', 'rHi'],
  bit: (index) => `bBits[${index}]`,
  outputs: outputNames.map((name) => [name]),
};

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}

/** The wire of the first name that has one: the compiler merges equal signals. */
function findWire(symbols: Symbols, names: readonly string[]): number {
  const name = names.find((one) => symbols.hasWire(one));
  if (name === undefined) {
    throw new Error(`No signal of ${names.join(', ')} has a wire.`);
  }
  return symbols.wireOf(name);
}

/** A field element as the integer next to zero. */
function toInteger(value: bigint): bigint {
  return value > R / 2n ? value - R : value;
}

function joinLimbs(values: readonly bigint[]): bigint {
  return values.reduceRight((sum, value) => (sum << limbBits) + toInteger(value), 0n);
}

/** Limb i of the representation of a slope with limbs in -2^31 .. 2^31 - 1. */
function balancedLimb(slope: bigint, index: number): bigint {
  const offset = range(limbs).reduce((sum, i) => sum + (1n << BigInt(32 * i + 31)), 0n);
  const shifted = slope + offset;
  const inRange = shifted >> 256n === 0n ? shifted : shifted - p;
  const limb = (inRange >> (limbBits * BigInt(index))) & ((1n << limbBits) - 1n);
  return reduce(limb - (1n << 31n), R);
}

type AffinePoint = { readonly x: bigint; readonly y: bigint };

/** By factor: attacks compute the same few points thousands of times. */
const windowPoints = new Map<bigint, AffinePoint>();

/** T_j = (digit + 1) 2^(8 j) G. */
function computeWindowPoint(window: number, bits: readonly bigint[]): AffinePoint {
  const digit = bits.reduceRight((sum, bit) => 2n * sum + bit, 0n);
  const factor = ((digit + 1n) << BigInt(8 * window)) % n;
  const point = windowPoints.get(factor) ?? Point.BASE.multiply(factor).toAffine();
  windowPoints.set(factor, point);
  return point;
}

/** Keeps the last result: the wires of a number are computed one after the other from the same values. */
function keepLast<T>(compute: (values: readonly bigint[]) => T) {
  let last: { readonly values: readonly bigint[]; readonly result: T } | undefined;
  return (values: readonly bigint[]): T => {
    const kept = last;
    if (kept === undefined || values.some((value, index) => value !== kept.values[index])) {
      last = { values, result: compute(values) };
      return last.result;
    }
    return kept.result;
  };
}

/** Wires of the gadget that the programs and lemmas read. */
function findSignerWires(symbols: Symbols, names: SignerNames) {
  const { path, windows } = names;
  const last = windows - 1;
  return {
    wallet: names.wallet.map(symbols.wireOf),
    digest: findWire(symbols, names.digest),
    scalar: names.scalar.map(symbols.wireOf),
    bits: range(8 * windows).map((index) => symbols.wireOf(names.bit(index))),
    outputs: names.outputs.map((candidates) => findWire(symbols, candidates)),
    slopes: range(windows).map((j) =>
      range(limbs).map((i) => symbols.wireOf(`${path}lambda[${j}][${i}]`)),
    ),
    /** Limbs of x after window j. */
    sums: range(windows).map((j) =>
      range(limbs).map((i) =>
        findWire(symbols, [
          `${path}xs[${j}].next[${i}]`,
          `${path}xs[${j + 1}].x[${i}]`,
          `${path}nearChords[${j + 1}].x[${i}]`,
          // The last window's far chord reads x of W' instead.
          j === last ? `${path}zeros[${windows}].first[${i}]` : `${path}farChords[${j}].x[${i}]`,
        ]),
      ),
    ),
    digestBits: range(254).map((i) => symbols.wireOf(`${path}digestBits[${i}]`)),
  };
}

/** The honest hints: each slope from the point before it, W' from the last sum, m' from the mask. */
export function createSignerPrograms(symbols: Symbols, names: SignerNames): HintProgram[] {
  const { wallet, digest, scalar, bits, outputs, slopes, sums, digestBits } = findSignerWires(
    symbols,
    names,
  );
  const bitsOf = (window: number) => bits.slice(8 * window, 8 * window + 8);
  const programs: HintProgram[] = [];
  /** y after window j, from the slope and x after it. */
  const computeHeight = (window: number, digits: readonly bigint[], slope: bigint, x: bigint) => {
    const point = computeWindowPoint(window, digits);
    return reduce(slope * (point.x - x) - point.y, p);
  };
  for (const [j, wires] of slopes.entries()) {
    const before = j === 0 ? wallet : [...(sums[j - 1] ?? []), ...(slopes[j - 1] ?? [])];
    const reads = [...bitsOf(j), ...(j === 0 ? [] : bitsOf(j - 1)), ...before];
    const computeSlope = keepLast((values): bigint => {
      const point = computeWindowPoint(j, values.slice(0, 8));
      let [x, y] = [0n, 0n];
      if (j === 0) {
        const [xLo = 0n, xHi = 0n, yLo = 0n, yHi = 0n] = values.slice(8);
        [x, y] = [xLo + half * xHi, yLo + half * yHi];
      } else {
        x = reduce(joinLimbs(values.slice(16, 24)), p);
        y = computeHeight(j - 1, values.slice(8, 16), joinLimbs(values.slice(24)), x);
      }
      const run = reduce(point.x - x, p);
      return run === 0n ? 0n : reduce((point.y - y) * invert(run, p), p);
    });
    for (const [i, wire] of wires.entries()) {
      programs.push({ wire, reads, compute: (values) => balancedLimb(computeSlope(values), i) });
    }
  }
  for (const [i, wire] of digestBits.entries()) {
    programs.push({ wire, reads: [digest], compute: ([m = 0n]) => (m >> BigInt(i)) & 1n });
  }
  const last = names.windows - 1;
  const pointReads = [...bitsOf(last), ...(sums[last] ?? []), ...(slopes[last] ?? [])];
  const computePoint = keepLast((values): bigint[] => {
    const x = reduce(joinLimbs(values.slice(8, 16)), p);
    const y = computeHeight(last, values.slice(0, 8), joinLimbs(values.slice(16)), x);
    return [x % half, x / half, y % half, y / half];
  });
  // m from its digits: whoever forges them computes m' from the forged ones.
  const digestReads = [...scalar, ...bits, ...digestBits];
  const computeDigest = keepLast(([rLo = 0n, rHi = 0n, ...all]): bigint[] => {
    const digits = all.slice(0, bits.length);
    const m = all.slice(bits.length).reduceRight((sum, bit) => 2n * sum + bit, 0n);
    const mask = digits.reduceRight((sum, bit) => 2n * sum + bit, 0n);
    const maskHat = mask + ((1n << BigInt(digits.length)) - 1n) / 255n;
    const masked = reduce(m - (rLo + half * rHi) * maskHat, n);
    return [masked % half, masked / half];
  });
  for (const [index, wire] of outputs.entries()) {
    programs.push(
      index < 4
        ? { wire, reads: pointReads, compute: (values) => computePoint(values)[index] ?? 0n }
        : { wire, reads: digestReads, compute: (values) => computeDigest(values)[index - 4] ?? 0n },
    );
  }
  return programs;
}

/** The inverses of AtMost. */
export const signerInverses = /(^|\.)(range|digestRange)\.inverse\[\d+\]$/;

/** The lemmas of accepted-*.json about the gadget, as wires that follow from others. */
export function createSignerLemmas(symbols: Symbols, names: SignerNames) {
  const { wallet, digest, scalar, bits, outputs, slopes, sums, digestBits } = findSignerWires(
    symbols,
    names,
  );
  return [
    { wires: digestBits, given: [digest] },
    ...slopes.map((wires, j) => ({
      wires,
      given: [...wallet, ...bits, ...(j === 0 ? [] : (sums[j - 1] ?? []))],
    })),
    { wires: outputs.slice(0, 4), given: [...(sums.at(-1) ?? []), ...slopes.flat()] },
    { wires: outputs.slice(4), given: [digest, ...scalar, ...bits, ...digestBits] },
  ];
}

/** The numbers of several wires that the gadget works with, for attacks on whole numbers. */
export function listSignerNumbers(symbols: Symbols, names: SignerNames): KnownNumber[] {
  const { outputs, slopes, digestBits } = findSignerWires(symbols, names);
  const radix = 1n << limbBits;
  const pairs = [0, 2, 4].map((index) => ({
    wires: outputs.slice(index, index + 2),
    radix: half,
    low: 0n,
    moduli: index < 4 ? [p] : [n],
  }));
  return [
    ...slopes.map((wires) => ({ wires, radix, low: -(1n << 31n), moduli: [p] })),
    ...pairs,
    { wires: digestBits, radix: 2n, low: 0n, moduli: [R] },
  ];
}

/**
 * An input whose results are the easiest to attack: W' has x = 1 and m' = 1, so a second representation (1 + p, 1 + n) fits into 256
 * bits, and m + r fits into 254.
 */
function createDelicateInput(windows: number) {
  const mask = sample('mask') % (1n << BigInt(8 * windows));
  const maskHat = mask + ((1n << BigInt(8 * windows)) - 1n) / 255n;
  const y = Point.Fp.sqrt(8n);
  const wallet = Point.fromAffine({ x: 1n, y }).subtract(Point.BASE.multiply(maskHat)).toAffine();
  const digest = sample('digest') % (1n << 251n);
  const scalar = reduce((digest - 1n) * invert(maskHat, n), n);
  return toSignals({ wallet, digest, mask, scalar }, windows);
}

/** The gadget as a circuit of its own: every input is free. */
export function describeSigner(windows: number): AuditedCircuit {
  const names = { ...signerAlone, windows };
  return {
    name: `hidden-signer-${windows}`,
    template: 'HiddenSigner',
    createInput: () => createDelicateInput(windows),
    derivedInputs: [],
    vectorSize: 6,
    vector: [/^(wp[xy]|mp)(Lo|Hi)$/],
    merged: {},
    quotients: [],
    inverses: signerInverses,
    findConsequences: (symbols) => createSignerLemmas(symbols, names),
    findPrograms: (symbols) => createSignerPrograms(symbols, names),
    findNumbers: (symbols) => listSignerNumbers(symbols, names),
    groupOf: (signal) => signal.replace(/\[\d+\]/g, '[*]'),
  };
}
