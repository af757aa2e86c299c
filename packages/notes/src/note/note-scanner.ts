/**
 * {@link scanNotes} and the hashes around it with threads of their own, for callers that have no kernels.
 *
 * @module
 */
import type { AssetId, Field } from '@pool/core';
import { createScanKernels } from '@pool/kernels';
import { hashPoseidonMany } from '../hash/scan-poseidon.ts';
import type { HashPairs } from '../hash/tree-hasher.ts';
import { type ScannedNote, type ScanOptions, type ServedNote, scanNotes } from './scan-notes.ts';
import { computeNullifiers } from './scan-nullifiers.ts';

export type NoteScanner = {
  /** Description of what it runs on, for people. */
  readonly detail: string;
  /**
   * The holder's notes among the given ones, in their order; see {@link scanNotes}. Several scans at once share the threads.
   * @param input.viewingKey - v, secret
   */
  readonly scan: <Served extends ServedNote>(
    input: {
      readonly notes: Iterable<Served> | AsyncIterable<Served>;
      readonly viewingKey: bigint;
      readonly walletId: Field;
    },
    options?: Omit<ScanOptions, 'kernels'>,
  ) => AsyncGenerator<ScannedNote<Served>, void, undefined>;
  /**
   * The nullifier of each note, in the order given; see {@link computeNullifiers}. Secret until the notes are spent.
   * @param input.viewingKey - v, secret
   */
  readonly computeNullifiers: (input: {
    readonly notes: readonly { readonly assetId: AssetId; readonly nonce: Field }[];
    readonly viewingKey: bigint;
    readonly walletId: Field;
  }) => Promise<readonly Field[]>;
  /** H_2 of each pair: the nodes of a level of a tree. */
  readonly hashPairs: HashPairs;
  /** Ends the threads and fails running scans. An idle scanner does not keep the process alive. */
  readonly close: () => Promise<void>;
};

/** @param options.threads - 1 or more. Default: all cores */
export async function createNoteScanner(
  options: { readonly threads?: number } = {},
): Promise<NoteScanner> {
  const kernels = await createScanKernels(options);
  return {
    detail: kernels.detail,
    scan: (input, scanOptions = {}) => scanNotes(input, { ...scanOptions, kernels }),
    computeNullifiers: (input) => computeNullifiers(kernels, input),
    hashPairs: (pairs) => hashPoseidonMany(kernels, pairs),
    close: () => kernels.close(),
  };
}
