// The batch of a job: its circuit, and that a run builds it once.
import { createFakeHolder } from '@pool/testkit';
import { expect, it } from 'vitest';
import { createWorld, type FakeJob } from '../../fixtures/fake-world.ts';
import type { FaultPoint } from '../job/phases.ts';
import { deserializeManifest, manifestName } from '../job/record.ts';

function dieAt(where: FaultPoint): (point: FaultPoint) => void {
  return (point) => {
    if (point === where) {
      throw new Error('crash');
    }
  };
}

it.each([
  [16, 16],
  [17, 64],
  [64, 64],
  [65, 256],
])('uses the smallest circuit for %i recipients: fund-%i', async (count, size) => {
  const world = await createWorld({ maxRecipients: 256 });
  const holders = Array.from({ length: count }, (_, index) => createFakeHolder(100 + index));
  for (const holder of holders) {
    world.platform.enroll(holder);
    world.gate.admit(holder);
  }
  const recipients = holders.map(({ address }) => ({ recipientAddress: address, amount: '1' }));
  const job = await world.accept('run-1', { recipients });
  await world.run(job, dieAt('manifest.after-store')).catch(() => undefined);
  expect(deserializeManifest(job.values.get(manifestName) ?? '').manifest.size).toBe(size);
});

/** Counts how often the manifest is read from the store. Each reading may be followed by building the batch. */
function countReadings(job: FakeJob): { readonly job: FakeJob; readings: number } {
  const counted = {
    readings: 0,
    job: {
      ...job,
      journal: {
        ...job.journal,
        async getValue(name: string) {
          counted.readings += name === manifestName ? 1 : 0;
          return job.journal.getValue(name);
        },
      },
    },
  };
  return counted;
}

it.each<FaultPoint>([
  'manifest.after-store',
  'proving.after-store',
  'signing.after-store',
  'settling.posted',
])('is built once by a run that continues after a crash at %s', async (point) => {
  const world = await createWorld({ permit: true, finalityBlocks: 5 });
  const job = await world.accept();
  await expect(world.run(job, dieAt(point))).rejects.toMatchObject({ code: 'run_interrupted' });
  const counted = countReadings(job);
  await world.run(counted.job);
  expect(job.state()).toBe('done');
  // Once to compare its settings with the current ones, once to build it.
  expect(counted.readings).toBe(2);
});
