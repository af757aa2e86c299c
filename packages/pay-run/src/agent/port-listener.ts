/**
 * Which process listens on a port of this machine, where the system shows it: Linux, and processes of the same user.
 *
 * @module
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** @returns words for a message: `process 1234, node`. Undefined: not known */
export function findListener(port: number): string | undefined {
  const sockets = new Set(
    ['/proc/net/tcp', '/proc/net/tcp6']
      .flatMap((path) => attempt(() => readFileSync(path, 'utf8').split('\n')) ?? [])
      .flatMap((line) => readListening(line, port)),
  );
  if (sockets.size === 0) {
    return undefined;
  }
  const pids = (attempt(() => readdirSync('/proc')) ?? []).filter((name) => /^\d+$/.test(name));
  const pid = pids.find((id) =>
    (attempt(() => readdirSync(`/proc/${id}/fd`)) ?? []).some((fd) =>
      sockets.has(attempt(() => readlinkSync(`/proc/${id}/fd/${fd}`)) ?? ''),
    ),
  );
  if (pid === undefined) {
    return undefined;
  }
  const name = attempt(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim());
  // A program chooses its name.
  return `process ${pid}${name === undefined ? '' : `, ${name.replace(/[^\w .:-]/g, '?')}`}`;
}

/** The link to a socket that listens on the port, as `/proc/<pid>/fd` shows it. */
function readListening(line: string, port: number): readonly string[] {
  const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
  const isOnPort = Number.parseInt(local.split(':')[1] ?? '', 16) === port;
  return isOnPort && state === '0A' ? [`socket:[${inode}]`] : [];
}

/** Undefined where the system refuses: other platforms, other users, processes that just ended. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
