/**
 * The funder's withdrawal of a released authorisation (protocol §8, `voidBatch`), through the platform. Sending it decides
 * nothing: the job ends when a final block shows it.
 *
 * @module
 */
import { type Hex, parseEvmAddress, parseField } from '@pool/core';
import { computeJobNonce } from './batch.ts';
import type { DatedBatch } from './release-record.ts';
import type { Run } from './run.ts';

/** Signs once, stores, sends. The request to cancel is on disk before this is called. */
export async function postVoid(run: Run, batch: DatedBatch): Promise<void> {
  const { key, employerId } = run.record();
  const batchNonce = computeJobNonce(run, employerId, key);
  const signature = run.record().voidSignature ?? (await signVoid(run, batch, batchNonce));
  await run.deps.platform.postVoid(key, {
    chain: batch.manifest.chain,
    funder: run.funder.address,
    batchNonce,
    signature,
  });
  await run.passFaultPoint('void.posted');
}

async function signVoid(
  run: Run,
  { manifest }: DatedBatch,
  batchNonce: ReturnType<typeof computeJobNonce>,
): Promise<Hex> {
  const voidSignature = await run.funder.signVoid(
    {
      chainId: manifest.chainId,
      pool: parseEvmAddress(manifest.pool),
      funder: run.funder.address,
      batchNonce: parseField(batchNonce),
    },
    run.signal,
  );
  await run.passFaultPoint('void.signed');
  await run.update({ voidSignature });
  await run.passFaultPoint('void.after-store');
  return voidSignature;
}
