/**
 * {@link scanNotes} with threads of its own, for callers that have no kernels at hand.
 *
 * @module
 */
import type { Field } from '@pool/core';
import { createKernels } from '@pool/kernels';
import { type ScannedNote, type ScanOptions, type ServedNote, scanNotes } from './scan-notes.ts';

export type NoteScanner = {
  /** What it runs on, for people. */
  readonly detail: string;
  /**
   * The holder's notes among those given, in their order; see {@link scanNotes}. Several scans at once share the threads.
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
  /** Ends the threads and fails scans under way. An idle scanner does not keep the process alive. */
  readonly close: () => Promise<void>;
};

/** @param options.threads - 1 or more; default: all cores */
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
