// While a job computes, routes, timers and lease renewals also run, because they share one thread.
import { createFakeHolder } from '@pool/testkit';
import { computeInTurns, createComputeQueue, createPace, giveWay } from '@pool/wallet';
import { expect, it } from 'vitest';
import { createWorld, viewOf } from './fixtures/fake-world.ts';

/** Counts turns of the event loop until it is stopped. */
function countTurns(): () => number {
  let turns = 0;
  let isOn = true;
  const tick = (): void => {
    turns += 1;
    if (isOn) {
      setImmediate(tick);
    }
  };
  setImmediate(tick);
  return () => {
    isOn = false;
    return turns;
  };
}

it('yields throughout a batch of 64', async () => {
  const world = await createWorld({ permit: true });
  const holders = Array.from({ length: 64 }, (_, index) => createFakeHolder(index + 10));
  for (const holder of holders) {
    world.platform.enroll(holder);
    world.gate.admit(holder);
  }
  const recipients = holders.map(({ address }) => ({ recipientAddress: address, amount: '1' }));
  const job = await world.accept('run-1', { recipients });
  // A stage without pauses computes within a single turn.
  const turnsOf = new Map<string, number>();
  let stage = 'start';
  let stop = countTurns();
  const close = (next: string): void => {
    turnsOf.set(stage, (turnsOf.get(stage) ?? 0) + stop());
    stage = next;
    stop = countTurns();
  };
  await world.run(job, undefined, {
    onEvent: (event) => (event.kind === 'stage' ? close(event.stage) : undefined),
  });
  close('end');
  expect(viewOf(job).result?.status).toBe('completed');
  expect(turnsOf.get('eligibility')).toBeGreaterThan(4);
  expect(turnsOf.get('proving')).toBeGreaterThan(4);
  // The proved batch is sent. It is not built a second time.
  expect(turnsOf.get('approving-allowance')).toBeLessThan(4);
});

it('returns the result of a computation, and throws what it throws', async () => {
  const compute = function* (fails: boolean): Generator<undefined, number, undefined> {
    yield;
    if (fails) {
      throw new Error('no');
    }
    return 7;
  };
  expect(await computeInTurns(compute(false), createPace())).toBe(7);
  await expect(computeInTurns(compute(true), createPace())).rejects.toThrow('no');
});

it('yields at most every few milliseconds', async () => {
  const stop = countTurns();
  await computeInTurns(
    (function* (): Generator<undefined, void, undefined> {
      for (let step = 0; step < 10_000; step += 1) {
        yield;
      }
    })(),
    createPace(),
  );
  await giveWay();
  expect(stop()).toBeLessThan(100);
});

it('lets one job compute per turn, the oldest first', async () => {
  let slices = 0;
  const finished: number[] = [];
  const compute = function* (job: number): Generator<undefined, void, undefined> {
    for (let step = 0; step < 5; step += 1) {
      slices += 1;
      const endMs = performance.now() + 9;
      while (performance.now() < endMs);
      yield;
    }
    finished.push(job);
  };
  let [seen, most, turns] = [0, 0, 0];
  let isOver = false;
  const queue = createComputeQueue();
  const jobs = Array.from({ length: 8 }, (_, job) =>
    computeInTurns(compute(job), queue.createJobPace()),
  );
  // By now each job has done its first piece of work, before it had to wait.
  seen = slices;
  const watch = (): void => {
    most = Math.max(most, slices - seen);
    seen = slices;
    turns += 1;
    if (!isOver) {
      setImmediate(watch);
    }
  };
  setImmediate(watch);
  await Promise.all(jobs);
  isOver = true;
  expect(slices).toBe(40);
  expect(most).toBe(1);
  expect(turns).toBeGreaterThanOrEqual(32);
  expect(finished).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});
