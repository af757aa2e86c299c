// One directory, one employer: what an agent does when its platform suddenly names another one, and what a
// second agent says about a key that the first has paid.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Secret } from '@pool/core';
import { type LyingProxy, startLyingProxy } from '@pool/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSession } from './chain/people.ts';
import { countFundedBatches, fetchPoolBalance } from './demo/chain-facts.ts';
import { clientOf, startTestStack, type TestStack } from './fixtures/test-stack.ts';
import { createEdgeToken } from './stack/edge-token.ts';

const platformScript = fileURLToPath(new URL('../../platform/src/main.ts', import.meta.url));
const otherEmployer = '00000000-0000-4000-8000-0000000000ff';

describe('an agent whose employer changes', () => {
  let stack: TestStack;
  let proxy: LyingProxy;
  beforeAll(async () => {
    stack = await startTestStack();
    proxy = await startLyingProxy(stack.platformUrl);
  });
  afterAll(async () => {
    await proxy.stop();
    await stack.end();
  });

  async function fetchReadiness(url: string) {
    const response = await fetch(`${url}/api/readyz`);
    const body = (await response.json()) as {
      checks: Record<string, { ok: boolean; detail: { kind: string } }>;
    };
    return { status: response.status, platform: body.checks['platform'] };
  }

  it('pays a key once when its edge token is replaced by one of another employer', async () => {
    const agent = await stack.startAgent({ name: 'swapped' });
    const request = stack.createRequest({ 0: 5n, 1: 6n });
    await clientOf(agent).disburse('june', request);
    const paid = await clientOf(agent).waitForJob('june');
    expect(paid.result?.status).toBe('completed');
    expect(await countFundedBatches(stack.place)).toBe(1);

    const other = stack.holders[5]!;
    await openSession(new Secret(other.privateKey), stack);
    const token = await createEdgeToken({
      script: platformScript,
      dataDirectory: join(stack.directory, 'platform-data'),
      employerAddress: other.address,
    });
    // Accepted by the right employer's agent, and underway when the token is replaced.
    await agent.process.stop();
    const dying = await agent.restart({
      NODE_ENV: 'test',
      DISBURSE_FAULT: 'eligibility.confirmed',
    });
    // It can die before it answers.
    await clientOf(dying)
      .disburse('waiting', stack.createRequest({ 2: 7n }))
      .catch(() => undefined);
    await dying.process.exited;
    const swapped = await agent.restart({ DISBURSE_PLATFORM_TOKEN: token });
    const answer = await clientOf(swapped).disburse('june', request);
    if (answer.status === 202) {
      await clientOf(swapped).waitForJob('june');
    }
    expect(await countFundedBatches(stack.place)).toBe(1);
    expect(await fetchPoolBalance(stack.place, 'USDC')).toBe(11n);
    expect(answer).toMatchObject({ status: 503, body: { code: 'employer_mismatch' } });
    expect(answer.body.message).toContain('disburse-agent tenancy');
    expect((await fetch(`${swapped.url}/api/livez`)).status).toBe(200);
    expect(await fetchReadiness(swapped.url)).toMatchObject({
      status: 503,
      platform: { ok: false, detail: { kind: 'employer_mismatch' } },
    });
    // What was accepted can still be read, and waits.
    expect((await clientOf(swapped).getJob('june')).body).toMatchObject({ state: 'done' });
    const waiting = (await clientOf(swapped).getJob('waiting')).body;
    expect(['accepted', 'submitted']).toContain(waiting.state);
    expect(await countFundedBatches(stack.place)).toBe(1);

    await swapped.process.stop();
    const restored = await agent.restart();
    const again = await clientOf(restored).disburse('june', request);
    expect(again).toMatchObject({ status: 200, body: { state: 'done' } });
    const resumed = await clientOf(restored).waitForJob('waiting');
    expect(resumed.result?.status).toBe('completed');
    await restored.process.stop();
  });

  it('accepts nothing when bootstrap names another employer after a restart', async () => {
    const agent = await stack.startAgent({ name: 'deceived', platformUrl: proxy.url });
    const before = await countFundedBatches(stack.place);
    await agent.process.stop();
    proxy.setLies([
      {
        path: /\/agent-edge\/bootstrap$/,
        response: (body) => ({ ...body, employerId: otherEmployer }),
      },
    ]);
    const deceived = await agent.restart();
    const answer = await clientOf(deceived).disburse('july', stack.createRequest({ 0: 5n }));
    expect(answer).toMatchObject({ status: 503, body: { code: 'employer_mismatch' } });
    expect((await clientOf(deceived).getJob('july')).status).toBe(404);
    expect(await countFundedBatches(stack.place)).toBe(before);
    expect(proxy.applied[0]).toBeGreaterThan(0);
    await deceived.process.stop();
  });

  it('reports to a second agent that a key was paid with another body', async () => {
    const request = stack.createRequest({ 0: 100n, 1: 200n });
    const swapped = stack.createRequest({ 0: 200n, 1: 100n });
    await stack.client.disburse('august', request);
    expect((await stack.client.waitForJob('august')).result?.status).toBe('completed');
    const batches = await countFundedBatches(stack.place);

    const second = await stack.startAgent({ name: 'second' });
    const conflict = await clientOf(second).disburse('august', swapped);
    expect(conflict).toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } });
    expect((await clientOf(second).getJob('august')).status).toBe(404);
    await clientOf(second).disburse('august', request);
    const same = await clientOf(second).waitForJob('august');
    expect(same.result?.notes.map(({ amount }) => amount)).toEqual(['100', '200']);
    await second.process.stop();

    const keyed = await stack.startAgent({
      name: 'other-key',
      env: { DISBURSE_FINGERPRINT_KEY: `0x${randomBytes(32).toString('hex')}` },
    });
    await clientOf(keyed).disburse('august', swapped);
    const job = await clientOf(keyed).waitForJob('august');
    expect(job).toMatchObject({ state: 'failed', error: { code: 'settled_elsewhere' } });
    expect(job.error?.message).toContain('DISBURSE_FINGERPRINT_KEY');
    expect(await countFundedBatches(stack.place)).toBe(batches);
  });

  it('reports to an agent with a rotated funder key that a key was paid under the earlier one [failure.settled-elsewhere]', async () => {
    const request = stack.createRequest({ 0: 100n, 1: 200n });
    await stack.client.disburse('september', request);
    const paid = await stack.client.waitForJob('september');
    expect(paid.result?.status).toBe('completed');
    const batches = await countFundedBatches(stack.place);

    // It has an empty job store too, so only the platform has a record of the payment.
    const rotated = await stack.startAgent({
      name: 'rotated',
      env: { DISBURSE_FUNDER_PRIVATE_KEY: `0x${randomBytes(32).toString('hex')}` },
    });
    await clientOf(rotated).disburse('september', request);
    const job = await clientOf(rotated).waitForJob('september');
    expect(job).toMatchObject({ state: 'failed', error: { code: 'settled_elsewhere' } });
    expect(job.error?.message).toContain('do not resubmit');
    expect(job.error?.message).toContain(paid.result?.batches[0]?.txHash);
    expect(await countFundedBatches(stack.place)).toBe(batches);
    await rotated.process.stop();
  });
});
