/** What accounts that cost nothing can take of the relayer's coin: many payees that enrolled themselves, and everybody together. */
import { errorCodeOf } from '@pool/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  computeSpendGasCeiling,
  voidGasCeiling,
} from '../../../contracts/src/calls/gas-ceilings.ts';
import { openTestDatabase, type TestDatabase } from '../../../database/test/test-database.ts';
import { createLog } from '../../../http-server/src/service/log.ts';
import type { PoolChain } from '../chain/pool-chain.ts';
import { createRelayerWatch } from '../send/relayer-health.ts';
import { insertCall } from '../send/sent-nonces.ts';
import {
  computeReserve,
  defaultSettlementLimits,
  defaultSpendLimits,
  reserveGas,
  reserveSpendGas,
  type SettlementLimits,
} from './limits.ts';

const nowMs = Date.parse('2026-11-21T10:00:00Z');
const now = new Date(nowMs).toISOString();
const deadline = nowMs / 1_000 + 3_600;
const gwei = 10n ** 9n;
/** What one batch of 16 may cost with its withdrawal. */
const whole = computeReserve(16) + Number(voidGasCeiling);

describe('the coin of the relayer', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());
  beforeEach(() => database.reset());

  /** @param issuer - of its edge token */
  async function addEmployer(id: string, issuer: 'operator' | 'session'): Promise<void> {
    const { db } = database;
    await db
      .insertInto('employers')
      .values({ id, address: `0x${id}`, name: null, created_at: now })
      .execute();
    await db
      .insertInto('credentials')
      .values({
        employer_id: id,
        public_id: id,
        secret_hash: 'h',
        name: 'n',
        created_at: now,
        revoked_at: null,
        issued_by: issuer,
      })
      .execute();
  }

  /** Accepts a batch of 16, as the edge does after its checks. @returns the code of a refusal */
  async function accept(
    employer: string,
    key: string,
    limits: SettlementLimits = defaultSettlementLimits,
  ): Promise<string | undefined> {
    const id = `${employer} ${key}`;
    const commitments = Array.from({ length: 16 }, () => '0x');
    const request = { chain: 'anvil', batch: { commitments } } as never;
    try {
      await database.db.transaction().execute(async (trx) => {
        const gas = await reserveGas(trx, employer, request, undefined, limits, nowMs);
        await trx
          .insertInto('submissions')
          .values({
            kind: 'settlement',
            owner: employer,
            key,
            chain: 'anvil',
            batch_id: id,
            root: '0x',
            sealed_notes_hash: '0x',
            token: '0xT',
            deadline,
            request: '{}',
            state: 'accepted',
            gas_reserved: gas,
            created_at: now,
          })
          .execute();
      });
      return undefined;
    } catch (error) {
      return errorCodeOf(error);
    }
  }

  it('is taken by many payees together like by one employer, and customers keep theirs', async () => {
    const payees = Array.from({ length: 45 }, (_, index) => `payee-${index}`);
    const refusals = [];
    for (const payee of payees) {
      await addEmployer(payee, 'session');
      refusals.push(await accept(payee, 'job-1'));
    }
    const fitting = Math.floor(defaultSettlementLimits.dailyGas / whole);
    expect(fitting).toBeLessThan(40);
    expect(refusals.filter((code) => code === undefined)).toHaveLength(fitting);
    expect(new Set(refusals.slice(fitting))).toEqual(new Set(['gas_budget_exceeded']));
    await addEmployer('customer', 'operator');
    for (let job = 0; job < 10; job += 1) {
      expect(await accept('customer', `job-${job}`)).toBeUndefined();
    }
  });

  it('is almost closed to one employer to which the operator issued no token, until it does', async () => {
    await addEmployer('payee', 'session');
    expect(await accept('payee', 'job-1')).toBeUndefined();
    expect(await accept('payee', 'job-2')).toBe('gas_budget_exceeded');
    await database.db.updateTable('credentials').set({ issued_by: 'operator' }).execute();
    expect(await accept('payee', 'job-2')).toBeUndefined();
    await database.db.updateTable('credentials').set({ revoked_at: now }).execute();
    expect(await accept('payee', 'job-3')).toBe('gas_budget_exceeded');
  });

  describe('with a total', () => {
    const dailyWei = BigInt(10 * whole) * gwei;
    const totalOf = () => ({ dailyWei, feeWei: gwei });
    const limits = { ...defaultSettlementLimits, totalOf };
    const log = createLog('silent', 'test');
    const funds = {
      balanceWei: 10n ** 18n,
      fees: { maxFeePerGas: gwei, maxPriorityFeePerGas: gwei },
    };
    const chain = {
      key: 'anvil',
      fetchFunds: () => Promise.resolve(funds),
      fetchNonce: () => Promise.resolve(0),
      hasRelayerRole: () => Promise.resolve(true),
    } as unknown as PoolChain;
    let warned: unknown[];
    async function look() {
      const heard = {
        ...log,
        info: () => undefined,
        warn: (fields: unknown) => warned.push(fields),
      } as never;
      const watch = createRelayerWatch({
        db: database.db,
        chain,
        log: heard,
        nowMs: () => nowMs,
        stuckAfterMs: 1,
        dailyWei,
      });
      await watch.look();
      return watch.read();
    }
    beforeEach(() => {
      warned = [];
    });

    it('ends for customers and holders of one chain too, and warns before', async () => {
      for (let i = 0; i < 7; i += 1) {
        await addEmployer(`customer-${i}`, 'operator');
        expect(await accept(`customer-${i}`, 'job-1', limits)).toBeUndefined();
      }
      expect(await look()).toEqual({ ok: true });
      expect(warned).toEqual([]);
      expect(await accept('customer-0', 'job-2', limits)).toBeUndefined();
      expect(await look()).toEqual({ ok: true, code: 'daily_total_near' });
      expect(warned).toMatchObject([{ chain: 'anvil', code: 'daily_total_near' }]);
      for (const job of ['job-3', 'job-4']) {
        expect(await accept('customer-0', job, limits)).toBeUndefined();
      }
      expect(await accept('customer-1', 'job-3', limits)).toBe('gas_budget_exceeded');
      expect(await look()).toEqual({ ok: false, code: 'daily_total_reached' });
      const spend = { chain: 'anvil', circuit: 'spend-2x4' } as const;
      const spending = (on: string) =>
        database.db.transaction().execute((trx) =>
          reserveSpendGas(
            trx,
            '0xA',
            { ...spend, chain: on },
            undefined,
            { ...defaultSpendLimits, totalOf },
            nowMs,
          ).then(
            () => 'accepted',
            (error: unknown) => errorCodeOf(error),
          ),
        );
      expect(await spending('anvil')).toBe('gas_budget_exceeded');
      expect(await spending('base')).toBe('accepted');
    });

    /** Accepts a spend of a holder of its own, as the edge does after its checks. @returns the code of a refusal */
    async function spend(holder: string, feeWei = gwei): Promise<string | undefined> {
      const place = { chain: 'anvil', circuit: 'spend-2x4' } as const;
      const spendLimits = { ...defaultSpendLimits, totalOf: () => ({ dailyWei, feeWei }) };
      try {
        await database.db.transaction().execute(async (trx) => {
          const gas = await reserveSpendGas(trx, holder, place, undefined, spendLimits, nowMs);
          await trx
            .insertInto('submissions')
            .values({
              ...{ kind: 'spend', owner: holder, key: 'k', chain: 'anvil', token: '0xT' },
              ...{ deadline, root: holder, first_nullifier: holder, created_at: now },
              ...{ sealed_notes_hash: '0x', request: '{}', state: 'accepted', gas_reserved: gas },
            })
            .execute();
        });
        return undefined;
      } catch (error) {
        return errorCodeOf(error);
      }
    }

    it('is half for customers only: spends and employers without a token of the operator end at the other half', async () => {
      let spends = 0;
      while ((await spend(`0x${spends}`)) === undefined) {
        spends += 1;
      }
      const gas = Number(computeSpendGasCeiling('spend-2x4'));
      expect(spends).toBe(Math.floor((5 * whole) / gas));
      expect(await look()).toEqual({ ok: true, code: 'daily_share_near' });
      await addEmployer('payee', 'session');
      expect(await accept('payee', 'job-1', limits)).toBe('gas_budget_exceeded');
      await addEmployer('customer', 'operator');
      for (let job = 0; job < 5; job += 1) {
        expect(await accept('customer', `job-${job}`, limits)).toBeUndefined();
      }
      expect(await accept('customer', 'job-5', limits)).toBe('gas_budget_exceeded');
    });

    it('keeps the half of customers when fees rise after spends were accepted', async () => {
      let spends = 0;
      while ((await spend(`0x${spends}`)) === undefined) {
        spends += 1;
      }
      await addEmployer('customer', 'operator');
      const dear = { ...limits, totalOf: () => ({ dailyWei, feeWei: 4n * gwei }) };
      expect(await accept('customer', 'job-1', dear)).toBeUndefined();
      const deps = { db: database.db, chain, log, nowMs: () => nowMs, replaceAfterMs: 1, dailyWei };
      const signed = (nonce: number) => ({
        ...{ sender: '0xR', nonce, txHash: `0x${nonce}`, rawTransaction: '0x' },
        ...{ gasLimit: BigInt(whole), maxFeePerGas: 4n * gwei },
      });
      expect(await insertCall(deps, { kind: 'spend', id: 1 }, signed(0), true)).toBe(true);
      await expect(
        insertCall(deps, { kind: 'spend', id: 2 }, signed(1), true),
      ).rejects.toMatchObject({ code: 'gas_budget_exceeded' });
      expect(await insertCall(deps, { kind: 'settlement', id: spends + 1 }, signed(1), true)).toBe(
        true,
      );
    });

    it('counts transactions of two accounts that have the same nonce', async () => {
      await addEmployer('customer', 'operator');
      const deps = { db: database.db, chain, log, nowMs: () => nowMs, replaceAfterMs: 1, dailyWei };
      const outcomes = [];
      for (const id of [1, 2, 3]) {
        await accept('customer', `job-${id}`);
        const signed = {
          ...{ sender: `0x${id}`, nonce: 7, txHash: `0x${id}`, rawTransaction: '0x' },
          ...{ gasLimit: BigInt(whole), maxFeePerGas: 4n * gwei },
        };
        outcomes.push(
          await insertCall(deps, { kind: 'settlement', id }, signed, true).catch(errorCodeOf),
        );
      }
      expect(outcomes).toEqual([true, true, 'gas_budget_exceeded']);
    });

    it('is checked again before signing: fees that rose since cannot exceed it', async () => {
      await addEmployer('customer', 'operator');
      await accept('customer', 'job-1', limits);
      const deps = { db: database.db, chain, log, nowMs: () => nowMs, replaceAfterMs: 1, dailyWei };
      const signed = (maxFeePerGas: bigint) => ({
        nonce: 0,
        sender: '0xR',
        txHash: '0x1',
        rawTransaction: '0x',
        gasLimit: BigInt(whole),
        maxFeePerGas,
      });
      const intent = { kind: 'settlement', id: 1 } as const;
      await expect(insertCall(deps, intent, signed(11n * gwei), true)).rejects.toMatchObject({
        code: 'gas_budget_exceeded',
      });
      const { state } = await database.db
        .selectFrom('submissions')
        .select('state')
        .executeTakeFirstOrThrow();
      expect(state).toBe('accepted');
      expect(await insertCall(deps, intent, signed(9n * gwei), true)).toBe(true);
      // 9 of 10 parts are sent: the next one no longer fits.
      expect(await accept('customer', 'job-2', limits)).toBe('gas_budget_exceeded');
    });
  });
});
