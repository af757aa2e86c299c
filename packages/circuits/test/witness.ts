/** Compiles test mains and computes witnesses with snarkjs; for tests only. */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MemoryFile, wtns } from 'snarkjs';
import { compileCircuit } from '../src/artifacts/compile.ts';
import { sourceFolder } from '../src/circuits.ts';
import type { R1cs } from '../src/constraints/r1cs.ts';
import { parseR1cs } from './constraints.ts';

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
    const { r1csPath, wasmPath } = await compileCircuit(source, output, { symbols: true });
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

/** All wires for an input. Throws if the generator's own assertions fail. */
export async function computeWitness(wasm: string | Uint8Array, input: unknown): Promise<bigint[]> {
  const witness: MemoryFile = { type: 'mem' };
  await wtns.calculate(input, wasm, witness);
  return await wtns.exportJson(witness);
}

/** The same signals' values on another circuit's wires, matched by name. */
export function transferWitness(
  witness: readonly bigint[],
  from: CompiledTest,
  to: CompiledTest,
): bigint[] {
  const values = new Map<string, bigint>();
  for (const [wire, names] of from.namesOf) {
    for (const name of names) {
      values.set(name, witness[wire] ?? 0n);
    }
  }
  const moved = new Array<bigint>(to.r1cs.wires).fill(0n);
  moved[0] = 1n;
  for (const [wire, names] of to.namesOf) {
    const value = names.map((name) => values.get(name)).find((found) => found !== undefined);
    if (value === undefined) {
      throw new Error(`the other circuit has no signal ${names.join(' = ')}`);
    }
    moved[wire] = value;
  }
  return moved;
}

/** snarkjs keeps the threads of its curve alive; a test file that used it ends them here. */
export async function endSnarkjsThreads(): Promise<void> {
  const { curve_bn128: curve } = globalThis as { curve_bn128?: { terminate(): Promise<void> } };
  await curve?.terminate();
}
