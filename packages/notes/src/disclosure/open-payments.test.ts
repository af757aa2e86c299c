// Payer and payee make their disclosures from what they keep, and reveal nothing else.
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import {
  bytesToHex,
  computeAssetId,
  type DisclosureContent,
  fundManifestSchema,
  hexToBigint,
  hexToBytes,
  parseEncryptionPublicKey,
  parseEvmAddress,
  parseField,
  parseHex,
  parseHex32,
  parseWire,
  spendManifestSchema,
} from '@pool/core';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/disclosure.json' with { type: 'json' };
import sealedVectors from '../../../../vectors/sealed-note.json' with { type: 'json' };
import { buildFundBatch } from '../fund/fund-batch.ts';
import { deriveSealKey } from '../note/sealed-note.ts';
import { createDisclosure } from './create-disclosure.ts';
import { byFunder, byPayee, bySpender, contentOf, type Vector } from './fixtures/disclosures.ts';
import { computeMessageKey, openWithSecret } from './message-key.ts';
import { openBatchPayments, openReceivedPayment, openSpendPayments } from './open-payments.ts';

const batch = parseWire(fundManifestSchema, vectors.batch.manifest, 'vector');
const batchSeed = hexToBytes(vectors.batch.seed);
const spend = parseWire(spendManifestSchema, vectors.spend.manifest, 'vector');
const assetId = computeAssetId(
  batch.chainId,
  parseEvmAddress(batch.pool),
  parseEvmAddress(batch.token),
);
const viewingKey = hexToBigint(vectors.batch.recipientKeys[0]?.viewingKey ?? '');

function choiceOf(place: 0 | 1, payees: readonly number[], withMemos: boolean) {
  const fact = vectors.facts.insertions[place];
  return { txHash: parseHex32(fact?.txHash), index: fact?.index ?? 0, payees, withMemos };
}

/** The note of a vector's first payment in an insertion, as the payee received it. */
function received(place: 0 | 1, key = viewingKey) {
  const insertion = contentOf(byPayee).insertions[place];
  const payment = insertion?.payments[0];
  const sealed = insertion?.sealedNotes?.[payment?.slot ?? 0];
  if (payment === undefined || sealed === undefined) {
    throw new Error('the vector has a payment');
  }
  const { slot, walletPub } = payment;
  const commitment = parseField(payment.commitment);
  return openReceivedPayment({
    slot,
    commitment,
    assetId,
    walletPub,
    sealed,
    viewingKey: key,
    withMemo: true,
  });
}

describe('the parts of a disclosure', () => {
  it('of a batch come from its manifest and seed', () => {
    const insertion = openBatchPayments(batch, batchSeed, choiceOf(0, [0, 1], true));
    expect([insertion]).toEqual(byFunder.document.insertions);
  });

  it('of a spend come from its manifest and seed', () => {
    const insertion = openSpendPayments(
      spend,
      hexToBytes(vectors.spend.seed),
      vectors.spend.dummyNullifiers.map(parseField),
      choiceOf(1, [0], false),
    );
    expect([insertion]).toEqual(bySpender.document.insertions);
  });

  it('of a payee come from its notes', () => {
    expect([received(0)]).toEqual(byPayee.document.insertions[0]?.payments);
    expect([received(1)]).toEqual(byPayee.document.insertions[1]?.payments);
    expect(received(0, viewingKey + 1n)).toBeUndefined();
  });

  it('without memos have no sealed note and no secret', () => {
    const insertion = openBatchPayments(batch, batchSeed, choiceOf(0, [2], false));
    expect(JSON.stringify(insertion)).not.toMatch(/sealedNotes|memo|secret/);
  });

  it('are refused for a payee that the manifest does not have', () => {
    expect(() => openBatchPayments(batch, batchSeed, choiceOf(0, [3], true))).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });
});

describe('the secret of a disclosed memo', () => {
  it.each(sealedVectors.notes)('is the key of the reference (%#)', (vector) => {
    const bound = {
      encryptionPublicKey: parseEncryptionPublicKey(vector.encryptionPublicKey),
      commitment: parseField(vector.commitment),
      assetId: parseField(vector.assetId),
    };
    const sealed = parseHex(vector.sealed);
    expect(computeMessageKey(sealed, hexToBigint(vector.viewingKey), bound)).toBe(vector.key);
    for (const opening of [
      { proof: 'message-key', secret: parseHex(vector.key) },
      { proof: 'ephemeral-scalar', secret: parseHex(vector.ephemeral) },
    ] as const) {
      expect(openWithSecret(sealed, opening, bound)).toMatchObject({
        amount: BigInt(vector.amount),
        nonce: hexToBigint(vector.nonce),
      });
    }
  });

  it('is not a scalar that gives a key under another ephemeral key', () => {
    const [vector, other] = sealedVectors.notes;
    if (vector === undefined || other === undefined) {
      throw new Error('the vectors have two notes');
    }
    const bound = {
      encryptionPublicKey: parseEncryptionPublicKey(vector.encryptionPublicKey),
      commitment: parseField(vector.commitment),
      assetId: parseField(vector.assetId),
    };
    // The payee would derive another key from this header and read nothing.
    const header = hexToBytes(other.sealed).subarray(0, 33);
    const shared = hexToBytes(vector.sharedPoint);
    const key = deriveSealKey(shared, header, bound);
    const box = xchacha20poly1305(key, new Uint8Array(24)).encrypt(hexToBytes(vector.plaintext));
    const sealed = bytesToHex(Uint8Array.from([...header, ...box]));
    const opened = openWithSecret(sealed, { proof: 'message-key', secret: bytesToHex(key) }, bound);
    expect(opened?.amount).toBe(BigInt(vector.amount));
    const scalar = { proof: 'ephemeral-scalar', secret: parseHex(vector.ephemeral) } as const;
    expect(openWithSecret(sealed, scalar, bound)).toBeUndefined();
  });

  it.each([byFunder, byPayee])('$name: opens no other sealed note', (vector) => {
    const document = contentOf(vector);
    const plan = buildFundBatch(batch, batchSeed);
    const disclosed = document.insertions[0]?.payments[0];
    const opened = plan.slots.filter(({ slot, commitment }) => {
      const note = plan.sealedNotes[slot];
      return (
        note !== undefined &&
        openWithSecret(
          note.sealed,
          {
            proof: document.role === 'payer' ? 'ephemeral-scalar' : 'message-key',
            secret: disclosed?.memo?.secret ?? '0x',
          },
          { encryptionPublicKey: note.encryptionPublicKey, commitment, assetId },
        ) !== undefined
      );
    });
    expect(opened.map(({ slot }) => slot)).toEqual([disclosed?.slot]);
  });

  it.each(vectors.disclosures)('$name: no viewing key, seed or batch secret is shown', (vector) => {
    const text = JSON.stringify(vector.document);
    const keys = [...vectors.batch.recipientKeys, ...vectors.spend.recipientKeys];
    const secrets = keys.flatMap((key) => [key.viewingKey, key.privateKey]);
    for (const secret of [...secrets, vectors.batch.seed, vectors.spend.seed]) {
      expect(text).not.toContain(secret.slice(2));
    }
  });
});

describe('createDisclosure', () => {
  it.each(vectors.disclosures)('$name: accepts what can be proved', (vector) => {
    expect(createDisclosure(contentOf(vector))).toEqual(contentOf(vector));
  });

  it.each<[string, Vector, (content: DisclosureContent) => void]>([
    [
      'a discloser who is not the funder',
      byFunder,
      (content) => (content.discloser = content.pool),
    ],
    ['a discloser who did not spend', bySpender, (content) => (content.discloser = content.pool)],
    ['a discloser who is not the payee', byPayee, (content) => (content.discloser = content.pool)],
    ['another token', byFunder, (content) => (content.token = content.pool)],
    ['times in the wrong order', byFunder, (content) => (content.expiresAt = 0)],
    ['two lines of purpose', byFunder, (content) => (content.purpose = 'a\nb')],
    ['a short challenge', byFunder, (content) => (content.challenge = 'short')],
    [
      'an address in lower case',
      byFunder,
      (content) => (content.pool = content.pool.toLowerCase() as never),
    ],
    [
      'a memo without sealed notes',
      byFunder,
      (content) => {
        Reflect.deleteProperty(content.insertions[0] ?? {}, 'sealedNotes');
      },
    ],
    [
      'the change of a spend as a payment',
      bySpender,
      (content) => {
        for (const payment of content.insertions[0]?.payments ?? []) {
          payment.slot = 0;
        }
      },
    ],
    [
      'a secret of the other kind',
      byPayee,
      (content) => {
        for (const { memo } of content.insertions[0]?.payments ?? []) {
          Object.assign(memo ?? {}, { proof: 'ephemeral-scalar' });
        }
      },
    ],
  ])('refuses %s', (_what, vector, change) => {
    const content = structuredClone(contentOf(vector));
    change(content);
    expect(() => createDisclosure(content)).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });
});
