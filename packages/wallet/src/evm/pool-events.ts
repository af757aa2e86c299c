/**
 * The pool's events, as a verifier reads them or keeps them in a file, so that a disclosure can be verified offline. A verifier writes it through its own RPC, and takes it from no
 * discloser: it is what the disclosure is compared with.
 *
 * @module
 */
import {
  disclosureSchema,
  type EvmAddress,
  evmAddressSchema,
  hex32Schema,
  parseEvmAddress,
  parseField,
  parseWire,
} from '@pool/core';
import type { ChainFacts, InsertionFact } from '@pool/notes';
import * as v from 'valibot';
import { askAll } from './ask-all.ts';
import type { EvmRecords } from './evm-records.ts';

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
/** Whose events. */
type Pool = { readonly chainId: number; readonly pool: EvmAddress };
type PoolLeaf = Awaited<ReturnType<EvmRecords['fetchLeaves']>>[number];

/** Most public RPCs answer 1,000 blocks. */
const windowBlocks = 1_000;

/** Of a range of final blocks, both ends included. */
export async function fetchPoolEvents(
  { chainId, pool }: Pool,
  { from, to }: { readonly from: number; readonly to: number },
  records: Pick<EvmRecords, 'fetchLeaves'>,
): Promise<PoolEvents> {
  const events: PoolEvents['events'] = [];
  for (let block = from; block <= to; block += windowBlocks) {
    const leaves = await records.fetchLeaves(block, Math.min(to, block + windowBlocks - 1));
    events.push(...leaves.map(createEvent));
  }
  return { format: 'pool-events', version: 1, chainId, pool, events };
}

/**
 * Of the transactions that a disclosure names, in blocks that are final for every node. A malformed document names none.
 * @throws PoolError `nodes_disagree`
 */
export async function fetchDisclosedEvents<
  TNode extends Pick<EvmRecords, 'fetchFinalBlock' | 'fetchTransactionLeaves'>,
>(document: unknown, { chainId, pool }: Pool, nodes: readonly TNode[]): Promise<PoolEvents> {
  const disclosure = v.safeParse(disclosureSchema, document);
  const insertions = disclosure.success ? disclosure.output.insertions : [];
  const events: PoolEvents['events'] = [];
  const finals = await Promise.all(nodes.map((node) => node.fetchFinalBlock()));
  const final = Math.min(...finals);
  for (const txHash of new Set(insertions.map((insertion) => insertion.txHash))) {
    const found = await askAll(nodes, async (node) => {
      const leaves = await node.fetchTransactionLeaves(txHash);
      return leaves.filter(({ blockNumber }) => blockNumber <= final).map(createEvent);
    });
    events.push(...found);
  }
  return { format: 'pool-events', version: 1, chainId, pool, events };
}

function createEvent(leaf: PoolLeaf): PoolEvent {
  const { leafIndex: index, txHash, blockNumber, sealedNotesHash } = leaf;
  const commitments = [...leaf.commitments];
  const facts = { index, txHash, blockNumber, commitments, sealedNotesHash };
  return leaf.kind === 'fund'
    ? { kind: 'batch', ...facts, batchId: leaf.batchId }
    : { kind: 'spend', ...facts };
}

/** @param name - of the file. @throws PoolError `invalid_request` for a file of another form */
export function parsePoolEvents(value: unknown, name: string): PoolEvents {
  return parseWire(fileSchema, value, name);
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
