// Requests that come again, in another form, or after another attempt.
import { describe, expect, it } from 'vitest';
import { custodian, foreignKey, makeBatch, makePayee, makePolicy } from '../fixtures/batches.ts';
import { ask, createTestLedger, storeBatch } from '../fixtures/ledgers.ts';
import { approvalRequest, fundRequest } from '../fixtures/requests.ts';

describe('a manifest that is not the stored one', () => {
  it('is refused when only its deadline differs', () => {
    const ledger = createTestLedger();
    const stored = makeBatch();
    storeBatch(ledger, stored);
    const other = makeBatch({ deadline: stored.file.deadline + 60 });
    const swapped = { ...other, manifestDigest: stored.manifestDigest };
    expect(ask(ledger, { request: fundRequest(swapped), manifest: swapped })).toMatchObject({
      kind: 'deny',
      reason: 'manifest-mismatch',
    });
  });
});

describe('evidence of one instant', () => {
  it('counts for the key that was seen first', () => {
    const ledger = createTestLedger();
    const first = makeBatch({ jobKey: 'first' });
    const payee = makePayee(1, 5n);
    const second = makeBatch({
      jobKey: 'second',
      payees: [{ ...payee, encryptionPublicKey: foreignKey }],
    });
    storeBatch(ledger, first);
    storeBatch(ledger, second);
    expect(ask(ledger, { request: fundRequest(first), manifest: first }).kind).toBe('approve');
    expect(ask(ledger, { request: fundRequest(second), manifest: second })).toMatchObject({
      reason: 'evidence-other-key',
    });
  });
});

describe('an equal roster', () => {
  it('of a dead attempt of the same job does not count', () => {
    const policy = makePolicy({ duplicateRoster: { days: 30, action: 'deny' } });
    const ledger = createTestLedger();
    const [first, second] = [makeBatch(), makeBatch({ attempt: 2 })];
    storeBatch(ledger, first);
    expect(ask(ledger, { request: fundRequest(first), manifest: first, policy }).kind).toBe(
      'approve',
    );
    storeBatch(ledger, second);
    const facts = { batch: 'open', previousAttempt: 'dead' } as const;
    expect(
      ask(ledger, { request: fundRequest(second), manifest: second, policy, facts }).kind,
    ).toBe('approve');
  });
});

describe('a token approval that the custodian builds', () => {
  it('is bound to the custodian’s own transaction, and not to a nonce that it chooses later', () => {
    const ledger = createTestLedger();
    const batch = makeBatch();
    storeBatch(ledger, batch);
    const askAs = (transactionId: string, nonce: number) => {
      const origin = { ...custodian, transactionId };
      const decision = ask(ledger, {
        request: approvalRequest(batch, { nonce }),
        manifest: batch,
        origin,
      });
      return decision.kind === 'approve'
        ? decision.record.guard.id.split('/').at(-2)
        : decision.reason;
    };
    expect([askAs('tx-1', 0), askAs('tx-1', 7), askAs('tx-2', 0)]).toEqual([
      'tx-1',
      'tx-1',
      'tx-2',
    ]);
    expect(ledger.exportHistory().guards).toHaveLength(2);
  });
});
