/**
 * Makes a witness program of circom faster: replaces the compiled template Poseidon by functions with less and faster arithmetic. The
 * interface of the program, its errors and all its wires stay the same.
 *
 * @module
 */
import { createConstants, elementBytes, writeFieldFunctions } from './field-functions.ts';
import { writeMontgomeryProduct, writeReduction } from './montgomery-product.ts';
import {
  partialRoundCounts,
  scratchElements,
  writePoseidonBody,
  writePower,
} from './poseidon-function.ts';
import { writeProduct, writeQuotient, writeRemainder, writeSum } from './short-operands.ts';
import { encodeType, encodeUnsigned, i32, store } from './wasm-code.ts';
import {
  append,
  countEntries,
  createReader,
  readEntries,
  readFunctionNames,
  readSections,
  sections,
  unknownForm,
  writeEntries,
  writeSections,
} from './wasm-sections.ts';

const pageBytes = 65_536;

/** Part of the artifacts' recipe. Change it whenever the output changes for the same program. */
export const programVersion = 1;

/** Digest of circom/poseidon.circom and what it includes, for which poseidon-function.ts is written. */
export const poseidonDigest = 'c7235040dc0a7862e5d5fdf2c9cc58faffd96185087d0424b3e1751b55ac985a';

/**
 * Where the program's stack starts, which grows upwards, is in the four bytes at address 0: one segment of its data.
 * @returns the position of these bytes in the section's contents
 */
function findStackStart(data: Uint8Array): number {
  const head = Buffer.from([0, ...i32(0), 0x0b, 4]);
  const at = Buffer.from(data).indexOf(head);
  if (at < 0) {
    throw unknownForm('it does not say where its stack starts');
  }
  return at + head.length;
}

/** Inputs of a component: its creation stores a constant in its third word, from which they are counted down. */
function readInputCount(create: Uint8Array): number {
  const constant = 0x41;
  const thirdWord = store('i32.store', [], [], 8);
  const at = Buffer.from(create).indexOf(Buffer.from(thirdWord));
  const count = create[at - 1];
  if (count === undefined || create[at - 2] !== constant) {
    throw unknownForm('a template does not say how many inputs it has');
  }
  return count;
}

/**
 * @param program WebAssembly that circom compiled from a circuit with circom/poseidon.circom
 * @returns a program with the same interface, and the same wires for inputs below r
 * @throws PoolError `compile_failed` if another version of the compiler wrote it, it has no Poseidon, or it is accelerated already
 */
export function accelerateProgram(program: Uint8Array): Uint8Array<ArrayBuffer> {
  const list = readSections(program);
  const contentsOf = (id: number): Uint8Array => {
    const found = list.find((section) => section.id === id);
    if (found === undefined) {
      throw unknownForm(`section ${id} is missing`);
    }
    return found.contents;
  };
  const names = new Map(
    list
      .filter(({ id }) => id === sections.custom)
      .flatMap(({ contents }) => [...readFunctionNames(contents)]),
  );
  const bodies = readEntries(contentsOf(sections.code));
  const types = countEntries(contentsOf(sections.type));
  // All imports of a witness program are functions.
  const imported = countEntries(contentsOf(sections.imports));

  // Scratch elements, constants and the stack follow one another.
  const data = Uint8Array.from(contentsOf(sections.data));
  const stackAt = findStackStart(data);
  const view = new DataView(data.buffer);
  const stack = view.getUint32(stackAt, true);
  const scratch = Math.ceil(stack / 8) * 8;
  const start = scratch + scratchElements * elementBytes;
  const constants = createConstants(start);
  const { functions, at } = writeFieldFunctions(constants, imported + bodies.length);
  const added = [...functions, writePower(constants, at, scratch)];
  let replaced = 0;
  for (const [name, index] of names) {
    const id = /^Poseidon_(\d+)_run$/.exec(name)?.[1];
    if (id !== undefined) {
      const create = bodies[(names.get(`Poseidon_${id}_create`) ?? 0) - imported];
      const inputs = readInputCount(create ?? new Uint8Array());
      if (!partialRoundCounts.has(inputs + 1)) {
        throw unknownForm(`a template Poseidon has ${inputs} inputs`);
      }
      const body = writePoseidonBody(inputs, constants, at, at.next, scratch);
      bodies[index - imported] = Uint8Array.from(body);
      replaced++;
    }
  }
  if (replaced === 0) {
    throw unknownForm('it has no template Poseidon');
  }
  const indexOf = (name: string): number => {
    const index = names.get(name);
    if (index === undefined) {
      throw unknownForm(`it has no function ${name}`);
    }
    return index;
  };
  const product = Uint8Array.from(writeMontgomeryProduct());
  const productAt = indexOf('Fr_F1m_mul') - imported;
  if (Buffer.compare(bodies[productAt] ?? new Uint8Array(), product) === 0) {
    throw unknownForm('it is accelerated already');
  }
  bodies[productAt] = product;
  const copy = indexOf('Fr_copy');
  for (const [name, write] of [
    ['Fr_mul', (moved: number) => writeProduct(copy, moved)],
    ['Fr_add', (moved: number) => writeSum(copy, moved)],
    ['Fr_idiv', writeQuotient],
    ['Fr_mod', writeRemainder],
  ] as const) {
    const index = indexOf(name) - imported;
    const moved = imported + bodies.length + added.length;
    added.push({ parameters: 3, body: [...(bodies[index] ?? [])] });
    bodies[index] = Uint8Array.from(write(moved));
  }
  bodies[indexOf('Fr_F1m_fromMontgomery') - imported] = Uint8Array.from(writeReduction());
  const bytes = constants.bytes();
  const end = start + bytes.length;
  view.setUint32(stackAt, end, true);

  const parameterCounts = [2, 3, 4];
  const memory = createReader(contentsOf(sections.memory));
  const [count, flags, pages] = [memory.integer(), memory.integer(), memory.integer()];
  if (count !== 1 || flags !== 0) {
    throw unknownForm('it has more than one memory, or its memory has a limit');
  }
  const morePages = pages + Math.ceil((end - stack) / pageBytes);
  const changed = new Map<number, Uint8Array>([
    [
      sections.type,
      append(
        contentsOf(sections.type),
        parameterCounts.map((parameters) => Uint8Array.from(encodeType(parameters))),
      ),
    ],
    [
      sections.functions,
      append(
        contentsOf(sections.functions),
        added.map(({ parameters }) =>
          Uint8Array.from(encodeUnsigned(types + parameterCounts.indexOf(parameters))),
        ),
      ),
    ],
    [sections.memory, Uint8Array.of(count, flags, ...encodeUnsigned(morePages))],
    [sections.code, writeEntries([...bodies, ...added.map(({ body }) => Uint8Array.from(body))])],
    [
      sections.data,
      append(data, [
        Buffer.concat([
          Uint8Array.of(0, ...i32(start), 0x0b, ...encodeUnsigned(bytes.length)),
          bytes,
        ]),
      ]),
    ],
  ]);
  const result = writeSections(
    list.map(({ id, contents }) => ({ id, contents: changed.get(id) ?? contents })),
  );
  if (!WebAssembly.validate(result)) {
    throw unknownForm('its functions have other types');
  }
  return result;
}
