/**
 * A hostile employer beside honest ones, in short: counts and outcomes. `pnpm bench hostile` runs it in full and
 * measures.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runTenancy, type TenancyReport } from './fixtures/tenancy/run.ts';
import { type Services, startServices } from './fixtures/tenancy/services.ts';
import { createTenants } from './fixtures/tenancy/tenants.ts';

const dailyGas = 8_000_000;
const walletsPerEmployer = 3;
let services: Services;
let report: TenancyReport;

beforeAll(async () => {
  services = await startServices({
    PLATFORM_WALLETS_PER_EMPLOYER: String(walletsPerEmployer),
    PLATFORM_EMPLOYER_DAILY_GAS: String(dailyGas),
    PLATFORM_RELAYER_MAX_FEE_GWEI: '5',
  });
  const tenants = await createTenants(services, { honest: 2, each: 1, hostile: 2 });
  report = await runTenancy(services, tenants, {
    seconds: 8,
    enrolmentsPerMinute: 60,
    replaysPerSecond: 1,
    signInsPerSecond: 1,
  });
});
afterAll(() => services.stop());

it('lands every honest settlement, and every honest sign-in succeeds', () => {
  expect(report.honest).toMatchObject({ sent: 2, settled: 2, states: { settled: 2 } });
  expect(Object.keys(report.signIns)).toEqual(['ok']);
});

it('gives the hostile employer no more places of the tree than its limit', () => {
  const { walletsBefore, walletsAfter } = report.eligibility;
  expect(walletsAfter - walletsBefore).toBe(walletsPerEmployer);
  const { enrolments } = report.hostile;
  expect(enrolments['enrol: ok']).toBe(walletsPerEmployer);
  expect(enrolments['enrol: not_invited']).toBe(8 - walletsPerEmployer);
  expect(enrolments['invite: invitation_quota_exhausted']).toBe(8 - walletsPerEmployer);
});

it('refuses an authorisation that would be valid for years, and limits the gas of the hostile employer', () => {
  expect(report.hostile.farDeadlines).toEqual({ deadline_too_far: 2 });
  expect(report.gas.other).toBeLessThanOrEqual(BigInt(dailyGas));
  expect(report.coinSpentWei).toBeLessThanOrEqual(
    (report.gas.honest + report.gas.other) * 5_000_000_000n,
  );
});
