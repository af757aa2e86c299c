import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type MemoryFile, wtns } from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type CompiledCircuit,
  compileCircuit,
  endSnarkjsThreads,
  squaresSource,
} from '../../test/small-circuit.ts';
import { scalarFieldOrder } from '../base/field.ts';
import { createWitnessRunner } from './witness-runner.ts';

const arrayCircuit = `pragma circom 2.2.0;
template Bits(n) {
  signal input in;
  signal output out[n];
  var sum = 0;
  for (var i = 0; i < n; i++) {
    out[i] <-- (in >> i) & 1;
    out[i] * (out[i] - 1) === 0;
    sum += out[i] * 2 ** i;
  }
  sum === in;
}
template Main() {
  signal input grid[2][3];
  signal input scale;
  signal output weight;
  component bits[6];
  var sum = 0;
  for (var i = 0; i < 2; i++) {
    for (var j = 0; j < 3; j++) {
      bits[3 * i + j] = Bits(16);
      bits[3 * i + j].in <== grid[i][j];
      log("bits of", grid[i][j]);
      for (var k = 0; k < 16; k++) {
        sum += bits[3 * i + j].out[k];
      }
    }
  }
  weight <== sum * scale;
}
component main {public [scale]} = Main();
`;

const busCircuit = `pragma circom 2.2.0;
bus Point() {
  signal x;
  signal y;
}
template Sum() {
  input Point() points[2];
  input Point() last;
  signal output first;
  signal output second;
  first <== points[0].x * points[1].y;
  second <== first * last.x + last.y;
}
component main = Sum();
`;

const inverseCircuit = `pragma circom 2.2.0;
template Inverse() {
  signal input value;
  signal output inverse;
  assert(value != 0);
  inverse <-- 1 / value;
  inverse * value === 1;
}
component main = Inverse();
`;

const endlessCircuit = `pragma circom 2.2.0;
template Endless() {
  signal input value;
  signal output out;
  var i = 0;
  while (i != value) {
    i += 2;
  }
  out <-- i;
  out * 1 === value;
}
component main = Endless();
`;

const runner = createWitnessRunner({ maximumBytes: 2 ** 30, timeoutMs: 60_000 });
let arrays: CompiledCircuit;
let buses: CompiledCircuit;
let inverse: CompiledCircuit;
let squares: CompiledCircuit;
let endless: CompiledCircuit;
beforeAll(async () => {
  arrays = await compileCircuit(arrayCircuit, ['--sym']);
  buses = await compileCircuit(busCircuit, ['--sym']);
  inverse = await compileCircuit(inverseCircuit);
  squares = await compileCircuit(squaresSource(500));
  endless = await compileCircuit(endlessCircuit);
});
afterAll(async () => {
  await runner.close();
  await endSnarkjsThreads();
  for (const { folder } of [arrays, buses, inverse, squares, endless]) {
    await rm(folder, { recursive: true, force: true });
  }
});

/** All wires by snarkjs. */
async function expected({ wasm }: CompiledCircuit, input: unknown): Promise<bigint[]> {
  const witness: MemoryFile = { type: 'mem' };
  await wtns.calculate(input, wasm, witness);
  return await wtns.exportJson(witness);
}

/** All wires by ours. */
async function computed({ wasm }: CompiledCircuit, input: unknown): Promise<bigint[]> {
  const bytes = Buffer.from(await runner.compute(wasm, input));
  return Array.from({ length: bytes.length / 32 }, (_, wire) =>
    BigInt(
      `0x${Buffer.from(bytes.subarray(32 * wire, 32 * wire + 32))
        .reverse()
        .toString('hex')}`,
    ),
  );
}

function refused(message: RegExp) {
  return expect.objectContaining({
    code: 'witness_refused',
    retryable: false,
    message: expect.stringMatching(message),
  });
}

const grid = [
  [1, 2, 3],
  [4, 5, 65_535],
];

function cyclic(): unknown {
  const array: unknown[] = [];
  array.push(array);
  return array;
}

/** 2^power values in nested arrays with only `power` distinct arrays. */
function multiplied(power: number): unknown {
  return Array.from({ length: power }).reduce<unknown>((inner) => [inner, inner], 1);
}

describe('a witness', () => {
  it("has the wires of snarkjs' runner", async () => {
    const cases: [CompiledCircuit, unknown][] = [
      [arrays, { grid, scale: 7 }],
      [arrays, { grid: grid.flat().map(String), scale: '0x1f' }],
      [arrays, { grid: grid.map((row) => row.map(BigInt)), scale: -1 }],
      [
        arrays,
        {
          scale: scalarFieldOrder - 1n,
          grid: [
            [0, 0, 0],
            [0, 0, true],
          ],
        },
      ],
      [inverse, { value: 5 }],
      [squares, { start: 3, offsets: ['123456789123456789123456789', 5n] }],
    ];
    for (const [circuit, input] of cases) {
      expect(await computed(circuit, input)).toEqual(await expected(circuit, input));
    }
  });

  it('accepts buses as objects', async () => {
    const objects = {
      points: [
        { x: 3, y: 4 },
        { x: 5, y: 6n },
      ],
      last: { x: '7', y: -8 },
    };
    // snarkjs' runner does not support buses, but passes names on unchanged.
    const names = {
      'points[0].x': 3,
      'points[0].y': 4,
      'points[1].x': 5,
      'points[1].y': 6,
      'last.x': 7,
      'last.y': -8,
    };
    expect(await computed(buses, objects)).toEqual(await expected(buses, names));
  });

  it('does not depend on the previous one, even if that was refused', async () => {
    const first = await computed(arrays, { grid, scale: 7 });
    await expect(
      runner.compute(arrays.wasm, { grid: [[70_000, 0, 0, 0, 0, 0]], scale: 7 }),
    ).rejects.toEqual(refused(/does not satisfy/));
    await computed(arrays, { grid: [[1, 1, 1, 1, 1, 1]], scale: 3 });
    expect(await computed(arrays, { grid, scale: 7 })).toEqual(first);
  });

  it.each([
    ['an unknown signal', { grid, scale: 1, extra: 1 }, /no input signal extra/],
    ['a missing signal', { grid }, /takes 7 input values; 6 given/],
    [
      'signals of other names and sizes',
      { gird: grid, scale: [1, 2] },
      /no input signal gird\. The signal scale takes 1 value; 2 given\. The circuit takes 7 input values; 1 given\. The signal grid is missing: 6 values\.$/,
    ],
    ['too many values', { grid: [...grid, 1], scale: 1 }, /grid takes 6 values; 7 given/],
    ['too few values', { grid: [1], scale: 1 }, /grid takes 6 values; 1 given/],
    ['an array for one value', { grid, scale: [1, 2] }, /scale takes 1 value; 2 given/],
    ['a fraction', { grid, scale: 1.5 }, /signal scale is not an integer/],
    ['an unsafe integer', { grid, scale: 2 ** 53 }, /signal scale is not an integer/],
    ['a text', { grid, scale: 'seven' }, /signal scale is not an integer/],
    ['an empty text', { grid, scale: '' }, /signal scale is not an integer/],
    ['nothing', { grid, scale: null }, /signal scale is not an integer/],
    ['a value of r', { grid, scale: scalarFieldOrder }, /scale does not fit/],
    ['a value of -r', { grid, scale: String(-scalarFieldOrder) }, /scale does not fit/],
    ['a function', { grid, scale: () => 1 }, /something that is not a value/],
    ['a value that is not an object', [1], /not an object/],
    ['an array that contains itself', { grid: cyclic(), scale: 1 }, /grid is nested too deeply/],
    [
      'arrays that contain each other many times',
      { grid: multiplied(40), scale: 1 },
      /more values than any circuit/,
    ],
    ['a number in an array of objects', { grid: [{ x: 1 }, 2], scale: 1 }, /signal grid\[0\]\.x/],
    ['an object in an array of numbers', { grid: [2, { x: 1 }], scale: 1 }, /is not an integer/],
  ])('is refused for %s', async (_, input, message) => {
    await expect(runner.compute(arrays.wasm, input)).rejects.toEqual(refused(message));
  });

  it('is refused with the names of the missing signals if the compiler wrote them', async () => {
    await expect(runner.compute(arrays.wasm, {})).rejects.toEqual(
      refused(/The signal scale is missing: 1 value\. The signal grid is missing: 6 values\.$/),
    );
    const path = join(buses.folder, 'small.wasm');
    await copyFile(buses.wasm, path);
    await copyFile(join(buses.folder, 'out/small.sym'), join(buses.folder, 'small.sym'));
    const input = { last: { x: 1 }, points: [{ x: 1, y: 2 }, { x: 3 }] };
    await expect(runner.compute(pathToFileURL(path), input)).rejects.toEqual(
      refused(/4 given\. The signal points\[1\]\.y is missing: 1 value\. The signal last\.y is/),
    );
  });

  it('is refused with the number of missing values if nobody knows the names', async () => {
    await expect(runner.compute(await readFile(arrays.wasm), { scale: 7 })).rejects.toEqual(
      refused(/takes 7 input values; 1 given\. 6 values of signals that the input does not name/),
    );
  });

  it('is refused with the template and the line of a failed assertion, and no value', async () => {
    const failure: unknown = await runner
      .compute(inverse.wasm, { value: 0 })
      .catch((error: unknown) => error);
    expect(failure).toEqual(refused(/An assertion failed/));
    expect((failure as { cause: Error }).cause.message).toMatch(/Inverse.*line: 5/);
    const secret = 987_654_321;
    const other: unknown = await runner
      .compute(arrays.wasm, { grid: [[secret, 0, 0, 0, 0, 0]], scale: 7 })
      .catch((error: unknown) => error);
    const { message, cause } = other as { message: string; cause: Error };
    expect(`${message} ${cause.message} ${cause.stack}`).not.toContain(String(secret));
  });

  it('that never ends is ended by an abort, and the next one is computed', async () => {
    const abort = new AbortController();
    const never = runner.compute(endless.wasm, { value: 1 }, abort.signal);
    setTimeout(() => {
      abort.abort(new Error('enough'));
    }, 300);
    await expect(never).rejects.toThrow('enough');
    expect(await computed(endless, { value: 4 })).toEqual(await expected(endless, { value: 4 }));
  });
});

it('a program that does not end in time is ended, and the next one runs', async () => {
  const hasty = createWitnessRunner({ maximumBytes: 2 ** 30, timeoutMs: 60_000 });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const late = expect(hasty.compute(endless.wasm, { value: 1 })).rejects.toMatchObject({
    code: 'witness_timeout',
    retryable: false,
  });
  await expect.poll(() => vi.getTimerCount()).toBeGreaterThan(0);
  vi.advanceTimersByTime(60_000);
  await late;
  vi.useRealTimers();
  expect(await hasty.compute(inverse.wasm, { value: 5 })).toHaveLength(96);
  await hasty.close();
});

it('a program that needs more memory than the limit is refused', async () => {
  const poor = createWitnessRunner({ maximumBytes: 60_000, timeoutMs: 60_000 });
  await expect(poor.compute(inverse.wasm, { value: 5 })).rejects.toMatchObject({
    code: 'memory_budget_exceeded',
  });
  await poor.close();
});

describe('a witness program', () => {
  const malformed = expect.objectContaining({ code: 'witness_program_malformed' });

  it('is refused if it is not WebAssembly of circom', async () => {
    const text = join(arrays.folder, 'text.wasm');
    await writeFile(text, 'no program');
    await expect(runner.compute(text, {})).rejects.toEqual(malformed);
    const empty = join(arrays.folder, 'empty.wasm');
    await writeFile(empty, Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
    await expect(runner.compute(empty, {})).rejects.toEqual(malformed);
  });

  it('is refused if it computes in another field', async () => {
    const other = await compileCircuit(inverseCircuit, ['--prime', 'bls12381']);
    await expect(runner.compute(other.wasm, { value: 5 })).rejects.toEqual(malformed);
    await rm(other.folder, { recursive: true });
  });

  it('that was replaced is read again', async () => {
    const path = join(arrays.folder, 'replaced.wasm');
    await writeFile(path, await readFile(inverse.wasm));
    expect(await computed({ ...inverse, wasm: path }, { value: 5 })).toHaveLength(3);
    await writeFile(path, await readFile(buses.wasm));
    await expect(runner.compute(path, { value: 5 })).rejects.toEqual(refused(/no input signal/));
  });
});
