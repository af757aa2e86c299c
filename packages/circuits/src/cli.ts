/**
 * `pool-circuits build --circuit <name> [--cache-dir <folder>] [--zkey <file>]` and `pool-circuits list`.
 *
 * @module
 */
import { parseArgs } from 'node:util';
import { isPoolError } from '@pool/core';
import { createArtifactStore } from './artifact-store.ts';
import { readArtifactsManifest } from './artifacts-manifest.ts';
import { circuitNames, circuitSizes, parseCircuitName } from './circuits.ts';

const USAGE = `pool-circuits list
pool-circuits build --circuit <${circuitNames.join('|')}> [--cache-dir <folder>] [--zkey <file>]
`;

const list = (): string => {
  const manifest = readArtifactsManifest();
  return circuitNames
    .map((name) => {
      const { constraints, wires } = manifest[name];
      return `${name}  ${circuitSizes[name]} slots  ${constraints} constraints  ${wires} wires\n`;
    })
    .join('');
};

/** @param zkeyPath where the key's standard form goes as well, for tools of the snarkjs family */
const build = async (name: string, cacheDir?: string, zkeyPath?: string): Promise<string> => {
  const store = createArtifactStore({ cacheDir, keyForm: 'compact' });
  const circuit = parseCircuitName(name);
  let lastStage = '';
  const artifacts = await store.ensureArtifacts(circuit, {
    onProgress: (stage) => {
      if (stage !== lastStage) {
        lastStage = stage;
        process.stderr.write(`${stage}\n`);
      }
    },
  });
  if (zkeyPath !== undefined) {
    await store.writeStandardZkey(circuit, zkeyPath);
  }
  return `${artifacts.wasmPath}\n${artifacts.zkeyPath}\n`;
};

const main = async (): Promise<void> => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      circuit: { type: 'string' },
      'cache-dir': { type: 'string' },
      zkey: { type: 'string' },
    },
  });
  const [command] = positionals;
  if (command === 'list') {
    process.stdout.write(list());
  } else if (command === 'build' && values.circuit !== undefined) {
    process.stdout.write(await build(values.circuit, values['cache-dir'], values.zkey));
  } else {
    process.stderr.write(USAGE);
    process.exitCode = 2;
  }
};

try {
  await main();
} catch (error) {
  const text = isPoolError(error) ? `${error.code}: ${error.message}` : String(error);
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
}
