// Events of the custodian as they really arrive: twice, in another order, late, and from somebody else. An event wakes the poller and decides nothing.
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fundBody } from '../fixtures/bodies.ts';
import { createWorldA, funderWallet, type WorldA } from '../fixtures/custodian-a.ts';
import { type ServedGate, serveTestGate } from '../fixtures/gate-home.ts';
import { fundFile } from '../fixtures/payroll.ts';

const secret = 'webhook-secret-of-the-tests';
const copies = 3;
let world: WorldA;
let served: ServedGate;
let wakes: number;

beforeEach(async () => {
  world = await createWorldA();
  served = await serveTestGate(world.home);
  await served.gate.examine();
  wakes = 0;
  served.gate.onWake(() => {
    wakes += 1;
  });
  const { control } = world.custodian;
  control.changeSettings({ webhookHold: true, webhookCopies: copies, webhookOrder: 'reversed' });
  const url = `${served.url}/v1/webhooks/custodian-a`;
  control.replaceWebhooks([{ id: 'wh-gate', url, secret, events: ['*'] }]);
});

afterEach(async () => {
  await served.close();
  await world.close();
});

/** Delivers what is held, and looks once for each event that woke the gate, as its loop does. */
async function deliver(): Promise<readonly string[]> {
  const before = wakes;
  const deliveries = await world.custodian.control.flushWebhooks();
  const woken = wakes - before;
  expect(woken).toBe(deliveries.length);
  for (let looks = 0; looks < woken; looks += 1) {
    await served.gate.poll();
  }
  return deliveries.map(({ kind, status }) => `${kind} ${status}`);
}

async function send(event: object, key: string, ageSeconds = 0): Promise<number> {
  const timestampSent = Math.floor(Date.now() / 1000) - ageSeconds;
  const body = JSON.stringify({ id: 'whe-1', date: '', ...event, timestampSent });
  const mac = createHmac('sha256', key).update(body).digest('hex');
  const response = await fetch(`${served.url}/v1/webhooks/custodian-a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-webhook-signature': `sha256=${mac}` },
    body,
  });
  return response.status;
}

function countVotes(): number {
  return world.custodian.control.requests({ method: 'POST', path: '/decisions$' }).length;
}

/** Besides the gate, a person votes on each signature. */
function requirePerson(): void {
  const { control } = world.custodian;
  const { admin, approver } = world.organisation;
  const groups = [approver, admin].map(({ userId }) => ({
    quorum: 1,
    approvers: { userId: { in: [userId] } },
    serviceAccountsCanApprove: true,
  }));
  control.replacePolicies(
    control.state.policies.map((policy) =>
      policy.action.kind === 'RequestApproval' && policy.activityKind === 'Wallets:Sign'
        ? { ...policy, action: { ...policy.action, approvalGroups: groups } }
        : policy,
    ),
  );
}

it('votes once, however often and in whichever order its events arrive', async () => {
  requirePerson();
  const file = fundFile();
  await served.post(file);
  wakes = 0;
  const id = await world.ask(funderWallet, fundBody(file));
  const first = await deliver();
  expect(first).toEqual([
    ...Array<string>(copies).fill('policy.approval.pending 200'),
    ...Array<string>(copies).fill('wallet.signature.requested 200'),
  ]);
  // It still waits for a person, so each look finds it again.
  expect([world.statusOf(id), world.votesOf(id), countVotes()]).toEqual([
    'Pending',
    ['Approved'],
    1,
  ]);

  const { control } = world.custodian;
  const [approval] = control.state.approvals;
  control.vote(approval?.id ?? '', world.organisation.admin.userId, 'Approved');
  // The events of the end come late, and say again that something happened.
  expect((await deliver()).length).toBeGreaterThanOrEqual(copies);
  expect([world.statusOf(id), world.votesOf(id), countVotes()]).toEqual([
    'Signed',
    ['Approved'],
    1,
  ]);
  expect(served.gate.ledger.listOpenVotes()).toEqual([]);
});

it('votes for nothing that an event claims', async () => {
  const id = await world.ask(funderWallet, fundBody(fundFile()));
  const [approval] = world.custodian.control.state.approvals;
  const claim = {
    kind: 'policy.approval.resolved',
    data: { approval: { id: approval?.id, status: 'Approved' } },
  };
  // The custodian's own signature on it wakes the gate, which finds no manifest.
  expect(await send(claim, secret)).toBe(200);
  expect(wakes).toBe(1);
  await served.gate.poll();
  expect([world.statusOf(id), countVotes()]).toEqual(['Pending', 0]);

  expect(await send(claim, 'a secret of somebody else')).toBe(401);
  expect(await send(claim, secret, 600)).toBe(401);
  expect(wakes).toBe(1);
});
