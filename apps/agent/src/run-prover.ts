/**
 * `disburse-agent prover`: makes proofs for agents on other machines, until SIGTERM or SIGINT. It has the key that opens their inputs, and
 * no key that signs.
 *
 * @module
 */
import { openProductionKeys, type ProductionKeys } from '@pool/circuits';
import { fundCircuits } from '@pool/core';
import { createRedactedLog } from '@pool/http-server';
import { findKeySource } from '@pool/operations';
import { exitCodes, type Output, writeNewFile } from '@pool/pay-run';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { readProverSettings, startAgentTracing } from './config/config.ts';
import { createConfiguredProver } from './services/agent-prover.ts';
import { openProofQueue } from './services/fleet/proof-queue.ts';
import { startProverWorker } from './services/fleet/prover-worker.ts';

/** Time to finish the proof in hand; after it another prover gets the task. */
const graceMs = 20_000;

export type ProverCommandOptions = {
  readonly newKey?: string;
  readonly json?: boolean;
  readonly envFile?: string;
};

/** @returns the exit code */
export async function runProver(
  { newKey, json, envFile }: ProverCommandOptions,
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  if (newKey !== undefined) {
    const privateKey = await generateX25519Identity();
    const publicKey = await identityToRecipient(privateKey);
    writeNewFile(newKey, `${JSON.stringify({ publicKey, privateKey }, null, 2)}\n`);
    out(
      json === true
        ? { publicKey, file: newKey }
        : `${newKey} has the private key, for every prover: DISBURSE_PROVER_PRIVATE_KEY_FILE\npublic key, for every agent: DISBURSE_PROVER_PUBLIC_KEY=${publicKey}`,
    );
    return exitCodes.ok;
  }
  const { queue: place, privateKey, ...settings } = readProverSettings(envFile);
  const log = createRedactedLog(settings.logLevel);
  const stopped = new Promise<string>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => resolve(signal));
    }
  });
  const source = findKeySource(settings);
  const keys = source && openProductionKeys(source);
  await keys?.checkKeys();
  await requireKeys(keys);
  const prover = createConfiguredProver({ ...settings, prover: 'wasm' }, keys, log);
  const { artifactsManifest: manifest } = settings;
  const recipient = await identityToRecipient(privateKey.reveal());
  const stopTracing = await startAgentTracing('pool-prover');
  const queue = await openProofQueue({
    settings: place,
    manifest,
    recipient,
    role: 'prover',
    log,
  });
  try {
    const { detail } = await prover.ready();
    await startProverWorker({ queue, prover, identity: privateKey, log });
    const where = `${place.host}:${place.port}/${place.database}`;
    out(
      json === true
        ? { queue: where, accelerator: detail }
        : `disburse-agent prover takes proofs from ${where}, on ${detail}`,
    );
    log.info({ queue: where, accelerator: detail }, 'taking proofs');
    log.info({ signal: await stopped }, 'stopping');
    // A database that is away must not block a supervisor. Its task is given to another prover.
    setTimeout(() => process.exit(1), graceMs + 10_000).unref();
  } finally {
    await queue.boss.stop({ timeout: graceMs });
    await prover.close();
    await stopTracing?.();
  }
  log.info({}, 'stopped');
  return exitCodes.ok;
}

/** A prover without the files of a size would take its tasks and fail them. @throws PoolError `artifact_missing` */
async function requireKeys(keys: ProductionKeys | undefined): Promise<void> {
  for (const circuit of fundCircuits) {
    if (keys?.circuits.includes(circuit) === true) {
      await keys.ensureArtifacts(circuit);
    }
  }
}
