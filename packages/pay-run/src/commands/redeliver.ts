/**
 * `disburse-agent redeliver`: delivers the sealed notes of paid batches again, to a platform that lost them or into a
 * file (docs/decisions/0009). It reads the job store, needs no running agent, and moves no money.
 *
 * @module
 */

import type { Delivery } from '@pool/api';
import { isPoolError, PoolError, parseHex } from '@pool/core';
import type { JobStorePlace } from '@pool/idempotency';
import { parseDelivery } from '@pool/operations';
import { exitCodes } from '../exit-codes.ts';
import { listDeliveries, type StoredDelivery } from '../ledger/stored-keys.ts';
import type { Output } from '../ports.ts';
import { writeNewFile } from '../report/new-file.ts';

export type RedeliverOptions = {
  readonly all?: boolean;
  /** Writes a file and sends nothing. */
  readonly out?: string;
  /** P, hex: only the notes addressed to it go into the file. */
  readonly for?: string;
};

/** The job store, and where deliveries go. */
export type DeliveryPorts = {
  readonly jobs: JobStorePlace;
  /** Hands the sealed notes of a settlement to the platform, and returns its record. */
  redeliverNotes(
    key: string,
    delivery: Delivery,
  ): Promise<{ readonly sealedNotes: readonly unknown[]; readonly txHash?: string | undefined }>;
};

type Print = Pick<Output, 'out'>;

/** @param openPorts - reads the configuration. @returns the exit code: 0 when every requested note was delivered */
export async function redeliver(
  key: string | undefined,
  openPorts: () => DeliveryPorts,
  options: RedeliverOptions,
  { out }: Print,
): Promise<number> {
  if ((key === undefined) === (options.all !== true)) {
    throw new PoolError('invalid_request', 'name one key, or every paid key with --all');
  }
  if (options.for !== undefined && options.out === undefined) {
    throw new PoolError(
      'invalid_request',
      '--for selects the notes that are written to a file, so it needs --out',
    );
  }
  const ports = openPorts();
  const found = await listDeliveries(ports.jobs, key);
  if (found.length === 0) {
    throw new PoolError(
      'not_found',
      key === undefined
        ? 'the job store of this agent contains no paid key'
        : 'the job store of this agent contains no paid job under that key; `disburse-agent tenancy keys` lists its keys',
    );
  }
  return options.out === undefined
    ? await sendAll(ports, found, out)
    : await writeDocument(found, options.out, options.for, out);
}

/** Continues after a failure. */
async function sendAll(
  ports: DeliveryPorts,
  found: readonly StoredDelivery[],
  out: Print['out'],
): Promise<number> {
  const failures = await forEach(found, out, async ({ key, text }) => {
    const { sealedNotes, txHash } = await ports.redeliverNotes(key, readKept(text));
    out(
      `${key}: the platform has its ${sealedNotes.length} sealed notes (${txHash ?? 'settling'})`,
    );
  });
  if (failures > 0) {
    out(`${failures} of ${found.length} were not delivered; run the command again`);
  }
  return failures === 0 ? exitCodes.ok : exitCodes.error;
}

/** @returns the number of failures, each of which is printed */
async function forEach(
  found: readonly StoredDelivery[],
  out: Print['out'],
  work: (stored: StoredDelivery) => Promise<void>,
): Promise<number> {
  let failures = 0;
  for (const stored of found) {
    try {
      await work(stored);
    } catch (error) {
      if (!isPoolError(error)) {
        throw error;
      }
      failures += 1;
      out(`${stored.key}: ${error.code}: ${error.message}`);
    }
  }
  return failures;
}

/** @throws PoolError `delivery_not_kept`, `store_damaged` */
function readKept(text: string | undefined): Delivery {
  if (text === undefined) {
    throw new PoolError(
      'delivery_not_kept',
      'this agent did not store the sealed notes: another agent built the batch, or an earlier version paid it',
    );
  }
  return parseDelivery(text);
}

async function writeDocument(
  found: readonly StoredDelivery[],
  path: string,
  recipient: string | undefined,
  out: Print['out'],
): Promise<number> {
  const encryptionPublicKey = recipient === undefined ? undefined : parseHex(recipient, 32);
  const batches: ReturnType<typeof describe>[] = [];
  const failures = await forEach(found, out, async ({ text }) => {
    batches.push(describe(readKept(text), encryptionPublicKey));
  });
  if (batches.length === 0) {
    return exitCodes.error;
  }
  const notes = batches.reduce((sum, batch) => sum + batch.notes.length, 0);
  if (notes === 0) {
    throw new PoolError('not_found', 'none of these batches has a note for that encryption key');
  }
  writeNewFile(path, `${JSON.stringify({ format: 'pool/sealed-notes/1', batches }, null, 2)}\n`);
  out(
    encryptionPublicKey === undefined
      ? `${path}: ${notes} sealed notes. The file contains the encryption key of every recipient: use --for to write a file for one recipient`
      : `${path}: ${notes} sealed note(s), which only the owner of that encryption key can open`,
  );
  if (failures > 0) {
    out(`${failures} of ${found.length} batches are not in the file`);
  }
  return failures === 0 ? exitCodes.ok : exitCodes.error;
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
