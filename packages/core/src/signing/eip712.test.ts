import { recoverAddress } from 'ethers';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/eip712.json' with { type: 'json' };
import { parseEvmAddress } from '../values/evm-address.ts';
import { parseField } from '../values/field.ts';
import { parseHex32 } from '../values/hex.ts';
import {
  computeFundAuthorizationData,
  computePermitData,
  computeTypedDataDigest,
  computeVoidBatchData,
} from './eip712.ts';

const { chainId } = vectors.domain;
const pool = parseEvmAddress(vectors.domain.verifyingContract);

describe('typed data', () => {
  it.each(vectors.fundAuthorizations)('authorises a batch of $message.total', (vector) => {
    const { message } = vector;
    const data = computeFundAuthorizationData(chainId, pool, {
      funder: parseEvmAddress(message.funder),
      token: parseEvmAddress(message.token),
      total: BigInt(message.total),
      batchRoot: parseField(message.batchRoot),
      batchNonce: parseField(message.batchNonce),
      sealedNotesHash: parseHex32(message.sealedNotesHash),
      deadline: BigInt(message.deadline),
    });
    expect(computeTypedDataDigest(data)).toBe(vector.digest);
    expect(recoverAddress(vector.digest, vector.signature)).toBe(message.funder);
  });

  it.each(vectors.voidBatches)('voids a batch', ({ message, digest }) => {
    const batchNonce = parseField(message.batchNonce);
    const data = computeVoidBatchData(chainId, pool, parseEvmAddress(message.funder), batchNonce);
    expect(computeTypedDataDigest(data)).toBe(digest);
  });

  it.each(vectors.permits)('permits $message.value', ({ domain, message, digest }) => {
    const verifyingContract = parseEvmAddress(domain.verifyingContract);
    const permitDomain = { ...domain, verifyingContract };
    const data = computePermitData(permitDomain, {
      owner: parseEvmAddress(message.owner),
      spender: parseEvmAddress(message.spender),
      value: BigInt(message.value),
      nonce: BigInt(message.nonce),
      deadline: BigInt(message.deadline),
    });
    expect(computeTypedDataDigest(data)).toBe(digest);
  });

  it('refuses a batch nonce outside the field', () => {
    const parts = [chainId, pool, pool, 2n ** 255n];
    expect(() => Reflect.apply(computeVoidBatchData, undefined, parts)).toThrow(
      expect.objectContaining({ code: 'invalid_field_element' }),
    );
  });
});
