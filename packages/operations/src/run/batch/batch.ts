/**
 * The batch of a job: manifest and seed, stored once, and the plan that follows from them (protocol §3). A stored
 * manifest is always used, so no key ever has two.
 *
 * @module
 */
import {
  assertNoFieldLeft,
  bytesToHex32,
  chooseBatchSize,
  computeBatchNonce,
  type EvmAddress,
  type EvmChainSettings,
  type FundManifest,
  type FundRecipient,
  fieldToHex,
  type Hex32,
  PoolError,
} from '@pool/core';
import type { SeededManifest } from '@pool/wallet';
import type { CheckedRecipient } from '../../check/checks.ts';
import { type Batch, planBatch } from '../job/plan-batch.ts';
import { attempt, deserializeManifest, manifestName, serializeManifest } from '../job/record.ts';
import type { Run, RunBase } from '../job/run.ts';

/** The nonce under which the contract pays this job once, for any caller (protocol §3). */
export function computeJobNonce(base: RunBase, employerId: string, jobKey: string): Hex32 {
  return computeKeyNonce(base.context.settings, base.funder.address, employerId, jobKey);
}

/** The nonce of a key under any funder. */
export function computeKeyNonce(
  settings: Pick<EvmChainSettings, 'chainId' | 'pool'>,
  funder: EvmAddress,
  employerId: string,
  jobKey: string,
): Hex32 {
  return fieldToHex(
    computeBatchNonce({
      employerId,
      chainId: settings.chainId,
      pool: settings.pool,
      funder,
      jobKey,
      attempt,
    }),
  );
}

/**
 * The stored batch. Built once per run, because a batch of 256 takes a second; its manifest never changes.
 * @returns undefined: no manifest is stored yet
 */
export async function loadBatch(run: Run): Promise<Batch | undefined> {
  const built = run.builtBatch();
  if (built !== undefined) {
    return built;
  }
  const text = await run.journal.getValue(manifestName);
  return text === undefined ? undefined : buildBatch(run, deserializeManifest(text));
}

/** The stored batch, or a new one that is stored now. Two writers end up with the same batch. */
export async function ensureBatch(run: Run): Promise<Batch> {
  const stored = await loadBatch(run);
  if (stored !== undefined) {
    return stored;
  }
  const seeded: SeededManifest = {
    manifest: createManifest(run),
    seed: bytesToHex32(run.deps.randomBytes(32)),
  };
  await run.passFaultPoint('manifest.before-store');
  const winner = await run.journal.putOnce(manifestName, serializeManifest(seeded));
  await run.passFaultPoint('manifest.after-store');
  return buildBatch(run, deserializeManifest(winner));
}

function createManifest(run: Run): FundManifest {
  const { settings, key: chain } = run.context;
  const { employerId, key: jobKey, recipients } = run.record();
  const size = chooseBatchSize(recipients.length);
  if (size === undefined) {
    throw new PoolError('batch-too-large', 'no circuit holds this many recipients');
  }
  return {
    version: 1,
    kind: 'fund',
    employerId,
    jobKey,
    attempt,
    chain,
    chainId: settings.chainId,
    pool: settings.pool,
    token: run.token,
    funder: run.funder.address,
    size,
    recipients: recipients.map(toFundRecipient),
  };
}

function toFundRecipient(recipient: CheckedRecipient): FundRecipient {
  const { requestIndex, address, walletPub, encryptionPublicKey, evidence, amount, memo, ...rest } =
    recipient;
  assertNoFieldLeft(rest);
  const keys = { address, walletPub, encryptionPublicKey, evidence };
  return { ...keys, amount, ...(memo === undefined ? {} : { memo }) };
}

async function buildBatch(run: Run, seeded: SeededManifest): Promise<Batch> {
  const { manifest } = seeded;
  const isOurs =
    manifest.funder === run.funder.address &&
    manifest.pool === run.context.settings.pool &&
    manifest.token === run.token &&
    manifest.chainId === run.context.settings.chainId;
  if (!isOurs) {
    throw new PoolError(
      'configuration_changed',
      'funder, pool, token or chain id were configured differently when this job began; restore them to finish it',
    );
  }
  const batch = await planBatch(seeded, run.pace);
  run.keepBatch(batch);
  return batch;
}
