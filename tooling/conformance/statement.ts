// One row of the conformance map: a statement of the service contract in our words, and the tests that show it.

/** One test, by its file and its title exactly as the file writes it: `refuses %s` stands for all of its cases. */
export interface TestRef {
  /** Relative to the repository. */
  readonly file: string;
  readonly name: string;
}

/** Work that is not built yet and will include the test. */
export type Owner = 'account operations' | 'custody';

export type Proof =
  | { readonly kind: 'shown'; readonly tests: readonly TestRef[] }
  | { readonly kind: 'owed'; readonly to: Owner }
  /** No test shows it yet, but one should. */
  | { readonly kind: 'unshown' };

export interface Statement {
  /** Stable and descriptive, such as `job.replay-same-body`. */
  readonly id: string;
  readonly says: string;
  readonly proof: Proof;
}

export interface Section {
  readonly title: string;
  readonly statements: readonly Statement[];
}

/** Statements in the order of the contract, each with its proof. */
export function section(
  title: string,
  rows: readonly (readonly [id: string, says: string, proof: Proof])[],
): Section {
  return { title, statements: rows.map(([id, says, proof]) => ({ id, says, proof })) };
}

/** Names tests of one file: `const app = testsOf('apps/agent/src/http/app.test.ts')`, then `app('title')`. */
export function testsOf(file: string): (...names: readonly string[]) => readonly TestRef[] {
  return (...names) => names.map((name) => ({ file, name }));
}

/** Shown by all of these together. */
export function shown(...tests: readonly (readonly TestRef[])[]): Proof {
  return { kind: 'shown', tests: tests.flat() };
}

export const accountOperations: Proof = { kind: 'owed', to: 'account operations' };
export const unshown: Proof = { kind: 'unshown' };
