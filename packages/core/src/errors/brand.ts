/**
 * Brands: types that no plain string or bigint has. Only the parser beside each brand gives it, so a function that takes
 * a branded value need not check it again, and `tsc` refuses an unchecked value.
 *
 * @module
 */

declare const brand: unique symbol;

/** The mark of a brand. It exists in the type only; at run time the value is a plain one. */
export interface Mark<Name extends string> {
  readonly [brand]: { readonly [N in Name]: true };
}

/** `Base`, marked as checked for `Name`. */
export type Brand<Base, Name extends string> = Base & Mark<Name>;
