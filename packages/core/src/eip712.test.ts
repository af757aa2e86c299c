import { recoverAddress } from 'ethers';
import { describe, expect, it } from 'vitest';
import vectors from '../../../vectors/eip712.json' with { type: 'json' };
import {
  computeFundAuthorizationData,
  computePermitData,
  computeTypedDataDigest,
  computeVoidBatchData,
} from './eip712.ts';
import { type Hex32, hexToBigint } from './hex.ts';

const { chainId, verifyingContract: pool } = vectors.domain;

describe('typed data', () => {
  it.each(vectors.fundAuthorizations)('authorises a batch of $message.total', (vector) => {
    const { message } = vector;
    const data = computeFundAuthorizationData(chainId, pool, {
      funder: message.funder,
      token: message.token,
      total: BigInt(message.total),
      batchRoot: hexToBigint(message.batchRoot),
      batchNonce: hexToBigint(message.batchNonce),
      sealedNotesHash: message.sealedNotesHash as Hex32,
      deadline: BigInt(message.deadline),
    });
    expect(computeTypedDataDigest(data)).toBe(vector.digest);
    expect(recoverAddress(vector.digest, vector.signature)).toBe(message.funder);
  });

  it.each(vectors.voidBatches)('voids a batch', ({ message, digest }) => {
    const batchNonce = hexToBigint(message.batchNonce);
    const data = computeVoidBatchData(chainId, pool, message.funder, batchNonce);
    expect(computeTypedDataDigest(data)).toBe(digest);
  });

  it.each(vectors.permits)('permits $message.value', ({ domain, message, digest }) => {
    const data = computePermitData(domain, {
      owner: message.owner,
      spender: message.spender,
      value: BigInt(message.value),
      nonce: BigInt(message.nonce),
      deadline: BigInt(message.deadline),
    });
    expect(computeTypedDataDigest(data)).toBe(digest);
  });

  it('refuses a batch nonce outside the field', () => {
    expect(() => computeVoidBatchData(chainId, pool, pool, 2n ** 255n)).toThrow(
      expect.objectContaining({ code: 'invalid_field_element' }),
    );
  });
});
