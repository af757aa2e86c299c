// What a disclosure proves, and that nobody else can change it or sign it (docs/disclosure.md).
import {
  computeDisclosureDigest,
  computeDisclosureSigningDigest,
  type DisclosureContent,
  disclosureSchema,
  parseField,
  parseWire,
} from '@pool/core';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/disclosure.json' with { type: 'json' };
import type { ChainFacts } from './claims.ts';
import {
  byFunder,
  byPayee,
  bySpender,
  everything,
  facts,
  firstOf,
  nothingBecause,
  provesNothing,
  resign,
  stranger,
  summaries,
  verify,
} from './fixtures/disclosures.ts';
import { verifyDisclosure } from './verify-disclosure.ts';

/** Every place in a JSON value that holds no object. */
function* listLeaves(value: unknown, path: readonly string[] = []): Generator<readonly string[]> {
  if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      yield* listLeaves(member, [...path, key]);
    }
  } else {
    yield path;
  }
}

function alterLeaf(document: unknown, path: readonly string[], alter: (leaf: unknown) => unknown) {
  const copy = structuredClone(document);
  let parent = copy as Record<string, unknown>;
  for (const key of path.slice(0, -1)) {
    parent = parent[key] as Record<string, unknown>;
  }
  const last = path.at(-1) ?? '';
  parent[last] = alter(parent[last]);
  return copy;
}

/** Another value of the same form. */
function alterValue(leaf: unknown): unknown {
  if (typeof leaf === 'number') {
    return leaf + 1;
  }
  if (typeof leaf !== 'string') {
    return 'memo';
  }
  const words: Record<string, string> = {
    payer: 'payee',
    payee: 'payer',
    batch: 'spend',
    spend: 'batch',
    'ephemeral-scalar': 'message-key',
    'message-key': 'ephemeral-scalar',
  };
  return words[leaf] ?? leaf.slice(0, -1) + (leaf.endsWith('1') ? '2' : '1');
}

describe('a disclosure of the vectors', () => {
  it.each(vectors.disclosures)('$name: the digests are those of the reference', (vector) => {
    const { signature: _, ...content } = parseWire(disclosureSchema, vector.document, 'vector');
    expect(computeDisclosureDigest(content)).toBe(vector.documentDigest);
    expect(computeDisclosureSigningDigest(content)).toBe(vector.digest);
  });

  it.each(vectors.disclosures)('$name: proves what the reference says', (vector) => {
    const report = verify(vector.document, vector);
    expect(report.discloser).toMatchObject({
      state: 'proved',
      role: vector.document.role,
      address: vector.document.discloser,
      purpose: vector.document.purpose,
    });
    expect(summaries(report)).toEqual(vector.expected);
  });

  it('shows the values that are proved', () => {
    const [first, second] = verify(byFunder.document).payments;
    const [person] = vectors.batch.manifest.recipients;
    expect(first).toMatchObject({
      amount: { amount: 125_000n, token: byFunder.document.token },
      memo: { memo: 'pay run, person 0' },
      payer: { address: byFunder.document.discloser, walletPub: undefined },
      payee: { address: person?.address, walletPub: person?.walletPub },
    });
    expect(second?.memo).toEqual({ state: 'proved', memo: null });
    expect(verify(bySpender.document, bySpender).payments[0]?.payer).toMatchObject({
      walletPub: vectors.spend.manifest.walletPub,
    });
  });

  it.each(vectors.disclosures)('$name: a change of any value proves nothing', (vector) => {
    const leaves = [...listLeaves(vector.document)];
    expect(leaves.length).toBeGreaterThan(20);
    for (const path of leaves) {
      const altered = alterLeaf(vector.document, path, alterValue);
      expect(altered, path.join('.')).not.toEqual(vector.document);
      expect(provesNothing(verify(altered, vector)), path.join('.')).toBe(true);
      const removed = alterLeaf(vector.document, path, () => undefined);
      expect(provesNothing(verify(removed, vector)), path.join('.')).toBe(true);
    }
  });

  it.each(vectors.disclosures)('$name: an additional field makes it malformed', (vector) => {
    const report = verify({ ...vector.document, note: 'x' }, vector);
    expect(report).toEqual({
      discloser: { state: 'not-proved', reason: 'malformed' },
      payments: [],
    });
  });
});

describe('the terms of the verifier', () => {
  function reasonOf(terms: { nowMs?: number; challenge?: string | undefined }, vector = byFunder) {
    const { nowMs, challenge } = vector;
    const report = verifyDisclosure(vector.document, facts, { nowMs, challenge, ...terms });
    expect(provesNothing(report)).toBe(report.discloser.state !== 'proved');
    return report.discloser.state === 'proved' ? 'proved' : report.discloser.reason;
  }
  const { issuedAt, expiresAt } = byFunder.document;

  it('refuse a document for another challenge, without one, or made for one that they do not name', () => {
    expect(reasonOf({ challenge: 'auditor.example/another-one' })).toBe('other-challenge');
    expect(reasonOf({ challenge: 'auditor.example/another-one' }, bySpender)).toBe(
      'other-challenge',
    );
    expect(reasonOf({ challenge: undefined })).toBe('challenge-not-given');
  });

  it('accept a document from its date, with five minutes for clocks, until it expires', () => {
    expect(reasonOf({ nowMs: 1000 * (issuedAt - 300) })).toBe('proved');
    expect(reasonOf({ nowMs: 1000 * (issuedAt - 301) })).toBe('not-yet-valid');
    expect(reasonOf({ nowMs: 1000 * expiresAt })).toBe('proved');
    expect(reasonOf({ nowMs: 1000 * expiresAt + 1 })).toBe('expired');
    expect(reasonOf({ nowMs: Number.NaN })).toBe('not-yet-valid');
  });
});

describe('the facts of the verifier', () => {
  function reasonsWith(change: Partial<ChainFacts>, vector = byFunder) {
    return summaries(verify(vector.document, vector, { ...facts, ...change }))[0];
  }
  const [batch, spend] = facts.insertions;
  if (batch?.kind !== 'batch' || spend === undefined) {
    throw new Error('the vectors have a batch and a spend');
  }
  const other = stranger.address;

  it('of another chain, pool or history prove nothing', () => {
    expect(reasonsWith({ chainId: 1 })).toEqual(nothingBecause('foreign-chain'));
    expect(reasonsWith({ pool: other })).toEqual(nothingBecause('foreign-pool'));
    expect(reasonsWith({ insertions: [] })).toEqual(nothingBecause('not-on-chain'));
    expect(reasonsWith({ insertions: [spend] })).toEqual(nothingBecause('not-on-chain'));
    expect(reasonsWith({ insertions: [batch, batch] })).toEqual(nothingBecause('not-on-chain'));
    const moved = { ...batch, txHash: spend.txHash };
    expect(reasonsWith({ insertions: [moved] })).toEqual(nothingBecause('other-transaction'));
    const renamed = { ...spend, index: batch.index, txHash: batch.txHash };
    expect(reasonsWith({ insertions: [renamed] })).toEqual(nothingBecause('other-transaction'));
  });

  it('with an event that is cut off prove nothing', () => {
    const cut = { ...batch, commitments: [] };
    expect(reasonsWith({ insertions: [cut] })).toEqual(nothingBecause('other-commitment'));
  });

  it('with another batchId do not prove a payer; with another hash of sealed notes, no memo', () => {
    const foreign = { ...batch, batchId: parseField(`0x${'00'.repeat(31)}05`) };
    expect(reasonsWith({ insertions: [foreign] })).toEqual(nothingBecause('not-a-party'));
    expect(reasonsWith({ insertions: [foreign, spend] }, byPayee)).toEqual({
      ...everything,
      payer: 'wrong-payer',
    });
    const resealed = { ...batch, sealedNotesHash: spend.sealedNotesHash };
    expect(reasonsWith({ insertions: [resealed] })).toEqual({
      ...everything,
      memo: 'sealed-notes-mismatch',
    });
  });

  it('without the domain of the platform, or with another, do not confirm a key', () => {
    for (const evidenceDomain of [
      undefined,
      { domain: 'evil.example', uri: 'https://pool.example' },
    ]) {
      expect(reasonsWith({ evidenceDomain })).toEqual({
        ...everything,
        payee: 'key-not-confirmed',
      });
      // The payee's own signature confirms its key.
      expect(reasonsWith({ evidenceDomain }, byPayee)).toEqual(everything);
    }
  });
});

describe('a signature', () => {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

  it('has one accepted encoding', () => {
    const { signature } = byFunder.document;
    const s = BigInt(`0x${signature.slice(66, 130)}`);
    const v = signature.slice(130);
    const high = `${signature.slice(0, 66)}${(order - s).toString(16).padStart(64, '0')}`;
    const forms = [
      `${high}${v === '1b' ? '1c' : '1b'}`,
      `${signature.slice(0, 130)}${v === '1b' ? '00' : '01'}`,
      `${signature.slice(0, 130)}${v === '1b' ? '1c' : '1b'}`,
    ];
    for (const form of forms) {
      expect(verify({ ...byFunder.document, signature: form }).discloser).toEqual({
        state: 'not-proved',
        reason: 'signature-rejected',
      });
    }
  });

  it.each(vectors.disclosures)('$name: of another key proves nothing', (vector) => {
    const kept = resign(vector, () => undefined, stranger.privateKey);
    expect(verify(kept, vector).discloser).toMatchObject({ reason: 'signature-rejected' });

    const taken = resign(
      vector,
      (content) => {
        content.discloser = stranger.address;
      },
      stranger.privateKey,
    );
    for (const payment of summaries(verify(taken, vector))) {
      expect(payment).toEqual(nothingBecause('not-a-party'));
    }
  });

  it('of one party does not serve for the other role', () => {
    const asPayee = resign(byFunder, (content) => {
      content.role = 'payee';
    });
    expect(summaries(verify(asPayee))[0]).toEqual(nothingBecause('not-a-party'));
    const asPayer = resign(byPayee, (content) => {
      content.role = 'payer';
    });
    expect(summaries(verify(asPayer, byPayee))).toEqual([
      nothingBecause('not-a-party'),
      nothingBecause('not-a-party'),
    ]);
  });
});

describe('verifyDisclosure', () => {
  it.each([undefined, null, 1, 'x', [], {}, { version: 1 }])('refuses %j', (document) => {
    expect(verify(document)).toEqual({
      discloser: { state: 'not-proved', reason: 'malformed' },
      payments: [],
    });
  });

  it('refuses a document whose payments or events occur twice, and times in the wrong order', () => {
    const changes: ((content: DisclosureContent) => void)[] = [
      (content) => {
        const { insertion, payment } = firstOf(content);
        insertion.payments.push(payment);
      },
      (content) => content.insertions.push(firstOf(content).insertion),
      (content) => {
        const { insertion } = firstOf(content);
        content.insertions.push({ ...insertion, payments: insertion.payments.splice(1) });
      },
      (content) => {
        content.expiresAt = content.issuedAt;
      },
    ];
    for (const change of changes) {
      expect(verify(resign(byFunder, change)).discloser).toMatchObject({ reason: 'malformed' });
    }
  });
});
