// A deployment whose proofs are made by processes of their own: an agent, the queue, two provers of which one is killed, and the chain.
import { join } from 'node:path';
import {
  createDatabase,
  type ManagedProcess,
  readData,
  startNodeProcess,
  waitUntilReady,
} from '@pool/testkit';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { countFundedBatches, fetchPoolBalance } from './demo/chain-facts.ts';
import { clientOf, startTestStack, type TestStack } from './fixtures/test-stack.ts';
import { runAgentCommand } from './processes/agent-command.ts';
import { type Agent, agentScript } from './processes/agent-process.ts';

let stack: TestStack;
let agent: Agent;
let environment: Readonly<Record<string, string>>;
let provers: readonly ManagedProcess[];

beforeAll(async () => {
  stack = await startTestStack();
  const home = join(stack.directory, 'fleet.key');
  const made = await runAgentCommand({ environment: {} }, ['prover', '--new-key', home, '--json']);
  const { publicKey } = readData(made.stdout) as { publicKey: string };
  const url = new URL(await createDatabase(inject('postgresUrl') ?? ''));
  const { password } = url;
  url.password = '';
  const queue = { DISBURSE_PROVER_QUEUE: url.href, DISBURSE_PROVER_QUEUE_PASSWORD: password };
  environment = { ...queue, DISBURSE_PROVER_PRIVATE_KEY_FILE: home, DISBURSE_ACCELERATOR: 'cpu' };
  provers = await Promise.all(['prover-1', 'prover-2'].map(startProver));
  agent = await stack.startAgent({
    name: 'fleet',
    env: { ...queue, DISBURSE_PROVER_PUBLIC_KEY: publicKey },
  });
});
afterAll(async () => {
  await stack.end();
});

async function startProver(name: string): Promise<ManagedProcess> {
  const started = startNodeProcess({
    ...{ name, script: agentScript, args: ['prover'], env: environment },
    logPath: join(stack.directory, 'logs', `${name}.log`),
  });
  stack.ledger.add(name, started.identity);
  await waitUntilReady(started, async () =>
    started.output().includes('prover takes proofs from') ? true : undefined,
  );
  return started;
}

it('pays with proofs that other processes made, although one of them is killed', async () => {
  const client = clientOf(agent);
  const amounts = [31_415_926n, 27_182_818n, 16_180_339n];
  for (const [index, amount] of amounts.entries()) {
    const answer = await client.disburse(`run ${index}`, stack.createRequest({ [index]: amount }));
    expect(answer.status).toBe(202);
  }
  const isProving = (prover: ManagedProcess): boolean => {
    const output = prover.output();
    return output.lastIndexOf('"proving"') > output.lastIndexOf('"proved"');
  };
  await expect.poll(() => provers.some(isProving), { interval: 20 }).toBe(true);
  await provers.find(isProving)?.kill();
  const jobs = await Promise.all(amounts.map((_, index) => client.waitForJob(`run ${index}`)));
  expect(jobs.map(({ result }) => result?.status)).toEqual(amounts.map(() => 'completed'));
  expect(await countFundedBatches(stack.place)).toBe(amounts.length);
  expect(await fetchPoolBalance(stack.place, 'USDC')).toBe(amounts.reduce((a, b) => a + b, 0n));
  const proved = provers.flatMap((prover) => prover.output().match(/"proved"/g) ?? []);
  expect(proved.length).toBeGreaterThanOrEqual(amounts.length);
  const texts = [...provers.map((prover) => prover.output()), agent.process.output()].join('\n');
  for (const amount of amounts) {
    expect(texts).not.toContain(String(amount));
  }
});

it('waits while there is no prover, says so, and goes on when one comes', async () => {
  await Promise.all(provers.map((prover) => prover.stop()));
  const readiness = async () => (await fetch(`${agent.url}/api/readyz`)).json();
  await expect.poll(readiness).toMatchObject({
    ok: false,
    checks: { accelerator: { ok: false, detail: { kind: 'fleet' } } },
  });
  await clientOf(agent).disburse('late', stack.createRequest({ 3: 5n }));
  await expect.poll(() => agent.process.output()).toContain('prover_unavailable');
  await startProver('prover-3');
  expect(await clientOf(agent).waitForJob('late')).toMatchObject({ state: 'done' });
});
