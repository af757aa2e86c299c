/**
 * One small change that breaks a kernel, and the tests that must detect it.
 *
 * @module
 */
export type Mutant = {
  readonly name: string;
  /** Path within the package. */
  readonly file: string;
  /** Text that occurs once in the file. `#{` means `${` of a template literal. */
  readonly find: string;
  readonly replace: string;
  /** Test files that must detect the mutant, without `.test.ts`. */
  readonly tests: readonly string[];
};

/** The text of a mutant as it is in the source file. */
export function expandTemplates(text: string): string {
  return text.replaceAll('#{', '${');
}
