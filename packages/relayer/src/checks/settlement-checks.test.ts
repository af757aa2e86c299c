/** Compared with FunderSignature.sol: accepts exactly the signatures that the contract accepts. */
import { type Hex, type Hex32, hexToBytes, parseEvmAddress } from '@pool/core';
import { Wallet } from 'ethers';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/eip712.json' with { type: 'json' };
import { assertFunderSigned, recoverSigner } from './settlement-checks.ts';

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const digest = `0x${'5a'.repeat(32)}` as Hex32;
const wallet = new Wallet(`0x${'21'.repeat(32)}`);
const { r, s, v } = wallet.signingKey.sign(digest);
function join(...parts: readonly string[]): Hex {
  return `0x${parts.map((part) => part.replace('0x', '')).join('')}`;
}
const good = join(r, s, v.toString(16));
const highS = `0x${(order - BigInt(s)).toString(16).padStart(64, '0')}`;

describe('recoverSigner', () => {
  it.each(vectors.fundAuthorizations)('finds the funder of a vector', (vector) => {
    expect(recoverSigner(vector.digest as Hex32, vector.signature as Hex)).toBe(
      vector.message.funder,
    );
  });

  it.each<[string, Hex]>([
    ['s in the upper half', join(r, highS, v === 27 ? '1c' : '1b')],
    ['v of 0 or 1', join(r, s, v === 27 ? '00' : '01')],
    ['v of an older chain', join(r, s, '25')],
    ['64 bytes (EIP-2098)', join(r, s)],
    ['66 bytes', join(good, '00')],
    ['r of zero', join('00'.repeat(32), s, '1b')],
    ['s of zero', join(r, '00'.repeat(32), '1b')],
    ['r beyond the order', join('ff'.repeat(32), s, '1b')],
    ['nothing', '0x'],
  ])('recovers no signer with %s', (_name, signature) => {
    expect(recoverSigner(digest, signature)).toBeUndefined();
  });

  it('reads 65 bytes as r, s and v', () => {
    expect(hexToBytes(good)).toHaveLength(65);
    expect(recoverSigner(digest, good)).toBe(wallet.address);
  });
});

describe('assertFunderSigned', () => {
  const claim = { funder: parseEvmAddress(wallet.address), digest, signature: good };
  const never = () => Promise.reject(new Error('the contract must not be asked'));

  it('calls no contract when the key of the address signed', async () => {
    await expect(assertFunderSigned(claim, never)).resolves.toBeUndefined();
  });

  it.each<[string, Hex]>([
    ['another length', join(good, '00')],
    ['another signer', join(s, r, '1b')],
  ])('asks the contract about a signature of %s, as the pool does', async (_name, signature) => {
    const asked: unknown[] = [];
    await assertFunderSigned({ ...claim, signature }, (subject) => {
      asked.push(subject);
      return Promise.resolve('valid');
    });
    expect(asked).toEqual([{ address: wallet.address, digest, signature }]);
  });

  it.each(['invalid', 'no-contract'] as const)('refuses when the answer is %s', async (verdict) => {
    await expect(
      assertFunderSigned({ ...claim, signature: '0x' }, () => Promise.resolve(verdict)),
    ).rejects.toMatchObject({ code: 'invalid_settlement', status: 400 });
  });
});
