// An agent whose RPC goes away and comes back: a proxy between the agent and the real chain is cut at chosen calls,
// while platform and gate continue to use the chain. The agent reports what it cannot read as unknown, and waits.
import { erc20Abi } from '@pool/contracts';
import { type RpcCall, type RpcProxy, startRpcProxy } from '@pool/testkit';
import { Interface } from 'ethers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { countFundedBatches } from './demo/chain-facts.ts';
import type { AgentClient } from './fixtures/agent-client.ts';
import { clientOf, startTestStack, type TestStack } from './fixtures/test-stack.ts';
import type { Agent } from './processes/agent-process.ts';

const allowanceSelector = new Interface(erc20Abi).getFunction('allowance')?.selector ?? '';

type Report = {
  ok: boolean;
  allowanceState: string;
  issues: unknown[];
  preflight?: { code: string; message: string }[];
};

describe('an agent whose RPC is cut', () => {
  let stack: TestStack;
  let rpc: RpcProxy;
  let agent: Agent;
  let client: AgentClient;
  beforeAll(async () => {
    stack = await startTestStack();
    rpc = await startRpcProxy(stack.rpcUrl);
    const { anvil } = stack.chains.chains;
    agent = await stack.startAgent({
      name: 'cut-off',
      chains: { ...stack.chains, chains: { anvil: { ...anvil!, rpcUrl: rpc.url } } },
    });
    client = clientOf(agent);
  });
  afterEach(() => {
    rpc.restore();
  });
  afterAll(async () => {
    await rpc.stop();
    await stack.end();
  });

  /** The advisory read of the allowance is the first call of a job to the token. */
  function isAllowanceCall({ method, params }: RpcCall): boolean {
    const [call] = params as [{ data?: string; to?: string }?];
    return (
      method === 'eth_call' &&
      call?.to?.toLowerCase() === stack.place.tokens['USDC']!.address.toLowerCase() &&
      call.data?.startsWith(allowanceSelector) === true
    );
  }

  async function validate(): Promise<{ status: number; report: Report }> {
    const response = await fetch(`${agent.url}/api/validate`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${agent.loopbackToken}`,
      },
      body: JSON.stringify(stack.createRequest({ 0: 7n, 1: 3n })),
    });
    return { status: response.status, report: (await response.json()) as Report };
  }

  /** The job continues as far as it can; `stage` is where it waits. */
  async function expectStage(key: string, stage: string): Promise<void> {
    await expect
      .poll(async () => (await client.getJob(key)).body.stage, { interval: 25 })
      .toBe(stage);
  }

  it.each([
    ['drops connections', 'drop'],
    ['hangs', 'hang'],
  ] as const)(
    'reports the allowance as unknown in a dry run while its RPC %s [report.allowance-state]',
    async (_what, fault) => {
      expect((await validate()).report).toEqual({
        ok: true,
        allowanceState: 'insufficient',
        issues: [],
      });
      rpc.cut(fault);
      const { status, report } = await validate();
      expect(status).toBe(200);
      expect(report).toEqual({
        ok: false,
        allowanceState: 'unknown',
        issues: [],
        preflight: [{ code: 'chain_unreachable', message: expect.stringContaining('anvil') }],
      });
      expect(rpc.affected.length).toBeGreaterThan(0);
    },
  );

  it('accepts a disbursement while its RPC hangs, answers every route, and pays when the RPC answers again', async () => {
    rpc.cut('hang');
    const request = stack.createRequest({ 0: 70n, 1: 30n });
    const accepted = await client.disburse('cut-before', request);
    expect([accepted.status, accepted.body.state]).toEqual([202, 'accepted']);
    await expect.poll(() => rpc.affected.length).toBeGreaterThan(0);
    for (const path of ['livez', 'readyz']) {
      const startedAt = performance.now();
      const response = await fetch(`${agent.url}/api/${path}`);
      expect(response.status).toBe(path === 'livez' ? 200 : 503);
      expect(performance.now() - startedAt).toBeLessThan(5_000);
    }
    expect((await client.disburse('cut-before', request)).status).toBe(202);
    expect((await client.getJob('cut-before')).body.state).toMatch(/accepted|submitted/);
    expect((await client.getJob('never-seen')).status).toBe(404);

    rpc.restore();
    expect(await client.waitForJob('cut-before')).toMatchObject({
      state: 'done',
      result: { status: 'completed', allowance: { state: 'insufficient' } },
    });
    expect(await countFundedBatches(stack.place)).toBe(1);
  });

  it('proves and pays although the allowance could not be read, and reports it as unknown [result.allowance-unknown, result.allowance-advisory]', async () => {
    let isCut = false;
    rpc.cut('drop', (call) => {
      isCut ||= isAllowanceCall(call);
      return isCut;
    });
    await client.disburse('unseen', stack.createRequest({ 0: 7n, 1: 3n }));
    // After that read, the job waits for the chain before it proves.
    await expectStage('unseen', 'proving');
    expect(isCut).toBe(true);
    rpc.restore();
    const job = await client.waitForJob('unseen');
    expect(job).toMatchObject({
      state: 'done',
      result: {
        status: 'completed',
        batches: [{ index: 0, recipientCount: 2, status: 'success' }],
        notes: [{ status: 'success' }, { status: 'success' }],
        allowance: { state: 'unknown' },
      },
    });
    expect(await countFundedBatches(stack.place)).toBe(2);
  });

  it('reports the allowance as unknown also if the RPC hangs at this read only [result.allowance-unknown]', async () => {
    let looks = 0;
    // Only the first read: the decision after the signature reads again, and must be answered.
    rpc.cut('hang', (call) => isAllowanceCall(call) && ++looks === 1);
    await client.disburse('hung', stack.createRequest({ 2: 5n }));
    const job = await client.waitForJob('hung');
    expect(rpc.affected).toEqual(['eth_call']);
    expect(job).toMatchObject({
      state: 'done',
      result: { status: 'completed', allowance: { state: 'unknown' } },
    });
    expect(await countFundedBatches(stack.place)).toBe(3);
  });

  it('reports nothing as settled while its RPC is down, and then reports what the chain shows', async () => {
    await stack.withoutBlocks(async () => {
      await client.disburse('blind', stack.createRequest({ 3: 9n }));
      await expectStage('blind', 'settling');
      rpc.cut('drop');
    });
    // The others see the batch settle and become final; this agent trusts only its own RPC.
    await expect.poll(() => countFundedBatches(stack.place), { interval: 100 }).toBe(4);
    await expect.poll(() => rpc.affected.length).toBeGreaterThan(5);
    expect((await client.getJob('blind')).body).toMatchObject({
      state: 'submitted',
      stage: 'settling',
    });
    rpc.restore();
    expect(await client.waitForJob('blind')).toMatchObject({
      state: 'done',
      result: { status: 'completed', allowance: { state: 'insufficient' } },
    });
    expect(await countFundedBatches(stack.place)).toBe(4);
  });
});
