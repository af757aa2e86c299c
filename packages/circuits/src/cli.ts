/**
 * `pool-circuits`: circuits and development keys (list, build), production keys (fetch), ceremonies.
 *
 * Exit codes: 0 done; 1 could not be done; 2 wrong usage; 3 looked at and refused (an unsound key, a file with another digest).
 *
 * @module
 */
import { parseArgs } from 'node:util';
import { isPoolError } from '@pool/core';
import { createArtifactStore } from './artifact-store.ts';
import { readArtifactsManifest } from './artifacts-manifest.ts';
import { ceremonyUsage, runCeremony } from './ceremony/ceremony-command.ts';
import { circuitNames, circuitSizes, parseCircuitName } from './circuits.ts';
import { type CommandIo, createCommandIo, UsageError } from './command-io.ts';
import { fetchUsage, runFetch } from './fetch-command.ts';

const usage = `pool-circuits list
pool-circuits build --circuit <${circuitNames.join('|')}> [--cache-dir <folder>] [--zkey <file>]
    development keys: anybody can forge proofs under them
${fetchUsage}${ceremonyUsage}
Every command but list and build takes --json. Exit codes: 0 done, 1 could not be done, 2 wrong usage, 3 refused.
`;

function list(): string {
  const manifest = readArtifactsManifest();
  return circuitNames
    .map((name) => {
      const { constraints, wires } = manifest[name];
      return `${name}  ${circuitSizes[name]} slots  ${constraints} constraints  ${wires} wires\n`;
    })
    .join('');
}

/** @param zkeyPath where the key's standard form goes as well, for tools of the snarkjs family */
async function build(name: string, cacheDir?: string, zkeyPath?: string): Promise<string> {
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
}

async function runBuild(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      circuit: { type: 'string' },
      'cache-dir': { type: 'string' },
      zkey: { type: 'string' },
    },
  });
  if (values.circuit === undefined) {
    throw new UsageError('--circuit is missing');
  }
  process.stdout.write(await build(values.circuit, values['cache-dir'], values.zkey));
  return 0;
}

async function run([command, ...args]: readonly string[], io: CommandIo): Promise<number> {
  switch (command) {
    case 'list':
      process.stdout.write(list());
      return 0;
    case 'build':
      return await runBuild(args);
    case 'fetch':
      return await runFetch(args, io);
    case 'ceremony':
      return await runCeremony(args, io);
    case '--help':
    case 'help':
      process.stdout.write(usage);
      return 0;
    default:
      throw new UsageError('unknown command');
  }
}

function isUsageError(error: unknown): error is Error {
  return (
    error instanceof UsageError ||
    (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_'))
  );
}

function describe(error: unknown): string {
  if (isPoolError(error)) {
    return `${error.code}: ${error.message}`;
  }
  return error instanceof Error && error.name === 'AbortError' ? 'interrupted' : String(error);
}

const interruption = new AbortController();
function interrupt() {
  return interruption.abort();
}
process.once('SIGINT', interrupt).once('SIGTERM', interrupt);

try {
  const io = createCommandIo(process.stdout, process.stderr, interruption.signal);
  process.exitCode = await run(process.argv.slice(2), io);
} catch (error) {
  if (isUsageError(error)) {
    process.stderr.write(`${error.message}\n\n${usage}`);
    process.exitCode = 2;
  } else {
    process.stderr.write(`${describe(error)}\n`);
    const isRefusal = isPoolError(error) && error.code === 'artifact_refused';
    process.exitCode = isRefusal ? 3 : 1;
  }
}
