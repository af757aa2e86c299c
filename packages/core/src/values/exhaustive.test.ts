// `tsc` is what checks this file (`pnpm check types`): each `expectTypeOf` is a type error when it does not hold.
import { expect, expectTypeOf, it } from 'vitest';
import { assertNoFieldLeft } from './exhaustive.ts';

type Example = { readonly amount: string; readonly memo?: string };
type Accepted = Parameters<typeof assertNoFieldLeft>[0];

const example: Example = { amount: '1' };

it('compiles when every field is named', () => {
  const { amount, memo, ...rest } = example;
  assertNoFieldLeft(rest);
  expectTypeOf(rest).toExtend<Accepted>();
  expect([amount, memo]).toEqual(['1', undefined]);
});

it('does not compile when a field is forgotten, optional ones included', () => {
  const { amount, ...withoutAmount } = example;
  const { memo, ...withoutMemo } = example;
  expectTypeOf(withoutAmount).not.toExtend<Accepted>();
  expectTypeOf(withoutMemo).not.toExtend<Accepted>();
  expect([amount, memo]).toEqual(['1', undefined]);
});
