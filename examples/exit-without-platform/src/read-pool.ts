// Everything that the chain knows of the pool: the leaves of its note tree, with the sealed notes of spends.
import { createPoolReader, type PoolLeaf, type PoolReader } from '@pool/contracts';
import { type Field, parseField } from '@pool/core';
import { createLeanImt, type LeanImt } from '@pool/notes';
import type { JsonRpcProvider } from 'ethers';
import type { ExitFile } from './files.ts';

/** Most public RPCs answer this many blocks at once. */
const windowBlocks = 1_000;

export type PoolState = {
  readonly reader: PoolReader;
  readonly leaves: readonly PoolLeaf[];
  readonly tree: LeanImt;
  /** Root of the tree. The contract knows every root that it ever had. */
  readonly noteRoot: Field;
};

/** Reads up to the newest final block. An RPC that leaves events out is noticed: the root differs from the pool's own. */
export async function readPool(
  provider: JsonRpcProvider,
  { chain }: ExitFile,
  log: (line: string) => void,
): Promise<PoolState> {
  const reader = createPoolReader(provider, chain);
  const { number: last } = await reader.fetchFinalBlock();
  const leaves: PoolLeaf[] = [];
  for (let from = chain.deployedAtBlock; from <= last; from += windowBlocks) {
    leaves.push(...(await reader.fetchPoolLeaves(from, Math.min(last, from + windowBlocks - 1))));
  }
  const tree = createLeanImt(leaves.map(({ batchRoot }) => parseField(batchRoot)));
  if (tree.root !== parseField(await reader.fetchNoteRoot(last))) {
    throw new Error('the RPC served incomplete events of the pool; use another RPC');
  }
  log(`read ${leaves.length} leaves of the note tree up to block ${last}`);
  return { reader, leaves, tree, noteRoot: tree.root };
}
