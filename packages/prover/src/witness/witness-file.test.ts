import { readFile, rm } from 'node:fs/promises';
import { type MemoryFile, wtns } from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createSmallCircuit,
  endSnarkjsThreads,
  type SmallCircuit,
} from '../../test/small-circuit.ts';
import { encodeWitnessFile, readWitnessFile } from './witness-file.ts';

let circuit: SmallCircuit;
/** A file of four wires that snarkjs wrote. */
let file: Uint8Array;
beforeAll(async () => {
  circuit = await createSmallCircuit();
  const output: MemoryFile = { type: 'mem' };
  await wtns.calculate({ product: 391, a: 17, b: 23 }, await readFile(circuit.wasm), output);
  file = output.data ?? new Uint8Array();
});
afterAll(async () => {
  await endSnarkjsThreads();
  await rm(circuit.folder, { recursive: true, force: true });
});

const maximumBytes = 2 ** 20;
function read(bytes: Uint8Array, limit = maximumBytes) {
  return readWitnessFile(bytes, { maximumBytes: limit });
}

/** Where things are in the file: see the header of witness-file.ts. */
const at = { magic: 0, version: 4, count: 8, header: 24, order: 28, wires: 60, first: 76 };

function change(edit: (view: DataView) => void): Uint8Array {
  const copy = file.slice();
  edit(new DataView(copy.buffer));
  return copy;
}

/** Its sections in the other order. */
function reverseSections(): Uint8Array {
  return Uint8Array.of(
    ...file.subarray(0, 12),
    ...file.subarray(at.first - 12),
    ...file.subarray(12, at.first - 12),
  );
}

it('reads the wires that snarkjs wrote, and writes the same file', async () => {
  const wires = await read(file);
  const values = Array.from({ length: 4 }, (_, i) => wires[32 * i]);
  expect(wires).toHaveLength(4 * 32);
  expect(values).toEqual([1, 391 % 256, 17, 23]);
  expect(encodeWitnessFile(wires)).toEqual(file);
});

it('reads the sections in any order', async () => {
  expect(await read(reverseSections())).toEqual(await read(file));
});

describe('refuses a file', () => {
  it.each<[string, () => Uint8Array, string]>([
    ['that is empty', () => new Uint8Array(), 'empty or cut off'],
    [
      'of another kind',
      () => change((view) => view.setUint8(at.magic, 0x7a)),
      'not a witness file',
    ],
    ['of version 1', () => change((view) => view.setUint32(at.version, 1, true)), 'only version 2'],
    ['that is cut off', () => file.subarray(0, -1), 'section 2 is longer than the file'],
    ['with bytes after its end', () => Uint8Array.of(...file, 0), '1 bytes after its last section'],
    [
      'without wires',
      () => change((view) => view.setUint32(at.first - 12, 3, true)),
      'no section 2',
    ],
    ['of another field', () => change((view) => view.setUint8(at.order, 2)), 'field of BN254'],
    ['of a longer field', () => change((view) => view.setUint8(at.header, 48)), 'field of BN254'],
    [
      'with fewer wires than it declares',
      () => change((view) => view.setUint32(at.wires, 5, true)),
      'declares 5 wires, and its section 2 has 128 bytes instead of 160',
    ],
    [
      'with a wire of r',
      () => {
        const copy = file.slice();
        copy.set(file.subarray(at.order, at.order + 32), at.first + 96);
        return copy;
      },
      'not below the field order',
    ],
    ['whose wire 0 is 2', () => change((view) => view.setUint8(at.first, 2)), 'Wire 0'],
  ])('%s', async (_, make, message) => {
    await expect(read(make())).rejects.toMatchObject({
      code: 'witness_malformed',
      retryable: false,
      message: expect.stringContaining(message),
    });
  });

  it('that is larger than the limit', async () => {
    expect(await read(file, 128)).toHaveLength(128);
    await expect(read(file, 127)).rejects.toMatchObject({ code: 'memory_budget_exceeded' });
  });
});
