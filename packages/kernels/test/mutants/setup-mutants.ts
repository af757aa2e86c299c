/**
 * Mutants of the code that makes keys: multiples of the generators, the Lagrange basis, sums over columns and of vectors.
 *
 * @module
 */
import type { Mutant } from './mutant.ts';

const fixedBase = ['src/curve/fixed-base'];
const setup = ['src/scalars/setup-scalars'];

export const setupMutants: readonly Mutant[] = [
  {
    name: 'fixed base: a carry between words is dropped',
    file: 'codegen/fixed-base.ts',
    find: '(i64.lt_u #{get(sum)} #{get(added)})',
    replace: '(i32.const 0)',
    tests: fixedBase,
  },
  {
    name: 'fixed base: the carry out of the last word is dropped',
    file: 'codegen/fixed-base.ts',
    find: "(i64.store offset=32 #{get('to')} #{get(carry)})",
    replace: "(i64.store offset=32 #{get('to')} (i64.const 0))",
    tests: fixedBase,
  },
  {
    name: 'fixed base: negative digits count as positive',
    file: 'codegen/fixed-base.ts',
    find: '(i32.and #{get(sign)} (i32.const 1))',
    replace: '(i32.const 0)',
    tests: fixedBase,
  },
  {
    name: 'fixed base: the last digit is signed',
    file: 'src/curve/fixed-base.ts',
    find: 'place < digitCount - 1 ? multiples : 0',
    replace: 'multiples',
    tests: fixedBase,
  },
  {
    name: 'basis: no scale',
    file: 'codegen/rows.ts',
    find: 'k.loadPair(f, get(place)), scale)',
    replace: 'k.loadPair(f, get(place)), inForm)',
    tests: setup,
  },
  {
    name: 'basis: tasks begin where the first does',
    file: 'src/scalars/setup-scalars.ts',
    find: 'first = Fr.mul(first, leap);',
    replace: '',
    tests: setup,
  },
  {
    name: 'column sums: the second of two entries is left out',
    file: 'codegen/rows.ts',
    find: 'k.norm(f, field.add(f, sum, swapped))',
    replace: 'k.norm(f, field.add(f, sum, k.constant(f, 0n)))',
    tests: setup,
  },
  {
    name: 'column sums: odd columns are not filled up',
    file: 'src/scalars/setup-scalars.ts',
    find: 'length + (length % 2)',
    replace: 'length',
    tests: setup,
  },
  {
    name: 'sums of vectors: the last scalar of a task is left out',
    file: 'src/scalars/setup-scalars.ts',
    find: "['r_multiply', to, to, factors[index] ?? 0, count]",
    replace: "['r_multiply', to, to, factors[index] ?? 0, count - 1]",
    tests: setup,
  },
];
