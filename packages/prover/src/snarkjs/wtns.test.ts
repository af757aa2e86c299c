// Witnesses, and what is wrong with them, beside snarkjs.
import { readFile, rm } from 'node:fs/promises';
import * as snarkjs from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  compileCircuit,
  createSmallCircuit,
  endSnarkjsThreads,
  type SmallCircuit,
  squaresSource,
} from '../../test/small-circuit.ts';
import type { InputFile } from './files.ts';
import { wtns } from './wtns.ts';

let circuit: SmallCircuit;
/** The `.wtns` file that snarkjs makes, and the `.r1cs` file of circom. */
let witness: Uint8Array;
let r1cs: Uint8Array;
beforeAll(async () => {
  circuit = await createSmallCircuit(squaresSource(5), 4);
  const output: snarkjs.MemoryFile = { type: 'mem' };
  await snarkjs.wtns.calculate({ start: 3, offsets: [1, -1] }, circuit.wasm, output);
  witness = output.data ?? new Uint8Array();
  r1cs = new Uint8Array(await readFile(circuit.r1csPath));
});
afterAll(async () => {
  await endSnarkjsThreads();
  await rm(circuit.folder, { recursive: true, force: true });
});

/** Where the wires begin in a witness file, and what follows the head of a constraint file. */
const firstWire = 76;
const wires = 9;

function change(file: Uint8Array, edit: (view: DataView) => void): Uint8Array {
  const copy = file.slice();
  edit(new DataView(copy.buffer));
  return copy;
}

/** Changes the upper byte of a wire, which stays below r. */
function changeWire(wire: number): Uint8Array {
  return change(witness, (view) => {
    const at = firstWire + 32 * wire + 31;
    view.setUint8(at, view.getUint8(at) ^ 0x10);
  });
}

/** The witness with other wires at its end. */
function resize(count: number): Uint8Array {
  const resized = new Uint8Array(firstWire + 32 * count);
  resized.set(witness.subarray(0, resized.length));
  return change(resized, (view) => {
    view.setUint32(60, count, true);
    view.setBigUint64(firstWire - 8, BigInt(32 * count), true);
  });
}

describe('check', () => {
  it.each<[string, () => [InputFile, InputFile]]>([
    ['bytes', () => [r1cs, witness]],
    ['a path and a memory file', () => [circuit.r1csPath, { type: 'mem', data: witness }]],
    ['Blobs', () => [new Blob([r1cs.slice()]), new Blob([witness.slice()])]],
  ])('finds the witness of snarkjs correct, from %s', async (_, give) => {
    const lines: string[] = [];
    const log = (line: string) => lines.push(line);
    expect(await wtns.check(...give(), { info: log, warn: log })).toBe(true);
    expect(lines).toEqual(['WITNESS IS CORRECT']);
  });

  it('answers as snarkjs when any wire changes', async () => {
    const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    for (let wire = 1; wire < wires; wire++) {
      const changed = changeWire(wire);
      expect(await snarkjs.wtns.check(r1cs, changed, logger)).toBe(false);
      expect(await wtns.check(r1cs, changed)).toBe(false);
    }
  });

  it('names the constraint that snarkjs names, and no value', async () => {
    const named: string[] = [];
    const logger = { debug: () => {}, info: () => {}, error: () => {} };
    const warn = (line: string) => named.push(line);
    await snarkjs.wtns.check(r1cs, changeWire(wires - 1), { ...logger, warn });
    await wtns.check(r1cs, changeWire(wires - 1), { warn });
    expect(named).toEqual([
      expect.stringMatching(/constraint 3$/),
      'WITNESS IS NOT CORRECT',
      expect.any(String),
      'The witness does not satisfy constraint 3, counted from 0.',
      'WITNESS IS NOT CORRECT',
    ]);
  });

  it.each([8, 10])('refuses a witness of %i wires, which snarkjs reads on', async (count) => {
    const named: string[] = [];
    const warn = (line: string) => named.push(line);
    expect(await wtns.check(r1cs, resize(count), { warn })).toBe(false);
    expect(named[0]).toBe(`The witness has ${count} wires and the circuit has 9.`);
  });

  it('refuses a witness whose wire 0 is not 1, which snarkjs accepts', async () => {
    const zero = witness.slice().fill(0, firstWire);
    expect(await snarkjs.wtns.check(r1cs, zero)).toBe(true);
    await expect(wtns.check(r1cs, zero)).rejects.toMatchObject({ code: 'witness_malformed' });
  });
});

/** Of the constraint file: its sections in the order in which circom writes them. */
function findSections() {
  const view = new DataView(r1cs.buffer);
  const sections: { id: number; head: number; start: number; length: number }[] = [];
  for (let head = 12; head < r1cs.length; ) {
    const length = Number(view.getBigUint64(head + 4, true));
    sections.push({ id: view.getUint32(head, true), head, start: head + 12, length });
    head += 12 + length;
  }
  return (id: number) => {
    const section = sections.find((one) => one.id === id);
    if (section === undefined) throw new Error(`section ${id}`);
    return section;
  };
}

describe('a constraint file is refused', () => {
  type Find = ReturnType<typeof findSections>;
  it.each<[string, RegExp, (view: DataView, find: Find) => void]>([
    ['of another format', /not a constraint file/, (view) => view.setUint8(0, 0)],
    ['of another version', /version 2/, (view) => view.setUint32(4, 2, true)],
    ['without a header', /no header/, (view, find) => view.setUint32(find(1).head, 9, true)],
    [
      'without constraints',
      /no constraints/,
      (view, find) => view.setUint32(find(2).head, 9, true),
    ],
    ['of another field', /BN254/, (view, find) => view.setUint8(find(1).start + 4, 2)],
    ['of shorter integers', /BN254/, (view, find) => view.setUint32(find(1).start, 8, true)],
    ['with custom gates', /custom gates/, (view, find) => view.setUint32(find(3).head, 4, true)],
    [
      'with more constraints than it has',
      /ends within its constraints/,
      (view, find) => view.setUint32(find(1).start + 60, 6, true),
    ],
    [
      'with fewer constraints than it has',
      /more than the constraints/,
      (view, find) => view.setUint32(find(1).start + 60, 4, true),
    ],
    [
      'with a wire that does not exist',
      /names a wire/,
      (view, find) => view.setUint32(find(2).start + 4, wires, true),
    ],
  ])('%s', async (_, message, edit) => {
    const changed = change(r1cs, (view) => edit(view, findSections()));
    await expect(wtns.check(changed, witness)).rejects.toMatchObject({
      code: 'r1cs_malformed',
      retryable: false,
      message: expect.stringMatching(message),
    });
  });

  it('that is cut off anywhere', async () => {
    for (let length = 0; length < r1cs.length; length += 7) {
      await expect(wtns.check(r1cs.slice(0, length), witness)).rejects.toMatchObject({
        code: 'r1cs_malformed',
      });
    }
  });
});

it('checks constraints over many windows of the file', async () => {
  const large = await compileCircuit(squaresSource(20_000));
  const output: snarkjs.MemoryFile = { type: 'mem' };
  await snarkjs.wtns.calculate({ start: 3, offsets: [1, -1] }, large.wasm, output);
  const given = output.data ?? new Uint8Array();
  expect(await wtns.check(large.r1csPath, given)).toBe(true);
  given[given.length - 32] = (given.at(-32) ?? 0) ^ 1;
  expect(await wtns.check(large.r1csPath, given)).toBe(false);
  await rm(large.folder, { recursive: true });
});

describe('exportJson', () => {
  it('gives the wires of snarkjs', async () => {
    const theirs = await snarkjs.wtns.exportJson({ type: 'mem', data: witness });
    expect(await wtns.exportJson(witness)).toEqual(theirs);
    expect(theirs).toHaveLength(wires);
  });

  it('refuses what is not a witness', async () => {
    await expect(wtns.exportJson(r1cs)).rejects.toMatchObject({ code: 'witness_malformed' });
  });
});
