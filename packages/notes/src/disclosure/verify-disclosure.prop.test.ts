// No document that differs from the signed one proves anything, and each choice of payments of a batch can be proved.
import {
  computeDisclosureSigningDigest,
  type DisclosureContent,
  type FundManifest,
  fundManifestSchema,
  parseEvmAddress,
  parseHex,
  parseHex32,
  parseWire,
} from '@pool/core';
import { SigningKey } from 'ethers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/disclosure.json' with { type: 'json' };
import { buildFundBatch } from '../fund/fund-batch.ts';
import { createDisclosure } from './create-disclosure.ts';
import {
  byFunder,
  byPayee,
  bySpender,
  everything,
  facts,
  provesNothing,
  summaries,
  verify,
} from './fixtures/disclosures.ts';
import { openBatchPayments } from './open-payments.ts';

const manifest = parseWire(fundManifestSchema, vectors.batch.manifest, 'vector');
const [anyFact] = facts.insertions;

describe('verifyDisclosure', () => {
  it('proves nothing for any other JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(provesNothing(verify(value))).toBe(true);
      }),
    );
  });

  it('proves nothing when any character of the document is replaced', () => {
    const documents = fc.constantFrom(byFunder, bySpender, byPayee);
    const digits = fc.constantFrom(...'0123456789abcdefXYZ" {}');
    fc.assert(
      fc.property(documents, fc.nat(), digits, (vector, at, digit) => {
        const text = JSON.stringify(vector.document);
        const place = at % text.length;
        fc.pre(text[place] !== digit);
        let altered: unknown;
        try {
          altered = JSON.parse(text.slice(0, place) + digit + text.slice(place + 1));
        } catch {
          return;
        }
        expect(provesNothing(verify(altered, vector))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('proves each choice of payments, with any memos, and only those', () => {
    const memo = fc.option(fc.string({ maxLength: 27, unit: 'grapheme' }), { nil: undefined });
    const amount = fc.bigInt({ min: 1n, max: (1n << 128n) / 4n });
    const payment = fc.record({ memo, amount, isShown: fc.boolean() });
    const payments = fc.tuple(payment, payment, payment);
    const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(payments, seeds, fc.boolean(), (chosen, seed, withMemos) => {
        fc.pre(chosen.some(({ isShown }) => isShown));
        fc.pre(chosen.every((one) => new TextEncoder().encode(one.memo ?? '').length <= 111));
        const changed: FundManifest = {
          ...manifest,
          recipients: manifest.recipients.map(({ memo: _, ...recipient }, i) => {
            const text = chosen[i]?.memo;
            const paid = { ...recipient, amount: String(chosen[i]?.amount) };
            return text === undefined ? paid : { ...paid, memo: text };
          }),
        };
        const payees = [0, 1, 2].filter((i) => chosen[i]?.isShown);
        const report = discloseAndVerify(changed, seed, { payees, withMemos });
        const expected = withMemos ? everything : { ...everything, memo: 'not-disclosed' };
        expect(summaries(report)).toEqual(payees.map(() => expected));
        expect(report.payments.map((claims) => claims.amount)).toMatchObject(
          payees.map((i) => ({ amount: chosen[i]?.amount })),
        );
      }),
      { numRuns: 6 },
    );
  });
});

function discloseAndVerify(
  changed: FundManifest,
  seed: Uint8Array,
  choice: { readonly payees: readonly number[]; readonly withMemos: boolean },
) {
  const plan = buildFundBatch(changed, seed);
  const place = { txHash: parseHex32(anyFact?.txHash), index: 40 };
  const { signature: _, ...terms } = byFunder.document;
  const key = new SigningKey(byFunder.privateKey);
  const content: DisclosureContent = createDisclosure({
    ...terms,
    version: 1,
    kind: 'disclosure',
    role: 'payer',
    pool: parseEvmAddress(terms.pool),
    token: parseEvmAddress(terms.token),
    discloser: parseEvmAddress(terms.discloser),
    insertions: [openBatchPayments(changed, seed, { ...place, ...choice })],
  });
  const signature = parseHex(key.sign(computeDisclosureSigningDigest(content)).serialized);
  return verify({ ...content, signature }, byFunder, {
    ...facts,
    insertions: [
      {
        kind: 'batch',
        ...place,
        batchId: plan.batchId,
        commitments: plan.commitments,
        sealedNotesHash: plan.sealedNotesHash,
      },
    ],
  });
}
