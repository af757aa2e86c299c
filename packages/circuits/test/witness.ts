/** Compiles test mains and computes witnesses; for tests only. */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sourceFolder } from '../src/circuits.ts';
import type { R1cs } from '../src/constraints/r1cs.ts';
import { compileHere } from './compiler.ts';
import { parseR1cs } from './constraints.ts';
import { R } from './fund-batch.ts';
import { reduce } from './modular.ts';

export type CompiledTest = {
  readonly r1cs: R1cs;
  readonly r1csBytes: Uint8Array;
  readonly wasm: Uint8Array;
  /** Signals by wire, names without `main.`; wires that the compiler merged have several names, outermost first. */
  readonly namesOf: ReadonlyMap<number, readonly string[]>;
  /** Wire of a signal; throws for a signal the compiler removed. */
  readonly wireOf: (name: string) => number;
};

/** A change to a source, for a circuit that lacks one constraint. The text must occur exactly once. */
export type Mutation = { readonly file: string; readonly from: string; readonly to: string };

/** Another text for a source, for a circuit in which a stub replaces a part. */
export type Replacement = { readonly file: string; readonly text: string };

async function mutate(folder: string, { file, from, to }: Mutation): Promise<void> {
  const path = join(folder, file);
  const parts = (await readFile(path, 'utf8')).split(from);
  if (parts.length !== 2) {
    throw new Error(`"${from}" occurs ${parts.length - 1} times in ${file}`);
  }
  await writeFile(path, parts.join(to));
}

/** Compiles a main (circom text; includes relative to circom/) in a copy of the sources. */
export async function compileTest(
  text: string,
  ...changes: readonly (Mutation | Replacement)[]
): Promise<CompiledTest> {
  const folder = await mkdtemp(join(tmpdir(), 'pool-circuit-test-'));
  try {
    const sources = join(folder, 'circom');
    await cp(sourceFolder(), sources, { recursive: true });
    for (const change of changes) {
      await ('text' in change
        ? writeFile(join(sources, change.file), change.text)
        : mutate(sources, change));
    }
    const source = join(sources, 'test-main.circom');
    await writeFile(source, `pragma circom 2.2.0;\n${text}\n`);
    const output = join(folder, 'out');
    await mkdir(output);
    const { r1csPath, wasmPath } = await compileHere(source, output);
    const symbols = await readFile(join(output, 'test-main.sym'), 'utf8');
    const wires = new Map<string, number>();
    const namesOf = new Map<number, string[]>();
    for (const line of symbols.trim().split('\n')) {
      const [, wire, , label] = line.split(',');
      const name = (label ?? '').replace(/^main\./, '');
      wires.set(name, Number(wire));
      if (Number(wire) >= 0) {
        namesOf.set(Number(wire), [...(namesOf.get(Number(wire)) ?? []), name]);
      }
    }
    const r1csBytes = await readFile(r1csPath);
    return {
      r1cs: parseR1cs(r1csBytes),
      r1csBytes,
      wasm: await readFile(wasmPath),
      namesOf,
      wireOf: (name) => {
        const wire = wires.get(name) ?? -1;
        if (wire < 0) {
          throw new Error(`no wire for ${name}`);
        }
        return wire;
      },
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type WitnessProgram = {
  readonly memory: WebAssembly.Memory;
  readonly init: (sanityCheck: number) => void;
  readonly getInputSize: () => number;
  readonly getInputSignalSize: (high: number, low: number) => number;
  readonly setInputSignal: (high: number, low: number, index: number) => void;
  readonly getWitnessSize: () => number;
  readonly getWitness: (wire: number) => void;
  readonly getSharedRWMemoryStart: () => number;
  readonly getMessageChar: () => number;
};

const programs = new Map<string | Uint8Array, Promise<WebAssembly.Module>>();

/** Compiled once for all witnesses. */
function loadProgram(wasm: string | Uint8Array): Promise<WebAssembly.Module> {
  const program =
    programs.get(wasm) ??
    (async () =>
      await WebAssembly.compile(
        Uint8Array.from(typeof wasm === 'string' ? await readFile(wasm) : wasm),
      ))();
  programs.set(wasm, program);
  return program;
}

/** FNV-1a, the hash by which a program knows its inputs. */
function hashName(name: string): bigint {
  return Buffer.from(name).reduce(
    (hash, byte) => BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n),
    0xcbf29ce484222325n,
  );
}

/** All wires for an input. Throws if the generator's own assertions fail, with its messages: templates and lines. */
export async function computeWitness(wasm: string | Uint8Array, input: unknown): Promise<bigint[]> {
  const ignore = () => undefined;
  let messages = '';
  const printErrorMessage = () => {
    for (let code = program.getMessageChar(); code !== 0; code = program.getMessageChar()) {
      messages += String.fromCharCode(code);
    }
    messages += '\n';
  };
  const exceptionHandler = (code: number) => {
    const reason = code === 4 ? 'Assert Failed' : `The witness generator stopped with ${code}.`;
    throw new Error(`${reason}\n${messages}`);
  };
  // A fresh instance for each witness: after a failed assertion the state of the old one is undefined.
  const { exports } = new WebAssembly.Instance(await loadProgram(wasm), {
    runtime: {
      exceptionHandler,
      printErrorMessage,
      writeBufferMessage: ignore,
      showSharedRWMemory: ignore,
    },
  });
  const program = exports as unknown as WitnessProgram;
  program.init(0);
  const openShared = () =>
    new BigUint64Array(program.memory.buffer, program.getSharedRWMemoryStart(), 4);
  let count = 0;
  for (const [name, value] of Object.entries(input as object)) {
    const hash = hashName(name);
    const [high, low] = [Number(hash >> 32n), Number(hash & 0xffffffffn)];
    const values: unknown[] = [value].flat(Number.POSITIVE_INFINITY);
    if (program.getInputSignalSize(high, low) !== values.length) {
      throw new Error(`The signal ${name} does not have ${values.length} values.`);
    }
    for (const [index, one] of values.entries()) {
      const element = reduce(BigInt(one as bigint), R);
      openShared().set([0n, 64n, 128n, 192n].map((shift) => BigInt.asUintN(64, element >> shift)));
      program.setInputSignal(high, low, index);
      count++;
    }
  }
  if (count !== program.getInputSize()) {
    throw new Error(`The circuit takes ${program.getInputSize()} values; ${count} were given.`);
  }
  const shared = openShared();
  return Array.from({ length: program.getWitnessSize() }, (_, wire) => {
    program.getWitness(wire);
    const [first = 0n, second = 0n, third = 0n, fourth = 0n] = shared;
    const low = second === 0n ? first : first | (second << 64n);
    return third === 0n && fourth === 0n ? low : low | (third << 128n) | (fourth << 192n);
  });
}

const wiresBetween = new WeakMap<CompiledTest, WeakMap<CompiledTest, readonly number[]>>();

/** For each wire of a circuit, the wire of another circuit with one of its names. */
function matchWires(from: CompiledTest, to: CompiledTest): readonly number[] {
  const known = wiresBetween.get(from)?.get(to);
  if (known !== undefined) {
    return known;
  }
  const wires = new Map<string, number>();
  for (const [wire, names] of from.namesOf) {
    for (const name of names) {
      wires.set(name, wire);
    }
  }
  const matched = new Array<number>(to.r1cs.wires).fill(-1);
  matched[0] = 0;
  for (const [wire, names] of to.namesOf) {
    const other = names.map((name) => wires.get(name)).find((found) => found !== undefined);
    if (other === undefined) {
      throw new Error(`the other circuit has no signal ${names.join(' = ')}`);
    }
    matched[wire] = other;
  }
  const all = wiresBetween.get(from) ?? new WeakMap<CompiledTest, readonly number[]>();
  wiresBetween.set(from, all.set(to, matched));
  return matched;
}

/** The same signals' values on another circuit's wires, matched by name. */
export function transferWitness(
  witness: readonly bigint[],
  from: CompiledTest,
  to: CompiledTest,
): bigint[] {
  return matchWires(from, to).map((wire) => witness[wire] ?? 0n);
}

/** snarkjs keeps the threads of its curve alive; a test file that used it ends them here. */
export async function endSnarkjsThreads(): Promise<void> {
  const { curve_bn128: curve } = globalThis as { curve_bn128?: { terminate(): Promise<void> } };
  await curve?.terminate();
}
