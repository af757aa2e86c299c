/**
 * `pool-circuits`: circuits and development keys (list, build), production keys (fetch), ceremonies.
 *
 * Each command imports its own code when it runs, so that `--help` prints without it.
 *
 * Exit codes: 0 success; 1 failure; 2 wrong usage; 3 checked and refused (an invalid key, or a file with another digest).
 *
 * @module
 */
import { parseArgs } from 'node:util';
import { circuitNames } from '@pool/core';
import { type CommandIo, createCommandIo, UsageError } from './commands/command-io.ts';

// The text of `pool-circuits --help`.

const fetchUsage = `pool-circuits fetch --from <url|folder> --out <folder> [--circuit NAME] [--manifest F]
    fetches the files that a manifest pins (default: the committed one; all its circuits) from <from>/<circuit>/
`;

const ceremonyUsage = `pool-circuits ceremony init --r1cs F --ptau F [--ptau-sha256 HEX] --out F [--force]
    writes the key before any contribution; without the digest, the powers of tau must record a secret contribution
pool-circuits ceremony contribute --in F --out F [--name TEXT] [--entropy-file F] [--force]
    multiplies the key by a fresh secret; --entropy-file adds your own randomness (at most 1 MiB is read)
pool-circuits ceremony beacon --in F --out F --beacon HEX --iterations EXPONENT [--name TEXT] [--force]
    ends the ceremony with a public value, hashed 2^EXPONENT times (10 to 40)
pool-circuits ceremony verify --r1cs F --ptau F [--ptau-sha256 HEX] --zkey F
    checks everything; exit code 3 if the key is not valid, or if it has no secret contribution
pool-circuits ceremony export-verifier --zkey F --out F [--solidity F --circuit NAME --contract NAME] [--force]
    writes the verification key as JSON, and as Solidity
`;

const usage = `pool-circuits list
pool-circuits build --circuit <${circuitNames.join('|')}> [--cache-dir <folder>] [--zkey <file>]
    builds development keys: anyone can forge proofs under them
${fetchUsage}${ceremonyUsage}
Every command except list and build accepts --json. Exit codes: 0 success, 1 failure, 2 wrong usage, 3 refused.
`;

async function list(): Promise<string> {
  const { readArtifactsManifest } = await import('./artifacts-manifest.ts');
  const { circuitNames, circuitShapes } = await import('@pool/core');
  const manifest = readArtifactsManifest();
  return circuitNames
    .map((name) => {
      const { constraints, wires } = manifest[name];
      return `${name}  ${circuitShapes[name].outputs} slots  ${constraints} constraints  ${wires} wires\n`;
    })
    .join('');
}

/** @param zkeyPath where to write the key's standard form too, for tools of the snarkjs family */
async function build(name: string, cacheDir?: string, zkeyPath?: string): Promise<string> {
  const { createArtifactStore } = await import('./artifacts/artifact-store.ts');
  const { parseCircuitName } = await import('./circuits.ts');
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
      process.stdout.write(await list());
      return 0;
    case 'build':
      return await runBuild(args);
    case 'fetch': {
      const { runFetch } = await import('./commands/fetch-command.ts');
      return await runFetch(args, io);
    }
    case 'ceremony': {
      const { runCeremony } = await import('./commands/ceremony-command.ts');
      return await runCeremony(args, io);
    }
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

/** @returns the exit code */
async function reportFailure(error: unknown): Promise<number> {
  const { isPoolError } = await import('@pool/core');
  if (isPoolError(error)) {
    process.stderr.write(`${error.code}: ${error.message}\n`);
    return error.code === 'artifact_refused' ? 3 : 1;
  }
  const isInterrupted = error instanceof Error && error.name === 'AbortError';
  process.stderr.write(`${isInterrupted ? 'interrupted' : String(error)}\n`);
  return 1;
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
    process.exitCode = await reportFailure(error);
  }
}
