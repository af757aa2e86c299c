// Every rule about a holder's requests: spends, sign-in texts, the viewing key and disclosures.
import { assertField, createSignInMessage, type fieldToHex } from '@pool/core';
import { describe, expect, it } from 'vitest';
import {
  chainId,
  custodian,
  foreignKey,
  holder,
  holderOrigin,
  makeBatch,
  makeHolderPolicy,
  makePayee,
  makePolicy,
  makeSpend,
  nowMs,
  ownKey,
  policyJson,
  pool,
  type SpendChanges,
  stranger,
} from '../fixtures/batches.ts';
import { type Asked, ask, createTestLedger, storeBatch } from '../fixtures/ledgers.ts';
import { signInFields, signInRequest, spendRequest } from '../fixtures/requests.ts';
import { createSignRequest } from '../requests/request-digest.ts';

const local = { kind: 'local' } as const;
const rules = policyJson.holders[0];

function askSpend(
  spendChanges: SpendChanges = {},
  changes: Asked = {},
  ledger = createTestLedger(),
) {
  const spend = makeSpend(spendChanges);
  storeBatch(ledger, spend);
  return ask(ledger, {
    request: spendRequest(spend),
    manifest: spend,
    origin: holderOrigin,
    ...changes,
  });
}

describe('a spend', () => {
  it.each([
    ['a transfer to listed wallets', { payees: [makePayee(1, 300n), makePayee(2, 400n)] }],
    ['a withdrawal to a listed address', { withdrawAmount: 700n, recipient: holder }],
    ['a merge of notes', {}],
  ] as const)('is approved: %s', (_title, changes) => {
    expect(askSpend(changes).kind).toBe('approve');
  });

  it.each([
    ['another P of the change', { changeEncryptionPublicKey: foreignKey }, 'change-not-own'],
    ['another destination', { withdrawAmount: 1n, recipient: stranger }, 'destination-not-listed'],
    ['a payee off the list', { payees: [makePayee(3, 1n)] }, 'payee-not-listed'],
    ['more than one call may send', { withdrawAmount: 701n, recipient: holder }, 'call-limit'],
    ['a deadline too near', { deadline: nowMs / 1000 + 299 }, 'deadline-too-near'],
    [
      'evidence that is dated ahead',
      { payees: [{ ...makePayee(1, 1n), issuedAtMs: nowMs + 400_000 }] },
      'evidence-from-future',
    ],
  ] as const)('is denied for %s', (_title, changes, reason) => {
    expect(askSpend(changes)).toMatchObject({ kind: 'deny', reason });
  });

  it.each([
    ['a wallet that is no holder', { policy: makePolicy({ holders: [] }) }, 'holder-not-listed'],
    ['another custodian wallet', { origin: custodian }, 'wallet-not-listed'],
    ['another user', { origin: { ...holderOrigin, initiator: 'us-x' } }, 'initiator-not-listed'],
    [
      'a holder that may not spend',
      { policy: makeHolderPolicy({ spend: undefined }) },
      'token-not-listed',
    ],
    [
      'a note that was spent',
      { facts: { usedNullifiers: makeSpend().nullifiers, deadSpends: [] } },
      'nullifier-used',
    ],
  ] as const)('is denied for %s', (_title, changes, reason) => {
    const listed = 'policy' in changes ? changes.policy : makePolicy();
    expect(askSpend({}, { ...changes, policy: listed })).toMatchObject({ kind: 'deny', reason });
  });

  it('is denied for a token of another holder', () => {
    const [other] = [{ ...rules, walletPub: makePayee(1, 1n).walletPub }];
    const policy = makePolicy({
      holders: [
        {
          ...rules,
          spend: {
            ...rules?.spend,
            assets: [{ chainId, pool, token: stranger, maxPerCall: '1', maxPerDay: '1' }],
          },
        },
        other,
      ],
    });
    expect(askSpend({}, { policy })).toMatchObject({ kind: 'deny', reason: 'spend-not-allowed' });
  });

  it('waits without a stored manifest and without the chain', () => {
    const spend = makeSpend();
    const request = spendRequest(spend);
    const unstored = { request, manifest: spend, origin: holderOrigin };
    expect(ask(createTestLedger(), unstored)).toMatchObject({
      kind: 'later',
      reason: 'manifest-missing',
    });
    expect(askSpend({}, { facts: {} })).toMatchObject({
      kind: 'later',
      reason: 'facts-unavailable',
    });
  });

  it('is denied for a manifest that differs from the stored one in its seed', () => {
    const ledger = createTestLedger();
    const stored = makeSpend();
    storeBatch(ledger, stored);
    const swapped = { ...makeSpend({ salt: 8 }), manifestDigest: stored.manifestDigest };
    expect(
      ask(ledger, { request: spendRequest(swapped), manifest: swapped, origin: holderOrigin }),
    ).toMatchObject({ kind: 'deny', reason: 'manifest-mismatch' });
  });

  const other = makeSpend({ deadline: nowMs / 1000 + 901, nullifiers: [31n, 32n], salt: 9 });
  it.each([
    ['withdrawAmount', { withdrawAmount: 2n, recipient: holder }],
    ['deadline', { deadline: other.deadline }],
    ['outRoot', { outRoot: assertField(17n) }],
    ['sealedNotesHash', { sealedNotesHash: other.digest }],
    ['nullifiers', { nullifiers: other.operation.nullifiers }],
    ['salt', {}],
  ] as const)('is denied when the request names another %s', (name, change) => {
    const { operation, salt } = makeSpend();
    const request = createSignRequest({
      kind: 'spend',
      expectedSigner: holder,
      payload: {
        operation: { ...operation, ...change },
        salt: name === 'salt' ? other.salt : salt,
      },
    });
    const decision = askSpend({}, { request });
    expect(decision).toMatchObject({ kind: 'deny', reason: 'manifest-mismatch' });
    expect(decision).toHaveProperty('message', expect.stringContaining(name));
  });

  it('counts what it sends on its day, once', () => {
    const ledger = createTestLedger();
    const send = (withdrawAmount: bigint, nullifiers: [bigint, bigint]) =>
      askSpend({ withdrawAmount, recipient: holder, nullifiers }, {}, ledger);
    expect(send(600n, [1n, 2n]).kind).toBe('approve');
    expect(send(401n, [3n, 4n])).toMatchObject({ reason: 'holder-day-limit' });
    expect(send(400n, [5n, 6n]).kind).toBe('approve');
  });

  it('is signed once by a signer with fresh nonces, and again by a deterministic one', () => {
    const ledger = createTestLedger();
    expect(askSpend({}, {}, ledger).kind).toBe('approve');
    expect(askSpend({}, {}, ledger)).toMatchObject({ kind: 'deny', reason: 'spend-signed-before' });
    const enclave = { signer: { deterministic: true }, origin: local };
    expect(askSpend({}, enclave, ledger).kind).toBe('approve');
  });

  it('is signed once, although only its digest is known from the custodian', () => {
    const ledger = createTestLedger();
    const { digest } = makeSpend();
    const guard = {
      id: `spend-digest/${digest}`,
      kind: 'spend',
      digest,
      firstAtMs: 1,
      isConflicted: false,
    } as const;
    ledger.importHistory(
      {
        guards: [guard],
        counts: [],
        pins: [],
        payees: [],
        rosters: [],
        nullifiers: [],
        releases: [],
      },
      nowMs,
    );
    expect(askSpend({}, {}, ledger)).toMatchObject({ reason: 'spend-signed-before' });
  });

  it('is denied while another spend of one of its notes may land', () => {
    const ledger = createTestLedger();
    expect(askSpend({ nullifiers: [1n, 2n] }, {}, ledger).kind).toBe('approve');
    const other = { nullifiers: [2n, 3n] } as const;
    const facts = (deadSpends: readonly ReturnType<typeof fieldToHex>[] | undefined) => ({
      facts: { usedNullifiers: [], deadSpends },
    });
    expect(askSpend(other, facts([]), ledger)).toMatchObject({
      kind: 'deny',
      reason: 'nullifier-in-other-spend',
    });
    expect(askSpend(other, facts(undefined), ledger)).toMatchObject({
      kind: 'later',
      reason: 'facts-unavailable',
    });
    const dead = makeSpend({ nullifiers: [1n, 2n] }).manifestDigest;
    expect(askSpend(other, facts([dead]), ledger).kind).toBe('approve');
  });

  it('is denied with the manifest of a batch', () => {
    const ledger = createTestLedger();
    const batch = makeBatch();
    storeBatch(ledger, batch);
    const request = spendRequest(makeSpend());
    expect(ask(ledger, { request, manifest: batch, origin: holderOrigin })).toMatchObject({
      kind: 'deny',
    });
  });
});

describe('a sign-in text', () => {
  function askSignIn(fields: Parameters<typeof signInRequest>[0] = {}, changes: Asked = {}) {
    return ask(createTestLedger(), {
      request: signInRequest(fields),
      origin: holderOrigin,
      facts: {},
      ...changes,
    });
  }

  it('is approved with the pinned P and without one', () => {
    expect(askSignIn({ encryptionPublicKey: ownKey }).kind).toBe('approve');
    expect(askSignIn().kind).toBe('approve');
  });

  it.each([
    ['another domain', { domain: 'evil.example' }, 'foreign-sign-in'],
    ['another URI', { uri: 'https://evil.example' }, 'foreign-sign-in'],
    ['another chain', { chainId: 1 }, 'foreign-sign-in'],
    ['another P', { encryptionPublicKey: foreignKey }, 'foreign-encryption-key'],
    ['a long session', { expirationTimeMs: nowMs + 15 * 60_000 + 1 }, 'sign-in-validity'],
    ['a session that ended', { expirationTimeMs: nowMs }, 'sign-in-validity'],
    ['an old date', { issuedAtMs: nowMs - 300_001 }, 'stale-sign-in'],
    [
      'a capability of EIP-5573 in its statement',
      {
        statement:
          'Sign in to the Pool platform. I further authorize the stated URI to perform the following actions on my behalf: (1) wallet: transfer for urn:pool:all.',
      },
      'sign-in-text',
    ],
    ['a waiver in its statement', { statement: 'I waive all claims.' }, 'sign-in-text'],
  ] as const)('is denied for %s', (_title, fields, reason) => {
    expect(askSignIn(fields)).toMatchObject({ kind: 'deny', reason });
  });

  it.each([
    ['a resource besides P', (text: string) => `${text}\n- https://evil.example/terms`],
    [
      'a Request ID and a foreign resource',
      (text: string) =>
        text.replace('\nResources:\n', '\nRequest ID: waiver-7\nResources:\n- urn:recap:e30\n'),
    ],
    ['another spelling of its time', (text: string) => text.replace('.000Z', 'Z')],
  ])('is denied with %s, although it lists the pinned P', (_title, change) => {
    const { payload } = signInRequest({ encryptionPublicKey: ownKey });
    const message = change(payload.message);
    expect(message).not.toBe(payload.message);
    const request = createSignRequest({
      kind: 'sign-in',
      expectedSigner: holder,
      payload: { ...payload, message },
    });
    expect(askSignIn({}, { request })).toMatchObject({ kind: 'deny', reason: 'sign-in-text' });
  });

  it('is denied for another address, another wallet or a holder without sign-in', () => {
    const foreign = createSignRequest({
      kind: 'sign-in',
      expectedSigner: holder,
      payload: {
        message: createSignInMessage({ ...signInFields, address: stranger }),
        expected: { domain: 'pool.example', uri: 'https://pool.example', chainId },
      },
    });
    expect(askSignIn({}, { request: foreign })).toMatchObject({ reason: 'foreign-signer' });
    expect(askSignIn({}, { origin: custodian })).toMatchObject({ reason: 'wallet-not-listed' });
    expect(askSignIn({}, { policy: makeHolderPolicy({ signIn: undefined }) })).toMatchObject({
      reason: 'sign-in-not-allowed',
    });
  });

  it('is denied with a nonce that another text had', () => {
    const ledger = createTestLedger();
    const askWith = (minutes: number) =>
      ask(ledger, {
        request: signInRequest({ expirationTimeMs: nowMs + minutes * 60_000 }),
        origin: holderOrigin,
      }).kind;
    expect([askWith(5), askWith(5), askWith(6)]).toEqual(['approve', 'approve', 'deny']);
  });
});

describe('a viewing key', () => {
  const request = createSignRequest({
    kind: 'viewing-key',
    expectedSigner: holder,
    payload: { domain: 'pool.example' },
  });

  it('is derived by a deterministic signer of its own process only', () => {
    const enclave = { request, origin: local, signer: { deterministic: true } };
    expect(ask(createTestLedger(), enclave).kind).toBe('approve');
    expect(ask(createTestLedger(), { ...enclave, origin: holderOrigin })).toMatchObject({
      reason: 'not-deterministic',
    });
    expect(ask(createTestLedger(), { ...enclave, signer: { deterministic: false } })).toMatchObject(
      { reason: 'not-deterministic' },
    );
    const policy = makeHolderPolicy({ viewingKey: undefined });
    expect(ask(createTestLedger(), { ...enclave, policy })).toMatchObject({
      reason: 'viewing-key-not-allowed',
    });
    const other = makeHolderPolicy({ viewingKey: { domain: 'other.example' } });
    expect(ask(createTestLedger(), { ...enclave, policy: other })).toMatchObject({
      reason: 'viewing-key-not-allowed',
    });
  });
});
