/**
 * One small damage to the kernels, and the tests that must notice it.
 *
 * @module
 */
export type Mutant = {
  readonly name: string;
  /** Within the package. */
  readonly file: string;
  /** Its first occurrence is replaced. `#{` stands for a template's `${`. */
  readonly find: string;
  readonly replace: string;
  /** Test files that must notice, without `.test.ts`. */
  readonly tests: readonly string[];
};
