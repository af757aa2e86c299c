import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fundBody } from '../fixtures/bodies.ts';
import {
  createWorldA,
  funderWallet,
  holderWallet,
  spareWallet,
  type WorldA,
} from '../fixtures/custodian-a.ts';
import { type ServedGate, serveTestGate } from '../fixtures/gate-home.ts';
import { fundFile, policyJson } from '../fixtures/payroll.ts';

let world: WorldA;
let served: ServedGate;

beforeEach(async () => {
  world = await createWorldA();
  served = await serveTestGate(world.home);
});

afterEach(async () => {
  await served.close();
  await world.close();
});

type Policies = Parameters<WorldA['custodian']['control']['replacePolicies']>[0];
type CustodyPolicy = Policies[number];

/** Changes the policy of signatures, and examines. @returns the names of the checks that fail */
async function failuresWith(change: (policy: CustodyPolicy) => CustodyPolicy): Promise<string[]> {
  const { control } = world.custodian;
  control.replacePolicies(
    control.state.policies.map((policy) =>
      policy.activityKind === 'Wallets:Sign' ? change(policy) : policy,
    ),
  );
  return await failures();
}

async function failures(): Promise<string[]> {
  const { checks } = await served.gate.examine();
  return [...new Set(checks.filter(({ ok }) => !ok).map(({ name }) => name))];
}

function withGroup(change: object) {
  return (policy: CustodyPolicy): CustodyPolicy =>
    policy.action.kind === 'RequestApproval'
      ? {
          ...policy,
          action: {
            ...policy.action,
            approvalGroups: policy.action.approvalGroups.map((group) => ({ ...group, ...change })),
          },
        }
      : policy;
}

describe('the doctor at custodian A', () => {
  it('passes beside the sample organisation', async () => {
    expect(await failures()).toEqual([]);
  });

  it('fails when no policy covers a wallet', async () => {
    expect(await failuresWith((policy) => ({ ...policy, status: 'Archived' }))).toEqual([
      'wallet-covered',
    ]);
    expect(
      await failuresWith((policy) => ({
        ...policy,
        status: 'Active',
        filters: { walletId: { in: [funderWallet] } },
      })),
    ).toEqual(['wallet-covered']);
  });

  it('fails when the policy does not trigger always, or has another filter', async () => {
    expect(
      await failuresWith((policy) => ({ ...policy, rule: { kind: 'TransactionAmountLimit' } })),
    ).toEqual(['wallet-covered']);
  });

  it('fails when others can approve without the gate', async () => {
    const { approver, admin } = world.organisation;
    const everybody = { approvers: { userId: { in: [approver.userId, admin.userId] } } };
    expect(await failuresWith(withGroup(everybody))).toEqual(['wallet-covered']);
    expect(await failuresWith(withGroup({ ...everybody, quorum: 2 }))).toEqual([]);
    expect(await failuresWith(withGroup({ approvers: {}, quorum: 1 }))).toEqual(['wallet-covered']);
  });

  it('fails when the initiator can approve, or is an approver', async () => {
    expect(await failuresWith(withGroup({ initiatorCanApprove: true }))).toEqual([
      'initiator-cannot-approve',
    ]);
    const { approver, initiator } = world.organisation;
    const both = {
      initiatorCanApprove: false,
      quorum: 2,
      approvers: { userId: { in: [approver.userId, initiator.userId] } },
    };
    expect(await failuresWith(withGroup(both))).toEqual(['agent-not-approver']);
  });

  it('fails without an auto-reject time', async () => {
    expect(
      await failuresWith((policy) =>
        policy.action.kind === 'RequestApproval'
          ? { ...policy, action: { ...policy.action, autoRejectTimeout: null } }
          : policy,
      ),
    ).toEqual(['auto-reject']);
  });

  it.each([
    'Policies:Update',
    'Permissions:Assign',
    'Auth:Users:Create',
    '*',
    'Wallets:Export',
    'Wallets:Create',
    'Wallets:TransferAsset',
    'Keys:Export',
    'Keys:Delegate',
    'wallets:read',
  ])("fails when the agent's user has the right %s", async (right) => {
    const { control } = world.custodian;
    const operations = ['Wallets:GenerateSignature', 'Policies:Approvals:Approve', right];
    control.changeAccount(world.organisation.initiator.userId, { operations });
    const { checks } = await served.gate.examine();
    const wrong = checks.filter(({ ok }) => !ok);
    expect(wrong.map(({ name }) => name)).toEqual(['agent-rights']);
    expect(wrong[0]?.detail).toContain(`: ${right};`);
  });

  it('fails when a wallet of the policy has another address, or is unknown', async () => {
    const { initiator } = world.organisation;
    const names = { funderWallet, holderWallet, initiator: initiator.userId };
    const examineWith = async (change: Partial<typeof names>) => {
      world.home.writePolicy(policyJson({ ...names, ...change }));
      expect(served.gate.reloadPolicy()).toBe(true);
      return await failures();
    };
    expect(await examineWith({ funderWallet: spareWallet })).toEqual(['wallet-address']);
    expect(await examineWith({ holderWallet: spareWallet })).toEqual(['wallet-address']);
    expect(await examineWith({ funderWallet: 'wa-nobody' })).toEqual([
      'wallet-address',
      'wallet-covered',
    ]);
    expect(await examineWith({})).toEqual([]);
  });

  it('fails when the operations of a permission are not shown', async () => {
    const { control } = world.custodian;
    const account = control.changeAccount(world.organisation.initiator.userId, {});
    for (const assignment of account.permissionAssignments) {
      Reflect.deleteProperty(assignment, 'operations');
    }
    const { ok, checks } = await served.gate.doctor.examine();
    expect(ok).toBe(false);
    expect(checks.filter((check) => !check.ok)).toMatchObject([
      { name: 'agent-rights', detail: expect.stringMatching(/are not shown/) as string },
    ]);
  });

  it('fails when everybody can approve a change, the agent included', async () => {
    const { control } = world.custodian;
    control.replacePolicies(
      control.state.policies.map((policy) =>
        policy.activityKind === 'Permissions:Modify'
          ? {
              ...policy,
              action: {
                kind: 'RequestApproval',
                autoRejectTimeout: null,
                approvalGroups: [{ quorum: 1, approvers: {} }],
              },
            }
          : policy,
      ),
    );
    expect(await failures()).toEqual(['changes-are-gated']);
  });

  it.each(['Policies:Modify', 'Permissions:Modify', 'Permissions:Assign'])(
    'fails when a change of the kind %s needs no approval',
    async (kind) => {
      const { control } = world.custodian;
      control.replacePolicies(
        control.state.policies.filter(({ activityKind }) => activityKind !== kind),
      );
      expect(await failures()).toEqual(['changes-are-gated']);
    },
  );

  it.each([
    ['another origin', { origin: 'https://other.example' }],
    ['another credential', { credentialId: 'credential-of-nobody' }],
  ])('fails when the gate has %s than its account, and could not vote', async (_what, change) => {
    const { custodian } = world.home.config;
    const other = await serveTestGate({
      ...world.home,
      config: {
        ...world.home.config,
        home: `${world.home.path}/other`,
        custodian: { ...custodian, ...change },
      },
    });
    const { checks } = await other.gate.examine();
    await other.close();
    expect(checks.filter(({ ok }) => !ok)).toMatchObject([
      {
        name: 'own-key',
        detail: expect.stringMatching(
          /cannot vote: .*HTTP 401.*APPROVE_CUSTODIAN_A_ORIGIN/,
        ) as string,
      },
    ]);
  });

  it("fails when the gate's user has no right to vote", async () => {
    const { control } = world.custodian;
    const operations = ['Wallets:Read', 'Policies:Read', 'Auth:Users:Read'];
    control.changeAccount(world.organisation.approver.userId, {
      operations: [...operations, 'Policies:Evaluations:Read'],
    });
    expect(await failures()).toEqual(['own-rights']);
  });

  it('fails when the custodian does not answer', async () => {
    world.custodian.control.addFault({ path: '/v2/policies', kind: 'error-before', times: 5 });
    expect(await failures()).toEqual(['custodian-answers']);
  });
});

it('votes nothing while a check fails, and votes when it passes again', async () => {
  const { control } = world.custodian;
  const policies = [...control.state.policies];
  control.replacePolicies(
    policies.filter(({ activityKind }) => activityKind !== 'Policies:Modify'),
  );
  await served.gate.examine();
  const file = fundFile();
  await served.post(file);
  const id = await world.ask(funderWallet, fundBody(file));
  await served.gate.poll();
  expect(world.votesOf(id)).toEqual([]);
  expect((await fetch(`${served.url}/healthz`)).status).toBe(503);

  control.replacePolicies(policies);
  await served.gate.examine();
  await served.gate.poll();
  expect(world.statusOf(id)).toBe('Signed');
  expect((await fetch(`${served.url}/healthz`)).status).toBe(200);
});
