// Reading records of this version and of earlier ones.
import { canonicalDigest } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { createFakeJob, createWorld, type World } from '../fixtures/fake-world.ts';
import { deserializeRecord } from './record.ts';

/** The record of an accepted job as earlier versions stored it: with the whole request. */
async function createEarlierPayload(world: World): Promise<string> {
  const { requestDigest: _digest, ...record } = (await world.accept()).record();
  return JSON.stringify({ ...record, request: world.createRequest() });
}

describe('a record with the request of an earlier version', () => {
  it('is read without the request, and with the digest of its body', async () => {
    const world = await createWorld();
    const record = deserializeRecord(await createEarlierPayload(world));
    expect(record).not.toHaveProperty('request');
    expect(record).toEqual((await world.accept()).record());
    expect(record.requestDigest).toBe(canonicalDigest(world.createRequest()));
  });

  it('is paid, and loses the request with its next write', async () => {
    const world = await createWorld({ permit: true });
    const job = createFakeJob(await createEarlierPayload(world));
    expect(job.payload()).toContain('recipientAddress');
    await world
      .run(job, (point) => {
        if (point === 'proving.after-store') {
          throw new Error('crash');
        }
      })
      .catch(() => undefined);
    expect(JSON.parse(job.payload())).not.toHaveProperty('request');
    expect(job.payload()).not.toContain('recipientAddress');
    await world.run(job);
    expect(job.state()).toBe('done');
    expect(world.chain.funds).toBe(1);
  });
});

it('reads the earlier name and the nulls of an earlier version', async () => {
  const world = await createWorld();
  const record = (await world.accept()).record();
  const lostPlace = { code: 'unregistered-recipient', message: 'm' };
  const earlier = {
    ...record,
    proved: { eligibilityRoot: '0x00', digest: '0x00', proof: {} },
    signature: '0x00',
    releasedAtMs: 1,
    lostPlace,
    refusal: null,
    blocked: null,
  };
  const read = deserializeRecord(JSON.stringify(earlier));
  expect(read.eligibilityLoss).toEqual(lostPlace);
  for (const name of ['lostPlace', 'refusal', 'blocked']) {
    expect(read).not.toHaveProperty(name);
  }
  const withoutLoss = deserializeRecord(JSON.stringify({ ...earlier, lostPlace: null }));
  expect(withoutLoss).not.toHaveProperty('eligibilityLoss');
});

it.each([
  ['is not JSON', '{"version": 1'],
  ['is of another version', '{"version": 2}'],
])('refuses a record that %s', (_what, payload) => {
  expect(() => deserializeRecord(payload)).toThrow(
    expect.objectContaining({ code: 'job_unreadable' }),
  );
});
