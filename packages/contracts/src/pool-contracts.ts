/**
 * `pool-contracts`: deploys a pool with the keys of a ceremony.
 *
 * Exit codes: 0 success; 1 failure; 2 wrong usage; 3 checked and refused (a development key, or something else on chain than planned).
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isPoolError } from '@pool/core';
import { readEnvironment } from './config.ts';
import { runDeploy, UsageError, usage } from './deployment/deploy-command.ts';

const refusals = new Set([
  'artifact_refused',
  'deployment_differs',
  'development_key_on_public_chain',
  'no_contribution',
]);

async function run([command, ...args]: readonly string[]): Promise<void> {
  switch (command) {
    case 'deploy':
      return await runDeploy(args, {
        env: readEnvironment(),
        out: (text) => void process.stdout.write(text),
        progress: (text) => void process.stderr.write(text),
        sleep: async (milliseconds) => {
          await sleep(milliseconds);
        },
      });
    case '--help':
    case 'help':
      process.stdout.write(usage);
      return undefined;
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

try {
  await run(process.argv.slice(2));
} catch (error) {
  if (isUsageError(error)) {
    process.stderr.write(`${error.message}\n\n${usage}`);
    process.exitCode = 2;
  } else if (isPoolError(error)) {
    process.stderr.write(`${error.code}: ${error.message}\n`);
    process.exitCode = refusals.has(error.code) ? 3 : 1;
  } else {
    process.stderr.write(`${String(error)}\n`);
    process.exitCode = 1;
  }
}
