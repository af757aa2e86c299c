/** The functions modulo p alone, at operands whose result is next to a multiple of p. Random wires do not reach them. */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { expect, it } from 'vitest';
import { elementBytes } from './field-functions.ts';
import { writeMultiplyModP, writeSubtractModP } from './secp256k1-functions.ts';
import { encodeBody, encodeType, i32 } from './wasm-code.ts';
import { sections, writeEntries, writeSections } from './wasm-sections.ts';

const { Fp } = secp256k1.Point;
const p = Fp.ORDER;
const mask64 = 2n ** 64n - 1n;
const variables = 1024;
const to = 4096;
const names = ['original', 'multiply', 'subtract'] as const;

function openFunctions() {
  const bytes = (text: string) => [text.length, ...new TextEncoder().encode(text)];
  const bodies = [
    // In place of the compiled function, which computes what the written ones do not.
    encodeBody({ i32: 0, i64: 0 }, i32(1)),
    writeMultiplyModP(0),
    writeSubtractModP(0),
  ];
  const exported = names.flatMap((name, index) => [...bytes(name), 0, index]);
  const module = writeSections([
    { id: sections.type, contents: Uint8Array.from([1, ...encodeType(2, 1)]) },
    { id: sections.functions, contents: Uint8Array.of(3, 0, 0, 0) },
    { id: sections.memory, contents: Uint8Array.of(1, 0, 1) },
    { id: 7, contents: Uint8Array.from([4, ...bytes('memory'), 2, 0, ...exported]) },
    { id: sections.code, contents: writeEntries(bodies.map((body) => Uint8Array.from(body))) },
  ]);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module));
  const view = new DataView((exports['memory'] as WebAssembly.Memory).buffer);
  view.setUint32(0, variables, true);
  return (name: 'multiply' | 'subtract', left: bigint, right: bigint): bigint => {
    [left, right].forEach((number, operand) => {
      for (let limb = 0; limb < 4; limb++) {
        const at = variables + elementBytes * (4 * operand + limb);
        view.setBigUint64(at, 1n << 63n, true);
        view.setBigUint64(at + 8, (number >> BigInt(64 * limb)) & mask64, true);
        for (const word of [2, 3, 4]) view.setBigUint64(at + 8 * word, 0n, true);
      }
    });
    expect((exports[name] as (to: number, size: number) => number)(to, 4)).toBe(0);
    return [0, 1, 2, 3].reduce(
      (sum, limb) =>
        sum + (view.getBigUint64(to + elementBytes * limb + 8, true) << BigInt(64 * limb)),
      0n,
    );
  };
}

const edges = [0n, 1n, 2n, 977n, 2n ** 32n + 976n, 2n ** 128n, p / 2n, p - 2n, p - 1n];

it.each(['multiply', 'subtract'] as const)('%s gives numbers below p', (name) => {
  const compute = openFunctions();
  const expected = (left: bigint, right: bigint) =>
    name === 'multiply' ? Fp.mul(left, right) : Fp.sub(left, right);
  for (const left of edges) {
    for (const right of [...edges, left + 1n, left - 1n].map((value) => Fp.create(value))) {
      const inverse = left === 0n ? 1n : Fp.inv(left);
      for (const operand of name === 'multiply' ? [right, Fp.mul(inverse, right)] : [right]) {
        expect([left, operand, compute(name, left, operand)]).toEqual([
          left,
          operand,
          expected(left, operand),
        ]);
      }
    }
  }
});
