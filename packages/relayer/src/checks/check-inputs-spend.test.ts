/** What the platform refuses of a spend before it is stored, one change at a time. */
import type { SpendCallWire, SpendRequest } from '@pool/api';
import { assertField, bigintToHex32, fieldModulus, hexToBigint, parseHex } from '@pool/core';
import { createTestHolder } from '@pool/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import { plainBatchChecker } from '../../test/fake-checks.ts';
import { testSettings } from '../../test/test-settings.ts';
import { createTestSpend } from '../../test/test-spend.ts';
import { createBatchChecker } from './batch-checker.ts';
import { assertSpendForm } from './check-form.ts';

const token = testSettings.tokens['USDC']?.address ?? '';
const recipient = '0x00000000000000000000000000000000000000A1';
const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const curveField = 0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2fn;

async function check(request: SpendRequest): Promise<unknown> {
  const form = assertSpendForm(request, testSettings);
  return await plainBatchChecker.checkSpend(request, form, testSettings);
}

describe('the checks of a spend', () => {
  let transfer: SpendRequest;
  let withdrawal: SpendRequest;
  beforeAll(async () => {
    const [a, b] = [await createTestHolder('a'), await createTestHolder('b')];
    const place = { ...testSettings, token };
    const roots = { noteRoot: assertField(7n), eligibilityRoot: assertField(5n) };
    const deadline = 1_800_000_000;
    ({ request: transfer } = await createTestSpend(place, a, { ...roots, deadline, payees: [b] }));
    ({ request: withdrawal } = await createTestSpend(place, a, {
      noteRoot: roots.noteRoot,
      circuit: 'spend-16x8',
      withdrawAmount: '12',
      recipient,
      deadline,
    }));
  });

  it('pass a transfer of 2 inputs and a withdrawal of 16, here and in the thread', async () => {
    const thread = createBatchChecker();
    for (const request of [transfer, withdrawal]) {
      const form = assertSpendForm(request, testSettings);
      const inputs = await thread.checkSpend(request, form, testSettings);
      expect(inputs).toEqual(await check(request));
      expect(inputs.digest).toBe(hexToBigint(request.spend.digest));
    }
    await thread.close();
  });

  const withSpend = (change: (spend: SpendCallWire) => Partial<SpendCallWire>, of = transfer) => ({
    ...of,
    spend: { ...of.spend, ...change(of.spend) },
  });
  const plusOne = (word: string) => bigintToHex32(hexToBigint(parseHex(word, 32)) + 1n);

  it.each<[string, (spend: SpendCallWire) => Partial<SpendCallWire>, RegExp]>([
    ['a token of another chain', () => ({ token: recipient }), /spend.token/],
    ['a recipient without an amount', () => ({ recipient }), /spend.recipient/],
    ['an amount of 2^128', () => ({ withdrawAmount: String(2n ** 128n) }), /withdrawAmount/],
    ['an amount without a recipient', () => ({ withdrawAmount: '1' }), /spend.recipient/],
    [
      'payment to the pool',
      () => ({ withdrawAmount: '1', recipient: testSettings.pool }),
      /the pool/,
    ],
    ['payment to the token', () => ({ withdrawAmount: '1', recipient: token }), /the token/],
    [
      'payment to nobody',
      () => ({ withdrawAmount: '1', recipient: `0x${'0'.repeat(40)}` }),
      /spend.recipient/,
    ],
    [
      'sizes of no circuit',
      ({ nullifiers }) => ({ nullifiers: [...nullifiers, bigintToHex32(9n)] }),
      /no circuit/,
    ],
    [
      'a nullifier twice',
      ({ nullifiers: [first] }) => ({ nullifiers: [first, first] as SpendCallWire['nullifiers'] }),
      /one twice/,
    ],
    [
      'a nullifier of r or more',
      ({ nullifiers: [first = ''] }) => ({
        nullifiers: [
          parseHex(first, 32),
          bigintToHex32(fieldModulus),
        ] as SpendCallWire['nullifiers'],
      }),
      /nullifiers.1 \(invalid_field_element\)/,
    ],
    [
      'a commitment of r or more',
      ({ commitments }) => ({
        commitments: [...commitments.slice(1), bigintToHex32(fieldModulus)],
      }),
      /commitments.3 \(invalid_field_element\)/,
    ],
    ['another outRoot', ({ outRoot }) => ({ outRoot: plusOne(outRoot) }), /outRoot/],
    ['a noteRoot of r', () => ({ noteRoot: bigintToHex32(fieldModulus) }), /noteRoot/],
    ['another noteRoot', ({ noteRoot }) => ({ noteRoot: plusOne(noteRoot) }), /digest/],
    [
      'another eligibilityRoot',
      ({ eligibilityRoot }) => ({ eligibilityRoot: plusOne(eligibilityRoot) }),
      /digest/,
    ],
    ['another deadline', ({ deadline }) => ({ deadline: deadline + 1 }), /digest/],
    ['another digest', ({ digest }) => ({ digest: plusOne(digest) }), /digest/],
    ['another masked key', ({ maskedX }) => ({ maskedX: plusOne(maskedX) }), /signature/],
    ['another y of the masked key', ({ maskedY }) => ({ maskedY: plusOne(maskedY) }), /signature/],
    ['another slope', ({ slope }) => ({ slope: plusOne(slope) }), /signature/],
    [
      'a slope of p or more',
      ({ slope }) => ({ slope: bigintToHex32((hexToBigint(slope) + curveField) % 2n ** 256n) }),
      /signature/,
    ],
    [
      'another masked digest',
      ({ maskedDigest }) => ({ maskedDigest: plusOne(maskedDigest) }),
      /signature/,
    ],
    [
      'a masked digest of n or more',
      () => ({ maskedDigest: bigintToHex32(curveOrder) }),
      /signature/,
    ],
    ['another rSig', ({ rSig }) => ({ rSig: plusOne(rSig) }), /signature/],
    ['another s', ({ s }) => ({ s: plusOne(s) }), /signature/],
    ['the other parity', ({ parity }) => ({ parity: parity === 0 ? 1 : 0 }), /signature/],
  ])('refuse %s', async (_name, change, message) => {
    await expect(check(withSpend(change))).rejects.toMatchObject({
      code: 'invalid_spend',
      status: 400,
      message: expect.stringMatching(message) as string,
    });
  });

  it.each<[string, (request: SpendRequest) => SpendRequest, RegExp]>([
    [
      'too few sealed notes',
      (r) => ({ ...r, sealedNotes: r.sealedNotes.slice(1) }),
      /differ in number/,
    ],
    [
      'a sealed note of another suite',
      (r) => ({
        ...r,
        sealedNotes: r.sealedNotes.map((note, slot) =>
          slot === 2 ? { ...note, sealed: parseHex(`0x02${note.sealed.slice(4)}`) } : note,
        ),
      }),
      /sealedNotes.2.sealed is of another suite/,
    ],
    [
      'sealed notes in another order',
      (r) => ({ ...r, sealedNotes: r.sealedNotes.toReversed() }),
      /digest/,
    ],
  ])('refuse %s', async (_name, change, message) => {
    await expect(check(change(transfer))).rejects.toMatchObject({
      code: 'invalid_spend',
      message: expect.stringMatching(message) as string,
    });
  });

  it('refuse a key that no note can be sealed to', async () => {
    const [first, ...rest] = withdrawal.sealedNotes;
    const bad = { ...first, encryptionPublicKey: `0x${'ff'.repeat(32)}` };
    const changed = { ...withdrawal, sealedNotes: [bad, ...rest] } as SpendRequest;
    await expect(check(changed)).rejects.toMatchObject({
      message: expect.stringContaining('sealedNotes.0.encryptionPublicKey') as string,
    });
  });
});
