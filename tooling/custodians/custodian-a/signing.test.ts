/** The path from a request to a signature, over real HTTP: CUSTODY's custodian A and the provider's public documentation. */
import { computeAddress, Transaction, Wallet } from 'ethers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AnswerBody, type Client, createAssertion, createClient } from './fixtures/client.ts';
import {
  digests,
  hash,
  isHighS,
  recoverSigners,
  text,
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
const signedTransaction = {
  kind: 'Transaction',
  transaction: await new Wallet(walletKey).signTransaction({
    ...Transaction.from(transaction.transaction).toJSON(),
  }),
};
let served: ServedCustodianA;

beforeAll(async () => {
  served = await serveCustodianA(organisation.config);
});
beforeEach(() => {
  served.control.reset();
});
afterAll(() => served.close());

function agent(): Client {
  return createClient(served.url, organisation.initiator);
}
function gate(): Client {
  return createClient(served.url, organisation.approver);
}

/** Creates, votes yes, and reads until it is signed. */
async function signWithVote(body: object): Promise<AnswerBody> {
  const created = await agent().send('POST', path, body);
  const { id, approvalId } = created.body;
  await gate().send('POST', `/v2/policy-approvals/${approvalId}/decisions`, { value: 'Approved' });
  expect((await agent().get(`${path}/${id}`)).body.status).toBe('Executing');
  return (await agent().get(`${path}/${id}`)).body;
}

describe('user actions', () => {
  const body = JSON.stringify(hash);

  it('refuses a request without a user action', async () => {
    const answer = await agent().raw('POST', path, body);
    expect(answer).toMatchObject({
      status: 403,
      body: { error: { message: 'user action signature is missing or invalid', status: 403 } },
    });
  });

  it('accepts one user action once', async () => {
    const userAction = await agent().obtainUserAction('POST', path, body);
    const headers = { 'x-useraction': userAction };
    expect((await agent().raw('POST', path, body, headers)).status).toBeLessThan(203);
    expect(await agent().raw('POST', path, body, headers)).toMatchObject({
      status: 400,
      body: { error: { message: 'user action has already been used' } },
    });
  });

  it.each([
    ['another byte in the body', 'POST', path, `${body} `],
    ['another path', 'POST', `/wallets/${walletId}x/signatures`, body],
    ['another method', 'PUT', path, body],
  ])('refuses a user action of %s', async (_, method, actionPath, payload) => {
    const userAction = await agent().obtainUserAction(method, actionPath, payload);
    const answer = await agent().raw('POST', path, body, { 'x-useraction': userAction });
    expect(answer.status).toBe(403);
    expect(served.control.state.signatures).toHaveLength(0);
  });

  it('refuses a user action of another account, and an old one', async () => {
    const foreign = await gate().obtainUserAction('POST', path, body);
    expect((await agent().raw('POST', path, body, { 'x-useraction': foreign })).status).toBe(403);
    const old = await agent().obtainUserAction('POST', path, body);
    served.control.advanceClock(301);
    expect((await agent().raw('POST', path, body, { 'x-useraction': old })).status).toBe(403);
  });

  it.each([
    ['the type', { type: 'webauthn.get' }],
    ['the origin', { origin: 'https://elsewhere.example' }],
    ['crossOrigin', { crossOrigin: true }],
    ['the challenge', { challenge: 'AAAA' }],
  ])('refuses client data with another value of %s', async (_, clientData) => {
    const init = await agent().raw('POST', '/auth/action/init', initBody(body));
    const assertion = createAssertion(organisation.initiator, init.body, clientData);
    const answer = await agent().raw('POST', '/auth/action', JSON.stringify(assertion));
    expect(answer.status).toBe(401);
  });

  it('takes each challenge once, and none after its time', async () => {
    const init = await agent().raw('POST', '/auth/action/init', initBody(body));
    const assertion = JSON.stringify(createAssertion(organisation.initiator, init.body));
    expect((await agent().raw('POST', '/auth/action', assertion)).status).toBe(200);
    expect((await agent().raw('POST', '/auth/action', assertion)).status).toBe(400);
    const late = await agent().raw('POST', '/auth/action/init', initBody(body));
    served.control.advanceClock(901);
    const lateAssertion = JSON.stringify(createAssertion(organisation.initiator, late.body));
    expect((await agent().raw('POST', '/auth/action', lateAssertion)).status).toBe(400);
  });

  it('takes a challenge from its own account only', async () => {
    const init = await agent().raw('POST', '/auth/action/init', initBody(body));
    const assertion = createAssertion(organisation.approver, init.body);
    expect((await gate().raw('POST', '/auth/action', JSON.stringify(assertion))).status).toBe(400);
  });

  it('refuses a signature of another key', async () => {
    const init = await agent().raw('POST', '/auth/action/init', initBody(body));
    const { privateKey } = organisation.admin;
    const forged = createAssertion({ ...organisation.initiator, privateKey }, init.body);
    expect((await agent().raw('POST', '/auth/action', JSON.stringify(forged))).status).toBe(401);
  });

  it('accepts a P-256 credential', async () => {
    const other = createSampleOrganisation({ [walletId]: walletKey }, { credentialCurve: 'p256' });
    const p256 = await serveCustodianA(other.config);
    const answer = await createClient(p256.url, other.initiator).send('POST', path, hash);
    await p256.close();
    expect(answer.body.status).toBe('Pending');
  });

  function initBody(payload: string): string {
    return JSON.stringify({
      userActionPayload: payload,
      userActionHttpMethod: 'POST',
      userActionHttpPath: path,
    });
  }
});

describe('signatures', () => {
  it.each([typedData, text, hash, transaction])('signs $kind after a vote', async (body) => {
    const signed = await signWithVote(body);
    expect(['Signed', 'Confirmed']).toContain(signed.status);
    expect(signed.requestBody).toEqual(body);
    const digest = digests[body.kind as keyof typeof digests];
    expect(recoverSigners(digest, signed.signature)).toContain(address);
  });

  it('answers 200 and 202 for a request that waits', async () => {
    const statuses = [];
    for (const digit of ['0', '1']) {
      const body = { kind: 'Hash', hash: digit.repeat(64) };
      const answer = await agent().send('POST', path, body);
      expect(answer.body).toMatchObject({ status: 'Pending', requestBody: body });
      statuses.push(answer.status);
    }
    expect(statuses.sort()).toEqual([200, 202]);
  });

  it('uses another nonce for the same digest, and both values of s', async () => {
    served.control.replacePolicies([]);
    served.control.changeSettings({ executingReads: 0 });
    const signatures = [];
    for (let index = 0; index < 24; index += 1) {
      const answer = await agent().send('POST', path, hash);
      signatures.push(answer.body.signature);
    }
    expect(new Set(signatures.map(({ r }) => BigInt(`0x${r.replace(/^0x/, '')}`))).size).toBe(24);
    // 24 tosses are all the same once in eight million runs.
    expect(new Set(signatures.map(({ s }) => isHighS(s)))).toEqual(new Set([true, false]));
    expect(signatures.some(({ recid }) => recid === undefined)).toBe(true);
    expect(signatures.some(({ r }) => !r.startsWith('0x'))).toBe(true);
    expect(signatures.some(({ r, s }) => r.length < 64 || s.length < 66)).toBe(true);
  });

  it('signs by itself when no policy covers the wallet', async () => {
    served.control.replacePolicies([]);
    const created = await agent().send('POST', path, typedData);
    expect(created.status).toBe(200);
    expect(created.body.approvalId).toBeUndefined();
    await agent().get(`${path}/${created.body.id}`);
    expect((await agent().get(`${path}/${created.body.id}`)).body.status).toBe('Signed');
  });

  it('finds the request of an externalId, and refuses another body for it', async () => {
    const body = { ...typedData, externalId: 'one' };
    const first = await agent().send('POST', path, body);
    const again = await agent().send('POST', path, body);
    expect(again).toMatchObject({ status: 200, body: { id: first.body.id, externalId: 'one' } });
    const other = await agent().send('POST', path, { ...hash, externalId: 'one' });
    expect(other).toMatchObject({
      status: 409,
      body: {
        error: { status: 409, details: { duplicate: { id: first.body.id, externalId: 'one' } } },
      },
    });
    expect(served.control.state.signatures).toHaveLength(1);
  });

  it.each([
    ['text that is not hex', { kind: 'Eip191', message: 'Hello' }],
    ['a hash of 31 bytes', { kind: 'Hash', hash: 'ab'.repeat(31) }],
    ['a primary type', { ...typedData, primaryType: 'Mail' }],
    [
      'typed data with a missing type',
      { ...typedData, types: { Mail: [{ name: 'to', type: 'Nobody' }] } },
    ],
    ['a transaction that is none', { kind: 'Transaction', transaction: '0x02c0' }],
    ['a transaction that is signed', signedTransaction],
  ])('refuses %s', async (_, body) => {
    const answer = await agent().send('POST', path, body);
    expect(answer.status).toBe(400);
  });

  it('pages the list of requests at 20', async () => {
    for (let index = 0; index < 21; index += 1) {
      await agent().send('POST', path, { ...hash, externalId: `e-${index}` });
    }
    const first = await agent().get(path);
    expect(first.body).toMatchObject({ walletId });
    expect(first.body.items).toHaveLength(20);
    const second = await agent().get(`${path}?paginationToken=${first.body.nextPageToken}`);
    expect(second.body.items).toHaveLength(1);
    expect(second.body.nextPageToken).toBeUndefined();
    const ids = [...first.body.items, ...second.body.items].map(({ externalId }) => externalId);
    expect(new Set(ids).size).toBe(21);
  });
});
