/**
 * The authorisation of a batch as the funder signs it, with the file that it follows from.
 *
 * @module
 */
import { parseEvmAddress } from '@pool/core';
import type { FunderRequest } from '../../ports.ts';
import type { DatedBatch } from '../batch/release-record.ts';
import { createFundFile } from './ask-signer.ts';

export function createAuthorizationRequest(batch: DatedBatch): FunderRequest {
  const { manifest, plan, deadline } = batch;
  return {
    kind: 'fund-authorization',
    payload: {
      chainId: manifest.chainId,
      pool: parseEvmAddress(manifest.pool),
      authorization: {
        funder: parseEvmAddress(manifest.funder),
        token: parseEvmAddress(manifest.token),
        total: plan.total,
        batchRoot: plan.batchRoot,
        batchNonce: plan.batchNonce,
        sealedNotesHash: plan.sealedNotesHash,
        deadline: BigInt(deadline),
      },
    },
    file: createFundFile(batch),
  };
}
