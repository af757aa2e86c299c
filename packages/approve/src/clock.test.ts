// The audit's case: whoever moves the host's clock gets one daily limit for each day that the clock shows.
import { expect, it, onTestFinished } from 'vitest';
import { fundBody } from './fixtures/bodies.ts';
import { createWorldA, funderWallet } from './fixtures/custodian-a.ts';
import { serveTestGate } from './fixtures/gate-home.ts';
import { fundFile, recipient } from './fixtures/payroll.ts';

const dayMs = 86_400_000;

/** A gate whose clock differs from the chain's by some days. */
async function openMovableGate() {
  const world = await createWorldA();
  onTestFinished(() => world.close());
  let offsetMs = 0;
  const nowMs = () => Date.now() + offsetMs;
  const served = await serveTestGate(world.home, { nowMs });
  onTestFinished(() => served.close());
  return {
    served,
    setDays: (days: number) => {
      offsetMs = days * dayMs;
    },
    /** Asks for a batch of 1,000 under 1,500 a day. @returns what became of it */
    async ask(): Promise<string> {
      await served.gate.examine();
      const recipients = [recipient(1, '500'), recipient(2, '500')];
      const file = fundFile({ recipients }, Math.floor(nowMs() / 1000) + 7_200);
      await served.post(file);
      const id = await world.ask(funderWallet, fundBody(file));
      await served.gate.poll();
      return world.statusOf(id);
    },
  };
}

it('never signs more than the limit of a day, however often the clock is moved', async () => {
  const { ask, setDays, served } = await openMovableGate();
  const statuses: string[] = [];
  for (const days of [0, -1, 1, 2, 3]) {
    setDays(days);
    statuses.push(await ask());
  }
  expect(statuses).toEqual(['Signed', 'Pending', 'Pending', 'Pending', 'Pending']);
  expect(served.gate.health().problems).toContainEqual(
    expect.stringMatching(/clock of this host and the newest block of chain 31337 differ by/),
  );
  setDays(0);
  expect(await ask()).toBe('Rejected');
});

it('votes again when the clock is right', async () => {
  const { ask, setDays } = await openMovableGate();
  setDays(1);
  expect(await ask()).toBe('Pending');
  setDays(0);
  expect(await ask()).toBe('Signed');
});

it('does not vote while the newest block of the node is old', async () => {
  const { ask, served } = await openMovableGate();
  served.chain.headTimestamp = Math.floor(Date.now() / 1000) - 600;
  expect(await ask()).toBe('Pending');
  served.chain.headTimestamp = undefined;
  expect(await ask()).toBe('Signed');
});
