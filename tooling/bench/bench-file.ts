// What a `*.bench.ts` file exports.
import type { Bench } from 'tinybench';

export interface BenchFile {
  /** What is measured, as a heading. */
  readonly title: string;
  /** Adds the tasks. A task checks nothing: correctness belongs to the tests. */
  readonly add: (bench: Bench) => void | Promise<void>;
  /** Ends what `add` started. */
  readonly close?: () => Promise<void>;
}
