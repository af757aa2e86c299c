/**
 * The sandbox's processes: how each is started, and their environment files.
 *
 * @module
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ManagedProcess } from '@pool/testkit';

/** The whole environment of a process: nothing is inherited. */
export type Environment = Readonly<Record<string, string>>;

/** Starts a program of Node with a log of its name, and lists it, so that it ends with the sandbox. */
export type StartNode = (program: {
  readonly name: string;
  readonly script: string;
  readonly args: readonly string[];
  readonly env?: Environment;
}) => ManagedProcess;

/** Writes values of several lines, PEM keys, into files of a home. @returns variables of one line, `NAME_FILE` for those */
export function placeSecrets(home: string, variables: Environment): Environment {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => {
      if (!value.includes('\n')) {
        return [name, value];
      }
      const path = join(home, `${name.toLowerCase()}.pem`);
      writePrivate(path, value);
      return [`${name}_FILE`, path];
    }),
  );
}

/** A file that only its owner can read. */
export function writePrivate(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 });
}

/** `NAME=value` lines. */
export function formatEnvFile(variables: Environment): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}
