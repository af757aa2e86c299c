/**
 * `disburse-agent approve`: the gate of `@pool/approve`, loaded only when it is asked for. It has a configuration of its own and reads
 * nothing of the agent's.
 *
 * @module
 */

import { isBuiltin } from 'node:module';
import type { Output } from '@pool/pay-run';
import { requiredNode, version } from '../../config/version.ts';

/** @param args - what follows `approve` on the command line. @returns the exit code */
export async function runApprove(
  args: readonly string[],
  _: object,
  streams: Pick<Output, 'out'> & { err(text: string): void },
): Promise<number> {
  // An older Node does not even load the gate, which imports node:sqlite.
  if (!isBuiltin('node:sqlite')) {
    streams.err(
      `disburse-agent approve needs Node ${requiredNode} with node:sqlite, and this is Node ${process.versions.node}; install a newer Node`,
    );
    return 1;
  }
  const { createProcessSource, runApproveCli } = await import('@pool/approve');
  return await runApproveCli(args, {
    name: 'disburse-agent approve',
    version,
    source: createProcessSource(),
    nowMs: Date.now,
    streams,
  });
}
