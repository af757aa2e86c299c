import {
  assertField,
  type EligibilityPathWire,
  fieldModulus,
  hexToBigint,
  hexToBytes,
  parseField,
  parseWire,
  spendManifestSchema,
} from '@pool/core';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/spend.json' with { type: 'json' };
import { verifyEligibilityPaths } from '../trees/verified-path.ts';
import { deriveDummyInputs } from './dummy-inputs.ts';
import { computeMaskedSigner } from './masked-signer.ts';
import { buildSpend } from './spend-plan.ts';
import { computeSpendPublicInputs, computeSpendWitnessInput } from './spend-proof-inputs.ts';

type Vector = (typeof vectors.spends)[number];

function decimal(hex: string): string {
  return hexToBigint(hex).toString();
}

function spendOf(vector: Vector) {
  const manifest = parseWire(spendManifestSchema, vector.manifest, 'vector');
  const seed = hexToBytes(vector.seed);
  const viewingKey = hexToBigint(vector.viewingKey);
  const dummies = deriveDummyInputs(manifest, seed, viewingKey);
  const nullifiers = dummies.map(({ nullifier }) => nullifier);
  const eligibilityRoot = parseField(vector.eligibility.root);
  return {
    manifest,
    plan: buildSpend(manifest, seed, nullifiers),
    notes: vector.notes.map(({ amount, nonce, path }) => ({
      amount: BigInt(amount),
      nonce: parseField(nonce),
      path: { index: path.index, siblings: path.siblings.map(parseField) },
    })),
    dummies,
    viewingKey,
    noteRoot: parseField(vector.noteRoot),
    eligibilityRoot,
    eligibilityPaths: verifyEligibilityPaths(
      eligibilityRoot,
      vector.eligibility.paths as EligibilityPathWire[],
    ),
    rSig: hexToBigint(vector.signature.rSig),
  };
}

function publicOf(vector: Vector) {
  const { plan, manifest, rSig, ...rest } = spendOf(vector);
  const maskedSigner = computeMaskedSigner({ ...plan, walletPub: manifest.walletPub, rSig });
  return { ...plan, ...rest, maskedSigner, rSig };
}

const transfer = vectors.spends[0] as Vector;
const send = vectors.spends[1] as Vector;

describe('computeSpendPublicInputs', () => {
  it.each(vectors.spends)('matches for "$name"', (vector) => {
    const inputs = computeSpendPublicInputs(publicOf(vector));
    expect(inputs.x).toEqual(vector.publicInputs.x.map(parseField));
    expect(inputs.digest).toBe(parseField(vector.publicInputs.digest));
    expect(inputs.z).toBe(parseField(vector.publicInputs.z));
    expect(inputs.y).toBe(parseField(vector.publicInputs.y));
  });

  it.each(['noteRoot', 'eligibilityRoot'] as const)('refuses an aliased %s', (name) => {
    const spend = publicOf(transfer);
    const aliased = { ...spend, [name]: spend[name] + fieldModulus };
    expect(() => Reflect.apply(computeSpendPublicInputs, undefined, [aliased])).toThrow(
      expect.objectContaining({ code: 'invalid_field_element' }),
    );
  });

  it('refuses aliased nullifiers and commitments', () => {
    const spend = publicOf(transfer);
    const { operation, commitments } = spend;
    const nullifiers = [...operation.nullifiers.slice(1), fieldModulus];
    for (const aliased of [
      { ...spend, operation: { ...operation, nullifiers } },
      { ...spend, commitments: [...commitments.slice(1), fieldModulus] },
    ]) {
      expect(() => Reflect.apply(computeSpendPublicInputs, undefined, [aliased])).toThrow(
        expect.objectContaining({ code: 'invalid_field_element' }),
      );
    }
  });
});

describe('computeSpendWitnessInput', () => {
  it.each(vectors.spends)('contains every signal of the circuit for "$name"', (vector) => {
    const { operation, publicInputs, slots, notes, dummies, manifest, signature } = vector;
    const x = publicInputs.x.map(decimal);
    const wallet = spendOf(vector).plan.walletId;
    const [change, ...payees] = slots;
    const paths = new Map(vector.eligibility.paths.map((path) => [path.walletId, path]));
    const input = computeSpendWitnessInput(spendOf(vector));
    const { wxLo, wxHi, wyLo, wyHi, ...rest } = input;
    expect(rest).toEqual({
      D: decimal(publicInputs.digest),
      z: decimal(publicInputs.z),
      y: decimal(publicInputs.y),
      assetId: x[0],
      withdrawAmount: x[1],
      recipient: x[2],
      deadline: x[3],
      sealedLo: x[4],
      sealedHi: x[5],
      noteRoot: decimal(vector.noteRoot),
      eligibilityRoot: decimal(vector.eligibility.root),
      rLo: x.at(-2),
      rHi: x.at(-1),
      viewingKey: decimal(vector.viewingKey),
      salt: decimal(vector.salt),
      blindingBits: [...hexToBigint(vector.blinding).toString(2).padStart(248, '0')].reverse(),
      inputEnabled: [...notes.map(() => '1'), ...dummies.map(() => '0')],
      inputAmounts: [...notes.map(({ amount }) => amount), ...dummies.map(() => '0')],
      inputNonces: [...notes, ...dummies].map(({ nonce }) => decimal(nonce)),
      inputDepths: [
        ...notes.map(({ path }) => String(path.siblings.length)),
        ...dummies.map(() => '1'),
      ],
      inputIndices: [...notes.map(({ path }) => String(path.index)), ...dummies.map(() => '0')],
      inputSiblings: [
        ...notes.map(({ path }) => path.siblings.map(decimal)),
        ...dummies.map(() => []),
      ].map((siblings: string[]) =>
        Array.from({ length: 32 }, (_, level) => siblings[level] ?? '0'),
      ),
      secret: decimal(vector.secret),
      changeAmount: manifest.changeAmount,
      changePx: decimal(change?.px ?? ''),
      changePy: decimal(change?.py ?? ''),
      amounts: payees.map(({ amount }) => amount),
      walletIds: payees.map(({ walletId }) => decimal(walletId)),
      px: payees.map(({ px }) => decimal(px)),
      py: payees.map(({ py }) => decimal(py)),
      leafIndices: payees.map(({ walletId }) => String(paths.get(walletId)?.index ?? 0)),
      siblings: payees.map(({ walletId }) => {
        const siblings = paths.get(walletId)?.siblings;
        return siblings === undefined
          ? Array.from({ length: 10 }, () => ['0', '0', '0'])
          : siblings.map((level) => level.map(decimal));
      }),
    });
    // W is only in the halves: x ‖ y of the compressed key in the manifest.
    const join = (hi: unknown, lo: unknown) => (BigInt(String(hi)) << 128n) + BigInt(String(lo));
    expect(`0x${join(wxHi, wxLo).toString(16).padStart(64, '0')}`).toBe(
      `0x${manifest.walletPub.slice(4)}`,
    );
    expect(join(wyHi, wyLo) & 1n).toBe(BigInt(`0x${manifest.walletPub.slice(2, 4)}`) - 2n);
    expect(wallet).toBe(hexToBigint(vector.walletId));
    expect(join(x.at(-1), x.at(-2))).toBe(hexToBigint(signature.rSig));
    expect(operation.nullifiers).toHaveLength(notes.length + dummies.length);
  });

  const spend = spendOf(transfer);
  const [first, second] = spend.notes;
  it.each<[string, object, string]>([
    ['the viewing key of another holder', { viewingKey: 5n }, 'invalid_request'],
    ['a viewing key of l', { viewingKey: fieldModulus / 8n + 2n ** 252n }, 'invalid_viewing_key'],
    ['notes in another order', { notes: [second, first] }, 'invalid_request'],
    ['too few notes', { notes: [first] }, 'invalid_request'],
    ['a note of another amount', { notes: [{ ...first, amount: 2n }, second] }, 'invalid_value'],
    ['another note root', { noteRoot: assertField(spend.noteRoot + 1n) }, 'invalid_value'],
    ['payees without a path', { eligibilityPaths: new Map() }, 'unregistered-recipient'],
    [
      'payees under eligibility root 0',
      { eligibilityRoot: assertField(0n) },
      'unregistered-recipient',
    ],
    ['rSig 0', { rSig: 0n }, 'invalid_signature'],
  ])('refuses %s', (_, change, code) => {
    expect(() =>
      Reflect.apply(computeSpendWitnessInput, undefined, [{ ...spend, ...change }]),
    ).toThrow(expect.objectContaining({ code }));
  });

  it('refuses dummies of another seed, and amounts that do not add up', () => {
    const honest = spendOf(send);
    const [dummy] = honest.dummies;
    const plan = { ...honest.plan, slots: honest.plan.slots.slice(1) };
    for (const change of [{ dummies: [{ ...dummy, nullifier: 1n }] }, { plan }]) {
      expect(() =>
        Reflect.apply(computeSpendWitnessInput, undefined, [{ ...honest, ...change }]),
      ).toThrow(expect.objectContaining({ code: 'invalid_request' }));
    }
  });
});
