// The gate is killed between deciding, storing, sending and reading back, and starts again on the same files.
import { generateKeyPairSync, verify } from 'node:crypto';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bytesToHex } from '@pool/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rebaselineLedger } from '../commands/ledger-command.ts';
import type { FaultPoint } from '../config/variables.ts';
import { fundBody } from '../fixtures/bodies.ts';
import { createWorldA, funderWallet, type WorldA } from '../fixtures/custodian-a.ts';
import { type ServedGate, serveTestGate } from '../fixtures/gate-home.ts';
import { fundFile, policyJson, recipient } from '../fixtures/payroll.ts';

const byTest = { by: 'a test', acceptUnknown: 0, nowMs: Date.now };

let world: WorldA;
const open: ServedGate[] = [];

beforeEach(async () => {
  world = await createWorldA();
});

afterEach(async () => {
  for (const served of open.splice(0)) {
    await served.close().catch(() => undefined);
  }
  await world.close();
});

async function start(fault: (point: FaultPoint) => void = () => undefined): Promise<ServedGate> {
  const served = await serveTestGate(world.home, { fault });
  open.push(served);
  await served.gate.examine();
  return served;
}

/** Every write is on the disk when it returns, so a killed process leaves what a stopped one leaves. */
async function stop(served: ServedGate): Promise<void> {
  open.splice(open.indexOf(served), 1);
  await served.close();
}

/** 700 of the 1,500 that may be approved on one day. */
function largeBatch() {
  return fundFile({ recipients: [recipient(1, '400'), recipient(2, '300')] });
}

const points = [
  'vote.after-decide',
  'vote.before-send',
  'vote.after-send',
  'vote.after-read-back',
] as const satisfies readonly FaultPoint[];

describe.each(points)('a gate that is killed at %s', (point) => {
  it('votes once and counts once after its restart [command.approve]', async () => {
    const first = await start((passed) => {
      if (passed === point) {
        throw new Error('killed');
      }
    });
    const file = largeBatch();
    await first.post(file);
    const id = await world.ask(funderWallet, fundBody(file));
    await first.gate.poll();
    await stop(first);

    const second = await start();
    await second.gate.poll();
    await second.gate.poll();
    expect(world.statusOf(id)).toBe('Signed');
    expect(world.votesOf(id)).toEqual(['Approved']);
    expect(second.gate.ledger.listOpenVotes()).toEqual([]);

    // 700 were counted once, so another 700 fit into the day, and a third do not.
    const others = [largeBatch(), largeBatch()];
    const ids: string[] = [];
    for (const other of others) {
      await second.post(other);
      ids.push(await world.ask(funderWallet, fundBody(other)));
      await second.gate.poll();
    }
    expect(ids.map((other) => world.statusOf(other))).toEqual(['Signed', 'Rejected']);
    expect(world.reasonOf(ids[1] ?? '')).toMatch(/totals of this day/);
  });
});

it('sends a vote again whose answer was lost, and the custodian counts it once', async () => {
  const served = await start();
  const file = largeBatch();
  await served.post(file);
  const id = await world.ask(funderWallet, fundBody(file));
  world.custodian.control.addFault({
    method: 'POST',
    path: '/decisions$',
    kind: 'error-after',
  });
  await served.gate.poll();
  await served.gate.poll();
  expect(world.statusOf(id)).toBe('Signed');
  expect(world.votesOf(id)).toEqual(['Approved']);
});

/** A vote of the gate and one of a person. */
function needPeopleToo(): void {
  const { control } = world.custodian;
  const { admin, approver } = world.organisation;
  const group = (userId: string) => ({
    quorum: 1,
    approvers: { userId: { in: [userId] } },
    serviceAccountsCanApprove: true,
  });
  control.replacePolicies(
    control.state.policies.map((policy) =>
      policy.action.kind === 'RequestApproval' && policy.activityKind === 'Wallets:Sign'
        ? {
            ...policy,
            action: {
              ...policy.action,
              approvalGroups: [group(approver.userId), group(admin.userId)],
            },
          }
        : policy,
    ),
  );
}

it('sends no second vote while an approval waits for other people', async () => {
  const { control } = world.custodian;
  needPeopleToo();
  const served = await start();
  const file = largeBatch();
  await served.post(file);
  const id = await world.ask(funderWallet, fundBody(file));
  await served.gate.poll();
  await served.gate.poll();
  expect([world.statusOf(id), world.votesOf(id)]).toEqual(['Pending', ['Approved']]);
  expect(control.requests({ method: 'POST', path: '/decisions$' })).toHaveLength(1);
});

it('votes nothing after an approval by its own user that the ledger does not have', async () => {
  const { control } = world.custodian;
  needPeopleToo();
  const served = await start();
  const files = [largeBatch(), largeBatch()];
  const ids: string[] = [];
  for (const file of files) {
    await served.post(file);
    ids.push(await world.ask(funderWallet, fundBody(file)));
  }
  // Somebody else has the credentials of the gate's user.
  const first = control.findSignature(ids[0] ?? '')?.approvalId ?? '';
  control.vote(first, world.organisation.approver.userId, 'Approved');
  let examinations = 0;
  served.gate.onReload(() => {
    examinations += 1;
  });
  await served.gate.poll();
  expect(world.votesOf(ids[1] ?? '')).toEqual([]);
  expect(examinations).toBe(1);

  await served.gate.examine();
  expect(served.gate.health().problems.join()).toMatch(/counts as restored/);
  await served.gate.poll();
  expect(world.votesOf(ids[1] ?? '')).toEqual([]);
  expect(examinations).toBe(1);
});

it('tries a vote that the custodian refuses less and less often', async () => {
  const { control } = world.custodian;
  const { initiator, admin } = world.organisation;
  let aheadMs = 0;
  const served = await serveTestGate(world.home, { nowMs: () => Date.now() + aheadMs });
  open.push(served);
  await served.gate.examine();
  // The gate is no approver of it.
  const people = { quorum: 1, approvers: { userId: { in: [admin.userId] } } };
  control.addApproval(initiator.userId, { kind: 'Permissions:Assign' }, [people]);
  const tries = () => control.requests({ method: 'POST', path: '/decisions$' }).length;
  const minutes = [0, 0, 0.9, 1.1, 2.9, 3.2, 8, 15, 26, 36.5];
  const counts: number[] = [];
  for (const minute of minutes) {
    aheadMs = minute * 60_000;
    await served.gate.poll();
    counts.push(tries());
  }
  expect(counts).toEqual([1, 1, 1, 2, 2, 3, 4, 4, 5, 6]);
});

it('handles more pending approvals than one page', async () => {
  const served = await start();
  const file = fundFile();
  await served.post(file);
  const body = fundBody(file);
  const ids: string[] = [];
  for (let index = 0; index < 23; index += 1) {
    ids.push(await world.ask(funderWallet, { ...body, externalId: `page-${index}` }));
  }
  await served.gate.poll();
  expect(new Set(ids.map((id) => world.statusOf(id)))).toEqual(new Set(['Signed']));
});

describe("a ledger from yesterday's backup", () => {
  it('votes nothing until it is re-baselined, and then knows what was approved', async () => {
    const files = ['ledger.sqlite', 'ledger.sqlite.generation'];
    const before = await start();
    await stop(before);
    const backup = join(world.home.path, 'backup');
    for (const file of files) {
      cpSync(join(world.home.path, file), join(backup, file));
    }

    const gate = await start();
    const paid = largeBatch();
    await gate.post(paid);
    await world.ask(funderWallet, fundBody(paid));
    await gate.gate.poll();
    await stop(gate);

    for (const file of files) {
      rmSync(join(world.home.path, `${file}-wal`), { force: true });
      cpSync(join(backup, file), join(world.home.path, file));
    }
    const restored = await start();
    expect(restored.gate.health().problems.join()).toMatch(/counts as restored/);
    const next = largeBatch();
    const third = largeBatch();
    await restored.post(next);
    await restored.post(third);
    const id = await world.ask(funderWallet, fundBody(next));
    await restored.gate.poll();
    expect(world.votesOf(id)).toEqual([]);

    expect(await rebaselineLedger(world.home.config, byTest)).toMatchObject({
      guards: 1,
      unknown: [],
    });
    await restored.gate.examine();
    expect(restored.gate.health().problems).toEqual([]);
    await restored.gate.poll();
    const last = await world.ask(funderWallet, fundBody(third));
    await restored.gate.poll();
    // 700 of before the restore, and 700 after it: the day is full.
    expect([world.statusOf(id), world.statusOf(last)]).toEqual(['Signed', 'Rejected']);
  });
});

it('votes nothing before the history was compared with the ledger once', async () => {
  const isHistory = { method: 'GET', path: '/v2/policy-approvals', kind: 'error-before' } as const;
  world.custodian.control.addFault({ ...isHistory, times: 100 });
  const served = await start();
  const file = largeBatch();
  await served.post(file);
  const id = await world.ask(funderWallet, fundBody(file));
  world.custodian.control.clearFaults();
  await served.gate.poll();
  expect(world.votesOf(id)).toEqual([]);
  expect(served.gate.health().problems.join()).toMatch(/history was not compared/);

  await served.gate.examine();
  world.custodian.control.addFault({ ...isHistory, times: 100 });
  await served.gate.examine();
  world.custodian.control.clearFaults();
  expect(served.gate.health().problems).toEqual([]);
  await served.gate.poll();
  expect(world.statusOf(id)).toBe('Signed');
});

it('stays restored when the custodian shows no approval at all', async () => {
  await stop(await start());
  rmSync(join(world.home.path, 'ledger.sqlite.generation'));
  const served = await start();
  await expect(rebaselineLedger(world.home.config, byTest)).rejects.toMatchObject({
    code: 'custodian_invalid_response',
  });
  expect(served.gate.ledger.status()).toMatchObject({ isRestored: true });
});

it('stays restored while an approval cannot be described and is not accepted as lost', async () => {
  const first = await start();
  const paid = largeBatch();
  await first.post(paid);
  await world.ask(funderWallet, fundBody(paid));
  await first.gate.poll();
  await stop(first);
  // Whoever has the gate's credentials approved a change of policies, and the wallet has another id by now.
  const { approver, initiator } = world.organisation;
  const { control } = world.custodian;
  const { id } = control.addApproval(initiator.userId, {
    kind: 'Policies:Modify',
    changeRequest: { id: 'cr-1', operationKind: 'Update' },
  });
  const foreign = control.state.approvals.find((approval) => approval.id === id);
  const date = new Date().toISOString();
  Object.assign(foreign ?? {}, {
    status: 'Approved',
    decisions: [{ userId: approver.userId, value: 'Approved', date }],
  });
  const person = generateKeyPairSync('ed25519');
  const { x } = person.publicKey.export({ format: 'jwk' });
  const publicKey = bytesToHex(Buffer.from(x ?? '', 'base64url'));
  const humanRelease = {
    people: [{ name: 'Treasurer', publicKey }],
    required: 1,
    newPayee: false,
  };
  world.home.writePolicy(
    policyJson({ funderWallet: 'wa-renamed', initiator: initiator.userId }, { humanRelease }),
  );
  for (const end of ['', '-wal', '-shm']) {
    rmSync(join(world.home.path, `ledger.sqlite${end}`), { force: true });
  }
  const restored = await start();
  const stranger = generateKeyPairSync('ed25519');
  for (const changes of [
    { acceptUnknown: 0, personKey: person.privateKey },
    { acceptUnknown: 2, personKey: person.privateKey },
    { acceptUnknown: 1, personKey: stranger.privateKey },
    { acceptUnknown: 1 },
  ]) {
    await expect(
      rebaselineLedger(world.home.config, { ...byTest, ...changes }),
    ).rejects.toMatchObject({
      code: 'invalid_release',
      message: expect.stringMatching(
        new RegExp(`1 approvals of this gate.*${id}: .*change of policies.*--accept-unknown 1`),
      ) as string,
    });
    expect(restored.gate.ledger.status()).toMatchObject({ isRestored: true });
  }
  // Whoever can write the file lists a key of their own. The policy in effect does not have it.
  const { x: ownX } = stranger.publicKey.export({ format: 'jwk' });
  const ownKey = bytesToHex(Buffer.from(ownX ?? '', 'base64url'));
  const people = [{ name: 'Treasurer', publicKey: ownKey }];
  const names = { funderWallet: 'wa-renamed', initiator: initiator.userId };
  world.home.writePolicy(policyJson(names, { humanRelease: { ...humanRelease, people } }));
  await expect(
    rebaselineLedger(world.home.config, {
      ...byTest,
      acceptUnknown: 1,
      personKey: stranger.privateKey,
    }),
  ).rejects.toMatchObject({ code: 'invalid_release' });
  const accepted = await rebaselineLedger(world.home.config, {
    ...byTest,
    acceptUnknown: 1,
    personKey: person.privateKey,
  });
  expect(accepted).toMatchObject({ approvals: 2, guards: 1, unknown: [{ id }] });
  expect(restored.gate.ledger.status()).toMatchObject({ isRestored: false });
  expect(restored.gate.ledger.exportHistory().counts).toMatchObject([{ amount: 700n }]);
  const audit = restored.gate.ledger.listAudit(0, -1);
  const entry = audit.find(({ event }) => event === 'ledger.rebaselined')?.data ?? '{}';
  const signed = JSON.parse(entry) as Readonly<Record<string, string>>;
  expect(signed).toMatchObject({ person: publicKey, by: 'a test' });
  expect(JSON.parse(signed['accepted'] ?? '')).toMatchObject({ unknown: [id] });
  const [text, signature = ''] = [Buffer.from(signed['accepted'] ?? ''), signed['signature']];
  expect(verify(null, text, person.publicKey, Buffer.from(signature.slice(2), 'hex'))).toBe(true);
});
