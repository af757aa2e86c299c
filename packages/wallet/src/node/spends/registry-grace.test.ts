import { PoolError } from '@pool/core';
import { createFakeClock } from '@pool/testkit';
import { expect, it } from 'vitest';
import { neededGraceSeconds } from '../../spend/spend-deps.ts';
import { type GraceReader, warnOfShortGrace } from './registry-grace.ts';

function createWorld() {
  const warnings: unknown[] = [];
  const note = (): void => undefined;
  const log = {
    debug: note,
    info: note,
    error: note,
    warn: (fields: unknown) => void warnings.push(fields),
  };
  const stopping = new AbortController();
  const check = (chains: readonly GraceReader[]) =>
    warnOfShortGrace(chains, { log, clock: createFakeClock(), signal: stopping.signal });
  return { check, warnings, stopping };
}

function answer(key: string, seconds: number): GraceReader {
  return {
    key,
    fetchGraceSeconds: async () => seconds,
  };
}

it('needs finality, a proof and the latest deadline together: 50 minutes', () => {
  expect(neededGraceSeconds).toBe(3_000);
});

it('warns of each chain whose registry accepts replaced roots for a shorter time', async () => {
  const { check, warnings } = createWorld();
  await check([answer('base', 3_000), answer('anvil', 2_999)]);
  expect(warnings).toEqual([{ chain: 'anvil', graceSeconds: 2_999, neededGraceSeconds: 3_000 }]);
});

it('asks a chain that does not answer again, and warns then', async () => {
  const { check, warnings } = createWorld();
  let asked = 0;
  await check([
    {
      key: 'base',
      fetchGraceSeconds: async () => {
        asked += 1;
        if (asked < 3) {
          throw new PoolError('chain_unreachable', 'down');
        }
        return 60;
      },
    },
  ]);
  expect([asked, warnings.length]).toEqual([3, 1]);
});

it('ends when the agent stops', async () => {
  const { check, warnings, stopping } = createWorld();
  const fetchGraceSeconds = () => {
    stopping.abort();
    return Promise.reject(new PoolError('chain_unreachable', 'down'));
  };
  await check([{ key: 'base', fetchGraceSeconds }]);
  expect(warnings).toEqual([]);
});
