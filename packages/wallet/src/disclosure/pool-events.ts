/**
 * The pool's events in a file, so that a disclosure can be verified offline. A verifier writes it through its own RPC, and takes it from no
 * discloser: it is what the disclosure is compared with.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import {
  evmAddressSchema,
  hex32Schema,
  PoolError,
  parseEvmAddress,
  parseField,
  parseWire,
} from '@pool/core';
import type { ChainFacts, InsertionFact } from '@pool/notes';
import * as v from 'valibot';
import type { EvmRecords } from '../../evm/evm-records.ts';

const countSchema = v.pipe(v.number(), v.integer(), v.minValue(0));
const eventSchema = v.strictObject({
  kind: v.picklist(['batch', 'spend']),
  index: countSchema,
  txHash: hex32Schema,
  blockNumber: countSchema,
  commitments: v.pipe(v.array(hex32Schema), v.maxLength(256)),
  sealedNotesHash: hex32Schema,
  batchId: v.optional(hex32Schema),
});
const fileSchema = v.strictObject({
  format: v.literal('pool-events'),
  version: v.literal(1),
  chainId: countSchema,
  pool: evmAddressSchema,
  events: v.array(eventSchema),
});
export type PoolEvents = v.InferOutput<typeof fileSchema>;
type PoolEvent = v.InferOutput<typeof eventSchema>;
type PoolLeaf = Awaited<ReturnType<EvmRecords['fetchLeaves']>>[number];

export function createEvent(leaf: PoolLeaf): PoolEvent {
  const { leafIndex: index, txHash, blockNumber, sealedNotesHash } = leaf;
  const commitments = [...leaf.commitments];
  const facts = { index, txHash, blockNumber, commitments, sealedNotesHash };
  return leaf.kind === 'fund'
    ? { kind: 'batch', ...facts, batchId: leaf.batchId }
    : { kind: 'spend', ...facts };
}

/** @throws PoolError `invalid_request` for a file of another form */
export function readPoolEvents(path: string): PoolEvents {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new PoolError('invalid_request', `${path} cannot be read as JSON`, { cause });
  }
  return parseWire(fileSchema, value, path);
}

export function createFacts(events: PoolEvents): Omit<ChainFacts, 'evidenceDomain'> {
  return {
    chainId: events.chainId,
    pool: parseEvmAddress(events.pool),
    insertions: events.events.map(createFact),
  };
}

function createFact(event: PoolEvent): InsertionFact {
  const { index, txHash, sealedNotesHash, batchId } = event;
  const commitments = event.commitments.map(parseField);
  const facts = { index, txHash, sealedNotesHash, commitments };
  return event.kind === 'batch' && batchId !== undefined
    ? { kind: 'batch', ...facts, batchId: parseField(batchId) }
    : { kind: 'spend', ...facts };
}
