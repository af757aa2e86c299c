import { readFileSync } from 'node:fs';
import { computeWalletAddress } from '@pool/core';
import { describe, expect, it } from 'vitest';
import {
  funder,
  holderPub,
  makePolicy,
  payeeAddress,
  peopleKeys,
  policyJson,
  releasePolicy,
} from '../fixtures/batches.ts';
import { lintPolicy } from './lint-policy.ts';

const example: unknown = JSON.parse(
  readFileSync(new URL('../../examples/payroll-policy.json', import.meta.url), 'utf8'),
);
const deployed: unknown = JSON.parse(
  readFileSync(
    new URL('../../../../apps/approve/deploy/policy.example.json', import.meta.url),
    'utf8',
  ),
);
const complete = {
  ...policyJson,
  recipients: { allow: [payeeAddress(1)] },
  duplicateRoster: { days: 30, action: 'deny' },
};
const [entry] = policyJson.pools;
const [holderRule] = policyJson.holders;

function withToken(change: object): object {
  return { ...complete, pools: [{ ...entry, tokens: [{ ...entry?.tokens[0], ...change }] }] };
}

function withHolder(change: object): object {
  return { ...complete, holders: [{ ...holderRule, ...change }] };
}

describe('the lint of a policy', () => {
  it('finds nothing in the policy of these tests', () => {
    expect(lintPolicy(complete)).toEqual([]);
  });

  it('refuses the placeholders of the examples, and finds nothing else in them', () => {
    const found = lintPolicy(example);
    expect(found.map(({ path }) => path).toSorted()).toEqual([
      'funders.0.address',
      'holders.0.spend.assets.0.pool',
      'humanRelease.people.0.publicKey',
      'humanRelease.people.1.publicKey',
      'pools.0.pool',
    ]);
    for (const finding of [...found, ...lintPolicy(deployed)]) {
      expect(finding).toMatchObject({
        severity: 'error',
        message: expect.stringMatching(/placeholder/) as string,
      });
    }
    expect(lintPolicy(deployed).map(({ path }) => path)).toEqual(
      expect.arrayContaining(['funders.0.wallets.0', 'funders.0.initiators.0', 'employers.0']),
    );
  });

  it('refuses deadlines that are too near for the vote limit', () => {
    const withMax = (maxSeconds: number) => ({
      ...complete,
      deadline: { minSeconds: 0, maxSeconds },
    });
    const find = (policy: unknown) => lintPolicy(policy, { voteLimitSeconds: 86_400 });
    expect(find(withMax(89_999))).toEqual([
      expect.objectContaining({ severity: 'error', path: 'deadline.maxSeconds' }),
    ]);
    expect(find(withMax(90_000))).toEqual([]);
    expect(lintPolicy(withMax(89_999))).toEqual([]);
  });

  it.each([
    ['an unknown field', { ...complete, note: 'x' }, ''],
    ['holdAbove without people', withToken({ holdAbove: '1' }), 'pools.0.tokens.0.holdAbove'],
    [
      'a hold of rosters without people',
      { ...complete, duplicateRoster: { days: 1, action: 'hold' } },
      'duplicateRoster.action',
    ],
    [
      'two people with one key where two are required',
      {
        ...complete,
        humanRelease: {
          people: [0, 1].map((name) => ({ name: `P${name}`, publicKey: peopleKeys[0] })),
          required: 2,
          newPayee: false,
        },
      },
      'humanRelease.required',
    ],
    [
      'hours that end before they begin',
      { ...complete, workingHours: { timeZone: 'UTC', days: ['mon'], from: '10:00', to: '09:00' } },
      'workingHours.to',
    ],
    [
      'a deadline window that is empty',
      { ...complete, deadline: { minSeconds: 2, maxSeconds: 1 } },
      'deadline.minSeconds',
    ],
    ['no age', { ...complete, maxBatchAgeSeconds: 0 }, 'maxBatchAgeSeconds'],
    [
      'a token twice',
      {
        ...complete,
        pools: [{ ...entry, tokens: [...(entry?.tokens ?? []), ...(entry?.tokens ?? [])] }],
      },
      'pools.0.tokens.1',
    ],
    ['a pool twice', { ...complete, pools: [entry, entry] }, 'pools.1'],
    [
      'a funder that is a holder',
      {
        ...complete,
        funders: [{ address: computeWalletAddress(holderPub), wallets: ['x'], initiators: ['y'] }],
      },
      'holders.0.walletPub',
    ],
    ['one wallet id for two wallets', withHolder({ wallets: ['wa-funder'] }), 'holders.0.wallets'],
    [
      'a spend without a P',
      withHolder({ encryptionPublicKeys: [] }),
      'holders.0.encryptionPublicKeys',
    ],
    [
      'a payee that is no key',
      withHolder({ spend: { ...holderRule?.spend, transferTo: [`0x02${'ff'.repeat(32)}`] } }),
      'holders.0.spend.transferTo.0',
    ],
  ])('reports an error: %s', (_title, policy, path) => {
    expect(lintPolicy(policy)).toContainEqual(expect.objectContaining({ severity: 'error', path }));
  });

  it.each([
    ['nobody who looks at new payees', { ...complete, recipients: undefined }, 'recipients'],
    ['an empty allow list', { ...complete, recipients: { allow: [] } }, 'recipients.allow'],
    [
      'an address that is allowed and denied',
      { ...complete, recipients: { allow: [funder], deny: [funder] } },
      'recipients.allow.0',
    ],
    ['no check of equal rosters', { ...complete, duplicateRoster: undefined }, 'duplicateRoster'],
    [
      'a limit that limits nothing',
      withToken({ maxPerRecipient: '5001' }),
      'pools.0.tokens.0.maxPerRecipient',
    ],
    [
      'a batch limit above the day',
      withToken({ maxPerBatch: '8001' }),
      'pools.0.tokens.0.maxPerBatch',
    ],
    ['no employer', { ...complete, employers: [] }, 'employers'],
    [
      'a platform without TLS',
      { ...complete, evidence: { domain: 'localhost', uri: 'http://localhost' } },
      'evidence.uri',
    ],
    ['a wallet that nobody may ask for', withHolder({ initiators: [] }), 'holders.0.initiators'],
    [
      'a holder that may only merge',
      withHolder({ spend: { ...holderRule?.spend, sendTo: [], transferTo: [] } }),
      'holders.0.spend',
    ],
    ['nothing that is allowed', { ...complete, funders: [], holders: [] }, ''],
  ])('warns of %s', (_title, policy, path) => {
    const withoutAbsent: unknown = JSON.parse(JSON.stringify(policy));
    expect(lintPolicy(withoutAbsent)).toContainEqual(
      expect.objectContaining({ severity: 'warning', path }),
    );
  });

  it('is quiet about new payees when people release them', () => {
    const policy = {
      ...complete,
      recipients: undefined,
      humanRelease: { ...releasePolicy, newPayee: true },
    };
    expect(lintPolicy(JSON.parse(JSON.stringify(policy)))).toEqual([]);
  });
});

describe('a policy file', () => {
  it.each([
    [
      'a wrong checksum',
      { funders: [{ address: funder.replace('F4', 'f4'), wallets: [], initiators: [] }] },
    ],
    [
      'an amount in token units',
      { pools: [{ ...entry, tokens: [{ ...entry?.tokens[0], maxPerDay: '1.5' }] }] },
    ],
    [
      'an unknown time zone',
      { workingHours: { timeZone: 'Mars/Olympus', days: ['mon'], from: '00:00', to: '24:00' } },
    ],
    ['three people required', { humanRelease: { ...releasePolicy, required: 3 } }],
  ])('is refused with %s', (_title, change) => {
    expect(() => makePolicy(change)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });
});
