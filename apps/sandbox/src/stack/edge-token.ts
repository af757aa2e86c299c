/**
 * The agent's credential at the platform's edge, made as an operator makes it: by the platform's own
 * command, beside the running platform.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { PoolError } from '@pool/core';
import { findProgram } from '@pool/testkit';
import * as v from 'valibot';

const answerSchema = v.object({ token: v.pipe(v.string(), v.startsWith('pool_edge_')) });

/** @throws PoolError `sandbox_failed` */
export async function createEdgeToken(options: {
  /** The platform's entry file. */
  readonly script: string;
  readonly dataDirectory: string;
  readonly employerAddress: string;
}): Promise<string> {
  const { script, dataDirectory, employerAddress } = options;
  const command = ['edge-token', 'create', '--address', employerAddress, '--name', 'sandbox'];
  try {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [
        ...['--conditions=@pool/source', '--disable-warning=ExperimentalWarning'],
        ...[findProgram(script), ...command],
      ],
      {
        env: {
          PATH: process.env['PATH'],
          NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
          PLATFORM_DATA_DIR: dataDirectory,
        },
      },
    );
    return v.parse(answerSchema, JSON.parse(stdout)).token;
  } catch {
    // The output of the command may contain the token, so no message repeats it.
    throw new PoolError('sandbox_failed', 'the platform made no edge token; see its log');
  }
}
