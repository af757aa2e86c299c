// vectors/ed25519-funding.json was encoded with node:buffer and signed once with @stellar/stellar-base. The libraries of both chains
// check it here. `encodeAgain` is a second implementation, for values beyond the vectors.
import { getAddressEncoder, getPublicKeyFromAddress } from '@solana/addresses';
import { verifySignature } from '@solana/keys';
import { hash, Keypair, StrKey } from '@stellar/stellar-base';
import { keccak256 } from 'ethers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/ed25519-funding.json' with { type: 'json' };
import { maxAmount } from '../values/amount.ts';
import { assertField, fieldModulus, fieldToHex, parseField } from '../values/field.ts';
import { bytesToHex, bytesToHex32, hexToBytes, parseHex32 } from '../values/hex.ts';
import {
  computeEd25519BatchId,
  type Ed25519FundAuthorization,
  type Ed25519Pool,
  encodeEd25519FundAuthorization,
} from './ed25519-funding.ts';

type Vector = (typeof vectors.authorizations)[number];

function placeOf({ place }: Vector): Ed25519Pool {
  return { genesisHash: parseHex32(place.genesisHash), pool: parseHex32(place.pool) };
}

function authorizationOf({ authorization }: Vector): Ed25519FundAuthorization {
  return {
    funder: parseHex32(authorization.funder),
    token: parseHex32(authorization.token),
    total: BigInt(authorization.total),
    batchRoot: parseField(authorization.batchRoot),
    batchNonce: parseField(authorization.batchNonce),
    sealedNotesHash: parseHex32(authorization.sealedNotesHash),
    deadline: BigInt(authorization.deadline),
  };
}

const [first] = vectors.authorizations as [Vector];

function word(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
}

/** Protocol §8 with buffers: every field behind its length of 4 bytes. */
function encodeAgain(place: Ed25519Pool, fields: Ed25519FundAuthorization): Buffer {
  const ofHex = (text: string): Buffer => Buffer.from(text.slice(2), 'hex');
  const parts = [
    Buffer.from('pool-fund-v1', 'ascii'),
    ofHex(place.genesisHash),
    ofHex(place.pool),
    ofHex(fields.token),
    ofHex(fields.funder),
    word(fields.total),
    word(fields.batchRoot),
    word(fields.batchNonce),
    ofHex(fields.sealedNotesHash),
    word(fields.deadline),
  ];
  const bytes = Buffer.alloc(parts.reduce((sum, part) => sum + 4 + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    offset = bytes.writeUInt32BE(part.length, offset);
    offset += part.copy(bytes, offset);
  }
  return bytes;
}

describe('a funder’s authorisation on an ed25519 chain', () => {
  it.each(vectors.authorizations)('has the bytes of the vector: $family, $network', (vector) => {
    expect(
      bytesToHex(encodeEd25519FundAuthorization(placeOf(vector), authorizationOf(vector))),
    ).toBe(vector.bytes);
  });

  it.each(vectors.authorizations)(
    'names the genesis hash, pool, token and funder as the libraries decode them: $family, $network',
    ({ family, texts, place, authorization, address }) => {
      const decode = (text: string): string =>
        bytesToHex(
          family === 'solana'
            ? Uint8Array.from(getAddressEncoder().encode(text as never))
            : Uint8Array.from(StrKey.decodeContract(text)),
        );
      expect(decode(texts.pool)).toBe(place.pool);
      expect(decode(texts.token)).toBe(authorization.token);
      expect(place.genesisHash).toBe(
        family === 'solana' ? decode(texts.genesis) : bytesToHex(hash(Buffer.from(texts.genesis))),
      );
      expect(authorization.funder).toBe(
        family === 'solana'
          ? decode(address)
          : bytesToHex(Uint8Array.from(Keypair.fromPublicKey(address).rawPublicKey())),
      );
    },
  );

  it.each(vectors.authorizations)(
    'verifies with the library of its chain: $family, $network',
    async (vector) => {
      const bytes = encodeEd25519FundAuthorization(placeOf(vector), authorizationOf(vector));
      const signature = hexToBytes(vector.signature, 64);
      const changed = Uint8Array.from(bytes, (byte, index) => byte ^ Number(index === 339));
      const verify = async (message: Uint8Array): Promise<boolean> =>
        vector.family === 'solana'
          ? await verifySignature(
              await getPublicKeyFromAddress(vector.address as never),
              signature as never,
              message,
            )
          : Keypair.fromPublicKey(vector.address).verify(
              Buffer.from(message),
              Buffer.from(signature),
            );
      expect(await verify(bytes)).toBe(true);
      expect(await verify(changed)).toBe(false);
    },
  );

  it('equals a second implementation for any values', () => {
    const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
    const field = fc.bigInt({ min: 0n, max: fieldModulus - 1n });
    const keys = bytes32.map((seed) =>
      Uint8Array.from(Keypair.fromRawEd25519Seed(Buffer.from(seed)).rawPublicKey()),
    );
    fc.assert(
      fc.property(
        fc.tuple(bytes32, bytes32, bytes32, bytes32, keys),
        fc.tuple(field, field),
        fc.bigInt({ min: 0n, max: maxAmount }),
        fc.bigInt({ min: 0n, max: 2n ** 64n }),
        ([genesis, pool, token, sealed, key], [root, nonce], total, deadline) => {
          const place = { genesisHash: bytesToHex32(genesis), pool: bytesToHex32(pool) };
          const fields = {
            funder: bytesToHex32(key),
            token: bytesToHex32(token),
            total,
            batchRoot: assertField(root),
            batchNonce: assertField(nonce),
            sealedNotesHash: bytesToHex32(sealed),
            deadline,
          };
          const bytes = encodeEd25519FundAuthorization(place, fields);
          expect(Buffer.from(bytes)).toEqual(encodeAgain(place, fields));
          const hashed = keccak256(Buffer.concat([key, word(nonce)]));
          expect(computeEd25519BatchId(fields.funder, fields.batchNonce)).toBe(
            BigInt(hashed) % fieldModulus,
          );
        },
      ),
      { numRuns: 50 },
    );
  });

  it('is no transaction and no text: its first byte is zero', () => {
    expect(encodeEd25519FundAuthorization(placeOf(first), authorizationOf(first))[0]).toBe(0);
  });

  it.each([
    ['a short genesis hash', { genesisHash: '0x00' }, {}, 'invalid_value'],
    ['a pool in base58', { pool: '11111111111111111111111111111112' }, {}, 'invalid_value'],
    ['an EVM address as token', {}, { token: `0x${'11'.repeat(20)}` }, 'invalid_value'],
    ['a funder without a private key', {}, { funder: fieldToHex(assertField(1n)) }, 'wallet_pub'],
    ['a total of 2^128', {}, { total: maxAmount + 1n }, 'invalid-amount'],
    ['a negative total', {}, { total: -1n }, 'invalid-amount'],
    ['a batch root outside the field', {}, { batchRoot: fieldModulus }, 'invalid_field_element'],
    ['a batch nonce outside the field', {}, { batchNonce: fieldModulus }, 'invalid_field_element'],
    ['a total as text', {}, { total: '10' }, 'invalid_value'],
    ['a deadline before 1970', {}, { deadline: -1n }, 'invalid_value'],
  ])('is refused with %s', (_what, place, fields, code) => {
    const encode = (): unknown =>
      Reflect.apply(encodeEd25519FundAuthorization, undefined, [
        { ...placeOf(first), ...place },
        { ...authorizationOf(first), ...fields },
      ]);
    expect(encode).toThrow(expect.objectContaining({ code: expect.stringContaining(code) }));
  });
});

describe('a batch id on an ed25519 chain', () => {
  it.each(vectors.authorizations)('is the one of the vector: $family, $network', (vector) => {
    const { funder, batchNonce } = authorizationOf(vector);
    expect(computeEd25519BatchId(funder, batchNonce)).toBe(parseField(vector.batchId));
  });
});
