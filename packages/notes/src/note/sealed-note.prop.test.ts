import { assertField, maxAmount, maxMemoBytes } from '@pool/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { multiplyBase, subgroupOrder } from '../keys/baby-jubjub.ts';
import { computeEncryptionPublicKey } from '../keys/encryption-key.ts';
import { computeCommitment } from './note.ts';
import { openNote, sealNote } from './sealed-note.ts';

const scalar = fc.bigInt({ min: 1n, max: subgroupOrder - 1n });
const field = fc.bigInt({ min: 0n, max: subgroupOrder * 8n - 2n ** 130n }).map(assertField);
const memo = fc
  .string({ unit: 'grapheme', maxLength: 60 })
  .filter((text) => new TextEncoder().encode(text).length <= maxMemoBytes);

describe('sealed notes', () => {
  it('can be opened by their owner only, to the sealed contents', () => {
    fc.assert(
      fc.property(
        fc.record({
          amount: fc.bigInt({ min: 0n, max: maxAmount }),
          nonce: field,
          assetId: field,
          walletId: field,
          viewingKey: scalar,
          stranger: scalar,
          ephemeral: scalar,
          memo,
        }),
        ({ viewingKey, stranger, ...note }) => {
          const encryptionPoint = multiplyBase(viewingKey);
          const commitment = computeCommitment({ ...note, encryptionPoint });
          const encryptionPublicKey = computeEncryptionPublicKey(viewingKey);
          const sealed = sealNote({ ...note, commitment, encryptionPublicKey });
          const served = { ...note, sealed, commitment };
          expect(sealed).toHaveLength(2 + 2 * 209);
          expect(openNote({ ...served, viewingKey })).toEqual({
            amount: note.amount,
            nonce: note.nonce,
            memo: note.memo === '' ? undefined : note.memo,
          });
          fc.pre(stranger !== viewingKey);
          expect(openNote({ ...served, viewingKey: stranger })).toBeUndefined();
        },
      ),
      { numRuns: 40 },
    );
  });
});
