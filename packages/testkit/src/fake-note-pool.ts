/**
 * A pool's history and the platform's listing of its notes, in memory: what a holder's sync reads. The notes are real, so a viewing
 * key opens them. Blocks are final at once.
 *
 * @module
 */
import {
  type AssetId,
  assertField,
  bigintToHex32,
  computeAssetId,
  type EvmChainSettings,
  type Field,
  fieldToHex,
  type Hex,
  type Hex32,
  PoolError,
} from '@pool/core';
import {
  computeBatchRoot,
  computeCommitment,
  computeNullifier,
  createLeanImt,
  decodeEncryptionPublicKey,
  sealNote,
} from '@pool/notes';
import type { FakeHolder } from './fake-holder.ts';

export type FakeNote = {
  readonly holder: FakeHolder;
  /** Base units. */
  readonly amount: bigint;
  readonly memo?: string;
  /** Default: a new one. */
  readonly nonce?: Field;
};

type FakeLeaf = {
  readonly leafIndex: number;
  readonly root: Field;
  readonly newRoot: Field;
  readonly commitments: readonly Hex32[];
  readonly nullifiers: readonly Hex32[];
  readonly sealedNotes: readonly Hex[];
  readonly txHash: Hex32;
  readonly blockNumber: number;
};

type Delivered = {
  readonly commitment: Hex32;
  readonly sealed: Hex;
  readonly batchIndex: number;
  readonly slot: number;
};

type FakePage = {
  readonly notes: readonly Delivered[];
  readonly open?: readonly Delivered[];
  readonly cursor?: string;
  readonly before?: number;
};

export type FakeNotePool = ReturnType<typeof createFakeNotePool>;

/**
 * @param options.pageSize - notes per page of the listing
 * @param options.asset - settings whose USDC the notes are of. Default: a made-up asset
 */
export function createFakeNotePool(
  options: { readonly pageSize?: number; readonly asset?: EvmChainSettings } = {},
) {
  const { pageSize = 3, asset } = options;
  const token = asset?.tokens['USDC']?.address;
  const assetId: AssetId =
    asset === undefined || token === undefined
      ? assertField(99n)
      : computeAssetId(asset.chainId, asset.pool, token);
  const tree = createLeanImt();
  const leaves: FakeLeaf[] = [];
  const listing: Delivered[] = [];
  let head = 10;
  let made = 0n;

  /** Numbers that no other note or block has. */
  function makeField(): Field {
    made += 1n;
    return assertField(made ** 9n + 1_000n);
  }

  function insert(
    notes: readonly FakeNote[],
    nullifiers: readonly Field[],
    isDelivered: boolean,
  ): number {
    const leafIndex = leaves.length;
    const slots = notes.map(({ holder, amount, memo, nonce = makeField() }, slot) => {
      const encryptionPoint = decodeEncryptionPublicKey(holder.encryptionPublicKey);
      const { walletId, encryptionPublicKey } = holder;
      const commitment = computeCommitment({ assetId, amount, nonce, walletId, encryptionPoint });
      const contents = { amount, nonce, ...(memo === undefined ? {} : { memo }) };
      const ephemeral = makeField();
      const sealed = sealNote({
        ...contents,
        encryptionPublicKey,
        commitment,
        assetId,
        ephemeral,
      });
      return { slot, sealed, commitment };
    });
    // The dummies of a batch.
    const size = 2 ** Math.ceil(Math.log2(Math.max(4, slots.length)));
    const dummies = Array.from({ length: size - slots.length }, makeField);
    const commitments = [...slots.map(({ commitment }) => commitment), ...dummies];
    const root = computeBatchRoot(commitments);
    tree.insert(root);
    head += 1;
    leaves.push({
      leafIndex,
      root,
      newRoot: tree.root,
      commitments: commitments.map(fieldToHex),
      nullifiers: nullifiers.map(fieldToHex),
      // The event of a spend has its notes, whoever sent it.
      sealedNotes: nullifiers.length === 0 ? [] : slots.map(({ sealed }) => sealed),
      txHash: bigintToHex32(BigInt(leafIndex) + 1n),
      blockNumber: head,
    });
    const delivered = slots.map(({ slot, sealed, commitment }) => ({
      commitment: fieldToHex(commitment),
      sealed,
      batchIndex: leafIndex,
      slot,
    }));
    (isDelivered ? listing : withheld).push(...delivered);
    return leafIndex;
  }
  const withheld: Delivered[] = [];

  const pool = {
    assetId,
    symbol: 'USDC',
    deployedAtBlock: 5,
    leaves,
    /** What the platform lists. Tests change it. */
    listing,
    /** This many next reads of the chain fail. */
    failures: 0,
    /** Blocks of which the chain now has another one: reorganised below finality. */
    replaced: new Set<number>(),
    /** Number of reads of leaves. */
    reads: 0,
    /** Changes what the RPC serves. */
    tamper: (found: readonly FakeLeaf[]): readonly FakeLeaf[] => found,
    /** A batch that pays these notes, in slot order. @returns the index of its leaf */
    fund: (notes: readonly FakeNote[]): number => insert(notes, [], true),
    /** A batch whose sealed notes the platform does not have yet: {@link deliver} adds them. */
    fundUndelivered: (notes: readonly FakeNote[]): number => insert(notes, [], false),
    deliver(): void {
      listing.push(...withheld.splice(0));
      listing.sort((left, right) => left.batchIndex - right.batchIndex || left.slot - right.slot);
    },
    /** A spend that uses up nullifiers and pays these notes. */
    spend: (nullifiers: readonly Field[], notes: readonly FakeNote[]): number =>
      insert(notes, nullifiers, true),
    nullifierOf: ({ holder, nonce }: { holder: FakeHolder; nonce: Field }): Field =>
      computeNullifier({
        assetId,
        nonce,
        viewingKey: holder.viewingKey,
        walletId: holder.walletId,
      }),
    mine: (blocks: number): void => {
      head += blocks;
    },
    head: () => head,
    history: {
      node: 'rpc.example',
      fetchFinalBlock: async () => ({ number: head, hash: hashOf(head) }),
      fetchBlockHash: async (blockNumber: number) =>
        blockNumber > head ? undefined : hashOf(blockNumber),
      async fetchLeaves(fromBlock: number, toBlock: number) {
        pool.reads += 1;
        if (pool.failures > 0) {
          pool.failures -= 1;
          throw new PoolError('chain_unreachable', 'the fake RPC is down');
        }
        return pool.tamper(
          leaves.filter(({ blockNumber }) => blockNumber >= fromBlock && blockNumber <= toBlock),
        );
      },
      async fetchNoteRoot(blockNumber: number) {
        const last = leaves.filter((leaf) => leaf.blockNumber <= blockNumber).at(-1);
        return last?.newRoot ?? assertField(0n);
      },
      close: () => undefined,
    },
    deliveries: {
      async fetchPage(_symbol: string, cursor: string | undefined): Promise<FakePage> {
        const [batchIndex = -1, slot = -1] = (cursor ?? '').split('.').map(Number);
        const rest =
          cursor === undefined
            ? listing
            : listing.filter(
                (note) =>
                  note.batchIndex > batchIndex ||
                  (note.batchIndex === batchIndex && note.slot > slot),
              );
        const notes = rest.slice(0, pageSize);
        const last = notes.at(-1);
        const page = { notes, before: listing.length - rest.length };
        return rest.length > pageSize && last !== undefined
          ? { ...page, cursor: `${last.batchIndex}.${last.slot}` }
          : page;
      },
    },
  };

  function hashOf(blockNumber: number): Hex32 {
    const fork = pool.replaced.has(blockNumber) ? 2n ** 200n : 0n;
    return bigintToHex32(BigInt(blockNumber) + fork + 2n ** 100n);
  }
  return pool;
}
