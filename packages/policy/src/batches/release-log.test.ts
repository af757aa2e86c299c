// The log names the first entry that is not as it was written.
import { describe, expect, it } from 'vitest';
import { chainEntry, type ReleaseEntry, verifyReleaseLog } from './release-log.ts';

const content = {
  ...{ at: '2026-11-23T09:00:00.000Z', by: 'Ada', key: 'march-1' },
  ...{ chain: 'base', token: 'USDC', total: '500', count: 2, policy: 'ab'.repeat(32) },
};
const entries: ReleaseEntry[] = [];
for (const event of ['prepare', 'release', 'released', 'paid'] as const) {
  entries.push(chainEntry({ ...content, event }, entries.at(-1)));
}
const head = entries[3]!.digest;

function replace(place: number, changes: object) {
  return entries.map((entry, index) => (index === place ? { ...entry, ...changes } : entry));
}

describe('a release log', () => {
  it('is intact as it was written', () => {
    expect(verifyReleaseLog(entries, head)).toEqual({ kind: 'intact', entries: 4, head });
    expect(verifyReleaseLog([])).toMatchObject({ kind: 'intact', entries: 0 });
  });

  it.each<[string, readonly unknown[], number]>([
    ['a changed total', replace(1, { total: '501' }), 2],
    ['a field more', replace(1, { note: 'x' }), 2],
    ['a missing entry', entries.toSpliced(1, 1), 2],
    ['two entries in another order', [entries[1], entries[0], entries[2]], 1],
    [
      'an entry that was changed with its digest',
      replace(1, chainEntry({ ...content, event: 'release', by: 'Eve' }, entries[0])),
      3,
    ],
    ['an end that was cut off', entries.slice(0, 3), 4],
  ])('is broken by %s', (_, log, number) => {
    expect(verifyReleaseLog(log, head)).toMatchObject({ kind: 'broken', number });
  });
});
