/**
 * `pool-circuits`: circuits and development keys (list, build), production keys (fetch), ceremonies.
 *
 * Each command imports its own code when it runs, so that `--help` prints without it.
 *
 * Exit codes: 0 success; 1 failure; 2 wrong usage; 3 checked and refused (an invalid key, or a file with another digest).
 *
 * @module
 */
import { circuitNames, circuitShapes, isPoolError } from '@pool/core';
import { command, UsageError } from './commands/command-io.ts';

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

async function list(): Promise<number> {
  const { readArtifactsManifest } = await import('./artifacts-manifest.ts');
  const manifest = readArtifactsManifest();
  for (const name of circuitNames) {
    const { constraints, wires } = manifest[name];
    const slots = circuitShapes[name].outputs;
    process.stdout.write(`${name}  ${slots} slots  ${constraints} constraints  ${wires} wires\n`);
  }
  return 0;
}

/** With --zkey it writes the key's standard form too, for tools of the snarkjs family. */
const build = command(['circuit'], ['cache-dir', 'zkey'], [], async ({ values, answer }) => {
  const { createArtifactStore } = await import('./artifacts/artifact-store.ts');
  const { parseCircuitName } = await import('./circuits.ts');
  const store = createArtifactStore({ cacheDir: values['cache-dir'], keyForm: 'compact' });
  const circuit = parseCircuitName(values.circuit);
  let lastStage = '';
  const artifacts = await store.ensureArtifacts(circuit, {
    onProgress: (stage) => {
      if (stage !== lastStage) {
        lastStage = stage;
        process.stderr.write(`${stage}\n`);
      }
    },
  });
  if (values.zkey !== undefined) {
    await store.writeStandardZkey(circuit, values.zkey);
  }
  return answer(undefined, `${artifacts.wasm}\n${artifacts.zkey}\n`);
});

async function run([name, ...args]: readonly string[], signal: AbortSignal): Promise<number> {
  switch (name) {
    case 'list':
      return await list();
    case 'build':
      return await build(args, signal);
    case 'fetch':
      return await (await import('./commands/fetch-command.ts')).runFetch(args, signal);
    case 'ceremony':
      return await (await import('./commands/ceremony-command.ts')).runCeremony(args, signal);
    case '--help':
    case 'help':
      process.stdout.write(usage);
      return 0;
    default:
      throw new UsageError('unknown command');
  }
}

function reportFailure(error: unknown): number {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n\n${usage}`);
    return 2;
  }
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
process.exitCode = await run(process.argv.slice(2), interruption.signal).catch(reportFailure);
