/**
 * {@link scanNotes} with its own threads, for callers that have no kernels yet.
 *
 * @module
 */
import type { Field } from '@pool/core';
import { createKernels } from '@pool/kernels';
import { type ScannedNote, type ScanOptions, type ServedNote, scanNotes } from './scan-notes.ts';

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
  /** Ends the threads and fails running scans. An idle scanner does not keep the process alive. */
  readonly close: () => Promise<void>;
};

/** @param options.threads - 1 or more. Default: all cores */
export async function createNoteScanner(
  options: { readonly threads?: number } = {},
): Promise<NoteScanner> {
  const kernels = await createKernels(options);
  return {
    detail: kernels.detail,
    scan: (input, scanOptions = {}) => scanNotes(input, { ...scanOptions, kernels }),
    close: () => kernels.close(),
  };
}
