/**
 * Typed data that a funder signs (EIP-712, protocol §8): the authorisation of one batch, its withdrawal, and a token's permit
 * (EIP-2612).
 * Vectors: vectors/eip712.json.
 *
 * @module
 */
import { TypedDataEncoder } from 'ethers';
import type { EvmAddress } from '../values/evm-address.ts';
import { type Field, fieldToHex } from '../values/field.ts';
import { type Hex32, parseHex32 } from '../values/hex.ts';

export type TypedField = { name: string; type: string };

/** One complete typed-data document, in the shape ethers signs. */
export type TypedData = {
  readonly domain: {
    readonly name: string;
    readonly version: string;
    readonly chainId: number;
    readonly verifyingContract: EvmAddress;
  };
  readonly types: Record<string, TypedField[]>;
  readonly primaryType: string;
  readonly message: Readonly<Record<string, string | bigint>>;
};

export const fundAuthorizationTypes: Record<string, TypedField[]> = {
  FundAuthorization: [
    { name: 'funder', type: 'address' },
    { name: 'token', type: 'address' },
    { name: 'total', type: 'uint256' },
    { name: 'batchRoot', type: 'bytes32' },
    { name: 'batchNonce', type: 'bytes32' },
    { name: 'sealedNotesHash', type: 'bytes32' },
    { name: 'deadline', type: 'uint256' },
  ],
};

export const voidBatchTypes: Record<string, TypedField[]> = {
  VoidBatch: [
    { name: 'funder', type: 'address' },
    { name: 'batchNonce', type: 'bytes32' },
  ],
};

export const permitTypes: Record<string, TypedField[]> = {
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
};

/** Domain of every signature the pool contract checks. */
function computePoolDomain(chainId: number, pool: EvmAddress): TypedData['domain'] {
  return { name: 'ShieldedPool', version: '1', chainId, verifyingContract: pool };
}

/** What the funder agrees to: these notes, this sum, this nonce, until this second. */
export type FundAuthorization = {
  readonly funder: EvmAddress;
  readonly token: EvmAddress;
  /** Base units. */
  readonly total: bigint;
  readonly batchRoot: Field;
  readonly batchNonce: Field;
  readonly sealedNotesHash: Hex32;
  /** Unix seconds; the authorisation can land while `block.timestamp <= deadline`. */
  readonly deadline: bigint;
};

export function computeFundAuthorizationData(
  chainId: number,
  pool: EvmAddress,
  authorization: FundAuthorization,
): TypedData {
  const { funder, token, total, batchRoot, batchNonce, sealedNotesHash, deadline } = authorization;
  return {
    domain: computePoolDomain(chainId, pool),
    types: fundAuthorizationTypes,
    primaryType: 'FundAuthorization',
    message: {
      funder,
      token,
      total,
      batchRoot: fieldToHex(batchRoot),
      batchNonce: fieldToHex(batchNonce),
      sealedNotesHash,
      deadline,
    },
  };
}

export function computeVoidBatchData(
  chainId: number,
  pool: EvmAddress,
  funder: EvmAddress,
  batchNonce: Field,
): TypedData {
  return {
    domain: computePoolDomain(chainId, pool),
    types: voidBatchTypes,
    primaryType: 'VoidBatch',
    message: { funder, batchNonce: fieldToHex(batchNonce) },
  };
}

/** EIP-2612 permit of exactly one amount to the pool. */
export type PermitRequest = {
  readonly owner: EvmAddress;
  readonly spender: EvmAddress;
  readonly value: bigint;
  readonly nonce: bigint;
  readonly deadline: bigint;
};

/** @param domain - the token's own EIP-712 domain, read from its contract */
export function computePermitData(domain: TypedData['domain'], permit: PermitRequest): TypedData {
  return { domain, types: permitTypes, primaryType: 'Permit', message: { ...permit } };
}

/** The 32-byte digest a signer signs. */
export function computeTypedDataDigest(data: TypedData): Hex32 {
  return parseHex32(TypedDataEncoder.hash(data.domain, data.types, data.message));
}
