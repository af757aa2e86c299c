// Which notes the holder can spend. Nothing in the file of kept notes is trusted: a note counts only if it opens with the viewing key,
// gives the commitment that the chain has at its place, and is unspent there.
import {
  type AssetId,
  type EncryptionPublicKey,
  type Field,
  fieldToHex,
  type Hex,
  parseField,
  parseHex,
} from '@pool/core';
import { computeNotePath, computeNullifier, type NotePath, openNote } from '@pool/notes';
import type { NotesFile } from './files.ts';
import type { PoolState } from './read-pool.ts';

export type Keys = {
  readonly walletId: Field;
  /** v, secret. */
  readonly viewingKey: bigint;
  readonly encryptionPublicKey: EncryptionPublicKey;
};

export type SpendableNote = {
  readonly commitment: Field;
  readonly amount: bigint;
  readonly nonce: Field;
  readonly nullifier: Field;
  readonly path: NotePath;
  readonly encryptionPublicKey: EncryptionPublicKey;
  readonly isLocked: false;
};

type SealedNote = { readonly leafIndex: number; readonly slot: number; readonly sealed: string };

export async function findNotes(
  pool: PoolState,
  kept: NotesFile,
  asset: { readonly assetId: AssetId; readonly token: string },
  keys: Keys,
): Promise<readonly SpendableNote[]> {
  // Notes of disbursements are in the file. Transfers and change are in the events of spends.
  const sealed: SealedNote[] = kept.notes.filter(
    ({ token }) => token.toLowerCase() === asset.token.toLowerCase(),
  );
  for (const leaf of pool.leaves) {
    if (leaf.kind === 'spend') {
      const { leafIndex, sealedNotes } = leaf;
      sealed.push(...sealedNotes.map((text, slot) => ({ leafIndex, slot, sealed: text })));
    }
  }
  const found = new Map<Field, SpendableNote>();
  for (const note of sealed) {
    const opened = await openOwn(note, pool, asset.assetId, keys);
    // Of several notes with one nullifier only the largest counts: a spend of any of them ends all.
    const other = opened === undefined ? undefined : found.get(opened.nullifier);
    if (opened !== undefined && opened.amount > (other?.amount ?? 0n)) {
      found.set(opened.nullifier, opened);
    }
  }
  return [...found.values()];
}

async function openOwn(
  { leafIndex, slot, sealed }: SealedNote,
  { leaves, tree, reader }: PoolState,
  assetId: AssetId,
  { walletId, viewingKey, encryptionPublicKey }: Keys,
): Promise<SpendableNote | undefined> {
  const commitments = (leaves[leafIndex]?.commitments ?? []).map((word) => parseField(word));
  const commitment = commitments[slot];
  const text = readHex(sealed);
  if (commitment === undefined || text === undefined) {
    return undefined;
  }
  const opened = openNote({ sealed: text, viewingKey, walletId, commitment, assetId });
  if (opened === undefined || opened.amount === 0n) {
    return undefined;
  }
  const { amount, nonce } = opened;
  const nullifier = computeNullifier({ assetId, nonce, viewingKey, walletId });
  if ((await reader.fetchOutRootOf(fieldToHex(nullifier), 'latest')) !== undefined) {
    return undefined;
  }
  const path = computeNotePath(commitments, slot, tree.path(leafIndex));
  return { commitment, amount, nonce, nullifier, path, encryptionPublicKey, isLocked: false };
}

function readHex(text: string): Hex | undefined {
  try {
    return parseHex(text, 209);
  } catch {
    return undefined;
  }
}
