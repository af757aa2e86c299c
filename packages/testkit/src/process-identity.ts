/**
 * Which process a pid means. Pids are reused, so a process is named by its pid and the time the kernel
 * started it: nothing else is ever signalled.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export type ProcessIdentity = {
  readonly pid: number;
  /** Start time as the kernel reports it; opaque, compared for equality only. */
  readonly startedAt: string;
};

/** Undefined: no such process, or one that has ended and only waits to be collected. */
export function readProcessIdentity(pid: number): ProcessIdentity | undefined {
  const startedAt = process.platform === 'linux' ? readFromProc(pid) : readFromPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

/** True while exactly this process runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  return readProcessIdentity(identity.pid)?.startedAt === identity.startedAt;
}

/**
 * Ends a process and its group: SIGTERM, then SIGKILL for the rest after the grace period.
 * @param identity - a process that leads its own group. One that has ended is not signalled.
 * @param graceMs - 0: SIGKILL at once
 */
export async function endProcess(identity: ProcessIdentity, graceMs = 5_000): Promise<void> {
  if (!isRunning(identity)) {
    return;
  }
  if (graceMs > 0) {
    signalGroup(identity, 'SIGTERM');
    const deadline = performance.now() + graceMs;
    while (isRunning(identity) && performance.now() < deadline) {
      await sleep(20);
    }
  }
  // Once more after the leader is gone: its children keep the group's number from being reused.
  do {
    signalGroup(identity, 'SIGKILL');
    await sleep(20);
  } while (isRunning(identity));
}

function signalGroup(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  try {
    process.kill(-identity.pid, signal);
  } catch {
    // The group is gone.
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

// Field 22 is the start time in clock ticks since boot. The name in field 2 may hold spaces and brackets,
// so fields are counted from its closing bracket.
function readFromProc(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function readFromPs(pid: number): string | undefined {
  try {
    const [state, ...start] = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
      .trim()
      .split(/\s+/);
    return state === undefined || state.startsWith('Z') ? undefined : start.join(' ');
  } catch {
    return undefined;
  }
}
