/** Leaves of the eligibility tree: freed by removals, assigned again, counted, and refused when the tree is full. */

import { PassThrough } from 'node:stream';
import { errorCodeOf, fieldToHex } from '@pool/core';
import type { OpenDatabase } from '@pool/database';
import { createTestHolder, type TestHolder } from '@pool/testkit';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestGate, type TestGate } from '../test/test-gate.ts';
import { openTestGateDatabase } from '../test/test-gate-database.ts';
import type { GateTables } from './gate-tables.ts';

describe('leaves of the eligibility tree', () => {
  let database: OpenDatabase<GateTables>;
  let gate: TestGate;
  let a: TestHolder;
  let b: TestHolder;
  let c: TestHolder;
  let d: TestHolder;
  let e: TestHolder;

  beforeAll(async () => {
    database = await openTestGateDatabase();
    a = await createTestHolder('a');
    b = await createTestHolder('b');
    c = await createTestHolder('c');
    d = await createTestHolder('d');
    e = await createTestHolder('e');
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    gate = await startTestGate(database);
  });
  afterEach(() => gate.crash());

  /** Mines and finalises the newest transaction once there are as many as said. */
  async function finalise(count: number): Promise<void> {
    await expect.poll(() => gate.fake.state.broadcasts.length).toBeGreaterThan(0);
    await expect.poll(() => gate.fake.state.signed.size).toBe(count);
    gate.fake.mine([...gate.fake.state.signed.keys()].at(-1) ?? '');
    gate.fake.state.finalBlock = gate.fake.state.block;
  }
  const wallets = () => database.db.selectFrom('wallets').selectAll().execute();

  it('are assigned again after their wallets are removed, the lowest first', async () => {
    for (const holder of [a, b, c]) await gate.put(holder);
    await gate.remove(b);
    await gate.remove(a);
    await gate.put(d);
    await gate.put(e);
    expect(await gate.leafOf(d)).toBe(0);
    expect(await gate.leafOf(e)).toBe(1);
    await gate.put(a);
    expect(await gate.leafOf(a)).toBe(3);
    expect(gate.fake.state.current).toBe(await gate.computeStoredRoot());
  });

  it('contain nothing of a removed wallet', async () => {
    await gate.put(a);
    await gate.remove(a);
    expect(await wallets()).toEqual([]);
  });

  it('are not assigned again before the root without their wallet is final', async () => {
    await gate.put(a);
    gate.fake.state.instant = false;
    const removal = gate.remove(a);
    await expect.poll(() => gate.fake.state.signed.size).toBe(2);
    const enrolment = gate.put(b);
    await expect.poll(async () => (await wallets()).length).toBe(2);
    await finalise(2);
    await removal;
    await finalise(3);
    await enrolment;
    expect(await gate.leafOf(b)).toBe(1);
    gate.fake.state.instant = true;
    await gate.put(c);
    expect(await gate.leafOf(c)).toBe(0);
    expect(gate.fake.state.current).toBe(await gate.computeStoredRoot());
  });

  it('stay with a wallet that returns while its removal is under way', async () => {
    await gate.put(a);
    gate.fake.state.instant = false;
    const removal = gate.remove(a);
    await expect.poll(() => gate.fake.state.signed.size).toBe(2);
    const returning = gate.put(a);
    await finalise(2);
    await removal;
    await finalise(3);
    expect((await returning).status).toBe('whitelisted');
    expect(await gate.leafOf(a)).toBe(0);
    gate.fake.state.instant = true;
    await gate.put(b);
    expect(await gate.leafOf(b)).toBe(1);
  });

  it('stay with their wallet when the removal reverts', async () => {
    await gate.put(a);
    gate.fake.state.reverting = true;
    expect(await gate.remove(a).catch(errorCodeOf)).toBe('publication_failed');
    gate.fake.state.reverting = false;
    // The removal is still due, and is in the same root as the new wallet.
    await gate.put(b);
    expect(await gate.leafOf(b)).toBe(1);
    expect(await gate.leafOf(a)).toBeUndefined();
    await gate.put(c);
    expect(await gate.leafOf(c)).toBe(0);
  });

  it('are freed when their wallet is removed before it was ever published', async () => {
    gate.fake.state.reverting = true;
    expect(await gate.put(a).catch(errorCodeOf)).toBe('publication_failed');
    gate.fake.state.reverting = false;
    await gate.remove(a);
    await gate.put(b);
    expect(await gate.leafOf(b)).toBe(0);
  });

  it('are not freed under an addition that was sent and may still land', async () => {
    gate.fake.state.instant = false;
    const enrolment = gate.put(a);
    await expect.poll(() => gate.fake.state.signed.size).toBe(1);
    const removal = gate.remove(a);
    const other = gate.put(b);
    await expect.poll(async () => (await wallets()).length).toBe(2);
    await finalise(1);
    expect(await enrolment.catch(errorCodeOf)).toMatchObject({ status: 'whitelisted' });
    await finalise(2);
    await Promise.all([removal, other]);
    expect(await gate.leafOf(b)).toBe(1);
    expect(await gate.leafOf(a)).toBeUndefined();
    expect(gate.fake.state.current).toBe(await gate.computeStoredRoot());
  });

  it.each([
    ['before its removal was mined', false],
    ['after it was final, before that was stored', true],
  ])('are assigned once, also when the gate dies %s', async (_when, isMined) => {
    await gate.put(a);
    gate.fake.state.instant = false;
    const removal = gate.remove(a).catch(errorCodeOf);
    await expect.poll(() => gate.fake.state.signed.size).toBe(2);
    await gate.crash();
    expect(await removal).toBe('publication_failed');
    if (isMined) {
      await finalise(2);
    }
    gate.fake.state.instant = true;
    await gate.start();
    await expect.poll(() => gate.publisher().tree.size).toBe(0);
    await Promise.all([gate.put(b), gate.put(c)]);
    expect(new Set([await gate.leafOf(b), await gate.leafOf(c)])).toEqual(new Set([0, 1]));
    expect(gate.fake.state.current).toBe(await gate.computeStoredRoot());
    expect(fieldToHex(gate.publisher().tree.root)).toBe(gate.fake.state.current);
  });

  it('are freed at the start when an unpublished wallet was removed and the gate died', async () => {
    await gate.crash();
    await sql`insert into wallets values ('0x01', '0x02', 0, false, false, null)`.execute(
      database.db,
    );
    await gate.start();
    await gate.put(b);
    expect(await gate.leafOf(b)).toBe(0);
  });

  describe('of a tree of four', () => {
    const logged = new PassThrough();
    const readLog = () =>
      String(logged.read() ?? '')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as { level: number; msg: string; used?: number });
    beforeEach(async () => {
      await gate.crash();
      gate = await startTestGate(database, { capacity: 4, log: pino({ level: 'info' }, logged) });
      readLog();
    });

    it('are refused when all are taken, and everything else continues', async () => {
      for (const holder of [a, b, c, d]) await gate.put(holder);
      const root = gate.fake.state.current;
      await expect(gate.put(e)).rejects.toMatchObject({
        code: 'tree_full',
        status: 503,
        message: expect.stringContaining('removed'),
      });
      expect((await gate.put(a)).status).toBe('whitelisted');
      expect(await gate.leafOf(d)).toBe(3);
      expect((await gate.client.root()).root).toBe(root);
      await gate.remove(b);
      expect((await gate.put(e)).status).toBe('whitelisted');
      expect(await gate.leafOf(e)).toBe(1);
      expect((await wallets()).length).toBe(4);
    });

    it('are counted, including those of removals in progress', async () => {
      expect(await gate.client.capacity()).toEqual({ capacity: 4, used: 0, nearlyFull: false });
      for (const holder of [a, b, c]) await gate.put(holder);
      expect(await gate.client.capacity()).toEqual({ capacity: 4, used: 3, nearlyFull: false });
      await gate.put(d);
      expect(await gate.client.capacity()).toEqual({ capacity: 4, used: 4, nearlyFull: true });
      gate.fake.state.instant = false;
      const removal = gate.remove(a);
      await expect.poll(() => gate.fake.state.signed.size).toBe(5);
      expect((await gate.client.capacity()).used).toBe(4);
      await finalise(5);
      await removal;
      expect((await gate.client.capacity()).used).toBe(3);
    });

    it('cause one warning in the log from 80 % on, and one at start', async () => {
      const warnings = () => readLog().filter(({ msg }) => msg.includes('eligibility tree'));
      for (const holder of [a, b, c]) await gate.put(holder);
      expect(warnings()).toEqual([]);
      await gate.put(d);
      await gate.put(e).catch(errorCodeOf);
      expect(warnings()).toMatchObject([{ level: 40, used: 4, capacity: 4 }]);
      await gate.crash();
      await gate.start();
      expect(warnings()).toMatchObject([{ level: 40, used: 4, capacity: 4 }]);
    });
  });
});
