// A node can give other values than the pool emitted. What one event shows by itself is refused here.
import { id, keccak256, type Log } from 'ethers';
import { describe, expect, it } from 'vitest';
import { shieldedPoolInterface } from '../calls/shielded-pool.ts';
import { parsePoolLeaf } from './pool-leaves.ts';

function words(count: number): string[] {
  return Array.from({ length: count }, (_, index) => id(`word ${index}`));
}

function logOf(name: string, values: readonly unknown[]): Log {
  const { data, topics } = shieldedPoolInterface.encodeEventLog(name, values);
  const log: Partial<Log> = { data, topics, transactionHash: id('transaction'), blockNumber: 1 };
  return log as Log;
}

function fundLog(commitments: number): Log {
  return logOf('BatchFunded', [
    0,
    id('root'),
    id('new'),
    id('batch'),
    id('notes'),
    words(commitments),
  ]);
}

function spendLog(nullifiers: number, commitments: number, sealedBytes: number): Log {
  const sealed = `0x${'ab'.repeat(sealedBytes)}`;
  return logOf('Spent', [
    ...[0, id('root'), id('new'), words(nullifiers), words(commitments)],
    ...[keccak256(sealed), sealed],
  ]);
}

describe('an event of the pool', () => {
  it('has a size of the circuits', () => {
    expect(parsePoolLeaf(fundLog(16)).commitments).toHaveLength(16);
    expect(parsePoolLeaf(spendLog(2, 4, 836))).toMatchObject({ sealedNotes: { length: 4 } });
    expect(parsePoolLeaf(spendLog(16, 8, 1_672))).toMatchObject({ nullifiers: { length: 16 } });
  });

  it.each([
    ['inner nodes of a batch in place of its commitments', fundLog(8)],
    ['the root of a batch in place of its commitments', fundLog(1)],
    ['the root of a spend in place of its commitments', spendLog(2, 1, 836)],
    ['inner nodes of a spend', spendLog(16, 4, 836)],
    ['no nullifiers', spendLog(0, 4, 836)],
    ['no sealed notes', spendLog(2, 4, 0)],
    ['a sealed note too few', spendLog(2, 4, 627)],
  ])('is refused with %s', (_what, log) => {
    expect(() => parsePoolLeaf(log)).toThrow(
      expect.objectContaining({ code: 'chain_unreachable' }),
    );
  });
});
