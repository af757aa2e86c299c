/**
 * The theorem of the hidden-signer gadget (protocol §7) with two windows: each group of constraints is needed.
 *
 * The lax circuit lacks the range checks and the booleans of b, and its witness generator lies in a way that the digest m selects. It
 * accepts each lie, so nothing else is wrong with the lie; its witness, moved onto the real circuit, must violate exactly the rows
 * of one group. So the constraints are tested, not the witness generator. Its templates: hidden-signer-parts.test.ts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { propagate } from '../test/audit/propagate.ts';
import { createSystem } from '../test/audit/system.ts';
import { findBrokenConstraints } from '../test/constraints.ts';
import { R, sample } from '../test/fund-batch.ts';
import {
  computeMaskHat,
  computeOutputs,
  type HiddenSigner,
  N,
  P,
  toSignals,
} from '../test/hidden-signer.ts';
import { laxChecks, nameComponents } from '../test/lax-checks.ts';
import {
  type CompiledTest,
  compileTest,
  computeWitness,
  endSnarkjsThreads,
  type Mutation,
  transferWitness,
} from '../test/witness.ts';
import { sourceFolder } from './circuits.ts';

const windows = 2;
const half = 1n << 128n;
const { Point } = secp256k1;
const main = `include "hidden-signer.circom";\ncomponent main = HiddenSigner(${windows});`;

/** The tables of the other windows take most of the compiler's time. */
function leaveTwoTables(): Mutation {
  const file = 'generated/secp256k1-windows.circom';
  const text = readFileSync(join(sourceFolder(), file), 'utf8');
  const from = text.slice(text.indexOf('    if (j == 2) {'), text.indexOf('    assert(0);'));
  return { file, from, to: '' };
}

/** The lies, by the digest that selects them. */
const lie = {
  startAtNegative: 1001n,
  turnAround: 1002n,
  otherPoint: 1003n,
  otherY: 1004n,
  aliasOfX: 1005n,
  aliasOfDigest: 1006n,
  aliasOfMasked: 1007n,
  maskedPlusOne: 1008n,
  shiftedLimb: 1009n,
  freeSlope: 1010n,
} as const;

function inHiddenSigner(from: string, to: string): Mutation {
  return { file: 'hidden-signer.circom', from, to };
}
function limbsOf(value: bigint): string {
  return `[${[0n, 64n, 128n, 192n].map((shift) => BigInt.asUintN(64, value >> shift)).join(', ')}]`;
}
/** Circom text that adds a constant to the number with these halves, without carries. */
function addToHalves(low: string, high: string, value: bigint): string {
  return `${low} = ${low} + ${value % half}; ${high} = ${high} + ${value / half};`;
}

const lies: readonly Mutation[] = [
  inHiddenSigner('bBits[i] * (bBits[i] - 1) === 0;', ''),
  inHiddenSigner(
    'var rises[WINDOWS][4];',
    `var zero[4] = [0, 0, 0, 0]; var lastX[4]; var lastY[4]; var rises[WINDOWS][4];
    if (m == ${lie.startAtNegative}) { state[1] = subtractModP(zero, state[1]); }`,
  ),
  inHiddenSigner(
    'runs[j] = state[4];',
    `runs[j] = state[4]; lastX = tx; lastY = ty;
    if (m == ${lie.turnAround} && j == 0) { state[1] = subtractModP(zero, state[1]); }
    if (m == ${lie.freeSlope} && j == 0) {
      var free[4] = [12345, 0, 0, 0];
      state[0] = multiplyModP(free, free);
      state[0] = subtractModP(state[0], tx);
      state[0] = subtractModP(state[0], tx);
      state[1] = subtractModP(tx, state[0]);
      state[1] = multiplyModP(state[1], free);
      state[1] = subtractModP(state[1], ty);
      state[2] = [1, 0, 0, 0];
      rises[j] = free;
      runs[j] = [1, 0, 0, 0];
    }`,
  ),
  inHiddenSigner(
    'var digits[8] = balancedDigits(slope);',
    `var digits[8] = balancedDigits(slope);
    if (m == ${lie.shiftedLimb} && j == 0) { digits[3] = digits[3] - (1 << 32); digits[4] = digits[4] + 1; }`,
  ),
  inHiddenSigner(
    '    wpxLo <-- px[0] + (1 << 64) * px[1];\n    wpxHi <-- px[2] + (1 << 64) * px[3];',
    `    if (m == ${lie.otherPoint}) { px = lastX; py = subtractModP(zero, lastY); }
    if (m == ${lie.otherY}) { py = subtractModP(zero, py); }
    var low = px[0] + (1 << 64) * px[1]; var high = px[2] + (1 << 64) * px[3];
    if (m == ${lie.aliasOfX}) { ${addToHalves('low', 'high', P)} }
    wpxLo <-- low; wpxHi <-- high;`,
  ),
  inHiddenSigner(
    'digestBits[i] <-- (m >> i) & 1;',
    `var half = i < 128 ? m & 0xffffffffffffffffffffffffffffffff : m >> 128;
    if (m == ${lie.aliasOfDigest}) { half = i < 128 ? m + ${R % half} : ${R / half}; }
    digestBits[i] <-- (half >> (i % 128)) & 1;`,
  ),
  inHiddenSigner(
    '    mpLo <-- masked[0] + (1 << 64) * masked[1];\n    mpHi <-- masked[2] + (1 << 64) * masked[3];',
    `    if (m == ${lie.aliasOfDigest}) {
      var r[4] = ${limbsOf(R)};
      for (var i = 0; i < 4; i++) { masked[i] = masked[i] + r[i]; }
      masked = reduceLimbs(masked, secp256k1Order(), secp256k1OrderComplement());
    }
    var maskedLow = masked[0] + (1 << 64) * masked[1]; var maskedHigh = masked[2] + (1 << 64) * masked[3];
    if (m == ${lie.aliasOfMasked}) { ${addToHalves('maskedLow', 'maskedHigh', N)} }
    if (m == ${lie.maskedPlusOne}) { maskedLow = maskedLow + 1; }
    mpLo <-- maskedLow; mpHi <-- maskedHigh;`,
  ),
];

let circuit: CompiledTest;
let lax: CompiledTest;
beforeAll(async () => {
  // The witness generator reports refused inputs there as well as by throwing.
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const short = leaveTwoTables();
  circuit = await compileTest(main, short);
  lax = await compileTest(main, short, ...laxChecks, ...lies);
});
afterAll(endSnarkjsThreads);

const honest: HiddenSigner = {
  wallet: Point.BASE.multiply(sample('wallet')).toAffine(),
  digest: sample('digest'),
  mask: 0xa50fn,
  scalar: sample('scalar'),
};

/** Components whose checks refuse the lax circuit's witness. Expects that the lax circuit accepts it. */
async function listRefusals(signals: ReturnType<typeof toSignals>): Promise<string[]> {
  const witness = await computeWitness(lax.wasm, signals);
  expect(findBrokenConstraints(lax.r1cs, witness)).toEqual([]);
  const moved = transferWitness(witness, lax, circuit);
  return nameComponents(circuit, findBrokenConstraints(circuit.r1cs, moved));
}
async function listRefusalsOf(values: Partial<HiddenSigner>): Promise<string[]> {
  return await listRefusals(toSignals({ ...honest, ...values }, windows));
}

/** A point with a y so small that y + p is below 2^256. */
function findPointWithSmallY(): { x: bigint; y: bigint } {
  for (let y = 1n; ; y++) {
    // p = 7 mod 9: this is a cube root of a cube.
    const cube = Point.Fp.create(y * y - 7n);
    const x = Point.Fp.pow(cube, (P + 2n) / 9n);
    if (Point.Fp.mul(x, Point.Fp.sqr(x)) === cube) return { x, y };
  }
}
const smallX = Point.fromHex(`02${'1'.padStart(64, '0')}`);

describe('honest values', () => {
  it('are accepted by the circuit, and by the lax one', async () => {
    const witness = await computeWitness(circuit.wasm, toSignals(honest, windows));
    expect(witness.slice(1, 7)).toEqual(computeOutputs(honest, windows));
    expect(findBrokenConstraints(circuit.r1cs, witness)).toEqual([]);
    expect(await listRefusalsOf({})).toEqual([]);
  });
});

describe('W is canonical', () => {
  it('refuses x + p', async () => {
    const { x, y } = smallX.toAffine();
    expect(await listRefusalsOf({ wallet: { x, y } })).toEqual([]);
    expect(await listRefusalsOf({ wallet: { x: x + P, y } })).toEqual(['wallet.words[0].range']);
  });

  it('refuses y + p', async () => {
    const { x, y } = findPointWithSmallY();
    expect(await listRefusalsOf({ wallet: { x, y } })).toEqual([]);
    expect(await listRefusalsOf({ wallet: { x, y: y + P } })).toEqual(['wallet.words[1].range']);
  });
});

describe('each group of constraints is needed', () => {
  const ranges = (component: string) => [`${component}.carryRange`, `${component}.qRange`];
  it.each([
    ['(A): a sum that starts at -W', lie.startAtNegative, ranges('zeros[0]')],
    [
      '(C): a sum that goes on from the negative of its first half',
      lie.turnAround,
      ranges('zeros[1]'),
    ],
    ["(D): another W' on the last chord", lie.otherPoint, ranges('zeros[2]')],
    ["(D): the negative of W'", lie.otherY, ranges('zeros[3]')],
    [
      'a limb of a slope that is negative, and one more in the next limb',
      lie.shiftedLimb,
      ['slopes[0][3]'],
    ],
    ["m' + 1", lie.maskedPlusOne, ranges('relation')],
    ['the digits of m + r', lie.aliasOfDigest, ['digestRange']],
  ])('%s', async (_, digest, expected) => {
    expect(await listRefusalsOf({ digest })).toEqual(expected);
  });

  it("m' + n", async () => {
    expect(await listRefusalsOf({ digest: lie.aliasOfMasked, scalar: 0n })).toEqual([
      'digestWord.range',
    ]);
  });

  it("W' with x + p", async () => {
    const maskHat = computeMaskHat(honest.mask, windows);
    const wallet = smallX.subtract(Point.BASE.multiply(maskHat)).toAffine();
    expect(await listRefusalsOf({ wallet, digest: lie.aliasOfX })).toEqual([
      'shifted.words[0].range',
    ]);
  });

  it('a digit of b that is 2, where the table then gives a number again', async () => {
    // The table's polynomial at a digit of 2 is 2·T[with the bit] - T[without it], limb by limb.
    const limbs = (digit: number) => {
      const { x, y } = Point.BASE.multiply(BigInt(digit + 1)).toAffine();
      const xs = [0n, 64n, 128n, 192n].map((shift) => BigInt.asUintN(64, x >> shift));
      return [...xs, BigInt.asUintN(160, y), y >> 160n];
    };
    const widths = [64, 64, 64, 64, 160, 96];
    const isNumber = (digit: number, bit: number) => {
      const without = limbs(digit);
      return limbs(digit | bit).every((limb, i) => {
        const value = 2n * limb - (without[i] ?? 0n);
        return value >= 0n && value < 1n << BigInt(widths[i] ?? 0);
      });
    };
    const digits = Array.from({ length: 256 }, (_, digit) => digit);
    const bit = 1 << 3;
    const digit = digits.find((d) => !(d & bit) && isNumber(d, bit)) ?? 0;
    const signals = toSignals({ ...honest, mask: BigInt(digit) }, windows);
    expect(await listRefusals({ ...signals, bBits: signals.bBits.with(3, 2n) })).toEqual(['']);
  });

  it.each([
    ["W's x", 'wx'],
    ["the x of W'", 'wpx'],
    ['rSig', 'r'],
  ])('halves of %s that are not below 2^128', async (_, name) => {
    const witness = await computeWitness(circuit.wasm, toSignals(honest, windows));
    const [low, high] = [circuit.wireOf(`${name}Lo`), circuit.wireOf(`${name}Hi`)];
    const tampered = witness
      .with(low, (witness[low] ?? 0n) + half)
      .with(high, (witness[high] ?? 0n) - 1n);
    const { rowStart, wire } = circuit.r1cs.c;
    const ties = findBrokenConstraints(circuit.r1cs, tampered).map((row) => [
      ...wire.slice(rowStart[row], rowStart[row + 1]),
    ]);
    // Each ties one half to its four limbs.
    expect(ties.map((wires) => wires.length)).toEqual([5, 5]);
    expect(ties.flat()).toEqual(expect.arrayContaining([low, high]));
  });
});

describe('a prover that knows the private key of W', () => {
  it('may have a free slope: W is the point that the first window adds', async () => {
    const values = {
      ...honest,
      digest: lie.freeSlope,
      wallet: Point.BASE.multiply(0x10n).toAffine(),
    };
    const signals = toSignals(values, windows);
    expect(await listRefusals(signals)).toEqual([]);
    const witness = await computeWitness(lax.wasm, signals);
    expect(witness.slice(1, 5)).not.toEqual(computeOutputs(values, windows).slice(0, 4));
    // Another W gets no free slope.
    expect(await listRefusalsOf({ digest: lie.freeSlope })).not.toEqual([]);
  });
});

describe('every wire is held by some constraint', () => {
  it('a change of any single wire of an honest witness is refused', async () => {
    const { r1cs } = circuit;
    const witness = await computeWitness(circuit.wasm, toSignals(honest, windows));
    const rowsOf = Array.from({ length: r1cs.wires }, () => new Set<number>());
    for (const { rowStart, wire } of [r1cs.c, r1cs.a, r1cs.b]) {
      for (let row = 0; row < r1cs.constraints; row++) {
        for (let term = rowStart[row] ?? 0; term < (rowStart[row + 1] ?? 0); term++) {
          rowsOf[wire[term] ?? 0]?.add(row);
        }
      }
    }
    const free: string[] = [];
    for (let wire = 1; wire < r1cs.wires; wire++) {
      const tampered = witness.with(wire, ((witness[wire] ?? 0n) + 1n) % R);
      if (findBrokenConstraints(r1cs, tampered, rowsOf[wire] ?? []).length === 0) {
        free.push(circuit.namesOf.get(wire)?.join(' = ') ?? `wire ${wire}`);
      }
    }
    expect(free).toEqual([]);
  });

  it('apart from digits and their comparison, the rows determine all wires from inputs, outputs and slopes', () => {
    const { r1cs, namesOf } = circuit;
    const given = /^((w|wp)[xy](Lo|Hi)|m|(mp|r)(Lo|Hi)|bBits.*|lambda.*|slopes.*value)$/;
    const wires = [...namesOf].filter(([, names]) => names.some((name) => given.test(name)));
    const { undetermined } = propagate(
      createSystem(r1cs),
      wires.map(([wire]) => wire),
    );
    const names = undetermined.map((wire) => namesOf.get(wire)?.at(-1) ?? '');
    const expected =
      /(Range\.bits|^slopes.*bits|^digestBits|ange\.inverse|ange\.differs)\[\d+\]$|^mLow$|^relation\.carry$/;
    expect(names.filter((name) => !expected.test(name))).toEqual([]);
  });
});
