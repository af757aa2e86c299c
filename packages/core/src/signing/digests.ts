/**
 * Identifiers that chain, platform, agent and approver must compute identically: asset ids, batch nonces and batch ids
 * (protocol §3). Vectors: vectors/digests.json.
 *
 * @module
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson } from '../text/canonical-json.ts';
import { type EvmAddress, parseEvmAddress } from '../values/evm-address.ts';
import { assertField, type Field, reduceToField } from '../values/field.ts';
import { bigintToBytes, hexToBytes } from '../values/hex.ts';

/** Names one token in one pool on one chain, inside every note. */
export type AssetId = Field;

/** `keccak256(abi.encode(chainId, pool, token)) mod r`. */
export function computeAssetId(chainId: number, pool: EvmAddress, token: EvmAddress): AssetId {
  return reduceToField(
    keccak_256(
      concatBytes(
        bigintToBytes(BigInt(chainId), 32),
        new Uint8Array(12),
        hexToBytes(pool.toLowerCase(), 20),
        new Uint8Array(12),
        hexToBytes(token.toLowerCase(), 20),
      ),
    ),
  );
}

/** What makes a payment attempt unique. All parts are fixed before anything is signed. */
export type BatchNonceParts = {
  /** Random UUID of the employer; unknown to chain observers. */
  readonly employerId: string;
  readonly chainId: number;
  readonly pool: EvmAddress;
  readonly funder: EvmAddress;
  /** The Idempotency-Key of the job. */
  readonly jobKey: string;
  /** 1, 2, …; attempt n+1 may exist only when attempt n is dead (protocol §8). */
  readonly attempt: number;
};

/**
 * The nonce by which the contract pays one job once, for any caller and any number of calls: a lost job store or a
 * second agent computes the same value and is refused. Spelling does not matter: addresses are hashed in
 * checksum form and the UUID in lower case, or one job could be paid once per spelling.
 *
 * @throws PoolError `invalid-address`, `invalid_value`
 */
export function computeBatchNonce(parts: BatchNonceParts): Field {
  const { chainId, jobKey, attempt } = parts;
  const employerId = parts.employerId.toLowerCase();
  const pool = parseEvmAddress(parts.pool);
  const funder = parseEvmAddress(parts.funder);
  return reduceToField(
    sha256(
      concatBytes(
        utf8ToBytes('pool/v1/batch-nonce'),
        utf8ToBytes(canonicalJson([employerId, chainId, pool, funder, jobKey, attempt])),
      ),
    ),
  );
}

/**
 * The name of a batch in the proof, in the contract's set of used batches and in its event:
 * `keccak256(abi.encode(funder, batchNonce)) mod r`. It binds the funder, so a party that learns a batch nonce before it is on
 * chain can use it only under another funder's address, which makes another batch.
 *
 * @throws PoolError `invalid-address`, `invalid_field_element`
 */
export function computeBatchId(funder: EvmAddress, batchNonce: Field): Field {
  return reduceToField(
    keccak_256(
      concatBytes(
        new Uint8Array(12),
        hexToBytes(parseEvmAddress(funder).toLowerCase(), 20),
        bigintToBytes(assertField(batchNonce), 32),
      ),
    ),
  );
}
