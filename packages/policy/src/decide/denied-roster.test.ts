// A person's denial is of the roster: nothing that the agent chooses ends it, and only who denied, or two people, do.
import { createPrivateKey } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type BatchChanges,
  foreignKey,
  makeBatch,
  makePayee,
  makePolicy,
  nowMs,
  people,
  releasePolicy,
} from '../fixtures/batches.ts';
import { ask, createTestLedger, storeBatch } from '../fixtures/ledgers.ts';
import { fundRequest } from '../fixtures/requests.ts';
import { parseHistory, serializeHistory } from '../history/ledger-history.ts';
import type { Ledger } from '../ledger/open-ledger.ts';
import { signRelease } from '../people/release.ts';
import type { RebuiltFund } from '../rebuild/rebuild-manifest.ts';

const third = createPrivateKey({
  key: Buffer.from(`302e020100300506032b657004220420${'33'.repeat(32)}`, 'hex'),
  format: 'der',
  type: 'pkcs8',
});
const [denier, other] = people;
const keys = [denier, other, third];
const thirdKey = Buffer.from(third.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex');
const humanRelease = {
  ...releasePolicy,
  people: [...releasePolicy.people, { name: 'Person 3', publicKey: `0x${thirdKey}` }],
};
const policy = makePolicy({ humanRelease });
const payees = [makePayee(1, 300n), makePayee(2, 200n)];
const denied = makeBatch({ jobKey: 'first', payees });

let ledger: Ledger;

/** @param person - index of `keys` */
function say(decision: 'release' | 'deny', person: number, batch: RebuiltFund, atMs = nowMs): void {
  const key = keys[person];
  if (key === undefined) {
    throw new TypeError('there are three people');
  }
  const { manifestDigest, token, total } = batch;
  const issuedAt = new Date(atMs).toISOString();
  const content = { manifestDigest, total: String(total), token, decision, issuedAt };
  ledger.addRelease(signRelease(content, key), atMs);
}

function answer(batch: RebuiltFund, changes: Partial<Parameters<typeof ask>[1]> = {}) {
  const decision = ask(ledger, {
    request: fundRequest(batch),
    manifest: batch,
    policy,
    isDry: true,
    nowMs: nowMs + 60_000,
    ...changes,
  });
  return decision.kind === 'approve' ? 'approve' : decision.reason;
}

function store(changes: BatchChanges): RebuiltFund {
  const batch = makeBatch({ payees, ...changes });
  storeBatch(ledger, batch);
  return batch;
}

beforeEach(() => {
  ledger = createTestLedger();
  storeBatch(ledger, denied);
  say('deny', 0, denied);
});

describe('a denied roster waits', () => {
  it('again under another job key, and one other person does not release it', () => {
    const again = store({ jobKey: 'second' });
    expect(answer(again)).toBe('hold-denied-roster');
    say('release', 1, again, nowMs + 1);
    expect(answer(again)).toBe('hold-denied-roster');
    expect(answer(denied)).toBe('denied-by-person');
  });

  it.each<[string, BatchChanges]>([
    ['another label', { jobKey: `2026-12-${'a'.repeat(32)}` }],
    ['another attempt', { jobKey: 'first', attempt: 2 }],
    ['another order', { jobKey: 'second', payees: payees.toReversed() }],
    [
      'one amount in two parts',
      { jobKey: 'second', payees: [makePayee(1, 300n), makePayee(2, 50n), makePayee(2, 150n)] },
    ],
    [
      'another key of a payee',
      {
        jobKey: 'second',
        payees: payees.map((one) => ({ ...one, encryptionPublicKey: foreignKey })),
      },
    ],
    ['another deadline', { jobKey: 'second', deadline: Math.floor(nowMs / 1000) + 7_200 }],
  ])('under %s', (_title, changes) => {
    const facts = { batch: 'open', previousAttempt: 'dead' } as const;
    expect(answer(store(changes), { facts })).toBe('hold-denied-roster');
  });

  it('although who denied it left the policy, and is refused where nobody is left', () => {
    const again = store({ jobKey: 'second' });
    const others = { ...humanRelease, people: humanRelease.people.slice(1) };
    expect(answer(again, { policy: makePolicy({ humanRelease: others }) })).toBe(
      'hold-denied-roster',
    );
    expect(answer(again, { policy: makePolicy() })).toBe('denied-roster');
  });

  it('in a ledger that imported the history of another one', () => {
    const history = parseHistory(serializeHistory(ledger.exportHistory()));
    ledger = createTestLedger();
    ledger.importHistory(history, nowMs);
    ledger.importHistory(history, nowMs);
    expect(answer(store({ jobKey: 'second' }))).toBe('hold-denied-roster');
  });

  it('also after the same person released it and denied it again', () => {
    const again = store({ jobKey: 'second' });
    say('release', 0, again, nowMs + 1);
    expect(answer(again)).toBe('approve');
    say('deny', 0, denied, nowMs + 2);
    expect(answer(again)).toBe('hold-denied-roster');
  });
});

describe('a batch that a person denied', () => {
  it.each([
    ['who denied it releases', [0]],
    ['two others release', [1, 2]],
  ])('stays refused when %s another one with its roster', (_title, releasing) => {
    const again = store({ jobKey: 'second' });
    for (const person of releasing) {
      say('release', person, again, nowMs + 1);
    }
    expect([answer(again), answer(denied)]).toEqual(['approve', 'denied-by-person']);
  });

  it('stays refused when who denied it releases it', () => {
    say('release', 0, denied, nowMs + 1);
    expect(answer(denied)).toBe('denied-by-person');
  });
});

describe('a denied roster passes', () => {
  it('when who denied it releases it', () => {
    const again = store({ jobKey: 'second' });
    say('release', 0, again, nowMs + 1);
    expect(answer(again)).toBe('approve');
  });

  it('when two other people release the same batch, and not one each', () => {
    const [second, third_] = [store({ jobKey: 'second' }), store({ jobKey: 'third' })];
    say('release', 1, second, nowMs + 1);
    say('release', 2, third_, nowMs + 1);
    expect([answer(second), answer(third_)]).toEqual(['hold-denied-roster', 'hold-denied-roster']);
    say('release', 2, second, nowMs + 2);
    expect(answer(second)).toBe('approve');
  });

  it('not by a release that was signed before the denial', () => {
    const again = store({ jobKey: 'second' });
    say('release', 0, again, nowMs - 1);
    expect(answer(again)).toBe('hold-denied-roster');
  });

  it('when it pays another amount, which is another roster', () => {
    const changed = store({ jobKey: 'second', payees: [makePayee(1, 300n), makePayee(2, 201n)] });
    expect(answer(changed)).toBe('approve');
  });

  it('when it was approved before, and a duplicate of it was denied since', () => {
    ledger = createTestLedger();
    const first = store({ jobKey: 'first' });
    expect(answer(first, { isDry: false })).toBe('approve');
    say('deny', 0, store({ jobKey: 'second' }), nowMs + 1);
    expect(answer(first)).toBe('approve');
  });
});
