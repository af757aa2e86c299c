// The result of a paid job: a commitment for each recipient, or no result.
import { parseHex32 } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { createFakeJob, createWorld, type FakeJob, viewOf } from '../fixtures/fake-world.ts';
import type { Phase } from './job/phases.ts';
import type { DisbursementRecord } from './job/record.ts';

/** A job whose batch is final on chain, and whose process crashed before it concluded. */
async function payAndDie() {
  const world = await createWorld({ permit: true });
  const job = await world.accept();
  const accepted = job.payload();
  await expect(
    world.run(job, (point) => {
      if (point === 'settling.observed') {
        throw new Error('crash');
      }
    }),
  ).rejects.toMatchObject({ code: 'run_interrupted' });
  return { world, job, accepted };
}

/** The same job with another record. Manifest and release record stay. */
function withRecord(job: FakeJob, record: DisbursementRecord): FakeJob {
  const changed = createFakeJob(JSON.stringify(record));
  for (const [name, value] of job.values) {
    changed.values.set(name, value);
  }
  return changed;
}

describe('a job that is paid', () => {
  it('ends done with the same commitments when its store lost the batch', async () => {
    const { world, job, accepted } = await payAndDie();
    const restored = createFakeJob(accepted);
    await world.run(restored);
    await world.run(job);
    const { notes = [] } = viewOf(restored).result ?? {};
    expect([restored.state(), world.chain.funds]).toEqual(['done', 1]);
    expect(notes).toHaveLength(3);
    expect(notes).toEqual(viewOf(job).result?.notes);
    for (const { commitment } of notes) {
      expect(parseHex32(commitment)).toBe(commitment);
    }
  });

  it.each([
    ['after its release', (record: DisbursementRecord) => record],
    [
      'when the record does not know of the release',
      (record: DisbursementRecord): DisbursementRecord => {
        const { proved, signature, votes, approvals, permit } = {
          permit: undefined,
          ...record.phase,
        } as Extract<Phase, { kind: 'signed' }>;
        const facts = { proved, signature, votes, approvals, permit };
        return { ...record, phase: { kind: 'signed', ...facts } as Phase };
      },
    ],
  ])('gets no result with a recipient that its batch does not pay, %s', async (_, change) => {
    const { world, job } = await payAndDie();
    const record = job.stored();
    const recipients = [...record.recipients, { ...record.recipients[0]!, requestIndex: 3 }];
    const changed = withRecord(job, change({ ...record, recipients }));
    await expect(world.run(changed)).rejects.toMatchObject({
      code: 'run_interrupted',
      message: expect.stringContaining('recipient 3 of the job has no note'),
    });
    expect(['done', 'failed']).not.toContain(changed.state());
    expect(changed.record()).not.toHaveProperty('result');
    expect(changed.record()).not.toHaveProperty('error');
  });
});
