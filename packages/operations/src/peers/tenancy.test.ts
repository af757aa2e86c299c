// One directory, one employer: the pin, DISBURSE_EMPLOYER_ID, the job store and bootstrap must agree.
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createTenancy,
  readTenancyPin,
  replacePinnedEmployer,
  type TenancyOptions,
  tenancyPinPath,
} from './tenancy.ts';

const own = '5b1d1f0e-6f55-4d3a-9d53-6f1f2c1a7e01';
const other = '00000000-0000-4000-8000-000000000000';
const nowMs = Date.UTC(2026, 10, 22);
const mismatch = expect.objectContaining({ code: 'employer_mismatch', status: 503 });

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tenancy-'));
});
afterEach(() => {
  rmSync(home, { recursive: true });
});

function create(changes: Partial<TenancyOptions> = {}) {
  return createTenancy({
    home,
    configured: undefined,
    listStoredEmployers: async () => [],
    nowMs: () => nowMs,
    ...changes,
  });
}

it('pins the employer of the first bootstrap in a private file', async () => {
  expect(create().employerId()).toBeUndefined();
  await create().admit(own);
  expect(create().employerId()).toBe(own);
  expect(readTenancyPin(home)).toEqual({
    version: 1,
    employerId: own,
    pinnedAt: '2026-11-22T00:00:00.000Z',
    earlier: [],
  });
  expect(statSync(tenancyPinPath(home)).mode & 0o777).toBe(0o600);
  expect(readdirSync(home)).toEqual(['tenancy.json']);
  await create().admit(own.toUpperCase());
});

it('refuses another employer and keeps the pin', async () => {
  await create().admit(own);
  const before = readFileSync(tenancyPinPath(home), 'utf8');
  await expect(create().admit(other)).rejects.toThrow(mismatch);
  expect(readFileSync(tenancyPinPath(home), 'utf8')).toBe(before);
});

it('pins nothing on assert', async () => {
  await create().assert(own);
  expect(existsSync(tenancyPinPath(home))).toBe(false);
});

it('lets only the first of two processes pin', async () => {
  const outcomes = await Promise.allSettled([create().admit(own), create().admit(other)]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
});

describe('DISBURSE_EMPLOYER_ID', () => {
  it('refuses a first bootstrap that names another employer', async () => {
    await expect(create({ configured: own }).admit(other)).rejects.toThrow(mismatch);
    expect(existsSync(tenancyPinPath(home))).toBe(false);
    await create({ configured: own }).admit(own);
    expect(create().employerId()).toBe(own);
  });

  it('must be the employer of the directory', async () => {
    await create().admit(own);
    const tenancy = create({ configured: other });
    expect(() => tenancy.employerId()).toThrow(mismatch);
    await expect(tenancy.admit(own)).rejects.toThrow(mismatch);
    await expect(tenancy.admit(other)).rejects.toThrow(mismatch);
  });
});

describe('a directory without a pin', () => {
  it('belongs to the employer whose jobs are in its store', async () => {
    await expect(create({ listStoredEmployers: async () => [own] }).admit(other)).rejects.toThrow(
      mismatch,
    );
    await create({ listStoredEmployers: async () => [own] }).admit(own);
    expect(create().employerId()).toBe(own);
  });

  it('with jobs of two employers needs a decision', async () => {
    const tenancy = create({ listStoredEmployers: async () => [own, other] });
    await expect(tenancy.admit(own)).rejects.toThrow(mismatch);
    replacePinnedEmployer(home, own, nowMs);
    await tenancy.admit(own);
  });
});

it('begins a new tenancy on request, and records the earlier employer', async () => {
  await create().admit(own);
  replacePinnedEmployer(home, other, nowMs);
  await create().admit(other);
  await expect(create().admit(own)).rejects.toThrow(mismatch);
  expect(readTenancyPin(home)?.earlier).toEqual([
    { employerId: own, until: '2026-11-22T00:00:00.000Z' },
  ]);
});

it.each(['', '{', '{"version":1}', `{"version":2,"employerId":"${own}"}`])(
  'refuses to guess when the pin contains %j',
  async (content) => {
    writeFileSync(tenancyPinPath(home), content);
    const unreadable = expect.objectContaining({ code: 'tenancy_unreadable', status: 503 });
    await expect(create().admit(own)).rejects.toThrow(unreadable);
    expect(() => create().employerId()).toThrow(unreadable);
  },
);

it('names no employer in a refusal, because readiness is public', async () => {
  await create().admit(own);
  const error = await create()
    .admit(other)
    .catch((caught: unknown) => caught);
  expect(String(error)).toContain('disburse-agent tenancy new');
  expect(String(error)).not.toContain(own);
  expect(String(error)).not.toContain(other);
});
