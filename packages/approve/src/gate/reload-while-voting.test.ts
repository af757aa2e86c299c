// The policy file is read again while a request is judged: nothing is voted before the custodian was examined for the new policy.
import { expect, it, onTestFinished } from 'vitest';
import type { FaultPoint } from '../config/variables.ts';
import { fundBody } from '../fixtures/bodies.ts';
import { createWorldA, funderWallet } from '../fixtures/custodian-a.ts';
import { createWorldB, typedMessage } from '../fixtures/custodian-b.ts';
import { createFakeChain } from '../fixtures/fake-chain.ts';
import { type ServedGate, serveTestGate, type TestHome } from '../fixtures/gate-home.ts';
import { fundFile, policyJson } from '../fixtures/payroll.ts';

/** @param point - where the policy is read again, once; `facts`: while the node is asked */
async function startWith(home: TestHome, point: FaultPoint | 'facts', port = 0) {
  const chain = createFakeChain();
  let isDone = true;
  const gates: ServedGate[] = [];
  function pass(passed: FaultPoint | 'facts'): void {
    if (passed === point && !isDone) {
      isDone = true;
      expect(gates.map(({ gate }) => gate.reloadPolicy())).toEqual([true]);
    }
  }
  const { fetchBatchRootOf } = chain.reader;
  Object.assign(chain.reader, {
    fetchBatchRootOf: async (...args: Parameters<typeof fetchBatchRootOf>) => {
      pass('facts');
      return await fetchBatchRootOf(...args);
    },
  });
  const gate = await serveTestGate(home, { chain, fault: pass, port });
  gates.push(gate);
  onTestFinished(() => gate.close());
  await gate.gate.examine();
  return {
    ...gate,
    arm: () => {
      isDone = false;
    },
  };
}

it.each([
  ['facts', 0, 0],
  ['vote.after-decide', 0, 1],
  ['vote.after-read-back', 1, 1],
] as const)('custodian A: at %s, %i votes reach the custodian', async (point, sent, stored) => {
  const world = await createWorldA();
  onTestFinished(() => world.close());
  const served = await startWith(world.home, point);
  const files = [fundFile(), fundFile()];
  const ids: string[] = [];
  for (const file of files) {
    await served.post(file);
    ids.push(await world.ask(funderWallet, fundBody(file)));
  }
  served.arm();
  await served.gate.poll();
  expect(ids.flatMap((id) => world.votesOf(id))).toHaveLength(sent);
  expect(served.gate.ledger.status()).toMatchObject({ votes: stored });

  await served.gate.examine();
  await served.gate.poll();
  expect(ids.map((id) => world.votesOf(id))).toEqual([['Approved'], ['Approved']]);
});

it.each(['facts', 'callback.after-decide'] as const)(
  'custodian B: at %s, the answer is RETRY',
  async (point) => {
    const world = await createWorldB();
    onTestFinished(() => world.close());
    const served = await startWith(world.home, point, world.port);
    const file = fundFile();
    await served.post(file);
    served.arm();
    const id = await world.create(typedMessage(fundBody(file)));
    await expect.poll(() => world.answersOf(id), { interval: 2 }).toEqual(['RETRY']);

    await served.gate.examine();
    world.custodian.control.skipPauses();
    await expect.poll(() => world.statusOf(id), { interval: 2 }).toBe('COMPLETED');
  },
);

it('custodian B: nothing is rejected for good while the doctor fails', async () => {
  const world = await createWorldB();
  onTestFinished(() => world.close());
  const served = await startWith(world.home, 'facts', world.port);
  const { control } = world.custodian;
  const { signerId } = world;
  const callback = { requestId: 'r-1', operation: 'TYPED_MESSAGE', sourceId: '0', signerId };
  expect(await control.sendCallback(callback)).toMatchObject({ action: 'REJECT' });
  served.gate.doctor.forget();
  expect(await control.sendCallback(callback)).toMatchObject({ action: 'RETRY' });
});

it('judges by the policy that was read again while the clock of the chain was read', async () => {
  const world = await createWorldA();
  onTestFinished(() => world.close());
  const chain = createFakeChain();
  const served = await serveTestGate(world.home, { chain });
  onTestFinished(() => served.close());
  await served.gate.examine();
  const file = fundFile();
  await served.post(file);
  const id = await world.ask(funderWallet, fundBody(file));
  const policy = policyJson({ funderWallet, initiator: world.organisation.initiator.userId });
  const pools = policy.pools.map((pool) => ({
    ...pool,
    tokens: pool.tokens.map((token) => ({ ...token, maxPerBatch: '250' })),
  }));
  const { fetchHeadTimestamp } = chain.reader;
  let isDone = false;
  Object.assign(chain.reader, {
    fetchHeadTimestamp: async () => {
      if (!isDone) {
        isDone = true;
        world.home.writePolicy({ ...policy, pools });
        expect(served.gate.reloadPolicy()).toBe(true);
        await served.gate.examine();
      }
      return await fetchHeadTimestamp();
    },
  });
  await served.gate.poll();
  expect(isDone).toBe(true);
  expect(world.statusOf(id)).toBe('Rejected');
});
