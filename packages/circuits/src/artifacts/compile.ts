/**
 * Runs the circom compiler in its own process (npm `circom2`, a development dependency: its licence is the GPL, its output is
 * ours).
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { PoolError } from '@pool/core';

/** Simplification level. The sources write Poseidon's state as expressions, so level 2 saves nothing and makes rows denser. */
const optimisation = '--O1';
const keptOutput = 2000;

export type CompileOptions = {
  /** Also write `<name>.sym`, the wires by signal name. */
  readonly symbols?: boolean;
  readonly signal?: AbortSignal | undefined;
};

/** The paths of the compiler's two results. */
export type CompiledCircuit = { readonly r1csPath: string; readonly wasmPath: string };

const require = createRequire(import.meta.url);

function locateCompiler(): { script: string; version: string } {
  try {
    const manifest = require.resolve('circom2/package.json');
    const parsed: unknown = JSON.parse(readFileSync(manifest, 'utf8'));
    if (typeof parsed !== 'object' || parsed === null || !('version' in parsed)) {
      throw new TypeError('circom2 reports no version');
    }
    return { script: join(dirname(manifest), 'cli.js'), version: String(parsed.version) };
  } catch (cause) {
    throw new PoolError(
      'compile_failed',
      'The circom compiler is not installed. Install the development dependency circom2.',
      { cause },
    );
  }
}

/** Name, version and flags of the compiler: part of an artifact's identity. */
export function describeCompiler(): string {
  return `circom2 ${locateCompiler().version} ${optimisation}`;
}

/**
 * Compiles a circuit.
 * @param source path of the main `.circom` file; its includes must be in the same folder or below
 * @param outputFolder existing folder for the results
 * @throws PoolError `compile_failed` with the compiler's last output as cause
 */
export async function compileCircuit(
  source: string,
  outputFolder: string,
  { signal, symbols = false }: CompileOptions = {},
): Promise<CompiledCircuit> {
  const name = basename(source, '.circom');
  const args = [
    locateCompiler().script,
    source,
    '--r1cs',
    '--wasm',
    optimisation,
    '-o',
    outputFolder,
  ];
  if (symbols) {
    args.push('--sym');
  }
  const compiler = spawn(process.execPath, args, {
    cwd: dirname(source),
    env: {},
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(signal === undefined ? {} : { signal }),
  });
  let output = '';
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-keptOutput);
  };
  compiler.stdout.on('data', keep);
  compiler.stderr.on('data', keep);
  const code = await new Promise<number | null>((resolve, reject) => {
    compiler.on('error', reject);
    compiler.on('close', resolve);
  });
  if (code !== 0) {
    throw new PoolError('compile_failed', `The circuit ${name} does not compile.`, {
      cause: new Error(output),
    });
  }
  return {
    r1csPath: join(outputFolder, `${name}.r1cs`),
    wasmPath: join(outputFolder, `${name}_js`, `${name}.wasm`),
  };
}
