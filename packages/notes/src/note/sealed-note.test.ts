import {
  assertField,
  bytesToHex,
  hexToBytes,
  maxAmount,
  parseEncryptionPublicKey,
  parseField,
} from '@pool/core';
import { describe, expect, it } from 'vitest';
import badKeys from '../../../../vectors/encryption-key.json' with { type: 'json' };
import vectors from '../../../../vectors/sealed-note.json' with { type: 'json' };
import { sealBytes } from '../../test/vectors/reference.ts';
import { subgroupOrder } from '../keys/baby-jubjub.ts';
import { decodeEncryptionPublicKey } from '../keys/encryption-key.ts';
import { openNote, sealNote } from './sealed-note.ts';

type Vector = (typeof vectors.notes)[number];

function sealedOf(vector: Vector) {
  return {
    amount: BigInt(vector.amount),
    nonce: parseField(vector.nonce),
    ...('memo' in vector ? { memo: vector.memo } : {}),
    encryptionPublicKey: parseEncryptionPublicKey(vector.encryptionPublicKey),
    commitment: parseField(vector.commitment),
    assetId: parseField(vector.assetId),
    ephemeral: parseField(vector.ephemeral),
  };
}

function servedOf(vector: Vector) {
  return {
    sealed: vector.sealed,
    viewingKey: parseField(vector.viewingKey),
    walletId: parseField(vector.walletId),
    commitment: parseField(vector.commitment),
    assetId: parseField(vector.assetId),
  };
}

const example = (() => {
  const vector = vectors.notes[1];
  if (vector === undefined) {
    throw new Error('no vectors');
  }
  return vector;
})();

describe('sealNote', () => {
  it.each(vectors.notes)('seals like the independent implementation: $amount, $memo', (vector) => {
    expect(sealNote(sealedOf(vector))).toBe(vector.sealed);
  });

  it.each([
    ['a memo of 112 bytes', { memo: 'é'.repeat(56) }, 'invalid_value'],
    ['an amount of 2^128', { amount: maxAmount + 1n }, 'invalid-amount'],
    ['a negative amount', { amount: -1n }, 'invalid-amount'],
    ['a nonce outside the field', { nonce: 2n ** 255n }, 'invalid_field_element'],
    ['ephemeral 0', { ephemeral: 0n }, 'invalid_value'],
    ['ephemeral l', { ephemeral: subgroupOrder }, 'invalid_value'],
  ])('refuses %s', (_, change, code) => {
    const note = { ...sealedOf(example), ...change };
    expect(() => Reflect.apply(sealNote, undefined, [note])).toThrow(
      expect.objectContaining({ code }),
    );
  });

  it('does not seal to an invalid key', () => {
    for (const { encryptionPublicKey } of badKeys.invalid) {
      const note = { ...sealedOf(example), encryptionPublicKey };
      expect(() => Reflect.apply(sealNote, undefined, [note])).toThrow(
        expect.objectContaining({ code: 'invalid_encryption_key' }),
      );
    }
  });
});

describe('openNote', () => {
  it.each(vectors.notes)('opens what the independent implementation sealed: $amount', (vector) => {
    expect(openNote(servedOf(vector))).toEqual({
      amount: BigInt(vector.amount),
      nonce: parseField(vector.nonce),
      memo: 'memo' in vector ? vector.memo : undefined,
    });
  });

  it('does not open with any one byte changed', () => {
    const bytes = hexToBytes(example.sealed);
    for (let i = 0; i < bytes.length; i += 1) {
      const changed = Uint8Array.from(bytes);
      changed[i] = (changed[i] ?? 0) ^ (1 << (i % 8));
      expect(openNote({ ...servedOf(example), sealed: bytesToHex(changed) })).toBeUndefined();
    }
  });

  it.each([
    ['another viewing key', { viewingKey: 5n }],
    ['another wallet', { walletId: assertField(5n) }],
    ['another commitment', { commitment: 5n }],
    ['another asset', { assetId: 5n }],
  ])('does not accept a note of %s', (_, change) => {
    expect(openNote({ ...servedOf(example), ...change })).toBeUndefined();
  });

  it('does not accept a note whose contents give another commitment than the served one', () => {
    // Sealed correctly and to the right key, but for a commitment that is not this note's: an invented balance.
    const commitment = assertField(77n);
    const sealed = sealNote({ ...sealedOf(example), commitment });
    expect(openNote({ ...servedOf(example), sealed, commitment })).toBeUndefined();
  });

  it.each([
    ['suite 2', `0x02${example.sealed.slice(4)}`],
    ['suite 0', `0x00${example.sealed.slice(4)}`],
    ['a byte less', example.sealed.slice(0, -2)],
    ['a byte more', `${example.sealed}00`],
    ['no hex', 'sealed'],
    ['nothing', '0x'],
    ...badKeys.invalid
      .filter(({ encryptionPublicKey: key }) => key.length === 66)
      .map(({ why, encryptionPublicKey: key }) => [
        `an invalid ephemeral key: ${why}`,
        `0x01${key.slice(2)}${example.sealed.slice(68)}`,
      ]),
  ])('returns undefined for %s', (_, sealed) => {
    expect(openNote({ ...servedOf(example), sealed: String(sealed) })).toBeUndefined();
  });

  describe('with a plaintext that no honest payer writes', () => {
    const note = servedOf(example);
    const open = (change: (plaintext: Uint8Array) => void) => {
      const plaintext = Buffer.from(example.plaintext.slice(2), 'hex');
      change(plaintext);
      const { sealed } = sealBytes({
        ...note,
        plaintext,
        to: decodeEncryptionPublicKey(example.encryptionPublicKey),
        ephemeral: 99n,
      });
      return openNote({ ...note, sealed });
    };
    const money = { amount: BigInt(example.amount), nonce: parseField(example.nonce) };

    it.each<[string, (plaintext: Uint8Array) => void]>([
      ['a memo length of 112', (plaintext) => plaintext.fill(112, 48, 49)],
      ['a memo length of 255', (plaintext) => plaintext.fill(255, 48, 49)],
      ['a memo that is not UTF-8', (plaintext) => plaintext.fill(0xff, 49, 51)],
    ])('keeps the amount and drops %s', (_, change) => {
      expect(open(change)).toEqual({ ...money, memo: undefined });
    });

    it('keeps a byte order mark and ignores bytes after the memo', () => {
      const bytes = Buffer.from('\ufeffhi');
      const opened = open((plaintext) => {
        plaintext.fill(7, 49);
        plaintext.fill(bytes.length, 48, 49);
        plaintext.set(bytes, 49);
      });
      expect(opened).toEqual({ ...money, memo: '\ufeffhi' });
    });

    it('does not accept another amount, another nonce or a nonce outside the field', () => {
      expect(open((plaintext) => plaintext.fill(1, 0, 1))).toBeUndefined();
      expect(open((plaintext) => plaintext.fill(1, 16, 17))).toBeUndefined();
      expect(open((plaintext) => plaintext.fill(0xff, 16, 48))).toBeUndefined();
    });
  });

  it('throws for an invalid viewing key', () => {
    expect(() => openNote({ ...servedOf(example), viewingKey: 0n })).toThrow(
      expect.objectContaining({ code: 'invalid_viewing_key' }),
    );
  });
});
