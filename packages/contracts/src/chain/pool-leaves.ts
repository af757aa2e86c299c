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
};

type Placed<TEvent> = TEvent & { readonly txHash: Hex32; readonly blockNumber: number };

/** The event of a `fund()`. */
type FundEvent = LeafFacts & {
  readonly kind: 'fund';
  /** Binds the funder (protocol §3). */
  readonly batchId: Hex32;
};

/** The event of a `spend()`. */
type SpendEvent = LeafFacts & {
  readonly kind: 'spend';
  /** Of the inputs, those of dummies included. */
  readonly nullifiers: readonly Hex32[];
  /** Of all outputs in slot order, 209 bytes each. Together they have the event's hash. */
  readonly sealedNotes: readonly Hex[];
};

/** What the event of a leaf says. */
export type PoolEvent = FundEvent | SpendEvent;

/** The events with their places. */
export type FundedBatch = Placed<FundEvent>;
export type LandedSpend = Placed<SpendEvent>;
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
  const leaf = parsePoolEvent(log);
  if (leaf === undefined) {
    throw new PoolError('chain_unreachable', 'the RPC answered with a log of another event');
  }
  if (!hasSizeOfPool(leaf)) {
    throw new PoolError(
      'chain_unreachable',
      'the RPC answered with an event whose numbers of commitments, nullifiers or sealed notes are not those of the pool; use another node',
    );
  }
  const { transactionHash, blockNumber } = log;
  return { ...leaf, txHash: parseHex32(transactionHash), blockNumber };
}

/**
 * Decodes a log of the pool; undefined when it is another event. The caller has checked who emitted it.
 * @throws PoolError `chain_unreachable` for a spend whose sealed notes have another hash
 */
export function parsePoolEvent(log: {
  readonly topics: readonly string[];
  readonly data: string;
}): PoolEvent | undefined {
  const event = shieldedPoolInterface.parseLog(log);
  switch (event?.name) {
    case 'BatchFunded':
      return {
        kind: 'fund',
        ...readFacts(event, 'batchRoot'),
        batchId: parseHex32(event.args.getValue('batchId')),
      };
    case 'Spent':
      return {
        kind: 'spend',
        ...readFacts(event, 'outRoot'),
        nullifiers: readWords(event, 'nullifiers'),
        sealedNotes: readSealedNotes(event),
      };
    default:
      return undefined;
  }
}

function hasSizeOfPool(leaf: PoolEvent): boolean {
  const outputs = leaf.commitments.length;
  if (leaf.kind === 'fund') {
    return batchSizes.some((size) => size === outputs);
  }
  const isOfCircuit = Object.values(spendShapes).some(
    (circuit) => circuit.inputs === leaf.nullifiers.length && circuit.outputs === outputs,
  );
  return isOfCircuit && leaf.sealedNotes.length === outputs;
}

function readFacts({ args }: LogDescription, leaf: 'batchRoot' | 'outRoot'): LeafFacts {
  return {
    leafIndex: Number(args.getValue('index')),
    batchRoot: parseHex32(args.getValue(leaf)),
    newRoot: parseHex32(args.getValue('newRoot')),
    sealedNotesHash: parseHex32(args.getValue('sealedNotesHash')),
    commitments: readWords({ args }, 'commitments'),
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
