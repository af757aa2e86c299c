/**
 * The funder's withdrawal of an authorisation (protocol §8, `voidBatch`), through the platform. Sending it decides nothing: the job
 * ends when a final block shows it.
 *
 * @module
 */
import { type Hex, parseEvmAddress, parseField } from '@pool/core';
import type { FunderRequest } from '../../ports.ts';
import { computeJobNonce } from '../batch/batch.ts';
import type { DatedBatch } from '../batch/release-record.ts';
import { createBatchWire } from '../batch/settlement-request.ts';
import type { Run } from '../job/run.ts';
import { askSigner, createFundFile, requireSigned } from './ask-signer.ts';

/**
 * Signs once, stores, sends. The request to cancel, or the reason to give up, is on disk before this is called.
 * @throws VotePendingError while the signer votes on it
 */
export async function postVoid(run: Run, batch: DatedBatch): Promise<void> {
  const { key, employerId } = run.record();
  const batchNonce = computeJobNonce(run, employerId, key);
  const signature = run.landing().voidSignature ?? (await signVoid(run, batch));
  const phase = run.phase();
  await run.deps.platform.postVoid(key, {
    chain: batch.manifest.chain,
    funder: run.funder.address,
    batchNonce,
    signature,
    // The platform may have no settlement of an abandoned batch, so the withdrawal brings it along.
    ...(phase.kind === 'abandoned' ? { batch: createBatchWire(batch, phase.proved) } : {}),
  });
  await run.passFaultPoint('void.posted');
}

/** The withdrawal as the funder signs it, with the file that it follows from. */
export function createVoidRequest(run: Run, batch: DatedBatch): FunderRequest {
  const { chainId, pool } = batch.manifest;
  const { key, employerId } = run.record();
  return {
    kind: 'void',
    payload: {
      chainId,
      pool: parseEvmAddress(pool),
      funder: run.funder.address,
      batchNonce: parseField(computeJobNonce(run, employerId, key)),
    },
    file: createFundFile(batch),
  };
}

async function signVoid(run: Run, batch: DatedBatch): Promise<Hex> {
  // The chain is watched meanwhile.
  const given = await askSigner(run, createVoidRequest(run, batch), 'once');
  const voidSignature = requireSigned(given);
  await run.passFaultPoint('void.signed');
  await run.amend({ voidSignature });
  await run.passFaultPoint('void.after-store');
  return voidSignature;
}
