/**
 * The circom compiler inside the process of the tests. The product starts a process for each compilation (src/artifacts/compile.ts); here a
 * later compilation runs the machine code that V8 has optimised during earlier ones, which saves a third of its time.
 */
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import type { CompiledCircuit } from '../src/artifacts/compile.ts';

type Runner = { compile: () => Promise<WebAssembly.Module>; execute(): Promise<unknown> };

const require = createRequire(import.meta.url);
const { CircomRunner, bindings } = require('circom2') as {
  readonly CircomRunner: new (options: object) => Runner;
  readonly bindings: object;
};

let program: Promise<WebAssembly.Module> | undefined;

/** The compiler calls it at its end. */
function exit(code: number): never {
  throw new Error(`exit ${code}`);
}

/**
 * Compiles as `compileCircuit` does, with symbols.
 * @throws Error with the compiler's output
 */
export async function compileHere(source: string, outputFolder: string): Promise<CompiledCircuit> {
  program ??= WebAssembly.compile(fs.readFileSync(require.resolve('circom2/circom.wasm')));
  let output = '';
  // What it prints is for a person only if it fails.
  const writeSync = (file: number, data: Uint8Array, ...rest: [number?, number?, number?]) => {
    if (file > 2) return fs.writeSync(file, data, ...rest);
    const [offset = 0, length = data.length] = rest;
    output += Buffer.from(data.subarray(offset, offset + length)).toString();
    return length;
  };
  const runner = new CircomRunner({
    args: [basename(source), '--r1cs', '--wasm', '--sym', '--O1', '-o', '/out'],
    env: {},
    preopens: { '.': dirname(source), '/out': outputFolder },
    bindings: { ...bindings, fs: { ...fs, writeSync }, exit },
  });
  const compiled = program;
  runner.compile = () => compiled;
  const ended: unknown = await runner.execute().catch((error: unknown) => error);
  if (ended instanceof Error && ended.message !== 'exit 0') {
    throw new Error(output, { cause: ended });
  }
  const name = basename(source, '.circom');
  return {
    r1csPath: join(outputFolder, `${name}.r1cs`),
    wasmPath: join(outputFolder, `${name}_js`, `${name}.wasm`),
  };
}
