/**
 * Finds templates in a witness program of circom, and the constants with which they were compiled.
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import { elementBytes } from './field-functions.ts';
import { encodeUnsigned } from './wasm-code.ts';
import { createReader, unknownForm } from './wasm-sections.ts';

const { Fr } = bn254.fields;

const constantOpcode = 0x41;
const callOpcode = 0x10;

/** The constant that a call at `position` takes last. */
function readConstantBefore(body: Uint8Array, position: number): number | undefined {
  let first = position - 1;
  while ((body[first - 1] ?? 0) >= 128) {
    first--;
  }
  const isConstant = body[first - 1] === constantOpcode;
  return isConstant ? createReader(body.subarray(first, position)).integer() : undefined;
}

/** Positions of the calls of a function. */
function findCalls(body: Uint8Array, index: number): number[] {
  const bytes = Buffer.from([callOpcode, ...encodeUnsigned(index)]);
  const found: number[] = [];
  const buffer = Buffer.from(body);
  for (let at = buffer.indexOf(bytes); at >= 0; at = buffer.indexOf(bytes, at + 1)) {
    found.push(at);
  }
  return found;
}

/** @param data the program's data section */
function readMemory(data: Uint8Array, address: number, length: number): Uint8Array {
  const reader = createReader(data);
  for (let left = reader.integer(); left > 0; left--) {
    // A segment for the only memory, at a constant.
    const [flags, opcode, start, end] = [
      reader.integer(),
      reader.integer(),
      reader.integer(),
      reader.integer(),
    ];
    const bytes = reader.bytes(reader.integer());
    if (flags !== 0 || opcode !== constantOpcode || end !== 0x0b) {
      throw unknownForm('its data is not at constant addresses');
    }
    if (start <= address && address + length <= start + bytes.length) {
      return bytes.subarray(address - start, address - start + length);
    }
  }
  throw unknownForm('a parameter of a template is not a constant');
}

function readConstant(data: Uint8Array, address: number): bigint {
  const bytes = readMemory(data, address, elementBytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const isLong = view.getUint8(7) >= 128;
  if (!isLong) {
    return BigInt(view.getInt32(0, true));
  }
  const words = [32, 24, 16, 8].map((offset) => view.getBigUint64(offset, true));
  const value = words.reduce((sum, word) => (sum << 64n) | word, 0n);
  const isMontgomery = (view.getUint8(7) & 64) !== 0;
  return isMontgomery ? Fr.div(value, Fr.create(1n << 256n)) : value;
}

export type TemplateReader = {
  /** Numbers of the compiled templates with this name, in the order of the program. */
  readonly idsOf: (template: string) => number[];
  /** Parameters of a template, in the alphabetical order of their names: the first constants that its body copies. */
  readonly parameters: (template: string, id: number, count: number) => bigint[];
  /** The compiled templates `part` whose components a template creates, in the order of its source. */
  readonly partsOf: (template: string, id: number, part: string) => number[];
};

/**
 * @param names indices of functions by name
 * @param bodyOf a function's code, by index
 * @param data the program's data section
 */
export function createTemplateReader(
  names: ReadonlyMap<string, number>,
  bodyOf: (index: number) => Uint8Array,
  data: Uint8Array,
): TemplateReader {
  const idsOf = (template: string): number[] =>
    [...names.keys()].flatMap((name) => {
      const [, found, id] = /^(.+)_(\d+)_run$/.exec(name) ?? [];
      return found === template ? [Number(id)] : [];
    });
  const indexOf = (name: string): number => names.get(name) ?? -1;
  const bodyOfRun = (template: string, id: number) => bodyOf(indexOf(`${template}_${id}_run`));
  return {
    idsOf,
    parameters: (template, id, count) => {
      const body = bodyOfRun(template, id);
      const calls = findCalls(body, indexOf('Fr_copy')).slice(0, count);
      return calls.map((at) => {
        const address = readConstantBefore(body, at);
        if (address === undefined) {
          throw unknownForm(`the template ${template} does not start with its parameters`);
        }
        return readConstant(data, address);
      });
    },
    partsOf: (template, id, part) => {
      const body = bodyOfRun(template, id);
      const found = idsOf(part).flatMap((partId) =>
        findCalls(body, indexOf(`${part}_${partId}_create`)).map((at) => ({ at, partId })),
      );
      return found.sort((a, b) => a.at - b.at).map(({ partId }) => partId);
    },
  };
}
