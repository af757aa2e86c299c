/**
 * The file of the gate's configuration: `NAME=value` lines. It is chosen by `--env-file`, else `$APPROVE_ENV`, else `approve.env` in
 * the gate's directory. It is never the file of an agent.
 *
 * @module
 */
import { createConfigFiles, type ConfigSource as FileSource } from '@pool/configuration';

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
