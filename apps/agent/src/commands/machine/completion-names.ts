/**
 * The names that a shell completes: labels of pay runs, or schedules. It is run at a press of a key, so it asks no server, and an error
 * prints nothing.
 *
 * @module
 */
import { findJobServer, findJobStore } from '@pool/idempotency';
import { createScheduleStore, exitCodes, listAllPayRuns, type Output } from '@pool/pay-run';
import { readAgentPlace } from '../../config/config.ts';

export type CompletedNames = 'labels' | 'schedules';

/** Others a shell would split, or read as something else. */
const plain = /^[a-z0-9][a-z0-9._-]*$/;

/** @returns the exit code */
export async function runNames(
  kind: CompletedNames,
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const names = await listNames(kind).catch(() => []);
  out([...new Set(names)].filter((name) => plain.test(name)).join('\n'));
  return exitCodes.ok;
}

async function listNames(kind: CompletedNames): Promise<readonly string[]> {
  const { home, jobs } = readAgentPlace();
  if (findJobServer(jobs) !== undefined) {
    return [];
  }
  if (kind === 'labels') {
    return (await listAllPayRuns({ home, jobs })).map(({ payRun }) => payRun);
  }
  const store = await findJobStore(jobs);
  try {
    const { schedules = [], damaged = [] } =
      (store && (await createScheduleStore(store, Date.now).list())) ?? {};
    const kept = schedules.filter(({ state }) => state !== 'removed');
    return [...kept.map(({ definition }) => definition.name), ...damaged];
  } finally {
    await store?.close();
  }
}
