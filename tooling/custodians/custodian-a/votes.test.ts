/** Approvals, votes and policies, over real HTTP: CUSTODY's custodian A and the provider's public documentation. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, type Client, createClient } from './fixtures/client.ts';
import { hash, walletId, walletKey } from './fixtures/requests.ts';
import { createSampleOrganisation } from './sample.ts';
import { type ServedCustodianA, serveCustodianA } from './serve.ts';

const organisation = createSampleOrganisation({ [walletId]: walletKey });
const { initiator, approver, admin } = organisation;
const path = `/wallets/${walletId}/signatures`;
let served: ServedCustodianA;

beforeAll(async () => {
  served = await serveCustodianA(organisation.config);
});
beforeEach(() => {
  served.control.reset();
});
afterAll(() => served.close());

function agent(): Client {
  return createClient(served.url, initiator);
}
function gate(): Client {
  return createClient(served.url, approver);
}
function person(): Client {
  return createClient(served.url, admin);
}

async function request(): Promise<{ id: string; approvalId: string }> {
  return (await agent().send('POST', path, hash)).body;
}

function decide(client: Client, approvalId: string, value: string): Promise<Answer> {
  return client.send('POST', `/v2/policy-approvals/${approvalId}/decisions`, {
    value,
    reason: 'a reason',
  });
}

/** Changes the approval policy of the wallets. */
function changeGroup(change: object): void {
  served.control.replacePolicies(
    served.control.state.policies.map((policy) =>
      policy.activityKind === 'Wallets:Sign' && policy.action.kind === 'RequestApproval'
        ? {
            ...policy,
            action: {
              ...policy.action,
              approvalGroups: policy.action.approvalGroups.map((group) => ({
                ...group,
                ...change,
              })),
            },
          }
        : policy,
    ),
  );
}

describe('votes', () => {
  it('shows the whole preimage and the decisions', async () => {
    const { id, approvalId } = await request();
    await decide(gate(), approvalId, 'Approved');
    const { body } = await gate().get(`/v2/policy-approvals/${approvalId}`);
    expect(body).toMatchObject({
      id: approvalId,
      initiatorId: initiator.userId,
      status: 'Approved',
      activity: { kind: 'Wallets:Sign', signatureRequest: { id, walletId, requestBody: hash } },
      decisions: [{ userId: approver.userId, value: 'Approved', reason: 'a reason' }],
    });
  });

  it('takes one vote of each user', async () => {
    changeGroup({ quorum: 2, approvers: { userId: { in: [approver.userId, admin.userId] } } });
    const { approvalId } = await request();
    expect((await decide(gate(), approvalId, 'Approved')).body.status).toBe('Pending');
    expect((await decide(gate(), approvalId, 'Approved')).status).toBe(409);
    expect((await decide(gate(), approvalId, 'Denied')).status).toBe(409);
    expect((await decide(person(), approvalId, 'Approved')).body.status).toBe('Approved');
  });

  it('needs the quorum of every group', async () => {
    const [policy] = served.control.state.policies;
    const second = { quorum: 1, approvers: { userId: { in: [admin.userId] } } };
    const action = policy?.action;
    if (policy === undefined || action?.kind !== 'RequestApproval') throw new Error('no policy');
    const approvalGroups = [...action.approvalGroups, second];
    served.control.replacePolicies([{ ...policy, action: { ...action, approvalGroups } }]);
    const { approvalId } = await request();
    expect((await decide(gate(), approvalId, 'Approved')).body.status).toBe('Pending');
    expect((await decide(person(), approvalId, 'Approved')).body.status).toBe('Approved');
  });

  it('rejects the request at the first denial', async () => {
    changeGroup({ quorum: 2, approvers: { userId: { in: [approver.userId, admin.userId] } } });
    const { id, approvalId } = await request();
    await decide(gate(), approvalId, 'Approved');
    expect((await decide(person(), approvalId, 'Denied')).body.status).toBe('Denied');
    expect((await agent().get(`${path}/${id}`)).body.status).toBe('Rejected');
  });

  it('lets the initiator deny its request, and not approve it', async () => {
    const { id, approvalId } = await request();
    expect((await decide(agent(), approvalId, 'Approved')).status).toBe(403);
    expect((await decide(agent(), approvalId, 'Denied')).body.status).toBe('Denied');
    expect((await agent().get(`${path}/${id}`)).body.status).toBe('Rejected');
  });

  it('lets the initiator approve where the group says so, and not where it is only listed', async () => {
    changeGroup({ approvers: { userId: { in: [initiator.userId, approver.userId] } } });
    const listed = await request();
    expect((await decide(agent(), listed.approvalId, 'Approved')).status).toBe(403);
    changeGroup({ initiatorCanApprove: true });
    const { approvalId } = await request();
    expect((await decide(agent(), approvalId, 'Approved')).body.status).toBe('Approved');
  });

  it('refuses the vote of a service account where the group does not say so', async () => {
    changeGroup({ serviceAccountsCanApprove: false });
    const { approvalId } = await request();
    expect((await decide(gate(), approvalId, 'Approved')).status).toBe(403);
  });

  it('admits every person and no service account where no approver is listed', async () => {
    changeGroup({ approvers: {} });
    const { approvalId } = await request();
    expect((await decide(gate(), approvalId, 'Approved')).status).toBe(403);
    expect((await decide(person(), approvalId, 'Approved')).body.status).toBe('Approved');
  });

  it('refuses a vote on an approval that is over', async () => {
    const { approvalId } = await request();
    await decide(agent(), approvalId, 'Denied');
    expect((await decide(gate(), approvalId, 'Approved')).status).toBe(412);
  });

  it('expires an approval after its time, and rejects the request', async () => {
    const { id, approvalId } = await request();
    const { body } = await gate().get(`/v2/policy-approvals/${approvalId}`);
    expect(Date.parse(body.expirationDate) - Date.parse(body.dateCreated)).toBe(1_440 * 60_000);
    served.control.advanceClock(1_440 * 60 - 5);
    expect((await agent().get(`${path}/${id}`)).body.status).toBe('Pending');
    served.control.advanceClock(6);
    expect((await agent().get(`${path}/${id}`)).body.status).toBe('Rejected');
    expect((await gate().get(`/v2/policy-approvals/${approvalId}`)).body.status).toBe('Expired');
    expect((await decide(gate(), approvalId, 'Approved')).status).toBe(412);
  });

  it('expires an approval sooner on a faster clock', async () => {
    const { id } = await request();
    served.control.setClockScale(1e9);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect((await agent().get(`${path}/${id}`)).body.status).toBe('Rejected');
  });

  it('asks nobody where the filters name another wallet or tag', async () => {
    const [policy] = served.control.state.policies;
    if (policy === undefined) throw new Error('no policy');
    for (const filters of [
      { walletId: { in: ['wa-2'] } },
      { walletTags: { hasAny: ['funder'] } },
    ]) {
      served.control.replacePolicies([{ ...policy, filters }]);
      expect((await request()).approvalId).toBeUndefined();
    }
  });

  it('never expires an approval without a time-out', async () => {
    served.control.replacePolicies(
      served.control.state.policies.map((policy) =>
        policy.action.kind === 'RequestApproval'
          ? { ...policy, action: { ...policy.action, autoRejectTimeout: null } }
          : policy,
      ),
    );
    const { id, approvalId } = await request();
    served.control.advanceClock(400 * 86_400);
    expect((await agent().get(`${path}/${id}`)).body.status).toBe('Pending');
    const { body } = await gate().get(`/v2/policy-approvals/${approvalId}`);
    expect(body.expirationDate).toBeUndefined();
  });

  it('rejects at once what a policy blocks', async () => {
    served.control.replacePolicies(
      served.control.state.policies.map((policy) => ({ ...policy, action: { kind: 'Block' } })),
    );
    expect((await agent().send('POST', path, hash)).body.status).toBe('Rejected');
  });

  it('lists 21 pending approvals in two pages while votes are cast', async () => {
    for (let index = 0; index < 21; index += 1) {
      await request();
    }
    const list = '/v2/policy-approvals?status=Pending';
    const first = await gate().get(list);
    expect(first.body.items).toHaveLength(20);
    for (const { id } of first.body.items) {
      served.control.vote(id, approver.userId, 'Approved');
    }
    const second = await gate().get(`${list}&paginationToken=${first.body.nextPageToken}`);
    expect(second.body.items).toHaveLength(1);
    expect(second.body.nextPageToken).toBeUndefined();
  });
});

describe('policies and users', () => {
  const [votes] = organisation.config.policies ?? [];
  const { id: _, status: __, ...policyBody } = votes ?? { id: '', status: 'Active' };

  it('lets no policy change before the approval of the change', async () => {
    const change = { ...policyBody, action: { kind: 'NoAction' } };
    const answer = await person().send('PUT', `/v2/policies/${votes?.id}`, change);
    expect(answer).toMatchObject({
      status: 202,
      body: { kind: 'Policy', operationKind: 'Update', status: 'Pending', entityId: votes?.id },
    });
    const { body } = await gate().get(`/v2/policy-approvals/${answer.body.approvalId}`);
    expect(body.activity).toMatchObject({
      kind: 'Policies:Modify',
      changeRequest: { id: answer.body.id, body: change },
    });
    expect((await gate().get(`/v2/policies/${votes?.id}`)).body).toEqual(votes);
    served.control.vote(answer.body.approvalId, approver.userId, 'Denied');
    expect((await gate().get(`/v2/policies/${votes?.id}`)).body).toEqual(votes);
  });

  it('applies an approved change', async () => {
    served.control.changeAccount(initiator.userId, { operations: ['Policies:Update'] });
    const change = { ...policyBody, name: 'Another name' };
    const { body } = await agent().send('PUT', `/v2/policies/${votes?.id}`, change);
    expect((await decide(person(), body.approvalId, 'Approved')).body.status).toBe('Approved');
    expect((await gate().get(`/v2/policies/${votes?.id}`)).body.name).toBe('Another name');
  });

  it('changes a policy at once where no policy covers the change', async () => {
    const [first] = served.control.state.policies;
    served.control.replacePolicies(first === undefined ? [] : [first]);
    const answer = await person().send('DELETE', `/v2/policies/${votes?.id}`);
    expect(answer).toMatchObject({ status: 200, body: { status: 'Archived' } });
    expect((await agent().send('POST', path, hash)).body.approvalId).toBeUndefined();
  });

  it('refuses what the account may not do', async () => {
    const answer = await agent().send('PUT', `/v2/policies/${votes?.id}`, policyBody);
    expect(answer).toMatchObject({
      status: 403,
      body: { error: { message: expect.stringContaining('(Policies:Update)') } },
    });
    expect((await agent().get(`/auth/users/${initiator.userId}`)).status).toBe(403);
  });

  it('shows a user with permissions, a wallet with address and key', async () => {
    const user = await gate().get(`/auth/users/${initiator.userId}`);
    expect(user.body).toMatchObject({
      userId: initiator.userId,
      isServiceAccount: true,
      isActive: true,
      permissionAssignments: [
        { operations: expect.arrayContaining(['Wallets:GenerateSignature']) },
      ],
    });
    const wallet = await gate().get(`/wallets/${walletId}`);
    expect(wallet.body).toMatchObject({
      id: walletId,
      status: 'Active',
      signingKey: {
        scheme: 'ECDSA',
        curve: 'secp256k1',
        publicKey: expect.stringMatching(/^0[23]/),
      },
    });
    expect((await gate().get('/wallets')).body.items).toEqual([wallet.body]);
  });

  it('knows no token but those of active accounts', async () => {
    const stranger = createClient(served.url, { ...initiator, token: 'another-token' });
    expect((await stranger.get('/wallets')).status).toBe(401);
    served.control.changeAccount(initiator.userId, { isActive: false });
    expect((await agent().get('/wallets')).status).toBe(401);
  });
});
