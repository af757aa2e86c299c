// Every rule about a funder's requests, one change of a batch that passes at a time.
import { describe, expect, it } from 'vitest';
import {
  chainId,
  custodian,
  foreignKey,
  funder,
  makeBatch,
  makePayee,
  makePolicy,
  makeTokenPolicy,
  nowMs,
  payeeAddress,
  people,
  pool,
  releasePolicy,
  stranger,
} from '../fixtures/batches.ts';
import { type Asked, ask, createTestLedger, storeBatch } from '../fixtures/ledgers.ts';
import { fundRequest } from '../fixtures/requests.ts';
import { signRelease } from '../people/release.ts';
import { createSignRequest } from '../requests/request-digest.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The batch, stored in an empty ledger, and asked for. */
function askFund(changes: Asked = {}, batch = makeBatch()) {
  const ledger = createTestLedger();
  storeBatch(ledger, batch);
  return ask(ledger, { request: fundRequest(batch), manifest: batch, ...changes });
}

describe('a fund authorisation', () => {
  it('is approved when every rule passes, and every rule is listed', () => {
    const decision = askFund();
    expect(decision.kind).toBe('approve');
    expect(decision.rules.length).toBeGreaterThan(15);
    expect(decision.rules.every(({ verdict }) => verdict === 'pass')).toBe(true);
  });

  it.each([
    ['another custodian wallet', { origin: { ...custodian, wallet: 'wa-x' } }, 'wallet-not-listed'],
    ['another user', { origin: { ...custodian, initiator: 'us-x' } }, 'initiator-not-listed'],
    ['a funder that left the policy', { policy: makePolicy({ funders: [] }) }, 'funder-not-listed'],
    [
      'an employer that is not listed',
      { policy: makePolicy({ employers: [] }) },
      'employer-not-listed',
    ],
    ['a pool that is not listed', { policy: makePolicy({ pools: [] }) }, 'pool-not-listed'],
    [
      'a token that is not listed',
      { policy: makeTokenPolicy({ token: stranger }) },
      'token-not-listed',
    ],
    [
      'more for one recipient',
      { policy: makeTokenPolicy({ maxPerRecipient: '499' }) },
      'recipient-limit',
    ],
    ['a larger total', { policy: makeTokenPolicy({ maxPerBatch: '499' }) }, 'batch-limit'],
    ['a larger sum of the day', { policy: makeTokenPolicy({ maxPerDay: '499' }) }, 'day-limit'],
    [
      'a recipient off the list',
      { policy: makePolicy({ recipients: { allow: [payeeAddress(2)] } }) },
      'recipient-not-listed',
    ],
    [
      'a denied recipient, although it is allowed too',
      { policy: makePolicy({ recipients: { allow: [payeeAddress(1)], deny: [payeeAddress(1)] } }) },
      'recipient-denied',
    ],
    [
      'evidence for another platform',
      {
        policy: makePolicy({ evidence: { domain: 'other.example', uri: 'https://pool.example' } }),
      },
      'evidence-invalid',
    ],
    ['a batch that is on chain', { facts: { batch: 'used' } }, 'batch-used'],
    ['a batch that was voided', { facts: { batch: 'voided' } }, 'batch-voided'],
    [
      'an old manifest',
      { policy: makePolicy({ maxBatchAgeSeconds: 59 }), nowMs: nowMs + 60_000 },
      'batch-too-old',
    ],
  ] as const)('is denied for %s', (_title, changes, reason) => {
    expect(askFund(changes)).toMatchObject({ kind: 'deny', reason });
  });

  it.each([
    ['no stored manifest', { manifest: undefined }, 'manifest-missing'],
    ['a chain that does not answer', { facts: {} }, 'facts-unavailable'],
    [
      'the night',
      {
        policy: makePolicy({
          workingHours: { timeZone: 'Europe/Berlin', days: ['mon'], from: '10:01', to: '18:00' },
        }),
      },
      'outside-working-hours',
    ],
    [
      'another day',
      {
        policy: makePolicy({
          workingHours: { timeZone: 'Europe/Berlin', days: ['tue'], from: '00:00', to: '24:00' },
        }),
      },
      'outside-working-hours',
    ],
    [
      'a large total',
      { policy: makeTokenPolicy({ holdAbove: '499' }, { humanRelease: releasePolicy }) },
      'hold-amount',
    ],
    [
      'a large total and no people',
      { policy: makeTokenPolicy({ holdAbove: '499' }) },
      'hold-amount',
    ],
    [
      'a new payee',
      { policy: makePolicy({ humanRelease: { ...releasePolicy, newPayee: true } }) },
      'hold-new-payee',
    ],
  ] as const)('waits for %s', (_title, changes, reason) => {
    expect(askFund(changes)).toMatchObject({ kind: 'later', reason });
  });

  it('is approved within the working hours of the time zone', () => {
    const workingHours = { timeZone: 'Europe/Berlin', days: ['mon'], from: '10:00', to: '10:01' };
    expect(askFund({ policy: makePolicy({ workingHours }) }).kind).toBe('approve');
  });

  it('waits without a stored manifest, also when the request carries one', () => {
    const batch = makeBatch();
    const decision = ask(createTestLedger(), { request: fundRequest(batch), manifest: batch });
    expect(decision).toMatchObject({ kind: 'later', reason: 'manifest-missing' });
  });

  it.each([
    ['total', { total: 501n }],
    ['batchRoot', { batchRoot: makeBatch({ batchRoot: 12n }).authorization.batchRoot }],
    ['batchNonce', { batchNonce: makeBatch({ attempt: 2 }).batchNonce }],
    ['sealedNotesHash', { sealedNotesHash: makeBatch().fundDigest }],
    ['deadline', { deadline: makeBatch().authorization.deadline + 1n }],
  ] as const)('is denied when the request names another %s', (name, change) => {
    const batch = makeBatch();
    const request = createSignRequest({
      kind: 'fund-authorization',
      expectedSigner: funder,
      payload: { chainId, pool, authorization: { ...batch.authorization, ...change } },
    });
    const decision = askFund({ request });
    expect(decision).toMatchObject({ kind: 'deny', reason: 'manifest-mismatch' });
    expect(decision).toHaveProperty('message', expect.stringContaining(name));
  });

  it.each([
    [299, 'deadline-too-near'],
    [90_001, 'deadline-too-far'],
    [-1, 'deadline-too-near'],
  ])('is denied with a deadline %i seconds ahead', (ahead, reason) => {
    const batch = makeBatch({ deadline: nowMs / 1000 + ahead });
    expect(askFund({}, batch)).toMatchObject({ kind: 'deny', reason });
  });

  it('is denied for evidence that is dated more than 5 minutes ahead', () => {
    const late = { ...makePayee(1, 5n), issuedAtMs: nowMs + 5 * 60_000 + 1 };
    expect(askFund({}, makeBatch({ payees: [late] }))).toMatchObject({
      kind: 'deny',
      reason: 'evidence-from-future',
    });
    const inTime = { ...late, issuedAtMs: nowMs + 5 * 60_000 };
    expect(askFund({}, makeBatch({ payees: [inTime] })).kind).toBe('approve');
  });

  it('is denied for older evidence that names another key, and not for older evidence of the same key', () => {
    const ledger = createTestLedger();
    const first = makeBatch({ jobKey: 'first' });
    storeBatch(ledger, first);
    expect(ask(ledger, { request: fundRequest(first), manifest: first }).kind).toBe('approve');
    const older = { ...makePayee(1, 5n), issuedAtMs: nowMs - 2 * dayMs };
    const same = makeBatch({ jobKey: 'same', payees: [older] });
    storeBatch(ledger, same);
    expect(ask(ledger, { request: fundRequest(same), manifest: same }).kind).toBe('approve');
    const swapped = makeBatch({
      jobKey: 'swapped',
      payees: [{ ...older, encryptionPublicKey: foreignKey }],
    });
    storeBatch(ledger, swapped);
    expect(ask(ledger, { request: fundRequest(swapped), manifest: swapped })).toMatchObject({
      kind: 'deny',
      reason: 'evidence-other-key',
    });
    const rotated = makeBatch({
      jobKey: 'rotated',
      payees: [{ ...older, encryptionPublicKey: foreignKey, issuedAtMs: nowMs }],
    });
    storeBatch(ledger, rotated);
    expect(ask(ledger, { request: fundRequest(rotated), manifest: rotated }).kind).toBe('approve');
  });

  it('counts a batch once, however often it is asked, on the day of its first approval', () => {
    const ledger = createTestLedger();
    const policy = makeTokenPolicy({ maxPerDay: '1000' });
    const batches = ['one', 'two', 'three'].map((jobKey) => makeBatch({ jobKey }));
    const [one, two, three] = batches;
    if (one === undefined || two === undefined || three === undefined) {
      throw new TypeError('three batches are needed');
    }
    for (const batch of batches) {
      storeBatch(ledger, batch);
    }
    const askFor = (batch: typeof one, atMs = nowMs) =>
      ask(ledger, { request: fundRequest(batch), manifest: batch, policy, nowMs: atMs }).kind;
    expect([askFor(one), askFor(one), askFor(two), askFor(one)]).toEqual(Array(4).fill('approve'));
    expect(askFor(three)).toBe('deny');
  });

  it('waits until enough different people released it, and a no is final', () => {
    const [first, second] = people;
    if (first === undefined || second === undefined) {
      throw new TypeError('two people are needed');
    }
    const batch = makeBatch();
    const [person] = releasePolicy.people;
    const twice = {
      ...releasePolicy,
      required: 2,
      people: [...releasePolicy.people, { ...person, name: 'Other name' }],
    };
    const policy = makeTokenPolicy({ holdAbove: '499' }, { humanRelease: twice });
    const ledger = createTestLedger();
    storeBatch(ledger, batch);
    const content = {
      manifestDigest: batch.manifestDigest,
      total: '500',
      token: batch.token,
      decision: 'release',
      issuedAt: new Date(nowMs).toISOString(),
    } as const;
    const answer = () =>
      ask(ledger, { request: fundRequest(batch), manifest: batch, policy, isDry: true });
    ledger.addRelease(signRelease(content, first), nowMs);
    // The same key under another name, and a word about another total.
    ledger.addRelease(
      { ...signRelease(content, first), issuedAt: new Date(nowMs - 1).toISOString() },
      nowMs,
    );
    ledger.addRelease(signRelease({ ...content, total: '501' }, second), nowMs);
    expect(answer()).toMatchObject({ kind: 'later', reason: 'hold-amount' });
    const other = createTestLedger();
    storeBatch(other, batch);
    for (const key of people) {
      other.addRelease(signRelease(content, key), nowMs);
    }
    const released = () =>
      ask(other, { request: fundRequest(batch), manifest: batch, policy, isDry: true });
    expect(released().kind).toBe('approve');
    other.addRelease(signRelease({ ...content, decision: 'deny' }, second), nowMs);
    expect(released()).toMatchObject({ kind: 'deny', reason: 'denied-by-person' });
  });

  it.each([
    ['deny', 'deny', 'duplicate-roster'],
    ['hold', 'later', 'hold-duplicate-roster'],
  ] as const)('with an equal roster and the action %s: %s', (action, kind, reason) => {
    const policy = makePolicy({
      duplicateRoster: { days: 30, action },
      humanRelease: releasePolicy,
    });
    const ledger = createTestLedger();
    const askFor = (jobKey: string, atMs: number) => {
      const batch = makeBatch({ jobKey, deadline: atMs / 1000 + 3600 });
      storeBatch(ledger, batch, atMs);
      return ask(ledger, { request: fundRequest(batch), manifest: batch, policy, nowMs: atMs });
    };
    const key = (label: string, digit: string) => `${label}-${digit.repeat(32)}`;
    expect(askFor(key('2026-11', 'a'), nowMs).kind).toBe('approve');
    expect(askFor(key('2026-11', 'b'), nowMs + dayMs)).toMatchObject({ kind, reason });
    expect(askFor(key('2026-11-1of2', 'c'), nowMs + dayMs)).toMatchObject({ kind, reason });
    expect(askFor(key('2026-12', 'd'), nowMs + dayMs).kind).toBe('approve');
    expect(askFor(key('2026-11', 'e'), nowMs + 30 * dayMs).kind).toBe('approve');
  });

  it('treats job keys without a label as one label', () => {
    const policy = makePolicy({ duplicateRoster: { days: 30, action: 'deny' } });
    const ledger = createTestLedger();
    const [first, second] = ['free text', 'other text'].map((jobKey) => makeBatch({ jobKey }));
    if (first === undefined || second === undefined) {
      throw new TypeError('two batches are needed');
    }
    storeBatch(ledger, first);
    storeBatch(ledger, second);
    expect(ask(ledger, { request: fundRequest(first), manifest: first, policy }).kind).toBe(
      'approve',
    );
    expect(ask(ledger, { request: fundRequest(second), manifest: second, policy })).toMatchObject({
      reason: 'duplicate-roster',
    });
  });

  it('waits while an earlier attempt may land, and is denied after it was paid', () => {
    const batch = makeBatch({ attempt: 2 });
    const state = (previousAttempt: 'dead' | 'alive' | 'settled' | undefined) =>
      askFund({ facts: { batch: 'open', previousAttempt } }, batch);
    expect(state('alive')).toMatchObject({ kind: 'later', reason: 'previous-attempt-alive' });
    expect(state('settled')).toMatchObject({ kind: 'deny', reason: 'previous-attempt-settled' });
    expect(state(undefined)).toMatchObject({ kind: 'later', reason: 'facts-unavailable' });
    expect(state('dead').kind).toBe('approve');
  });

  it('is denied when a later attempt is stored', () => {
    const ledger = createTestLedger();
    const [first, second] = [makeBatch(), makeBatch({ attempt: 2 })];
    storeBatch(ledger, first);
    storeBatch(ledger, second);
    expect(ask(ledger, { request: fundRequest(first), manifest: first })).toMatchObject({
      kind: 'deny',
      reason: 'attempt-superseded',
    });
  });

  it('is approved again outside the hours and after people were asked once', () => {
    const ledger = createTestLedger();
    const batch = makeBatch();
    storeBatch(ledger, batch);
    expect(ask(ledger, { request: fundRequest(batch), manifest: batch }).kind).toBe('approve');
    const strict = makeTokenPolicy(
      { holdAbove: '1' },
      { workingHours: { timeZone: 'UTC', days: ['sun'], from: '00:00', to: '24:00' } },
    );
    const again = { request: fundRequest(batch), manifest: batch, policy: strict };
    expect(ask(ledger, { ...again, nowMs: nowMs + 3599_000 }).kind).toBe('approve');
    // After its deadline it would be worth nothing.
    expect(ask(ledger, { ...again, nowMs: nowMs + hourMs })).toMatchObject({
      reason: 'deadline-too-near',
    });
  });
});
