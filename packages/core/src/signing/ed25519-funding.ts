/**
 * What a funder signs on Solana and Stellar: the bytes that authorise one batch, and the batch's id (protocol §8; docs/decisions/0015).
 * Ed25519 hashes what it signs, so the bytes are signed as they are. Vectors: vectors/ed25519-funding.json.
 *
 * @module
 */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { decodeEd25519WalletPub } from '../chain-families/ed25519-key.ts';
import { PoolError } from '../errors/pool-error.ts';
import { assertAmount } from '../values/amount.ts';
import { assertField, type Field, reduceToField } from '../values/field.ts';
import { bigintToBytes, type Hex32, hexToBytes } from '../values/hex.ts';
import type { FundAuthorization } from './eip712.ts';

/** The pool that the signature is for. All values are public. */
export type Ed25519Pool = {
  /** Solana: the genesis hash, decoded from base58. Stellar: the network id, SHA-256 of the network passphrase. */
  readonly genesisHash: Hex32;
  /** Solana: the address of the pool's account. Stellar: the id of its contract. Both decoded to 32 bytes. */
  readonly pool: Hex32;
};

/** The fields of {@link FundAuthorization}, with keys and ids of 32 bytes in place of EVM addresses. */
export type Ed25519FundAuthorization = Omit<FundAuthorization, 'funder' | 'token'> & {
  /** W of the funder: its ed25519 public key. */
  readonly funder: Hex32;
  /** Solana: the mint. Stellar: the id of the asset's contract. */
  readonly token: Hex32;
};

/**
 * The bytes to sign: `pool-fund-v1`, genesis hash, pool, token, then funder, total, batch root, batch nonce, hash of the sealed notes
 * and deadline. Each is preceded by its length, 4 bytes big-endian; numbers are 32 bytes big-endian, as in EIP-712.
 *
 * The first byte is zero, so these bytes are no Solana transaction (its first byte counts the signatures, at least one), no Solana
 * off-chain message (0xff) and no text. A Stellar transaction and a text of SEP-53 are signed as 32-byte hashes. A signature of one of
 * these can therefore not be taken for another.
 *
 * @returns 340 bytes, public
 * @throws PoolError `invalid_wallet_pub`, `invalid-amount`, `invalid_field_element`, `invalid_value`
 */
export function encodeEd25519FundAuthorization(
  place: Ed25519Pool,
  authorization: Ed25519FundAuthorization,
): Uint8Array {
  const { funder, token, total, batchRoot, batchNonce, sealedNotesHash, deadline } = authorization;
  return concatBytes(
    ...[
      utf8ToBytes('pool-fund-v1'),
      hexToBytes(place.genesisHash, 32),
      hexToBytes(place.pool, 32),
      hexToBytes(token, 32),
      decodeEd25519WalletPub(funder),
      encodeWord(assertAmount(total)),
      encodeWord(assertField(batchRoot)),
      encodeWord(assertField(batchNonce)),
      hexToBytes(sealedNotesHash, 32),
      encodeWord(deadline),
    ].flatMap((part) => [bigintToBytes(BigInt(part.length), 4), part]),
  );
}

function encodeWord(value: bigint): Uint8Array {
  // An untyped caller could pass decimal text, which would be read as hex.
  if (typeof value !== 'bigint') {
    throw new PoolError('invalid_value', 'a number of the authorisation is not an integer');
  }
  return bigintToBytes(value, 32);
}

/**
 * The name of a batch on these chains: `keccak256(funder ‖ batchNonce) mod r`, both 32 bytes.
 * @throws PoolError `invalid_wallet_pub`, `invalid_field_element`
 */
export function computeEd25519BatchId(funder: Hex32, batchNonce: Field): Field {
  return reduceToField(
    keccak_256(concatBytes(decodeEd25519WalletPub(funder), encodeWord(assertField(batchNonce)))),
  );
}
