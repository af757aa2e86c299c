/**
 * Makes a witness program of circom faster: replaces compiled templates and functions by functions with less and faster arithmetic. The
 * interface of the program, its errors and all its wires stay the same.
 *
 * @module
 */
import {
  createConstants,
  elementBytes,
  type FieldFunction,
  writeFieldFunctions,
} from './field-functions.ts';
import { writeMontgomeryProduct, writeReduction } from './montgomery-product.ts';
import { partialRoundCounts, writePoseidonBody, writePower } from './poseidon-function.ts';
import { createTemplateReader } from './program-templates.ts';
import {
  type Range,
  type Toolkit,
  writeBits,
  writeInRange,
  writeToBits,
} from './range-functions.ts';
import { writeMultiplyModP, writeSubtractModP } from './secp256k1-functions.ts';
import { writeProduct, writeQuotient, writeRemainder, writeSum } from './short-operands.ts';
import { writeChord, writeNextX, writeZeroModP } from './signer-functions.ts';
import { type Code, encodeType, encodeUnsigned, i32, store } from './wasm-code.ts';
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
import { writeWindow, writeWindowPoint } from './window-function.ts';

const pageBytes = 65_536;

/** Part of the artifacts' recipe. Change it whenever the output changes for the same program. */
export const programVersion = 2;

/** Elements that the functions of one program share: secret, and free between two calls. */
const scratchElements = 40;

/** Digests of the sources in circom/ whose templates are replaced, each with what it includes. */
export const knownSources: ReadonlyMap<string, string> = new Map([
  ['bits', 'b0514b67f46d9acc1325ceafd10d1fad5bf085ab380d7d59a9987763e5b65ede'],
  ['hidden-signer', 'd855c70004bd32f6420d7a45dc83dd97ab328551b79ce26e9c206334d8419ce7'],
  ['poseidon', 'c7235040dc0a7862e5d5fdf2c9cc58faffd96185087d0424b3e1751b55ac985a'],
]);

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

function typeKeyOf({ parameters, results }: FieldFunction): string {
  return `${parameters} ${results}`;
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
  const added: FieldFunction[] = [...functions, writePower(constants, at, scratch)];
  const add = (written: FieldFunction): number =>
    imported + bodies.length + added.push(written) - 1;
  /** Replaces a function. What is written may call the old one by another index. */
  const replace = (
    index: number,
    type: Omit<FieldFunction, 'body'>,
    write: (moved: number) => Code,
  ): void => {
    const moved = add({ ...type, body: [...(bodies[index - imported] ?? [])] });
    bodies[index - imported] = Uint8Array.from(write(moved));
  };
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
    replace(indexOf(name), { parameters: 3, results: 0 }, write);
  }
  bodies[indexOf('Fr_F1m_fromMontgomery') - imported] = Uint8Array.from(writeReduction());

  const toolkit: Toolkit = { constants, at, scratch, bits: add(writeBits()) };
  const reader = createTemplateReader(
    names,
    (index) => bodies[index - imported] ?? new Uint8Array(),
    data,
  );
  const rangeOf = (id: number): Range => {
    const [offset = 0n, width = 0n] = reader.parameters('InRange', id, 2);
    return { width: Number(width), offset };
  };
  let windowAt: number | undefined;
  const templates: ReadonlyArray<readonly [string, (id: number) => (original: number) => Code]> = [
    ['Chord', () => () => writeChord(toolkit)],
    ['NextX', () => () => writeNextX(toolkit)],
    [
      'ZeroModP',
      (id) => {
        const [q, carry, ...others] = reader.partsOf('ZeroModP', id, 'InRange').map(rangeOf);
        if (q === undefined || carry === undefined || others.length > 0) {
          throw unknownForm('a template ZeroModP does not have two ranges');
        }
        return (original) => writeZeroModP(toolkit, { q, carry }, original);
      },
    ],
    [
      'WindowPoint',
      (id) => {
        const [window = 0n] = reader.parameters('WindowPoint', id, 1);
        windowAt ??= add(writeWindow(toolkit));
        const at = windowAt;
        return (original) => writeWindowPoint(toolkit, at, Number(window), original);
      },
    ],
    ['InRange', (id) => (original) => writeInRange(toolkit, rangeOf(id), original)],
    [
      'ToBits',
      (id) => {
        const [n = 0n] = reader.parameters('ToBits', id, 1);
        return (original) => writeToBits(toolkit, Number(n), original);
      },
    ],
  ];
  for (const [name, prepare] of templates) {
    for (const id of reader.idsOf(name)) {
      replace(indexOf(`${name}_${id}_run`), { parameters: 1, results: 1 }, prepare(id));
    }
  }
  for (const [name, index] of names) {
    const write = new Map([
      ['multiplyModP', writeMultiplyModP],
      ['subtractModP', writeSubtractModP],
    ]).get(/^(.*)_\d+$/.exec(name)?.[1] ?? '');
    if (write !== undefined) {
      replace(index, { parameters: 2, results: 1 }, write);
    }
  }

  const bytes = constants.bytes();
  const end = start + bytes.length;
  view.setUint32(stackAt, end, true);

  const functionTypes = [...new Map(added.map((one) => [typeKeyOf(one), one])).values()];
  const typeKeys = functionTypes.map(typeKeyOf);
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
        functionTypes.map((one) => Uint8Array.from(encodeType(one.parameters, one.results))),
      ),
    ],
    [
      sections.functions,
      append(
        contentsOf(sections.functions),
        added.map((one) =>
          Uint8Array.from(encodeUnsigned(types + typeKeys.indexOf(typeKeyOf(one)))),
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
