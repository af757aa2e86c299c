import {
  assertField,
  bigintToHex32,
  bytesToBigint,
  bytesToHex,
  encodeWalletPub,
  fieldModulus,
  hexToBigint,
  parseHex,
} from '@pool/core';
import { computeAddress, recoverAddress, SigningKey } from 'ethers';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { computeMaskedSigner, verifyMaskedSigner } from './masked-signer.ts';

const n = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

function integer(bytes: number) {
  return fc.uint8Array({ minLength: bytes, maxLength: bytes }).map(bytesToBigint);
}

function addressOf(point: { x: bigint; y: bigint }): string {
  return computeAddress(encodeWalletPub(point));
}

it("the wallet's signature over m recovers W' from m', and W' + G from m' - rSig", () => {
  fc.assert(
    fc.property(integer(31), integer(32), integer(31), (key, digest, blinding) => {
      const signingKey = new SigningKey(bigintToHex32(key + 1n));
      const m = assertField(digest % fieldModulus);
      const signed = signingKey.sign(bigintToHex32(m));
      const rSig = hexToBigint(signed.r);
      const masked = computeMaskedSigner({
        walletPub: parseHex(signingKey.compressedPublicKey, 33),
        digest: m,
        blinding,
        rSig,
      });
      const recovered = [masked.maskedDigest, (masked.maskedDigest + n - rSig) % n].map((value) =>
        recoverAddress(bigintToHex32(value), signed),
      );
      const key2 = SigningKey.addPoints(
        encodeWalletPub(masked.maskedPub),
        SigningKey.computePublicKey(bytesToHex(new Uint8Array(32).with(31, 1))),
        true,
      );
      expect(recovered).toEqual([addressOf(masked.maskedPub), computeAddress(key2)]);
      expect(recovered).not.toContain(computeAddress(signingKey.publicKey));
      const signature = { rSig, s: hexToBigint(signed.s), parity: signed.yParity };
      expect(verifyMaskedSigner(masked, signature)).toBe(true);
    }),
    { numRuns: 30 },
  );
});
