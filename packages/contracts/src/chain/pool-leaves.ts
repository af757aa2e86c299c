/**
 * What a pool has inserted into its note tree: the batches of `fund()` and the outputs of `spend()`, from the pool's events in
 * the order in which they happened (protocol §4, §8).
 *
 * @module
 */
import {
  batchSizes,
  type Hex,
  type Hex32,
  PoolError,
  parseHex,
  parseHex32,
  spendShapes,
} from '@pool/core';
import { dataLength, dataSlice, keccak256, type Log, type LogDescription } from 'ethers';
import { shieldedPoolInterface } from '../calls/shielded-pool.ts';

/** The same facts of a batch and of a spend. All of it is public. */
type LeafFacts = {
  /** From 0, over all trees. */
  readonly leafIndex: number;
  /** The leaf: root of the commitments. */
  readonly batchRoot: Hex32;
  /** Root of the note tree with this leaf. */
  readonly newRoot: Hex32;
  readonly sealedNotesHash: Hex32;
  /** In slot order. */
  readonly commitments: readonly Hex32[];
  readonly txHash: Hex32;
  readonly blockNumber: number;
};

/** The event of a `fund()`, and its place. */
export type FundedBatch = LeafFacts & {
  readonly kind: 'fund';
  /** Binds the funder (protocol §3). */
  readonly batchId: Hex32;
};

/** The event of a `spend()`, and its place. */
export type LandedSpend = LeafFacts & {
  readonly kind: 'spend';
  /** Of the inputs, those of dummies included. */
  readonly nullifiers: readonly Hex32[];
  /** Of all outputs in slot order, 209 bytes each. Together they have the event's hash. */
  readonly sealedNotes: readonly Hex[];
};

export type PoolLeaf = FundedBatch | LandedSpend;

const leafEvents = ['BatchFunded', 'Spent'] as const;

/** Bytes of one sealed note (protocol §3). */
const sealedBytes = 209;

/** Filter of the events that insert a leaf. */
export function encodeLeafTopics(): string[][] {
  return [
    leafEvents.flatMap((name) => {
      const event = shieldedPoolInterface.getEvent(name);
      return event === null ? [] : [event.topicHash];
    }),
  ];
}

/**
 * @throws PoolError `chain_unreachable` for a log of another event, one whose sealed notes have another hash, or one with numbers of
 *   values that the pool never emits: a node could give inner nodes of the tree in place of commitments, and the root would be right
 */
export function parsePoolLeaf(log: Log): PoolLeaf {
  const leaf = readLeaf(log);
  if (!hasSizeOfPool(leaf)) {
    throw new PoolError(
      'chain_unreachable',
      'the RPC answered with an event whose numbers of commitments, nullifiers or sealed notes are not those of the pool; use another node',
    );
  }
  return leaf;
}

function readLeaf(log: Log): PoolLeaf {
  const event = shieldedPoolInterface.parseLog(log);
  switch (event?.name) {
    case 'BatchFunded':
      return {
        kind: 'fund',
        ...readFacts(event, log, 'batchRoot'),
        batchId: parseHex32(event.args.getValue('batchId')),
      };
    case 'Spent':
      return {
        kind: 'spend',
        ...readFacts(event, log, 'outRoot'),
        nullifiers: readWords(event, 'nullifiers'),
        sealedNotes: readSealedNotes(event),
      };
    default:
      throw new PoolError('chain_unreachable', 'the RPC answered with a log of another event');
  }
}

function hasSizeOfPool(leaf: PoolLeaf): boolean {
  const outputs = leaf.commitments.length;
  if (leaf.kind === 'fund') {
    return batchSizes.some((size) => size === outputs);
  }
  const isOfCircuit = Object.values(spendShapes).some(
    (circuit) => circuit.inputs === leaf.nullifiers.length && circuit.outputs === outputs,
  );
  return isOfCircuit && leaf.sealedNotes.length === outputs;
}

function readFacts({ args }: LogDescription, log: Log, leaf: 'batchRoot' | 'outRoot'): LeafFacts {
  return {
    leafIndex: Number(args.getValue('index')),
    batchRoot: parseHex32(args.getValue(leaf)),
    newRoot: parseHex32(args.getValue('newRoot')),
    sealedNotesHash: parseHex32(args.getValue('sealedNotesHash')),
    commitments: readWords({ args }, 'commitments'),
    txHash: parseHex32(log.transactionHash),
    blockNumber: log.blockNumber,
  };
}

function readWords({ args }: Pick<LogDescription, 'args'>, name: string): Hex32[] {
  return [...(args.getValue(name) as Iterable<unknown>)].map((word) => parseHex32(word));
}

/** The pool emits both, so a difference is the node's. */
function readSealedNotes({ args }: LogDescription): readonly Hex[] {
  const sealedNotes = args.getValue('sealedNotes') as string;
  if (keccak256(sealedNotes) === args.getValue('sealedNotesHash')) {
    return Array.from({ length: Math.floor(dataLength(sealedNotes) / sealedBytes) }, (_, slot) =>
      parseHex(dataSlice(sealedNotes, slot * sealedBytes, (slot + 1) * sealedBytes)),
    );
  }
  throw new PoolError(
    'chain_unreachable',
    "the RPC answered with a spend whose sealed notes do not have the event's hash; use another node",
  );
}
