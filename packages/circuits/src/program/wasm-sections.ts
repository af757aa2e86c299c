/**
 * Reads and writes the sections of a WebAssembly module (WebAssembly core specification, section 5.5), as far as a witness program of
 * circom needs it.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { encodeUnsigned } from './wasm-code.ts';

/** Numbers of sections. */
export const sections = {
  custom: 0,
  type: 1,
  imports: 2,
  functions: 3,
  memory: 5,
  code: 10,
  data: 11,
};

export function unknownForm(what: string): PoolError {
  return new PoolError(
    'compile_failed',
    `The witness program has an unknown form: ${what}. Compile the circuit with circom2 0.2.23, the only tested compiler.`,
  );
}

export type Section = { readonly id: number; readonly contents: Uint8Array };

const preambleBytes = 8;

export type Reader = {
  readonly isAtEnd: () => boolean;
  readonly integer: () => number;
  readonly bytes: (count: number) => Uint8Array;
  readonly rest: () => Uint8Array;
};

export function createReader(bytes: Uint8Array): Reader {
  let position = 0;
  const take = (count: number): Uint8Array => {
    if (position + count > bytes.length) {
      throw unknownForm('it is cut off');
    }
    position += count;
    return bytes.subarray(position - count, position);
  };
  return {
    isAtEnd: () => position === bytes.length,
    integer: () => {
      let value = 0;
      for (let weight = 1; ; weight *= 128) {
        const byte = take(1)[0] ?? 0;
        value += (byte & 127) * weight;
        if (byte < 128) {
          return value;
        }
      }
    },
    bytes: take,
    rest: () => take(bytes.length - position),
  };
}

export function readSections(module: Uint8Array): Section[] {
  const reader = createReader(module.subarray(preambleBytes));
  const found: Section[] = [];
  while (!reader.isAtEnd()) {
    const id = reader.integer();
    found.push({ id, contents: reader.bytes(reader.integer()) });
  }
  return found;
}

export function writeSections(list: readonly Section[]): Uint8Array<ArrayBuffer> {
  const parts = list.flatMap(({ id, contents }) => [
    Uint8Array.of(id, ...encodeUnsigned(contents.length)),
    contents,
  ]);
  return new Uint8Array(Buffer.concat([Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0), ...parts]));
}

/** A section whose entries have their length before them. */
export function readEntries(contents: Uint8Array): Uint8Array[] {
  const reader = createReader(contents);
  return Array.from({ length: reader.integer() }, () => reader.bytes(reader.integer()));
}

export function writeEntries(entries: readonly Uint8Array[]): Uint8Array {
  const parts = entries.flatMap((entry) => [Uint8Array.from(encodeUnsigned(entry.length)), entry]);
  return Buffer.concat([Uint8Array.from(encodeUnsigned(entries.length)), ...parts]);
}

/** A section with more entries at its end. */
export function append(contents: Uint8Array, added: readonly Uint8Array[]): Uint8Array {
  const reader = createReader(contents);
  const count = reader.integer() + added.length;
  return Buffer.concat([Uint8Array.from(encodeUnsigned(count)), reader.rest(), ...added]);
}

/** Number of a section's entries. */
export function countEntries(contents: Uint8Array): number {
  return createReader(contents).integer();
}

/** Indices of functions by name, from the section that the compiler writes for people. */
export function readFunctionNames(contents: Uint8Array): Map<string, number> {
  const names = new Map<string, number>();
  const decoder = new TextDecoder();
  const reader = createReader(contents);
  if (decoder.decode(reader.bytes(reader.integer())) !== 'name') {
    return names;
  }
  while (!reader.isAtEnd()) {
    const kind = reader.integer();
    const part = createReader(reader.bytes(reader.integer()));
    const functions = 1;
    for (let left = kind === functions ? part.integer() : 0; left > 0; left--) {
      const index = part.integer();
      names.set(decoder.decode(part.bytes(part.integer())), index);
    }
  }
  return names;
}
