/** One change of a contract that a test must notice. */
export type Mutant = {
  readonly name: string;
  /** Within the package. */
  readonly file: string;
  /** Its first occurrence is replaced. */
  readonly find: string;
  readonly replace: string;
};
