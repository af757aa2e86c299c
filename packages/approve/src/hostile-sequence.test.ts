// A taken-over agent asks for several things, each of which the policy would allow by itself. Over HTTP, to the gate and to the simulator
// of custodian A. What is refused each by itself: hostile-agent.test.ts.
import { fieldToHex } from '@pool/core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fundBody, hashBody, rebuildFund, rebuildSpend } from './fixtures/bodies.ts';
import { createWorldA, funderWallet, holderWallet, type WorldA } from './fixtures/custodian-a.ts';
import { type ServedGate, serveTestGate } from './fixtures/gate-home.ts';
import { fundFile, recipient, spendFile } from './fixtures/payroll.ts';

let world: WorldA;
let served: ServedGate;
/** How far this machine's clock and the newest block are ahead. */
let aheadSeconds = 0;

beforeEach(async () => {
  world = await createWorldA();
  aheadSeconds = 0;
  served = await serveTestGate(world.home, { nowMs: () => Date.now() + 1000 * aheadSeconds });
  await served.gate.examine();
  expect(served.gate.health().problems).toEqual([]);
});

afterEach(async () => {
  await served.close();
  await world.close();
});

/** Posts the manifest, asks for its signature, and lets the gate look twice. @returns the id of the request */
async function askFund(file: ReturnType<typeof fundFile>): Promise<string> {
  expect(await served.post(file)).toMatchObject({ status: 200 });
  return await look(await world.ask(funderWallet, fundBody(file)));
}

async function askSpend(file: ReturnType<typeof spendFile>): Promise<string> {
  expect(await served.post(file)).toMatchObject({ status: 200 });
  return await look(await world.ask(holderWallet, hashBody(rebuildSpend(file).digest)));
}

/** Lets time pass for the gate and for the chain's newest block. */
async function passUntil(seconds: number): Promise<void> {
  aheadSeconds = seconds - Math.floor(Date.now() / 1000);
  served.chain.headTimestamp = seconds;
  await served.gate.examine();
}

async function look(id: string): Promise<string> {
  await served.gate.poll();
  await served.gate.poll();
  return id;
}

it('gets no more of a token than the limit of a day, in however many batches', async () => {
  // 700 each, of the 1,500 of a day.
  const recipients = [recipient(1, '400'), recipient(2, '300')];
  const ids: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    ids.push(await askFund(fundFile({ recipients })));
  }
  expect(ids.map((id) => world.statusOf(id))).toEqual(['Signed', 'Signed', 'Rejected']);
  expect(world.reasonOf(ids[2] ?? '')).toMatch(/totals of this day/);
});

it("gets no more of a holder's notes than the limit of a day, in however many spends", async () => {
  const ids: string[] = [];
  for (let count = 0; count < 2; count += 1) {
    ids.push(await askSpend(spendFile({ withdrawAmount: '600' })));
  }
  expect(ids.map((id) => world.statusOf(id))).toEqual(['Signed', 'Rejected']);
});

it('gets no second attempt of a job while the first may be paid, and one when it is dead', async () => {
  const first = fundFile({ jobKey: 'job-of-two-attempts' });
  expect(world.statusOf(await askFund(first))).toBe('Signed');

  const second = fundFile({ jobKey: 'job-of-two-attempts', attempt: 2 }, first.deadline + 10_000);
  const refusal = { status: 503, body: { code: 'manifest_not_ready' } };
  expect(await served.post(second)).toMatchObject(refusal);
  const id = await look(await world.ask(funderWallet, fundBody(second)));
  expect([world.statusOf(id), world.votesOf(id)]).toEqual(['Pending', []]);

  // It was paid.
  served.chain.used.add(fieldToHex(rebuildFund(first).batchNonce));
  expect(await served.post(second)).toMatchObject({
    status: 422,
    body: { message: expect.stringMatching(/previous-attempt-settled/) as string },
  });
  await look(id);
  expect(world.votesOf(id)).toEqual([]);

  // A node that lies, two hours before the deadline.
  served.chain.used.clear();
  served.chain.finalTimestamp = first.deadline + 10_000;
  expect(await served.post(second)).toMatchObject(refusal);
  served.chain.voided.add(fieldToHex(rebuildFund(first).batchNonce));
  expect(await served.post(second)).toMatchObject(refusal);
  served.chain.voided.clear();

  // The own clock must be 15 minutes past the deadline, and the final block one second.
  await passUntil(first.deadline + 880);
  expect(await served.post(second)).toMatchObject(refusal);
  await passUntil(first.deadline + 910);
  served.chain.finalTimestamp = first.deadline;
  expect(await served.post(second)).toMatchObject(refusal);
  served.chain.finalTimestamp = first.deadline + 1;
  expect(await served.post(second)).toMatchObject({ status: 200 });
  await look(id);
  expect(world.statusOf(id)).toBe('Signed');
});

it('gets no second spend of a note while the first may land', async () => {
  const first = spendFile();
  expect(world.statusOf(await askSpend(first))).toBe('Signed');
  const { inputNullifiers } = first.manifest;
  const { deadline } = first.manifest;
  const second = spendFile({
    inputNullifiers,
    withdrawAmount: '40',
    changeAmount: '20',
    deadline: deadline + 10_000,
  });
  await served.post(second);
  const body = hashBody(rebuildSpend(second).digest);
  const id = await look(await world.ask(holderWallet, body));
  expect(world.votesOf(id)).not.toContain('Approved');
  expect(world.statusOf(id)).not.toBe('Signed');

  // A node that lies, an hour before the deadline.
  served.chain.finalTimestamp = deadline + 10_000;
  const again = await look(await world.ask(holderWallet, body));
  expect(world.statusOf(again)).not.toBe('Signed');

  for (const one of [id, again]) {
    world.expire(one);
  }
  await passUntil(deadline + 910);
  const later = await look(await world.ask(holderWallet, body));
  expect([world.statusOf(id), world.statusOf(later)]).toEqual(['Rejected', 'Signed']);
});
