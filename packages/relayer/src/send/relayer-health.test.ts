/** The health that the relayer reports on a real chain: coin, fees, transactions that are not mined, no answer. */
import { assertField, fieldToHex, PoolError } from '@pool/core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../database/test/test-database.ts';
import { createLog } from '../../../http-server/src/service/log.ts';
import { fakeChecks } from '../../test/fake-checks.ts';
import { startTestChain, type TestChain } from '../../test/test-chain.ts';
import {
  createTestSettlement,
  insertTestEmployer,
  testEmployerId,
} from '../../test/test-settlement.ts';
import { acceptSettlement } from '../accept/accept-settlement.ts';
import { createEvmPoolChain, type PoolChain } from '../chain/pool-chain.ts';
import { runRelayerPass } from './relayer.ts';
import { createRelayerWatch, type RelayerWatch } from './relayer-health.ts';

const log = createLog('silent', 'test');
const eligibilityRoot = assertField(12345n);
const gwei = 10n ** 9n;
const minute = 60_000;

describe('the health of the relayer', () => {
  let chain: TestChain;
  let poolChain: PoolChain;
  let database: TestDatabase;
  let watch: RelayerWatch;
  let snapshot: string;
  let nowMs: number;

  beforeAll(async () => {
    [chain, database] = await Promise.all([startTestChain(), openTestDatabase()]);
    await (await chain.registry('gate').publish(fieldToHex(eligibilityRoot))).wait();
    await chain.fundFunder(1_000_000n);
  });
  afterAll(async () => {
    await Promise.all([chain.stop(), database.close()]);
  });
  beforeEach(async () => {
    snapshot = await chain.takeSnapshot();
    await database.reset();
    await insertTestEmployer(database.db);
    await chain.provider.send('evm_setAutomine', [false]);
    await mineAt(gwei);
    nowMs = Date.parse('2026-11-21T10:00:00Z');
    open();
  });
  afterEach(async () => {
    poolChain.close();
    await chain.restore(snapshot);
  });

  function open(maxFeePerGas?: bigint): void {
    poolChain = createEvmPoolChain('anvil', chain.settings, chain.key('relayer'), { maxFeePerGas });
    watch = watchOf(poolChain);
  }
  const watchOf = (on: PoolChain, isWaiting = () => false) =>
    createRelayerWatch({
      db: database.db,
      chain: on,
      log,
      nowMs: () => nowMs,
      stuckAfterMs: 10 * minute,
      isWaiting,
    });
  async function mineAt(baseFee: bigint): Promise<void> {
    await chain.provider.send('anvil_setNextBlockBaseFeePerGas', [`0x${baseFee.toString(16)}`]);
    await chain.mine(1);
  }
  const setBalance = (wei: bigint) =>
    chain.provider.send('anvil_setBalance', [poolChain.relayerAddress, `0x${wei.toString(16)}`]);
  const relay = () =>
    runRelayerPass({
      db: database.db,
      chain: poolChain,
      log,
      nowMs: () => nowMs,
      replaceAfterMs: 20 * minute,
    });
  async function see() {
    nowMs += 5_000;
    await watch.look();
    return watch.read();
  }
  async function sendSettlement(): Promise<void> {
    const target = await chain.settlementTarget();
    const { request } = await createTestSettlement(target, { eligibilityRoot });
    const chains = new Map([['anvil', poolChain]]);
    await acceptSettlement(
      { db: database.db, chains, checks: fakeChecks, nowMs: () => nowMs },
      testEmployerId,
      'job-1',
      request,
    );
    await relay();
  }

  it('is unknown before the first check, and ok while there is no problem', async () => {
    expect(watch.read()).toBeUndefined();
    expect(await see()).toEqual({ ok: true });
  });

  it.each([
    ['is unreachable', 'database_unavailable'],
    ['is used by another process', 'database_lock_lost'],
  ] as const)('reports stalled, not the RPC, while the database %s', async (_what, code) => {
    const gone = new PoolError(code, 'away');
    const selectFrom = vi.spyOn(database.db, 'selectFrom').mockImplementation(() => {
      throw gone;
    });
    expect(await see()).toEqual({ ok: false, code: 'stalled' });
    selectFrom.mockRestore();
    expect(await see()).toEqual({ ok: true });
  });

  it('requires coin for a fund transaction at the fees that it would offer now', async () => {
    // Twice the base fee and the tip, for a million gas.
    const { fees } = await poolChain.fetchFunds(1_000_000n);
    const needed = 1_000_000n * (fees?.maxFeePerGas ?? 0n);
    expect(needed).toBeGreaterThan(0n);
    await setBalance(needed - 1n);
    expect(await see()).toEqual({ ok: false, code: 'insufficient_gas' });
    await setBalance(needed);
    expect(await see()).toEqual({ ok: true });
  });

  it('is checked again after the clock was set back', async () => {
    expect(await see()).toEqual({ ok: true });
    nowMs -= 60 * minute;
    await setBalance(0n);
    await watch.look();
    expect(watch.read()).toEqual({ ok: false, code: 'insufficient_gas' });
  });

  it('is not stalled while a long pass makes progress', async () => {
    expect(await see()).toEqual({ ok: true });
    for (let step = 0; step < 5; step += 1) {
      nowMs += minute;
      watch.notePulse();
    }
    expect(watch.read()).toEqual({ ok: true });
    nowMs += 2 * minute + 1;
    expect(watch.read()).toEqual({ ok: false, code: 'stalled' });
  });

  it('counts every settlement of a pass as progress', async () => {
    let pulses = 0;
    await sendSettlement();
    await runRelayerPass({
      db: database.db,
      chain: poolChain,
      log,
      nowMs: () => nowMs,
      replaceAfterMs: 20 * minute,
      onStep: () => {
        pulses += 1;
      },
    });
    // Its nonce is followed, and the settlement itself.
    expect(pulses).toBe(2);
  });

  it('is stuck while a transaction is not mined for ten minutes, and ok once it is mined', async () => {
    await sendSettlement();
    const sentAtMs = nowMs;
    await mineAt(1_000n * gwei);
    nowMs = sentAtMs + 10 * minute - 5_001;
    expect(await see()).toEqual({ ok: true });
    watch = watchOf(poolChain);
    nowMs = sentAtMs + 10 * minute - 5_000;
    expect(await see()).toEqual({ ok: false, code: 'transaction_stuck' });
    await mineAt(gwei);
    await relay();
    await chain.mine(1);
    // Mined and not final: what comes after it can be mined as well.
    expect(await see()).toEqual({ ok: true });
  });

  it('reports fees above the cap before any transaction waits for them', async () => {
    poolChain.close();
    open(10n * gwei);
    expect(await see()).toEqual({ ok: true });
    await mineAt(11n * gwei);
    expect(await see()).toEqual({ ok: false, code: 'fee_cap_reached' });
    await mineAt(gwei);
    expect(await see()).toEqual({ ok: true });
  });

  it('reports a chain that does not answer, and checks again at once', async () => {
    let isCut = true;
    watch = watchOf({
      ...poolChain,
      fetchFunds: () =>
        isCut ? Promise.reject(new Error('cut')) : poolChain.fetchFunds(1_000_000n),
    });
    expect(await see()).toEqual({ ok: false, code: 'chain_unreachable' });
    isCut = false;
    await watch.look();
    expect(watch.read()).toEqual({ ok: true });
  });

  it('is not checked again shortly after a check without a problem', async () => {
    let looks = 0;
    watch = watchOf({
      ...poolChain,
      fetchFunds: () => {
        looks += 1;
        return poolChain.fetchFunds(1_000_000n);
      },
    });
    for (let pass = 0; pass < 10; pass += 1) {
      await watch.look();
      nowMs += 1_000;
    }
    expect(looks).toBe(2);
  });

  it('reports an account without its role, and a new key that waits', async () => {
    const other = createEvmPoolChain('anvil', chain.settings, chain.key('stranger'));
    watch = watchOf(other);
    expect(await see()).toEqual({ ok: false, code: 'relayer_role_missing' });
    other.close();
    watch = watchOf(poolChain, () => true);
    expect(await see()).toEqual({ ok: true, code: 'new_key_waits' });
  });

  it('is stalled after two minutes without a check', async () => {
    expect(await see()).toEqual({ ok: true });
    nowMs += 2 * minute;
    expect(watch.read()).toEqual({ ok: true });
    nowMs += 1;
    expect(watch.read()).toEqual({ ok: false, code: 'stalled' });
  });
});
