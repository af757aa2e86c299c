/** One employer whose funder prevents the node from answering, beside one that pays as usual: on a real chain. */
import { assertField, bigintToHex32, fieldToHex } from '@pool/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../database/test/test-database.ts';
import { createLog } from '../../../http-server/src/service/log.ts';
import { startDeafRpc } from '../../test/deaf-rpc.ts';
import { fakeChecks } from '../../test/fake-checks.ts';
import { startTestChain, type TestChain } from '../../test/test-chain.ts';
import {
  createTestSettlement,
  insertTestEmployer,
  testEmployerId,
} from '../../test/test-settlement.ts';
import { acceptSettlement } from '../accept/accept-settlement.ts';
import { createEvmPoolChain, type PoolChain } from '../chain/pool-chain.ts';
import { createRelayer } from './relayer.ts';

const log = createLog('silent', 'test');
const eligibilityRoot = assertField(12345n);
const hostileId = '11111111-1111-4111-8111-111111111111';
const hostileRows = 60;

describe('a pass of the relayer', () => {
  let chain: TestChain;
  let database: TestDatabase;
  let rpc: Awaited<ReturnType<typeof startDeafRpc>>;
  let poolChain: PoolChain;

  beforeAll(async () => {
    [chain, database] = await Promise.all([startTestChain(), openTestDatabase()]);
    await (await chain.registry('gate').publish(fieldToHex(eligibilityRoot))).wait();
    await chain.fundFunder(1_000_000n);
    const hostile = chain.wallet('stranger').address.slice(2).toLowerCase();
    rpc = await startDeafRpc(
      chain.settings.rpcUrl,
      // The call runs the funder's own code. Reads of the pool's state name the funder too, and are short.
      (method, body) =>
        ['eth_call', 'eth_estimateGas'].includes(method) &&
        body.length > 2_000 &&
        body.toLowerCase().includes(hostile),
    );
    const settings = { ...chain.settings, rpcUrl: rpc.rpcUrl };
    poolChain = createEvmPoolChain('anvil', settings, chain.key('relayer'));
    for (const id of [hostileId, testEmployerId]) {
      await insertTestEmployer(database.db, id, id);
    }
  });
  afterAll(async () => {
    poolChain.close();
    rpc.stop();
    await Promise.all([chain.stop(), database.close()]);
  });

  async function accept(employerId: string, funder: 'funder' | 'stranger', key: string) {
    const target = { ...(await chain.settlementTarget()), funder: chain.wallet(funder) };
    const { request } = await createTestSettlement(target, { eligibilityRoot, jobKey: key });
    const chains = new Map([['anvil', poolChain]]);
    const deps = { db: database.db, chains, checks: fakeChecks, nowMs: Date.now };
    return await acceptSettlement(deps, employerId, key, request);
  }
  const statesOf = async (employerId: string) =>
    (
      await database.db
        .selectFrom('submissions')
        .select(['state', 'error_code'])
        .where('owner', '=', employerId)
        .execute()
    ).map(({ state, error_code }) => `${state} ${error_code ?? ''}`.trim());

  it('takes no longer when one employer has many rows whose calls are never answered', async () => {
    const {
      id: _id,
      employer_id: _generated,
      ...row
    } = await accept(hostileId, 'stranger', 'hostile');
    const copies = Array.from({ length: hostileRows - 1 }, (_, index) => ({
      ...row,
      key: `hostile-${index}`,
      batch_id: bigintToHex32(BigInt(index + 1)),
    }));
    await database.db.insertInto('submissions').values(copies).execute();
    await accept(testEmployerId, 'funder', 'honest');
    const nowMs = Date.now();
    const relayer = createRelayer({
      db: database.db,
      chain: poolChain,
      log,
      nowMs: () => nowMs,
      replaceAfterMs: 120_000,
    });
    await relayer.pass();
    // Two calls of the hostile employer at once, each 5 seconds, and none after they failed.
    expect(await statesOf(testEmployerId)).toEqual(['submitted']);
    expect([rpc.unheard(), rpc.mostAtOnce()]).toEqual([2, 2]);
    // The hostile employer waits for a second.
    await relayer.pass();
    expect(rpc.unheard()).toBe(2);

    // No simulation of them succeeds, and they still end once a final block is past their deadline.
    await chain.provider.send('evm_setNextBlockTimestamp', [Number(row.deadline) + 1]);
    await chain.mine(2);
    const fresh = createRelayer({
      db: database.db,
      chain: poolChain,
      log,
      nowMs: Date.now,
      replaceAfterMs: 120_000,
    });
    const unheard = rpc.unheard();
    for (let pass = 0; pass < 5; pass += 1) {
      await fresh.pass();
    }
    expect(new Set(await statesOf(hostileId))).toEqual(new Set(['reverted authorization-expired']));
    expect(rpc.unheard()).toBe(unheard);
  }, 60_000);
});
