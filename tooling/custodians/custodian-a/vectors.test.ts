/** The simulator answers with the fields of vectors/custodian-a.json, which were written from the provider's public documentation. */
import { createHmac, createPublicKey, verify } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import vectors from '../../../vectors/custodian-a.json' with { type: 'json' };
import { computeDigest, parseSignatureBody } from './digest.ts';
import { type Answer, type Client, createClient } from './fixtures/client.ts';
import { recoverSigners } from './fixtures/requests.ts';
import { createSampleOrganisation } from './sample.ts';
import { type ServedCustodianA, serveCustodianA } from './serve.ts';
import { showSignature } from './sign.ts';

const { wallet, bodies, digests, exchanges, signatures } = vectors;
const organisation = createSampleOrganisation(
  { [wallet.id]: wallet.privateKey },
  { settings: { pendingStatus: '202', signatureForm: 'canonical', executingReads: 1 } },
);
const path = `/wallets/${wallet.id}/signatures`;
const externalId = 'payroll-2026-11';
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

function create(body: object = { ...bodies.Eip712, externalId }): Promise<Answer> {
  return agent().send('POST', path, body);
}

async function createAndVote(value: 'Approved' | 'Denied', body?: object): Promise<string> {
  const { id, approvalId } = (await create(body)).body;
  served.control.vote(approvalId, organisation.approver.userId, value);
  return `${path}/${id}`;
}

/** How to get each answer of the vectors, by name. */
const obtain: Readonly<Record<string, () => Promise<Answer>>> = {
  'a challenge for a user action': () => {
    const { request } = find('a challenge for a user action');
    return agent().raw('POST', request.path, JSON.stringify(request.body));
  },
  'a user action': async () => {
    const userAction = await agent().obtainUserAction('POST', path, '');
    return { status: 200, body: { userAction } as Answer['body'] };
  },
  'a signature that waits for an approval': () => create(),
  'the same request again': async () => {
    await create();
    return create();
  },
  'another request with the same externalId': async () => {
    await create();
    return create({ ...bodies.Hash, externalId });
  },
  'a signature in progress': async () => agent().get(await createAndVote('Approved')),
  'a signature': async () => {
    const signature = await createAndVote('Approved');
    await agent().get(signature);
    return agent().get(signature);
  },
  'a rejected signature': async () => agent().get(await createAndVote('Denied')),
  'a confirmed transaction': async () => {
    served.control.changeSettings({ executingReads: 0, transactionEnd: 'Confirmed' });
    return agent().get(await createAndVote('Approved', bodies.Transaction));
  },
  'a page of signatures': async () => {
    await create({ ...bodies.Eip712, externalId: 'another' });
    await create();
    return agent().get(`${path}?limit=1`);
  },
  'a pending approval': async () => {
    const { approvalId } = (await create()).body;
    return gate().get(`/v2/policy-approvals/${approvalId}`);
  },
  'the pending approvals': async () => {
    await create();
    return gate().get('/v2/policy-approvals?status=Pending');
  },
  'a vote': async () => {
    const { approvalId } = (await create()).body;
    const vote = { value: 'Approved', reason: 'manifest 0x01' };
    return gate().send('POST', `/v2/policy-approvals/${approvalId}/decisions`, vote);
  },
  'the policies': () => {
    served.control.replacePolicies(served.control.state.policies.slice(0, 1));
    return gate().get('/v2/policies');
  },
  'a change of a policy that waits for an approval': () => {
    const { request } = find('a change of a policy that waits for an approval');
    const admin = createClient(served.url, organisation.admin);
    return admin.send('PUT', request.path, request.body);
  },
  'a user': () => gate().get(`/auth/users/${organisation.initiator.userId}`),
  'a wallet': () => agent().get(`/wallets/${wallet.id}`),
  'no token': () => createClient(served.url, { ...organisation.admin, token: '' }).get('/wallets'),
  'no user action': () => agent().raw('POST', path, JSON.stringify(bodies.Hash)),
  'a used user action': async () => {
    const body = JSON.stringify(bodies.Hash);
    const userAction = await agent().obtainUserAction('POST', path, body);
    await agent().raw('POST', path, body, { 'x-useraction': userAction });
    return agent().raw('POST', path, body, { 'x-useraction': userAction });
  },
  'an unknown wallet': () => agent().get(find('an unknown wallet').request.path),
};

function find(name: string) {
  const exchange = exchanges.find((each) => each.name === name);
  if (exchange === undefined) throw new Error(`the vectors have no ${name}`);
  return exchange;
}

/** Fields whose values are the same in the vectors and here. */
const literal = new Set(['status', 'kind', 'operationKind', 'message', 'requestBody', 'address']);

/** The same fields with the same types; the same values where they are not ids or dates. */
function expectShape(actual: unknown, expected: unknown, at = 'body'): void {
  if (Array.isArray(expected)) {
    expect(Array.isArray(actual), at).toBe(true);
    expect((actual as unknown[]).length > 0, at).toBe(expected.length > 0);
    for (const item of actual as unknown[]) {
      expectShape(item, expected[0], `${at}[]`);
    }
  } else if (typeof expected === 'object' && expected !== null) {
    expect(Object.keys(actual as object).sort(), at).toEqual(Object.keys(expected).sort());
    for (const [name, value] of Object.entries(expected)) {
      const found = (actual as Record<string, unknown>)[name];
      if (literal.has(name)) {
        expect(found, `${at}.${name}`).toEqual(value);
      } else {
        expectShape(found, value, `${at}.${name}`);
      }
    }
  } else {
    expect(typeof actual, at).toBe(typeof expected);
  }
}

describe('exchanges', () => {
  it.each(exchanges)('$name', async ({ name, response }) => {
    const answer = await obtain[name]?.();
    expect(answer?.status).toBe(response.status);
    expectShape(answer?.body, response.body);
  });

  it('says where each one comes from', () => {
    expect(exchanges.map(({ source }) => source).filter((text) => text.length < 20)).toEqual([]);
    expect(exchanges.map(({ name }) => name).sort()).toEqual(Object.keys(obtain).sort());
  });
});

describe('values', () => {
  it.each(Object.values(bodies))('computes the digest of $kind', (body) => {
    const digest = Buffer.from(computeDigest(parseSignatureBody(body))).toString('hex');
    expect(`0x${digest}`).toBe(digests[body.kind as keyof typeof bodies]);
  });

  it.each(signatures.spellings)('the wallet made the signature: $name', ({ signature }) => {
    expect(recoverSigners(digests.Eip712, signature)).toContain(wallet.address);
  });

  it('another key made the foreign signature', () => {
    const signers = recoverSigners(digests.Eip712, signatures.foreign.signature);
    expect(signers).not.toContain(wallet.address);
  });

  it('spells signatures as in the vectors', () => {
    const { r, s, recid } = signatures.canonical;
    const raw = { r: r.slice(2), s: s.slice(2), recid: recid === 1 ? 1 : 0 } as const;
    const named = new Map(signatures.spellings.map(({ name, signature }) => [name, signature]));
    expect(showSignature(raw, 'canonical')).toEqual(named.get('documented'));
    expect(showSignature(raw, 'no-recid')).toEqual(named.get('no recid, no encoded'));
    expect(showSignature(raw, 'no-prefix')).toEqual(named.get('no 0x'));
    expect(showSignature(raw, 'recid-27')).toEqual(named.get('recid 27 or 28'));
    const { short } = signatures;
    const shortRaw = {
      r: short.canonical.r.slice(2),
      s: short.canonical.s.slice(2),
      recid: short.canonical.recid === 1 ? 1 : 0,
    } as const;
    expect(showSignature(shortRaw, 'short')).toEqual(short.signature);
  });

  it('has a user action and a webhook event that verify', () => {
    const { clientData, signature, servicePublicKey } = vectors.userAction;
    const bytes = Buffer.from(signature, 'base64url');
    const key = createPublicKey(servicePublicKey);
    expect(verify(null, Buffer.from(clientData), key, bytes)).toBe(true);
    const { raw, secret, signature: mac } = vectors.webhook;
    expect(mac).toBe(`sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`);
    expect(JSON.stringify(JSON.parse(raw))).not.toBe(raw);
  });
});
