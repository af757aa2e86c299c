/** A gate with many wallets starts without a long turn: a supervisor's probe that goes unanswered would end it, again and again. */
import { setImmediate } from 'node:timers/promises';
import { bigintToHex32, fieldToHex } from '@pool/core';
import { createTreeHasher } from '@pool/notes';
import { expect, it } from 'vitest';
import { createLog } from '../../http-server/src/service/log.ts';
import { createFakeRegistry } from '../test/fake-registry.ts';
import { openTestGateDatabase } from '../test/test-gate-database.ts';
import { startPublisher } from './publisher.ts';

const wallets = 20_000;
/** Processor time of this thread, which other work on the machine does not lengthen. One turn took 1,500 ms before. */
const longestTurnMs = 600;

it('makes the tree of 20,000 wallets in short turns, and serves paths of it', async () => {
  const database = await openTestGateDatabase();
  const hasher = createTreeHasher();
  const stopping = new AbortController();
  try {
    const rows = Array.from({ length: wallets }, (_, place) => ({
      wallet_id: bigintToHex32(BigInt(place + 1)),
      wallet_pub: '0x',
      leaf_index: place,
      wanted: true,
      published: true,
      whitelisted_at: null,
    }));
    for (let first = 0; first < wallets; first += 2_000) {
      await database.db
        .insertInto('wallets')
        .values(rows.slice(first, first + 2_000))
        .execute();
    }
    let started = false;
    let longestMs = 0;
    const watch = (async () => {
      let last = process.threadCpuUsage();
      while (!started) {
        await setImmediate();
        const now = process.threadCpuUsage();
        longestMs = Math.max(longestMs, (now.user + now.system - last.user - last.system) / 1_000);
        last = now;
      }
    })();
    const publisher = await startPublisher({
      db: database.db,
      chain: createFakeRegistry().chain,
      log: createLog('silent', 'test'),
      nowMs: Date.now,
      pollIntervalMs: 5,
      replaceAfterMs: 120_000,
      signal: stopping.signal,
      hashMany: hasher.hashMany,
    });
    const { root } = publisher.tree;
    started = true;
    await watch;
    expect(longestMs).toBeLessThan(longestTurnMs);
    expect(publisher.tree.size).toBe(wallets);
    expect(publisher.findList(root)?.root).toBe(fieldToHex(root));
    stopping.abort();
    await publisher.idle();
  } finally {
    await hasher.close();
    await database.close();
  }
});
