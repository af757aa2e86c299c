// A relayer that cannot send, behind a platform that answers: a dry run and readiness report it before a payment waits
// for it, and no longer after the repair. Real processes, a real chain.
import { JsonRpcProvider, Wallet } from 'ethers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { deriveRoleKey } from './chain/sandbox-keys.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';

const relayer = new Wallet(deriveRoleKey('relayer').reveal()).address;

type Report = { ok: boolean; preflight?: { code: string; message: string }[] };
type Readiness = { ok: boolean; checks: { platform: { ok: boolean; detail: { kind: string } } } };

describe('a relayer that cannot send', () => {
  let stack: TestStack;
  let provider: JsonRpcProvider;
  let funds: string;
  beforeAll(async () => {
    stack = await startTestStack();
    provider = new JsonRpcProvider(stack.rpcUrl, undefined, { cacheTimeout: -1 });
    funds = String(await provider.send('eth_getBalance', [relayer, 'latest']));
  });
  afterEach(async () => {
    await provider.send('anvil_setBalance', [relayer, funds]);
  });
  afterAll(async () => {
    provider.destroy();
    await stack.end();
  });

  async function validate(): Promise<Report> {
    const response = await fetch(`${stack.agent.url}/api/validate`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${stack.agent.loopbackToken}`,
      },
      body: JSON.stringify(stack.createRequest({ 0: 7n, 1: 3n })),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as Report;
  }
  async function readReadiness(): Promise<{ status: number; body: Readiness }> {
    const response = await fetch(`${stack.agent.url}/api/readyz`);
    return { status: response.status, body: (await response.json()) as Readiness };
  }
  const codes = async () => (await validate()).preflight?.map(({ code }) => code);
  const soon = { interval: 200 };

  it('is reported by a dry run and by readiness, and later pays a batch that was sent meanwhile [report.ok, health.readyz]', async () => {
    expect(await validate()).toEqual({ ok: true, allowanceState: 'insufficient', issues: [] });
    expect((await readReadiness()).status).toBe(200);

    await provider.send('anvil_setBalance', [relayer, '0x1']);
    await expect.poll(codes, soon).toEqual(['relayer_unavailable']);
    const report = await validate();
    expect(report.ok).toBe(false);
    expect(report.preflight?.[0]?.message).toMatch(/on chain anvil has too little coin/);
    const { status, body } = await readReadiness();
    expect([status, body.ok]).toEqual([503, false]);
    expect(body.checks.platform).toMatchObject({
      ok: false,
      detail: { kind: 'relayer_unavailable' },
    });

    // The finding is a warning: the platform accepts the batch and stores it.
    await stack.client.disburse('waits', stack.createRequest({ 0: 7n, 1: 3n }));
    await expect
      .poll(async () => (await stack.client.getJob('waits')).body.stage, {
        interval: 50,
      })
      .toBe('settling');
    await provider.send('anvil_setBalance', [relayer, funds]);
    expect(await stack.client.waitForJob('waits')).toMatchObject({
      state: 'done',
      result: { status: 'completed' },
    });
    await expect.poll(async () => (await readReadiness()).status, soon).toBe(200);
    expect(await codes()).toBeUndefined();
  });
});
