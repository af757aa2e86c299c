/** The faults that an adapter and the gate must survive, over real connections. */
import { computeAddress, Transaction } from 'ethers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Client, createClient } from './fixtures/client.ts';
import {
  digests,
  hash,
  recoverSigners,
  transaction,
  typedData,
  walletId,
  walletKey,
} from './fixtures/requests.ts';
import { createSampleOrganisation } from './sample.ts';
import { type ServedCustodianA, serveCustodianA } from './serve.ts';

const organisation = createSampleOrganisation({ [walletId]: walletKey });
const path = `/wallets/${walletId}/signatures`;
const address = computeAddress(walletKey);
let served: ServedCustodianA;

beforeAll(async () => {
  served = await serveCustodianA(organisation.config);
});
beforeEach(() => {
  served.control.reset();
});
afterAll(() => served.close());

function decisions(approvalId: string): string {
  return `/v2/policy-approvals/${approvalId}/decisions`;
}

function agent(): Client {
  return createClient(served.url, organisation.initiator);
}

describe('lost answers', () => {
  const creates = { method: 'POST', path: '/signatures$' };

  it('accepts a request and answers 500', async () => {
    served.control.addFault({ ...creates, kind: 'error-after', status: 503 });
    const body = { ...hash, externalId: 'one' };
    expect((await agent().send('POST', path, body)).status).toBe(503);
    expect(served.control.state.signatures).toHaveLength(1);
    const again = await agent().send('POST', path, body);
    expect(again).toMatchObject({ status: 200, body: { status: 'Pending' } });
    expect(served.control.state.signatures).toHaveLength(1);
    expect(served.control.requests(creates)).toHaveLength(2);
  });

  it('answers 500 and accepts nothing', async () => {
    served.control.addFault({ ...creates, kind: 'error-before' });
    expect((await agent().send('POST', path, hash)).status).toBe(500);
    expect(served.control.state.signatures).toHaveLength(0);
  });

  it.each([
    ['drop-before', 0],
    ['drop-after', 1],
  ] as const)('closes the connection: %s', async (kind, accepted) => {
    served.control.addFault({ ...creates, kind });
    await expect(agent().send('POST', path, hash)).rejects.toThrow('fetch failed');
    expect(served.control.state.signatures).toHaveLength(accepted);
  });

  it('accepts a request and answers a redirect', async () => {
    served.control.addFault({ ...creates, kind: 'redirect-after' });
    await agent()
      .send('POST', path, hash)
      .catch(() => undefined);
    expect(served.control.requests(creates).map(({ status }) => status)).toEqual([302]);
    expect(served.control.state.signatures).toHaveLength(1);
  });

  it.each([
    ['hang-before', 0],
    ['hang-after', 1],
  ] as const)('never answers: %s', async (kind, accepted) => {
    served.control.addFault({ ...creates, kind });
    const userAction = await agent().obtainUserAction('POST', path, JSON.stringify(hash));
    const caller = new AbortController();
    const aborted = fetch(`${served.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${organisation.initiator.token}`,
        'x-useraction': userAction,
      },
      body: JSON.stringify(hash),
      signal: caller.signal,
    });
    const refused = expect(aborted).rejects.toThrow('aborted');
    await expect.poll(() => served.control.pendingFaults()).toBe(0);
    await expect.poll(() => served.control.state.signatures).toHaveLength(accepted);
    setTimeout(() => caller.abort(), 60);
    await refused;
    expect(served.control.state.signatures).toHaveLength(accepted);
  });

  it('answers late, with a redirect, with 2 MiB, and with HTML', async () => {
    served.control.addFault({ path: '^/wallets$', kind: 'delay', ms: 40 });
    const startedAt = performance.now();
    await agent().get('/wallets');
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(39);
    const headers = { authorization: `Bearer ${organisation.initiator.token}` };
    const get = () => fetch(`${served.url}/wallets`, { headers, redirect: 'manual' });
    served.control.addFault({ path: '^/wallets$', kind: 'redirect' });
    expect((await get()).status).toBe(302);
    served.control.addFault({ path: '^/wallets$', kind: 'oversized' });
    expect((await (await get()).arrayBuffer()).byteLength).toBeGreaterThan(1024 * 1024);
    served.control.addFault({ path: '^/wallets$', kind: 'not-json' });
    expect(await (await get()).text()).toContain('<html>');
    expect((await get()).status).toBe(200);
  });

  it('lets requests through before a fault, and repeats it', async () => {
    served.control.addFault({ path: '^/wallets$', kind: 'error-before', skip: 1, times: 2 });
    const statuses = [];
    for (let index = 0; index < 4; index += 1) {
      statuses.push((await agent().get('/wallets')).status);
    }
    expect(statuses).toEqual([200, 500, 500, 200]);
  });
});

describe('wrong and varying signatures', () => {
  beforeEach(() => {
    served.control.replacePolicies([]);
    served.control.changeSettings({ executingReads: 0 });
  });

  it.each(['other-key', 'other-digest'] as const)('signs with %s', async (signer) => {
    served.control.changeSettings({ signer });
    const { body } = await agent().send('POST', path, typedData);
    expect(body.status).toBe('Signed');
    expect(recoverSigners(digests.Eip712, body.signature)).not.toContain(address);
  });

  it('gives two different signatures for one digest', async () => {
    served.control.changeSettings({ resignOnRead: true, signatureForm: 'canonical' });
    const { id } = (await agent().send('POST', path, typedData)).body;
    const first = (await agent().get(`${path}/${id}`)).body.signature;
    const second = (await agent().get(`${path}/${id}`)).body.signature;
    expect(first.r).not.toBe(second.r);
    for (const signature of [first, second]) {
      expect(recoverSigners(digests.Eip712, signature)).toContain(address);
    }
  });

  it('answers another body than the one that was sent', async () => {
    served.control.changeSettings({ foreignBody: true });
    for (const body of [typedData, hash, transaction]) {
      const answer = await agent().send('POST', path, body);
      expect(answer.body.requestBody).not.toEqual(body);
    }
  });

  it('ends a request as Failed', async () => {
    served.control.changeSettings({ failSigning: true });
    const { body } = await agent().send('POST', path, hash);
    expect(body).toMatchObject({ status: 'Failed', reason: expect.any(String) });
    expect(body.signature).toBeUndefined();
  });

  it.each([
    ['Confirmed', 'always'],
    ['Signed', 'never'],
  ] as const)('ends a transaction as %s, with a low s inside', async (transactionEnd, highS) => {
    served.control.changeSettings({ transactionEnd, highS });
    const { body } = await agent().send('POST', path, transaction);
    expect(body.status).toBe(transactionEnd);
    const signed = Transaction.from(body.signedData);
    expect(signed.from).toBe(address);
    expect(signed.unsignedHash).toBe(digests.Transaction);
  });

  it.each([
    ['canonical', /^0x[0-9a-f]{64}$/],
    ['no-prefix', /^[0-9a-f]{64}$/],
  ] as const)('spells r as %s', async (signatureForm, pattern) => {
    served.control.changeSettings({ signatureForm });
    const { body } = await agent().send('POST', path, hash);
    expect(body.signature.r).toMatch(pattern);
    expect(body.signature.recid).toBeOneOf([0, 1]);
  });

  it('spells recid as 27 or 28 when it is told to', async () => {
    served.control.changeSettings({ signatureForm: 'recid-27' });
    const { body } = await agent().send('POST', path, hash);
    expect(body.signature.recid).toBeOneOf([27, 28]);
  });
});

describe('the control API', () => {
  it('votes, moves the clock, and shows what was received, over HTTP', async () => {
    const { id, approvalId } = (await agent().send('POST', path, hash)).body;
    const send = (method: string, to: string, body?: unknown) =>
      fetch(`${served.url}/__control${to}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const vote = { approvalId, userId: organisation.approver.userId, value: 'Denied' };
    expect((await send('POST', '/votes', vote)).status).toBe(200);
    expect((await agent().get(`${path}/${id}`)).body.status).toBe('Rejected');
    const next = (await agent().send('POST', path, hash)).body;
    expect((await send('POST', '/clock', { advanceSeconds: 86_401 })).status).toBe(200);
    expect((await agent().get(`${path}/${next.id}`)).body.status).toBe('Rejected');
    const requests = await (await send('GET', '/requests?method=POST&path=/signatures')).json();
    expect(requests).toMatchObject([
      { path, body: JSON.stringify(hash), userId: organisation.initiator.userId },
      { path },
    ]);
    expect((await send('PATCH', '/settings', { pageSize: 0 })).status).toBe(400);
    expect((await send('POST', '/votes', { ...vote, approvalId: 'ap-none' })).status).toBe(404);
    expect((await send('POST', '/reset')).status).toBe(200);
    expect(served.control.state.signatures).toHaveLength(0);
  });

  it('adds a pending change of permissions', async () => {
    const { id } = served.control.addApproval(organisation.initiator.userId, {
      kind: 'Permissions:Assign',
      changeRequest: { kind: 'Assignment', operationKind: 'Create' },
    });
    const gate = createClient(served.url, organisation.approver);
    const { body } = await gate.get(`/v2/policy-approvals?status=Pending`);
    expect(body.items).toMatchObject([{ id, activity: { kind: 'Permissions:Assign' } }]);
    expect((await gate.send('POST', decisions(id), { value: 'Denied' })).status).toBe(403);
  });

  it('adds a pending activity on which the gate may vote', async () => {
    const userId = { in: [organisation.approver.userId] };
    const { id } = served.control.addApproval(
      organisation.initiator.userId,
      { kind: 'Wallets:Sign', transferRequest: { id: 'xfr-1' } },
      [{ quorum: 1, approvers: { userId }, serviceAccountsCanApprove: true }],
    );
    const gate = createClient(served.url, organisation.approver);
    const { body } = await gate.send('POST', decisions(id), { value: 'Denied' });
    expect(body).toMatchObject({
      status: 'Denied',
      activity: { transferRequest: { id: 'xfr-1' } },
    });
  });
});
