/**
 * Changes to circom/comparison.circom after which its templates accept every value, with the same signals; for tests only. A witness
 * made with them violates, in the real circuit, the rows of the checks that it does not deserve to pass.
 */
import type { CompiledTest, Mutation } from './witness.ts';

export const laxChecks: readonly Mutation[] = [
  { file: 'comparison.circom', from: 'last * (last - 1) === 0;', to: '' },
  { file: 'comparison.circom', from: '(1 - differs[run]) * ones === 0;', to: '' },
];

/** Names of the components whose checks these rows are, each once, in alphabetical order. `''` is the main component. */
export function nameComponents({ r1cs, namesOf }: CompiledTest, rows: readonly number[]): string[] {
  const { rowStart, wire } = r1cs.a;
  const names = rows.map((row) => {
    // The deepest component among the names of the row's left factor.
    const paths = [...wire.slice(rowStart[row], rowStart[row + 1])]
      .flatMap((index) => namesOf.get(index) ?? [])
      .map((name) => name.split('.').slice(0, -1));
    return paths.sort((a, b) => b.length - a.length)[0]?.join('.') ?? '';
  });
  return [...new Set(names)].sort();
}
