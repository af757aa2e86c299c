// A fake reader gives the listing of the co-signer's users.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createDoctor } from '../gate/doctor.ts';
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

/** @param pages - by path. @returns the names and details of the checks that fail */
async function failures(
  pages: Readonly<Record<string, unknown>>,
  callbackKey: KeyObject = own.privateKey,
): Promise<readonly string[]> {
  const examine = createCustodianBExamination({
    reader: { get: async (path) => pages[path] },
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
    const second = `${place}?pageCursor=p%202`;
    expect(await failures({ ...first, [second]: { data: [], next: '' } })).toEqual([]);
    expect((await failures({ ...first, [second]: { data: [{ id: 'us-2' }] } })).join()).toMatch(
      /^other-users: .*no handler/,
    );
    expect((await failures(first)).join()).toMatch(/^custodian-answers: .*documented form/);
    expect((await failures({ ...first, [second]: { data: [], next: 'p 2' } })).join()).toMatch(
      /^custodian-answers: .*does not end/,
    );
  });
});
