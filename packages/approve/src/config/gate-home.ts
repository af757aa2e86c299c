/**
 * The gate's directory, and the file of its configuration: `NAME=value` lines. It is chosen by `--env-file`, else `$APPROVE_ENV`, else `approve.env` in
 * the gate's directory. It is never the file of an agent.
 *
 * @module
 */

import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createConfigFiles, type ConfigSource as FileSource } from '@pool/configuration';
import { errorCodeOf } from '@pool/core';
import type { ShellLog } from '@pool/http-server';

/** What the parts of the gate need of a log: ids, codes and counts, never an amount, a recipient or a secret. */
export type GateLog = Omit<ShellLog, 'child'>;

// The gate's directory. It holds the ledger, which one gate opens as its voter. The commands of the operator open it beside the running
// gate: every write is one immediate transaction, so no socket has to be guarded (docs/decisions/0014).

/** Creates the directory if it is missing, and removes the access of other users. */
export function ensureGateHome(home: string): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  chmodSync(home, 0o700);
}

export function ledgerPath(home: string): string {
  return join(home, 'ledger.sqlite');
}

/** What the configuration reads from this machine. */
export type ConfigSource = FileSource & {
  /** Permission bits of a file. Undefined: there are none, as of standard input. Absent: they are not checked. */
  readonly readMode?: (path: string) => number | undefined;
};

export const { createLayers, readConfigFile } = createConfigFiles({
  homeVariable: 'APPROVE_HOME',
  homeFolder: '.pool-approve',
  fileVariable: 'APPROVE_ENV',
  fileName: 'approve.env',
  ownName: /^(?:APPROVE|NODE)_[A-Z0-9_]+$/,
});

/** A secret that every user of the host can read is none. A group may read it: the service's own. */
export function findModeProblem(
  { readMode }: Pick<ConfigSource, 'readMode'>,
  path: string,
): string | undefined {
  const mode = readMode?.(path) ?? 0;
  return (mode & 0o007) === 0
    ? undefined
    : `${path} is open to every user of this host (mode ${(mode & 0o777).toString(8).padStart(4, '0')}); run "chmod o= ${path}", and replace the secret if others could have read it`;
}

/** How messages call a file that a command reads. */
export function describeInput(path: string): string {
  return path === '-' ? 'standard input' : path;
}

/** What of an error a log line may contain: its code, or its class. Its message can quote its input. */
export function nameError(error: unknown): string {
  return errorCodeOf(error) ?? (error instanceof Error ? error.name : 'unknown');
}
