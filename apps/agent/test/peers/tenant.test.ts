// The agent asks for bootstrap until it answers, and then again. It adopts new answers, except of another employer.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bootstrap } from '@pool/api';
import { PoolError } from '@pool/core';
import { createTenancy, replacePinnedEmployer, startTenant } from '@pool/operations';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { bootstrap } from '../../src/fixtures/test-app.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tenant-'));
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(home, { recursive: true });
});

function start(answers: (Bootstrap | Error)[], failingStarts = 0) {
  const seen = { asked: 0, adopted: [] as Bootstrap[], ready: 0, refused: 0, errors: 0 };
  const quiet = (): void => undefined;
  const tenant = startTenant({
    async bootstrap() {
      seen.asked += 1;
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer instanceof Error || answer === undefined) {
        throw answer ?? new Error('no answer');
      }
      return answer;
    },
    tenancy: createTenancy({
      home,
      configured: undefined,
      listStoredEmployers: async () => [],
      nowMs: Date.now,
    }),
    log: {
      debug: quiet,
      info: quiet,
      warn: quiet,
      error: () => {
        seen.errors += 1;
      },
    },
    onAnswer: (answer) => {
      seen.adopted.push(answer);
    },
    onReady: () => {
      seen.ready += 1;
      if (seen.ready <= failingStarts) {
        throw new Error('the worker did not start');
      }
    },
    onRefused: () => {
      seen.refused += 1;
    },
    refreshMs: 60_000,
  });
  return { tenant, seen };
}

const raised = { ...bootstrap, maxRecipients: { anvil: 16 } };

it('refuses requests until bootstrap answers, and continues to ask', async () => {
  const { tenant, seen } = start([new Error('down'), new Error('down'), bootstrap]);
  await vi.advanceTimersByTimeAsync(0);
  expect(() => tenant.current()).toThrow(expect.objectContaining({ status: 503 }));
  await vi.advanceTimersByTimeAsync(500);
  expect(seen.asked).toBe(2);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(tenant.current()).toEqual(bootstrap);
  expect(await tenant.ready).toEqual(bootstrap);
  tenant.stop();
});

it('reports a refused edge token as such, not as a platform that does not answer', async () => {
  const dead = new PoolError('unauthorized', 'm');
  const { tenant } = start([dead, dead, new Error('down'), bootstrap]);
  await vi.advanceTimersByTimeAsync(0);
  expect(() => tenant.current()).toThrow(
    expect.objectContaining({
      code: 'edge_token_refused',
      status: 503,
      message: expect.stringContaining('DISBURSE_PLATFORM_TOKEN'),
    }),
  );
  await vi.advanceTimersByTimeAsync(1_500);
  expect(() => tenant.current()).toThrow(expect.objectContaining({ code: 'platform_unreachable' }));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(tenant.current()).toEqual(bootstrap);
  tenant.stop();
});

it('adopts a new answer after a minute, and starts the worker once', async () => {
  const { tenant, seen } = start([bootstrap, raised]);
  await vi.advanceTimersByTimeAsync(59_999);
  expect(tenant.current()).toEqual(bootstrap);
  await vi.advanceTimersByTimeAsync(1);
  expect(tenant.current()).toEqual(raised);
  expect(seen.adopted).toEqual([bootstrap, raised]);
  expect(seen.ready).toBe(1);
  tenant.stop();
});

it('accepts no job before its worker has started', async () => {
  const { tenant, seen } = start([bootstrap], 1);
  await vi.advanceTimersByTimeAsync(0);
  expect(() => tenant.current()).toThrow(expect.objectContaining({ status: 503 }));
  await vi.advanceTimersByTimeAsync(500);
  expect(tenant.current()).toEqual(bootstrap);
  expect(seen.ready).toBe(2);
  tenant.stop();
});

it('keeps its last answer while the platform does not answer', async () => {
  const { tenant, seen } = start([bootstrap, new Error('down'), raised]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen.asked).toBe(2);
  expect(tenant.current()).toEqual(bootstrap);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(tenant.current()).toEqual(raised);
  tenant.stop();
});

const foreign = { ...bootstrap, employerId: '00000000-0000-4000-8000-000000000000' };
const mismatch = expect.objectContaining({ status: 503, code: 'employer_mismatch' });

it('accepts no request and continues no job while the platform names another employer', async () => {
  const { tenant, seen } = start([bootstrap, foreign, foreign, raised]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(() => tenant.current()).toThrow(mismatch);
  expect(tenant.refusal()?.message).toContain('disburse-agent tenancy new');
  // Jobs that were accepted before can still be read.
  expect(tenant.employerId()).toBe(bootstrap.employerId);
  expect(seen).toMatchObject({ adopted: [bootstrap], ready: 1, refused: 1, errors: 1 });
  // It asks again in less than a minute, and continues when the platform names the right employer.
  await vi.advanceTimersByTimeAsync(15_000);
  expect(seen).toMatchObject({ asked: 3, ready: 1 });
  await vi.advanceTimersByTimeAsync(15_000);
  expect(tenant.current()).toEqual(raised);
  expect(tenant.refusal()).toBeUndefined();
  expect(seen.ready).toBe(2);
  tenant.stop();
});

it('refuses another employer after a restart in the same directory', async () => {
  const first = start([bootstrap]);
  await vi.advanceTimersByTimeAsync(0);
  first.tenant.stop();
  const { tenant, seen } = start([foreign]);
  await vi.advanceTimersByTimeAsync(0);
  expect(() => tenant.current()).toThrow(mismatch);
  expect(tenant.employerId()).toBe(bootstrap.employerId);
  expect(seen).toMatchObject({ adopted: [], ready: 0, refused: 1 });
  tenant.stop();
});

it('adopts another employer after a new tenancy only in a new process', async () => {
  const running = start([bootstrap, foreign]);
  await vi.advanceTimersByTimeAsync(0);
  replacePinnedEmployer(home, foreign.employerId, Date.now());
  await vi.advanceTimersByTimeAsync(60_000);
  expect(() => running.tenant.current()).toThrow(mismatch);
  expect(running.seen.ready).toBe(1);
  running.tenant.stop();
  const { tenant } = start([foreign]);
  await vi.advanceTimersByTimeAsync(0);
  expect(tenant.current()).toEqual(foreign);
  tenant.stop();
});

it('does not ask after it is stopped', async () => {
  const { tenant, seen } = start([bootstrap]);
  await vi.advanceTimersByTimeAsync(0);
  tenant.stop();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(seen.asked).toBe(1);
});
