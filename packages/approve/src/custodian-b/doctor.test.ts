// A fake reader gives the listing of the co-signer's users, and the simulator one over HTTP.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { parsePolicy } from '@pool/policy';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createDoctor } from '../examine/doctor.ts';
import { createWorldB, type WorldBOptions } from '../fixtures/custodian-b.ts';
import { serveTestGate } from '../fixtures/gate-home.ts';
import { funder, otherAddress, policyJson } from '../fixtures/payroll.ts';
import { createCustodianBExamination } from './doctor.ts';

const url = 'https://gate.internal.example';
const own = makeKey();
const other = makeKey();
const place = '/v1/cosigners/co-1/api_keys';

function makeKey() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { privateKey, pem: publicKey.export({ type: 'spki', format: 'pem' }).toString() };
}

const handler = { url: `${url}/`, publicKey: own.pem };
const gateUser = { id: 'us-gate', callbackHandler: handler };

const account = {
  '/v1/vault/accounts/0': { id: '0', assets: [{ id: 'BTC' }, { id: 'ETH' }] },
  '/v1/vault/accounts/0/BTC/addresses_paginated': { addresses: [{ address: 'bc1q' }] },
  '/v1/vault/accounts/0/ETH/addresses_paginated': { addresses: [{ address: funder }] },
};

/** @param pages - by path and cursor. @returns the names and details of the checks that fail */
async function failures(
  pages: Readonly<Record<string, unknown>>,
  callbackKey: KeyObject = own.privateKey,
): Promise<readonly string[]> {
  const examine = createCustodianBExamination({
    reader: {
      get: async (path, { pageCursor } = {}) =>
        ({ ...account, ...pages })[pageCursor === undefined ? path : `${path} ${pageCursor}`],
    },
    policy: () => parsePolicy(policyJson({ funderWallet: '0', initiator: 'us-agent' })),
    cosignerId: 'co-1',
    signerId: 'us-gate',
    callbackUrl: new URL(url),
    callbackKey,
  });
  const { checks } = await createDoctor({ examinations: [examine], nowMs: Date.now }).examine();
  return checks.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail}`);
}

function listing(...users: readonly object[]) {
  return { [place]: { data: [gateUser, ...users], next: null } };
}

describe('the doctor at custodian B', () => {
  it('passes when every user of the co-signer asks this gate', async () => {
    expect(await failures(listing())).toEqual([]);
    expect(await failures(listing({ id: 'us-2', callbackHandler: handler }))).toEqual([]);
  });

  it.each([
    ['no handler', undefined, /us-2 .* has no handler/],
    [
      'the handler of somebody else',
      { ...handler, url: 'https://evil.example' },
      /another handler/,
    ],
    ['the key of somebody else', { ...handler, publicKey: other.pem }, /another handler or key/],
    ['no key', { url }, /another handler or key/],
  ])('fails when another user of the co-signer has %s', async (_case, callbackHandler, detail) => {
    const [failure = '', ...more] = await failures(listing({ id: 'us-2', callbackHandler }));
    expect(failure).toMatch(/^other-users: /);
    expect(failure).toMatch(detail);
    expect(more).toEqual([]);
  });

  it('fails when the paired user has another handler, or another key', async () => {
    const elsewhere = { ...gateUser, callbackHandler: { ...handler, url: `${url}/v2` } };
    expect((await failures({ [place]: { data: [elsewhere] } })).join()).toMatch(/^callback-url/);
    expect((await failures(listing(), other.privateKey)).join()).toMatch(/^callback-key/);
  });

  it('reads every page, and fails when one is missing or the listing does not end', async () => {
    const first = { [place]: { data: [gateUser], next: 'p 2' } };
    const second = `${place} p 2`;
    expect(await failures({ ...first, [second]: { data: [], next: '' } })).toEqual([]);
    expect((await failures({ ...first, [second]: { data: [{ id: 'us-2' }] } })).join()).toMatch(
      /^other-users: .*no handler/,
    );
    expect((await failures(first)).join()).toMatch(/^custodian-answers: .*documented form/);
    expect((await failures({ ...first, [second]: { data: [], next: 'p 2' } })).join()).toMatch(
      /^custodian-answers: .*does not end/,
    );
  });

  it.each([
    ['no longer there', { '/v1/vault/accounts/0': undefined }, /does not know it/],
    [
      'that of another address',
      {
        '/v1/vault/accounts/0/ETH/addresses_paginated': { addresses: [{ address: otherAddress }] },
      },
      /does not have the address/,
    ],
    [
      'one whose second address is that of the policy',
      {
        '/v1/vault/accounts/0/ETH/addresses_paginated': {
          addresses: [{ address: otherAddress }, { address: funder, bip44AddressIndex: 1 }],
        },
      },
      /does not have the address/,
    ],
  ])('fails when the vault account is %s', async (_case, pages, detail) => {
    const [failure = '', ...more] = await failures({ ...listing(), ...pages });
    expect(failure).toMatch(/^wallet-address: /);
    expect(failure).toMatch(detail);
    expect(more).toEqual([]);
  });
});

describe('the doctor at custodian B, over HTTP', () => {
  async function problemsWith(options: WorldBOptions): Promise<readonly string[]> {
    const world = await createWorldB(options);
    onTestFinished(() => world.close());
    const served = await serveTestGate(world.home, { port: world.port });
    onTestFinished(() => served.close());
    await served.gate.examine();
    expect(
      world.custodian.control.requests().filter(({ uri }) => uri.includes('pageCursor')),
    ).toHaveLength(1);
    return served.gate.health().problems;
  }

  const ids = Array.from({ length: 10 }, (_, index) => `us-${index}`);

  it('reads the second page of the users', async () => {
    expect(await problemsWith({ otherUsers: (own) => ids.map((id) => ({ id, ...own })) })).toEqual(
      [],
    );
  });

  it('sees a user without a handler on the second page', async () => {
    const problems = await problemsWith({
      otherUsers: (own) => [...ids.map((id) => ({ id, ...own })), { id: 'us-last' }],
    });
    expect(problems.join()).toMatch(
      /^other-users: the user us-last of the co-signer has no handler/,
    );
  });

  it('fails when the vault account has another key', async () => {
    const world = await createWorldB({
      vaultAccounts: [{ id: '0', privateKey: `0x${'03'.repeat(32)}`, assets: ['ETH_TEST5'] }],
    });
    onTestFinished(() => world.close());
    const served = await serveTestGate(world.home, { port: world.port });
    onTestFinished(() => served.close());
    await served.gate.examine();
    expect(served.gate.health().problems).toEqual([
      expect.stringMatching(/^wallet-address: wallet 0: /),
    ]);
  });
});
