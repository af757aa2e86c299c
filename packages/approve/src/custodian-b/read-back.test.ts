// What became of the gate's answers: over HTTP with the simulator, and with a fake reader for what a simulator does not do.
import type { Ledger, Vote } from '@pool/policy';
import { afterEach, describe, expect, it } from 'vitest';
import { fundBody } from '../fixtures/bodies.ts';
import { createWorldB, typedMessage, type WorldB } from '../fixtures/custodian-b.ts';
import {
  createRecordedLog,
  type ServedGate,
  type ServeOptions,
  serveTestGate,
} from '../fixtures/gate-home.ts';
import { fundFile } from '../fixtures/payroll.ts';
import { createReadBack } from './past-transactions.ts';

let world: WorldB;
let served: ServedGate | undefined;

async function startGate(options: ServeOptions = {}): Promise<ServedGate> {
  served = await serveTestGate(world.home, { port: world.port, ...options });
  await served.gate.examine();
  return served;
}

afterEach(async () => {
  await served?.close();
  served = undefined;
  await world.close();
});

async function endOf(id: string): Promise<string> {
  await expect.poll(() => world.statusOf(id), { interval: 2 }).toMatch(/COMPLETED|REJECTED/);
  return world.statusOf(id);
}

function openWork({ gate }: ServedGate) {
  return { votes: gate.ledger.listOpenVotes().length, waiting: gate.ledger.listWaiting().length };
}

describe.each(['transaction', 'stage'] as const)('with an id for each %s', (requestIds) => {
  it('closes votes on what was signed and rejected, and waits that ended', async () => {
    world = await createWorldB({ requestIds });
    const gate = await startGate();
    const file = fundFile();
    await gate.post(file);
    expect(await endOf(await world.create(typedMessage(fundBody(file))))).toBe('COMPLETED');
    const changed = fundBody(file, { batchRoot: `0x${'07'.repeat(32)}` });
    expect(await endOf(await world.create(typedMessage(changed)))).toBe('REJECTED');
    const waits = await world.create(typedMessage(fundBody(fundFile())));
    await expect.poll(() => openWork(gate).waiting, { interval: 2 }).toBe(1);
    expect(openWork(gate).votes).toBeGreaterThan(1);

    await gate.gate.poll();
    expect(openWork(gate)).toEqual({ votes: 0, waiting: 1 });
    world.custodian.control.setStatus(waits, 'CANCELLED');
    await gate.gate.poll();
    expect(openWork(gate)).toEqual({ votes: 0, waiting: 0 });
  });
});

it('closes votes and waits after a restart when a request’s id is not its transaction’s', async () => {
  world = await createWorldB({ requestIds: 'stage' });
  const { control } = world.custodian;
  const first = await startGate({
    // It stops voting after the approval, so only the next gate answers at the signing stage.
    fault: (point) => {
      if (point === 'callback.before-answer') {
        first.gate.reloadPolicy();
      }
    },
  });
  const file = fundFile();
  await first.post(file);
  const id = await world.create(typedMessage(fundBody(file)));
  await expect.poll(() => control.pendingPauses(), { interval: 2 }).toBe(1);
  expect(openWork(first)).toEqual({ votes: 1, waiting: 0 });
  await first.close();

  const second = await startGate();
  control.skipPauses();
  expect(await endOf(id)).toBe('COMPLETED');
  const waits = await world.create(typedMessage(fundBody(fundFile())));
  await expect.poll(() => openWork(second).waiting, { interval: 2 }).toBe(1);
  await second.close();
  control.setStatus(waits, 'CANCELLED');

  const last = await startGate();
  expect(openWork(last)).toEqual({ votes: 2, waiting: 1 });
  await last.gate.poll();
  expect(openWork(last)).toEqual({ votes: 0, waiting: 0 });
});

it('finds the transaction after a restart, and keeps a vote whose transaction is under way', async () => {
  world = await createWorldB();
  const first = await startGate();
  const file = fundFile();
  await first.post(file);
  const id = await world.create(typedMessage(fundBody(file)));
  await endOf(id);
  await first.close();
  const again = await startGate();
  const { control } = world.custodian;
  control.fault({ kind: 'status', status: 'PENDING_SIGNATURE' });
  const transaction = control.transactions().find((one) => one.id === id);
  const signedBy = transaction?.signedBy.splice(0) ?? [];
  await again.gate.poll();
  expect(openWork(again).votes).toBe(1);
  transaction?.signedBy.push(...signedBy);
  await again.gate.poll();
  expect(openWork(again).votes).toBe(0);
});

it('reads a vote again when the custodian could not be read', async () => {
  world = await createWorldB();
  const gate = await startGate();
  const file = fundFile();
  await gate.post(file);
  await endOf(await world.create(typedMessage(fundBody(file))));
  world.custodian.control.fault({ kind: 'http', on: 'read', effect: 'error', status: 500 });
  await gate.gate.poll();
  expect(openWork(gate).votes).toBe(1);
  await gate.gate.poll();
  expect(openWork(gate).votes).toBe(0);
});

describe('a vote whose transaction', () => {
  const dayMs = 86_400_000;

  /** @returns the events of the audit log, and whether the vote is closed */
  async function look(
    shown: object | undefined,
    value: Vote['value'],
    { ageMs = 0, transactionId }: { ageMs?: number; transactionId?: string } = {},
  ) {
    const events: string[] = [];
    let isSeen = false;
    const ledger = {
      listOpenVotes: () => [{ id: 1, requestId: 'r-1', transactionId, value, decidedAtMs: -ageMs }],
      listWaiting: () => [],
      markSeen: () => {
        isSeen = true;
      },
      writeAudit: (event: string) => void events.push(event),
    } as unknown as Ledger;
    const { log } = createRecordedLog();
    const reader = { get: async () => shown };
    const readBack = createReadBack({ reader, ledger, signerId: 'us-1', nowMs: () => 0, log });
    await readBack.look();
    return { isSeen, events };
  }

  const signed = { id: 'r-1', status: 'COMPLETED', signedBy: ['us-1'] };
  const rejected = { id: 'r-1', status: 'REJECTED', rejectedBy: 'us-1' };

  it('was signed against a denial, or rejected against an approval, is told', async () => {
    const told = { isSeen: true, events: ['vote-differs'] };
    expect(await look(signed, 'deny')).toEqual(told);
    expect(await look(rejected, 'approve')).toEqual(told);
    expect(await look(signed, 'approve')).toEqual({ isSeen: true, events: [] });
    expect(await look({ ...rejected, rejectedBy: 'us-2' }, 'approve')).toMatchObject({
      isSeen: true,
      events: [],
    });
  });

  it('is unknown stays open until its request is too old to come back', async () => {
    expect(await look(undefined, 'approve')).toEqual({ isSeen: false, events: [] });
    const lost = { isSeen: true, events: ['vote-lost'] };
    expect(await look(undefined, 'approve', { ageMs: 3 * dayMs })).toEqual(lost);
    expect(await look(undefined, 'approve', { transactionId: 'tx-1' })).toEqual(lost);
    expect(await look({ ...signed, id: 'r-2' }, 'approve', { ageMs: 3 * dayMs })).toEqual({
      isSeen: false,
      events: [],
    });
  });
});
