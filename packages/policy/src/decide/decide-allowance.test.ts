// Voids, permits and token approvals: tied to a stored batch, and never to what the request says.
import { describe, expect, it } from 'vitest';
import {
  makeBatch,
  makePolicy,
  makeTokenPolicy,
  nowMs,
  policyJson,
  stranger,
} from '../fixtures/batches.ts';
import { ask, createTestLedger, storeBatch } from '../fixtures/ledgers.ts';
import { approvalRequest, fundRequest, permitRequest, voidRequest } from '../fixtures/requests.ts';
import { createSignRequest } from '../requests/request-digest.ts';

const dayMs = 86_400_000;

const hourMs = 3_600_000;
/** 23:30 UTC. */
const beforeMidnightMs = nowMs - (nowMs % dayMs) + dayMs - hourMs / 2;

describe('a void', () => {
  it('is approved for a stored batch, also when its pool left the policy and its file was erased', () => {
    const ledger = createTestLedger();
    const batch = makeBatch();
    storeBatch(ledger, batch);
    const lateMs = nowMs + 100 * dayMs;
    expect(ledger.eraseManifests(lateMs, lateMs)).toBe(1);
    const request = voidRequest(batch);
    const policy = makePolicy({ pools: [] });
    expect(ask(ledger, { request, manifest: undefined, policy, facts: {} }).kind).toBe('approve');
  });

  it('waits for a batch that is not stored, and is denied for a foreign funder', () => {
    const request = voidRequest(makeBatch());
    expect(ask(createTestLedger(), { request })).toMatchObject({ reason: 'manifest-missing' });
    expect(ask(createTestLedger(), { request, policy: makePolicy({ funders: [] }) })).toMatchObject(
      {
        reason: 'funder-not-listed',
      },
    );
  });
});

describe('a permit', () => {
  function askPermit(changes: Parameters<typeof permitRequest>[1] = {}, more = {}) {
    const ledger = createTestLedger();
    const batch = makeBatch();
    storeBatch(ledger, batch);
    return ask(ledger, {
      request: permitRequest(batch, changes),
      manifest: batch,
      facts: {},
      ...more,
    });
  }

  it('is approved for the pool and the total of a stored batch, without people', () => {
    const policy = makeTokenPolicy({ holdAbove: '1' });
    expect(askPermit({}, { policy }).kind).toBe('approve');
  });

  it.each([
    ['another spender', { spender: stranger }, 'pool-not-listed'],
    ['another value', { value: 499n }, 'manifest-mismatch'],
    ['another deadline', { deadline: 1n }, 'manifest-mismatch'],
    ['another domain', { name: 'Other Coin' }, 'permit-not-listed'],
  ] as const)('is denied for %s', (_title, changes, reason) => {
    expect(askPermit(changes)).toMatchObject({ kind: 'deny', reason });
  });

  it('is denied when the policy names no permit, or the batch breaks a limit', () => {
    expect(askPermit({}, { policy: makeTokenPolicy({ permit: undefined }) })).toMatchObject({
      reason: 'permit-not-listed',
    });
    expect(askPermit({}, { policy: makeTokenPolicy({ maxPerBatch: '499' }) })).toMatchObject({
      reason: 'batch-limit',
    });
  });
});

describe('a token approval', () => {
  function askApproval(changes: Parameters<typeof approvalRequest>[1] = {}, more = {}) {
    const ledger = createTestLedger();
    const batch = makeBatch();
    storeBatch(ledger, batch);
    return ask(ledger, {
      request: approvalRequest(batch, changes),
      manifest: batch,
      facts: {},
      ...more,
    });
  }

  it('is approved for the pool, of the total or of zero', () => {
    expect(askApproval().kind).toBe('approve');
    expect(askApproval({ value: 0n }).kind).toBe('approve');
  });

  it('of zero is approved when its transport knows no total', () => {
    const { payload, ...reset } = approvalRequest(makeBatch(), { value: 0n });
    const expected = { ...payload.expected, total: 0n };
    const request = createSignRequest({ ...reset, payload: { ...payload, expected } });
    expect(askApproval({}, { request }).kind).toBe('approve');
  });

  it.each([
    ['another spender', { spender: stranger }, 'pool-not-listed'],
    ['another value', { value: 501n }, 'manifest-mismatch'],
    ['more gas than it needs', { maxFeePerGas: 10n ** 18n }, 'gas-too-high'],
  ] as const)('is denied for %s', (_title, changes, reason) => {
    expect(askApproval(changes)).toMatchObject({ kind: 'deny', reason });
  });

  it('is taken back although the batch breaks a limit by now', () => {
    const policy = makeTokenPolicy({ maxPerBatch: '1' });
    expect(askApproval({}, { policy })).toMatchObject({ reason: 'batch-limit' });
    expect(askApproval({ value: 0n }, { policy }).kind).toBe('approve');
  });

  it('is denied when more were signed for the batch than a payment needs, and an earlier one is not', () => {
    const ledger = createTestLedger();
    const batch = makeBatch();
    storeBatch(ledger, batch);
    const askFor = (nonce: number) =>
      ask(ledger, {
        request: approvalRequest(batch, { value: 0n, nonce }),
        manifest: batch,
        facts: {},
      });
    const kinds = [0, 1, 2, 3, 4, 5].map((nonce) => askFor(nonce).kind);
    expect(kinds).toEqual(Array(6).fill('approve'));
    expect(askFor(6)).toMatchObject({ kind: 'deny', reason: 'too-many-approvals' });
    expect(askFor(0).kind).toBe('approve');
  });
});

describe('the token approvals of a day', () => {
  const [funder] = policyJson.funders;
  const policy = makePolicy({ funders: [{ ...funder, maxApprovalsPerDay: 3 }] });

  it('are limited for the funder, resets included, and the next one waits for the next day', () => {
    const ledger = createTestLedger();
    const batches = ['one', 'two', 'three', 'four'].map((jobKey) => makeBatch({ jobKey }));
    const askFor = (batch = makeBatch(), value = 0n, atMs = nowMs) =>
      ask(ledger, {
        request: approvalRequest(batch, { value }),
        manifest: batch,
        policy,
        facts: {},
        nowMs: atMs,
      });
    for (const batch of batches) {
      storeBatch(ledger, batch);
    }
    const [one, two, three, four] = batches;
    expect([askFor(one), askFor(one, 500n), askFor(two)].map(({ kind }) => kind)).toEqual(
      Array(3).fill('approve'),
    );
    for (const late of [askFor(three), askFor(four, 500n)]) {
      expect(late).toMatchObject({ kind: 'later', reason: 'approval-day-limit' });
    }
    // A replacement of one that was approved costs nothing more.
    expect(askFor(one).kind).toBe('approve');
    expect(askFor(three, 0n, nowMs + dayMs).kind).toBe('approve');
  });

  it('are limited for 24 hours across midnight', () => {
    const ledger = createTestLedger();
    const askAt = (jobKey: string, atMs: number) => {
      const batch = makeBatch({ jobKey });
      storeBatch(ledger, batch);
      const request = approvalRequest(batch);
      return ask(ledger, { request, manifest: batch, policy, facts: {}, nowMs: atMs });
    };
    for (const jobKey of ['one', 'two', 'three']) {
      expect(askAt(jobKey, beforeMidnightMs).kind).toBe('approve');
    }
    expect(askAt('four', beforeMidnightMs + hourMs)).toMatchObject({
      reason: 'approval-day-limit',
    });
  });

  it('are none for a token with permits where the policy does not say, and 20 for another', () => {
    const { maxApprovalsPerDay: _, ...silent } = funder ?? { maxApprovalsPerDay: 0 };
    const changes = { funders: [silent] };
    const [one, other] = [makeBatch({ jobKey: 'one' }), makeBatch({ jobKey: 'other' })];
    const ledger = createTestLedger();
    storeBatch(ledger, one);
    storeBatch(ledger, other);
    const askFor = (batch = one, withPolicy = makePolicy(changes)) =>
      ask(ledger, {
        request: approvalRequest(batch),
        manifest: batch,
        facts: {},
        policy: withPolicy,
      });
    expect(askFor()).toMatchObject({ kind: 'deny', reason: 'approvals-not-allowed' });
    const none = makePolicy({ funders: [{ ...funder, maxApprovalsPerDay: 0 }] });
    expect(askFor(one, none)).toMatchObject({ reason: 'approvals-not-allowed' });
    const withoutPermits = makeTokenPolicy({ permit: undefined }, changes);
    const kinds = Array.from({ length: 21 }, (_, index) => {
      const batch = makeBatch({ jobKey: `job ${index}` });
      storeBatch(ledger, batch);
      return askFor(batch, withoutPermits).kind;
    });
    expect(kinds).toEqual([...Array(20).fill('approve'), 'later']);
  });
});

describe('the fees of a day', () => {
  const [funder] = policyJson.funders;
  const gweiFee = (gwei: bigint) => ({ maxFeePerGas: gwei * 10n ** 9n });

  function createAsker(maxFeePerDay?: string) {
    const ledger = createTestLedger();
    const limit = maxFeePerDay === undefined ? {} : { maxFeePerDay };
    const policy = makePolicy({ funders: [{ ...funder, ...limit }] });
    return (jobKey: string, changes: Parameters<typeof approvalRequest>[1], atMs = nowMs) => {
      const batch = makeBatch({ jobKey });
      storeBatch(ledger, batch);
      const decision = ask(ledger, {
        request: approvalRequest(batch, changes),
        manifest: batch,
        policy,
        facts: {},
        nowMs: atMs,
      });
      return decision.kind === 'approve' ? 'approve' : decision.reason;
    };
  }

  it('have a limit, and the next approval waits', () => {
    const gas = approvalRequest(makeBatch()).payload;
    expect(gas.unsignedTransaction).toMatch(/^0x02/);
    // The transaction of these tests has 60,000 gas: 6 * 10^15 wei at 100 gwei.
    const askFor = createAsker(String(15n * 10n ** 15n));
    expect(askFor('one', gweiFee(100n))).toBe('approve');
    expect(askFor('two', gweiFee(100n))).toBe('approve');
    expect(askFor('three', gweiFee(100n))).toBe('approval-fee-limit');
    expect(askFor('three', gweiFee(10n))).toBe('approve');
    // Two days later both sums are empty again.
    expect(askFor('four', gweiFee(100n), nowMs + 2 * dayMs)).toBe('approve');
  });

  it('count what a replacement costs more', () => {
    const askFor = createAsker(String(10n * 10n ** 15n));
    expect(askFor('one', gweiFee(100n))).toBe('approve');
    expect(askFor('one', gweiFee(100n))).toBe('approve');
    expect(askFor('one', gweiFee(150n))).toBe('approve');
    expect(askFor('one', gweiFee(170n))).toBe('approval-fee-limit');
    // 9 of 10 are used up, 1.2 are asked for.
    expect(askFor('two', gweiFee(20n))).toBe('approval-fee-limit');
  });

  it('are limited for 24 hours across midnight', () => {
    const askFor = createAsker(String(10n * 10n ** 15n));
    expect(askFor('one', gweiFee(100n), beforeMidnightMs)).toBe('approve');
    const after = beforeMidnightMs + hourMs;
    expect(askFor('two', gweiFee(100n), after)).toBe('approval-fee-limit');
  });

  it('are the most that is signed where the custodian chooses them', () => {
    const askFor = createAsker();
    const answers = ['a', 'b', 'c', 'd', 'e', 'f'].map((jobKey) => askFor(jobKey, gweiFee(0n)));
    expect(answers).toEqual([...Array(5).fill('approve'), 'approval-fee-limit']);
  });
});

describe('an unknown kind or payload', () => {
  function askStored(request: never) {
    const batch = makeBatch();
    const ledger = createTestLedger();
    storeBatch(ledger, batch);
    return ask(ledger, { request, manifest: batch });
  }

  it('is denied', () => {
    const request = { ...fundRequest(makeBatch()), kind: 'config-change' } as never;
    expect(askStored(request)).toMatchObject({ kind: 'deny', reason: 'kind-not-allowed' });
  });

  it('is denied when it has no digest', () => {
    const batch = makeBatch();
    const whole = approvalRequest(batch);
    const request = {
      ...whole,
      payload: { ...whole.payload, unsignedTransaction: '0x02' },
    } as never;
    expect(askStored(request)).toMatchObject({
      kind: 'deny',
      reason: 'malformed-payload',
    });
  });
});
