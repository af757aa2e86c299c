/**
 * `disburse-agent redeliver`: the sealed notes of paid batches once more, to a platform that lost them or into a file
 * (docs/decisions/0026). It reads the job store, so no agent has to run, and it moves no money.
 *
 * @module
 */
import { writeFileSync } from 'node:fs';
import { type Delivery, isPoolError, PoolError, parseHex } from '@pool/core';
import { createEdgeClient } from '@pool/platform-client';
import { type Config, readConfig } from './config.ts';
import { exitCodes } from './exit-codes.ts';
import { listDeliveries, type StoredDelivery } from './stored-keys.ts';

export type RedeliverOptions = {
  readonly all?: boolean;
  /** Writes a file and asks nobody. */
  readonly out?: string;
  /** P, hex: only the notes addressed to it go into the file. */
  readonly for?: string;
  readonly envFile?: string;
};

type Print = { out(text: string): void };

/** @returns the exit code: 0 when every note asked for was delivered */
export async function runRedeliver(
  key: string | undefined,
  options: RedeliverOptions,
  { out }: Print,
): Promise<number> {
  if ((key === undefined) === (options.all !== true)) {
    throw new PoolError('invalid_request', 'name one key, or every paid key with --all');
  }
  if (options.for !== undefined && options.out === undefined) {
    throw new PoolError(
      'invalid_request',
      '--for chooses what goes into a file, so it needs --out',
    );
  }
  const config = readConfig(options.envFile);
  const found = await listDeliveries(config.jobStore, key);
  if (found.length === 0) {
    throw new PoolError(
      'not_found',
      key === undefined
        ? 'the job store of this agent holds no paid key'
        : 'the job store of this agent holds no paid job under that key; `disburse-agent tenancy keys` lists what it holds',
    );
  }
  return options.out === undefined
    ? await sendAll(config, found, out)
    : writeDocument(found, options.out, options.for, out);
}

/** One failure does not stop the others. */
async function sendAll(
  config: Config,
  found: readonly StoredDelivery[],
  out: Print['out'],
): Promise<number> {
  const edge = createEdgeClient({ url: config.platformUrl, token: config.platformToken });
  let failures = 0;
  for (const { key, delivery } of found) {
    try {
      const { sealedNotes, txHash } = await edge.redeliverNotes(key, requireKept(delivery));
      out(
        `${key}: the platform has its ${sealedNotes.length} sealed notes (${txHash ?? 'settling'})`,
      );
    } catch (error) {
      if (!isPoolError(error)) {
        throw error;
      }
      failures += 1;
      out(`${key}: ${error.code}: ${error.message}`);
    }
  }
  if (failures > 0) {
    out(`${failures} of ${found.length} were not delivered; run the command again`);
  }
  return failures === 0 ? exitCodes.ok : exitCodes.error;
}

function requireKept(delivery: Delivery | undefined): Delivery {
  if (delivery === undefined) {
    throw new PoolError(
      'delivery_not_kept',
      'this agent did not keep its sealed notes: another agent built the batch, or an earlier version paid it',
    );
  }
  return delivery;
}

function writeDocument(
  found: readonly StoredDelivery[],
  path: string,
  recipient: string | undefined,
  out: Print['out'],
): number {
  const encryptionPublicKey = recipient === undefined ? undefined : parseHex(recipient, 32);
  const batches = found.map(({ delivery }) => describe(requireKept(delivery), encryptionPublicKey));
  const notes = batches.reduce((sum, batch) => sum + batch.notes.length, 0);
  if (notes === 0) {
    throw new PoolError('not_found', 'none of these batches has a note for that encryption key');
  }
  try {
    writeFileSync(
      path,
      `${JSON.stringify({ format: 'pool/sealed-notes/1', batches }, null, 2)}\n`,
      {
        mode: 0o600,
        flag: 'wx',
      },
    );
  } catch (cause) {
    throw new PoolError(
      'file_not_written',
      `${path} cannot be written; it must be a new file in a folder that exists`,
      { cause },
    );
  }
  out(
    encryptionPublicKey === undefined
      ? `${path}: ${notes} sealed notes. It names the encryption key of every recipient: give a recipient a file of its own, with --for`
      : `${path}: ${notes} sealed note(s), which only the owner of that encryption key can open`,
  );
  return exitCodes.ok;
}

/** One batch in the file that a holder imports. */
function describe({ chain, batch, sealedNotes }: Delivery, recipient: string | undefined) {
  return {
    chain,
    token: batch.token,
    batchRoot: batch.batchRoot,
    notes: sealedNotes.flatMap(({ encryptionPublicKey, sealed }, slot) =>
      recipient === undefined || recipient === encryptionPublicKey
        ? [{ slot, commitment: batch.commitments[slot], encryptionPublicKey, sealed }]
        : [],
    ),
  };
}
