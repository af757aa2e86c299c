/**
 * How caches write notes and their owner as text. Notes are JSON in which integers are hex, only for texts that are authentic when they are
 * read.
 *
 * @module
 */
import type { AssetId, Field } from '@pool/core';
import type { ReceivedNote, SyncIdentity } from '../sync/ports.ts';

/** Integers as hex. */
export type NoteJson = {
  readonly [Name in keyof ReceivedNote]: ReceivedNote[Name] extends bigint
    ? string
    : ReceivedNote[Name];
};

/** JSON of a value in which integers are hex. */
export function stringifyHex(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'bigint' ? `0x${inner.toString(16)}` : inner,
  );
}

/** @param notes - authentic, so {@link stringifyHex} wrote them */
export function parseNotes(notes: readonly NoteJson[]): readonly ReceivedNote[] {
  return notes.map((note) => ({
    ...note,
    commitment: BigInt(note.commitment) as Field,
    assetId: BigInt(note.assetId) as AssetId,
    amount: BigInt(note.amount),
    nonce: BigInt(note.nonce) as Field,
    nullifier: BigInt(note.nullifier) as Field,
  }));
}

/** One string per identity, in which every part is public. */
export function serializeIdentity(identity: SyncIdentity): string {
  const { chainId, pool, deployedAtBlock, walletPub, encryptionPublicKey } = identity;
  return [chainId, pool.toLowerCase(), deployedAtBlock, walletPub, encryptionPublicKey].join(' ');
}
