// What a `*.bench.ts` file exports.
import type { Bench } from 'tinybench';

/** A task that is too long to repeat. */
export interface OneRun {
  readonly name: string;
  readonly detail: string;
  readonly perSecond: number;
}

export interface BenchFile {
  /** What is measured, as a heading. */
  readonly title: string;
  /** Adds the tasks. A task checks nothing: correctness belongs to the tests. */
  readonly add: (bench: Bench) => void | Promise<void>;
  /** Measured once, after the tasks. */
  readonly once?: () => Promise<readonly OneRun[]>;
  /** Ends the processes that `add` started. */
  readonly close?: () => Promise<void>;
}
