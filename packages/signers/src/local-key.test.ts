import { inspect } from 'node:util';
import {
  assertField,
  fieldToHex,
  fundAuthorizationTypes,
  parseEncryptionPublicKey,
  parseHex,
  permitTypes,
  Secret,
  voidBatchTypes,
} from '@pool/core';
import { computeSpendDigest, viewingKeyMessage } from '@pool/notes';
import {
  createSignRequest,
  encodeApproveCall,
  encodeSignedTransaction,
  type SignRequest,
} from '@pool/policy';
import { Transaction } from 'ethers';
import { describe, expect, it } from 'vitest';
import {
  approval,
  chainId,
  expected,
  funder,
  listKey,
  pool,
  privateKey,
  requests,
  secretKey,
  serializeUnsigned,
  signInAtMs,
  signInExpected,
  signInText,
  spendOperation,
  stranger,
  token,
  tokenDomain,
  total,
  wallet,
} from './fixtures/requests.ts';
import { createLocalKeySigner } from './local-key.ts';
import type { Signer } from './signer.ts';

function nowMs(): number {
  return signInAtMs;
}
const signer = createLocalKeySigner({ privateKey: secretKey, nowMs });

async function signatureOf(request: SignRequest): Promise<string> {
  const outcome = await signer.submit(request);
  expect(outcome.state).toBe('signed');
  return outcome.state === 'signed' ? outcome.signature : '';
}

async function reasonOf(request: SignRequest, by = signer): Promise<string> {
  const outcome = await by.submit(request);
  return outcome.state === 'refused' ? outcome.reason : outcome.state;
}

function ofText(message: string): SignRequest {
  return createSignRequest({ ...requests.signIn, payload: { message, expected: signInExpected } });
}

const poolDomain = { name: 'ShieldedPool', version: '1', chainId, verifyingContract: pool };

describe('the local key makes the same signatures as ethers', () => {
  it('knows its address and public key [signer.local-key]', async () => {
    expect(await signer.address()).toBe(wallet.address);
    expect(await signer.publicKey()).toBe(wallet.signingKey.compressedPublicKey);
    expect(signer.capabilities.deterministic).toBe(true);
  });

  it('a fund authorisation [service.funder-signs, signer.local-key]', async () => {
    const { batchRoot, batchNonce, ...rest } = requests.fund.payload.authorization;
    const message = {
      ...rest,
      batchRoot: `0x${batchRoot.toString(16).padStart(64, '0')}`,
      batchNonce: `0x${batchNonce.toString(16).padStart(64, '0')}`,
    };
    const theirs = await wallet.signTypedData(poolDomain, fundAuthorizationTypes, message);
    expect(await signatureOf(requests.fund)).toBe(theirs);
  });

  it('a void', async () => {
    const message = { funder, batchNonce: `0x${'0'.repeat(63)}c` };
    const theirs = await wallet.signTypedData(poolDomain, voidBatchTypes, message);
    expect(await signatureOf(requests.void)).toBe(theirs);
  });

  it('a permit', async () => {
    const { permit } = requests.permit.payload;
    const theirs = await wallet.signTypedData(tokenDomain, permitTypes, permit);
    expect(await signatureOf(requests.permit)).toBe(theirs);
  });

  it('a token approval', async () => {
    const { unsignedTransaction } = requests.approval.payload;
    const signed = encodeSignedTransaction(
      unsignedTransaction,
      parseHex(await signatureOf(requests.approval)),
    );
    expect(signed).toBe(await wallet.signTransaction(Transaction.from(unsignedTransaction)));
    expect(Transaction.from(signed).from).toBe(funder);
  });

  it('an approval of zero', async () => {
    const unsignedTransaction = serializeUnsigned({ data: encodeApproveCall(pool, 0n) });
    const payload = { unsignedTransaction, expected };
    const request = createSignRequest({ ...requests.approval, payload });
    expect(await reasonOf(request)).toBe('signed');
  });

  it('a sign-in text', async () => {
    expect(await signatureOf(requests.signIn)).toBe(await wallet.signMessage(signInText));
  });

  it('a spend', async () => {
    const { operation, salt } = requests.spend.payload;
    const digest = fieldToHex(computeSpendDigest(operation, salt));
    expect(await signatureOf(requests.spend)).toBe(wallet.signingKey.sign(digest).serialized);
  });

  it('the viewing-key text [viewing-key.derivation]', async () => {
    const theirs = await wallet.signMessage(viewingKeyMessage('pool.example'));
    expect(await signatureOf(requests.viewingKey)).toBe(theirs);
  });
});

const legacyTransaction = parseHex(
  Transaction.from({
    type: 0,
    chainId,
    to: token,
    nonce: 3,
    gasLimit: 60_000n,
    gasPrice: 1n,
    data: approval.data,
  }).unsignedSerialized,
);

describe('the local key refuses', () => {
  const { fund, permit, approval: approve, signIn, spend } = requests;
  const inSpend = (change: object): SignRequest =>
    createSignRequest({ ...spend, payload: { ...spend.payload, ...change } });
  const inFund = (change: object): SignRequest =>
    createSignRequest({
      ...fund,
      payload: { ...fund.payload, authorization: { ...fund.payload.authorization, ...change } },
    });
  const inPermit = (change: object): SignRequest =>
    createSignRequest({
      ...permit,
      payload: { ...permit.payload, permit: { ...permit.payload.permit, ...change } },
    });
  const ofTransaction = (change: Partial<typeof approval>): SignRequest =>
    createSignRequest({
      ...approve,
      payload: { unsignedTransaction: serializeUnsigned(change), expected },
    });

  it.each<[string, SignRequest, string]>([
    [
      'a request for another signer',
      createSignRequest({ ...fund, expectedSigner: stranger }),
      'foreign-signer',
    ],
    ["another funder's authorisation", inFund({ funder: stranger }), 'foreign-signer'],
    [
      "another funder's void",
      createSignRequest({
        ...requests.void,
        payload: { ...requests.void.payload, funder: stranger },
      }),
      'foreign-signer',
    ],
    ["another owner's permit", inPermit({ owner: stranger }), 'foreign-signer'],
    ['a permit to an unknown spender', inPermit({ spender: stranger }), 'foreign-spender'],
    ['a permit above the total', inPermit({ value: total + 1n }), 'amount-mismatch'],
    [
      'a permit of another token',
      createSignRequest({
        ...permit,
        payload: {
          ...permit.payload,
          domain: { ...tokenDomain, verifyingContract: stranger },
        },
      }),
      'token-not-listed',
    ],
    [
      'a permit for another chain',
      createSignRequest({
        ...permit,
        payload: { ...permit.payload, domain: { ...tokenDomain, chainId: 1 } },
      }),
      'foreign-chain',
    ],
    ['a transaction to another contract', ofTransaction({ to: stranger }), 'token-not-listed'],
    ['a transaction on another chain', ofTransaction({ chainId: 1 }), 'foreign-chain'],
    ['a transaction that carries value', ofTransaction({ value: 1n }), 'not-an-approval'],
    [
      'a legacy transaction',
      createSignRequest({
        ...approve,
        payload: { unsignedTransaction: legacyTransaction, expected },
      }),
      'not-an-approval',
    ],
    [
      'an access list',
      ofTransaction({ accessList: [{ address: stranger, storageKeys: [] }] }),
      'not-an-approval',
    ],
    [
      'a transfer',
      ofTransaction({ data: approval.data.replace('0x095ea7b3', '0xa9059cbb') }),
      'not-an-approval',
    ],
    ['bytes after the call', ofTransaction({ data: `${approval.data}00` }), 'not-an-approval'],
    [
      'dirty upper bytes of the spender',
      ofTransaction({ data: `0x095ea7b301${approval.data.slice(12)}` }),
      'not-an-approval',
    ],
    [
      'an approval to an unknown spender',
      ofTransaction({ data: encodeApproveCall(stranger, total) }),
      'foreign-spender',
    ],
    [
      'an approval of the maximum amount',
      ofTransaction({ data: encodeApproveCall(pool, 2n ** 256n - 1n) }),
      'amount-mismatch',
    ],
    [
      'an approval below the total',
      ofTransaction({ data: encodeApproveCall(pool, total - 1n) }),
      'amount-mismatch',
    ],
    ['a gas limit that is too high', ofTransaction({ gasLimit: 300_001n }), 'gas-too-high'],
    ['a gas price that is too high', ofTransaction({ maxFeePerGas: 10n ** 13n }), 'gas-too-high'],
    [
      'a sign-in for another domain',
      ofText(signInText.replace('pool.example wants', 'evil.example wants')),
      'foreign-sign-in',
    ],
    [
      'a sign-in with another URI',
      ofText(signInText.replace('URI: https://pool.example', 'URI: https://evil.example')),
      'foreign-sign-in',
    ],
    [
      'a sign-in for another chain',
      ofText(signInText.replace('Chain ID: 31337', 'Chain ID: 1')),
      'foreign-sign-in',
    ],
    ['a sign-in of another wallet', ofText(signInText.replace(funder, stranger)), 'foreign-signer'],
    ['a sign-in with a waiver', ofText(signInText.replace('in to', 'away')), 'sign-in-text'],
    ['a text that is not a sign-in', ofText('send all my money'), 'malformed-payload'],
    [
      'the viewing-key text as a sign-in',
      ofText(viewingKeyMessage('pool.example')),
      'viewing-key-text',
    ],
    [
      "another platform's viewing-key text as a sign-in",
      ofText(viewingKeyMessage('other.example')),
      'viewing-key-text',
    ],
    ['a spend with a salt of zeros', inSpend({ salt: new Uint8Array(31) }), 'malformed-payload'],
    [
      'a spend with a short salt',
      { ...spend, payload: { ...spend.payload, salt: new Uint8Array(30).fill(1) } },
      'malformed-payload',
    ],
    [
      'a spend with a nullifier too many',
      {
        ...spend,
        payload: {
          ...spend.payload,
          operation: { ...spendOperation, nullifiers: [1n, 2n, 3n].map(assertField) },
        },
      },
      'malformed-payload',
    ],
    [
      'a spend whose operation was changed under the old id',
      {
        ...spend,
        payload: { ...spend.payload, operation: { ...spendOperation, deadline: 1_900_000_001 } },
      },
      'external-id-mismatch',
    ],
    [
      'an id that does not belong to the content',
      { ...fund, externalId: 'p1-0' },
      'external-id-mismatch',
    ],
    [
      'changed content under the old id',
      { ...fund, payload: { ...fund.payload, chainId: 1 } },
      'external-id-mismatch',
    ],
    [
      'a signed transaction',
      { ...approve, payload: { unsignedTransaction: '0x02c0', expected } },
      'malformed-payload',
    ],
    [
      'an amount that is not a uint256',
      {
        ...fund,
        payload: {
          ...fund.payload,
          authorization: { ...fund.payload.authorization, total: -1n },
        },
      },
      'malformed-payload',
    ],
    ['an unknown kind', { ...fund, kind: 'digest' } as never, 'kind-not-allowed'],
  ])('%s', async (_, request, reason) => {
    expect(await reasonOf(request)).toBe(reason);
  });

  it('what its configuration does not allow [signer.local-key]', async () => {
    const pools = [{ chainId, pool, tokens: [token] }];
    const strict = createLocalKeySigner({ privateKey: secretKey, nowMs, allow: { pools } });
    for (const request of Object.values(requests)) {
      expect(await reasonOf(request, strict)).toBe('signed');
    }
    const none = createLocalKeySigner({
      privateKey: secretKey,
      nowMs,
      allow: { pools: [{ chainId, pool, tokens: [] }] },
    });
    expect(await reasonOf(fund, none)).toBe('token-not-listed');
    expect(await reasonOf(permit, none)).toBe('token-not-listed');
    expect(await reasonOf(approve, none)).toBe('token-not-listed');
    expect(await reasonOf(spend, none)).toBe('token-not-listed');
    expect(await reasonOf(requests.void, none)).toBe('signed');
    const elsewhere = createLocalKeySigner({
      privateKey: secretKey,
      allow: { pools: [{ chainId: 1, pool, tokens: [token] }] },
    });
    for (const request of [fund, requests.void, permit, approve]) {
      expect(await reasonOf(request, elsewhere)).toBe('pool-not-listed');
    }
    expect(await reasonOf(spend, elsewhere)).toBe('token-not-listed');
    const signInOnly = createLocalKeySigner({
      privateKey: secretKey,
      nowMs,
      allow: { kinds: ['sign-in'] },
    });
    expect(await reasonOf(fund, signInOnly)).toBe('kind-not-allowed');
    expect(await reasonOf(signIn, signInOnly)).toBe('signed');
  });
});

describe('the local key vouches for one encryption key, at the current time', () => {
  const own = parseEncryptionPublicKey(`0x${'a1'.repeat(32)}`);
  const foreign = parseEncryptionPublicKey(`0x${'a2'.repeat(32)}`);
  const keyed = (at = signInAtMs): Signer =>
    createLocalKeySigner({
      privateKey: secretKey,
      nowMs: () => at,
      allow: { encryptionPublicKey: own },
    });

  it('signs a text that lists the configured key, or no key', async () => {
    expect(await reasonOf(ofText(listKey(own)), keyed())).toBe('signed');
    expect(await reasonOf(ofText(signInText), keyed())).toBe('signed');
  });

  it('refuses a text that lists another key, even if everything else is right', async () => {
    expect(await reasonOf(ofText(listKey(foreign)), keyed())).toBe('foreign-encryption-key');
  });

  it('refuses every listed key if none is configured', async () => {
    expect(await reasonOf(ofText(listKey(own)))).toBe('foreign-encryption-key');
  });

  it('refuses a text that is not dated within 5 minutes of its own clock', async () => {
    const minutes = 60_000;
    for (const text of [signInText, listKey(own)]) {
      expect(await reasonOf(ofText(text), keyed(signInAtMs + 5 * minutes))).toBe('signed');
      expect(await reasonOf(ofText(text), keyed(signInAtMs - 5 * minutes))).toBe('signed');
      expect(await reasonOf(ofText(text), keyed(signInAtMs + 5 * minutes + 1))).toBe(
        'stale-sign-in',
      );
      expect(await reasonOf(ofText(text), keyed(signInAtMs - 5 * minutes - 1))).toBe(
        'stale-sign-in',
      );
    }
  });
});

describe('the local key as a secret', () => {
  it('does not appear in any printed form of the signer', () => {
    const digits = privateKey.slice(2);
    expect(inspect(signer, { depth: 9, showHidden: true })).not.toContain(digits);
    expect(JSON.stringify(signer)).not.toContain(digits);
  });

  it.each([
    '',
    '0x',
    `0x${'00'.repeat(32)}`,
    `0x${'ff'.repeat(32)}`,
    'zz-canary-zz',
    '42'.repeat(32),
  ])('is refused, and the error does not repeat it (%#)', (value) => {
    const create = (): unknown => createLocalKeySigner({ privateKey: new Secret(value) });
    expect(create).toThrow(expect.objectContaining({ code: 'invalid_configuration' }));
    try {
      create();
    } catch (error) {
      expect(inspect(error)).not.toContain(
        value === '' ? 'no value' : value.slice(2) || 'no value',
      );
    }
  });
});
