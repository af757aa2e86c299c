// What is told of the releases of a job, from the entries of the release log.
import type { StoredJob } from '@pool/idempotency';
import { expect, it } from 'vitest';
import { serializeJob } from './fixtures/webhook-world.ts';
import { listReleaseEvents, type ToldEntry } from './release-events.ts';

const confidential = { by: 'Ben', total: '12345', count: 3, token: 'USDC', signature: '0x1234' };

function entry(event: string, minute: number, more: object = {}): ToldEntry {
  return { ...confidential, event, at: `2027-03-01T09:0${minute}:00Z`, policy: 'p1', ...more };
}

function list(entries: readonly ToldEntry[], stage?: 'awaiting-release') {
  const payload = serializeJob(stage === undefined ? {} : { stage });
  const job = { scope: 'employer-1', key: 'may-2027', payload } as StoredJob;
  return listReleaseEvents(job, 'may', entries);
}

function typesOf(entries: readonly ToldEntry[]): readonly string[] {
  return list(entries).map(({ type, data }) => `${type} ${data.releasers}`);
}

it('tells a payment that waits for people, once, and without totals and names', () => {
  const waiting = list([entry('prepare', 0)], 'awaiting-release');
  const later = list([entry('prepare', 0), entry('release', 1), entry('released', 2)]);
  expect(waiting).toEqual([
    {
      id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
      type: 'release.waiting',
      timestamp: '2027-03-01T09:00:00.000Z',
      data: { key: 'may-2027', label: 'may', releasers: 'people' },
    },
  ]);
  expect(later.map(({ type }) => type)).toEqual(['release.waiting', 'release.released']);
  expect(later[0]).toEqual(waiting[0]);
  expect(new Set(later.map(({ id }) => id)).size).toBe(2);
  expect(JSON.stringify(later)).not.toMatch(/Ben|12345|0x1234|USDC/);
});

it('tells a denial', () => {
  expect(typesOf([entry('prepare', 0), entry('deny', 1), entry('failed', 2)])).toEqual([
    'release.waiting people',
    'release.denied people',
  ]);
});

it('tells nothing of a payment that nobody must release', () => {
  expect(typesOf([entry('prepare', 0), entry('released', 0), entry('paid', 1)])).toEqual([]);
});

it('tells the release under a changed policy as another one', () => {
  const released = [entry('released', 2), entry('released', 3, { policy: 'p2' })];
  const ids = list([entry('prepare', 0), entry('release', 1), ...released]).map(({ id }) => id);
  expect(new Set(ids).size).toBe(3);
});

it('tells what waits for the owners of a contract wallet, and their first signatures', () => {
  const asked = (id: string, kind: string) => ({
    statement: JSON.stringify({ id, kind, total: '12345' }),
  });
  const signed = { statement: JSON.stringify({ id: 'a', signature: '0x1234' }) };
  const entries = [
    entry('owners-asked', 0, asked('a', 'fund-authorization')),
    entry('owners-signed', 1, signed),
    entry('owners-signed', 2, signed),
    entry('owners-asked', 3, asked('b', 'void')),
    entry('owners-signed', 4, { statement: 'no JSON' }),
  ];
  expect(typesOf(entries)).toEqual(['release.waiting owners', 'release.released owners']);
  expect(list(entries)[1]?.timestamp).toBe('2027-03-01T09:01:00.000Z');
});
