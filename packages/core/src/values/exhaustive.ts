/**
 * Exhaustive destructuring: code that copies an object field by field does not compile after the object gets another
 * field, until the code handles that field.
 *
 * @module
 */

/**
 * Does not compile while `rest` has a field. Does nothing at run time.
 *
 * @example
 * const { amount, memo, ...rest } = recipient;
 * assertNoFieldLeft(rest); // an error as soon as recipients have a third field
 */
export function assertNoFieldLeft(_rest: Readonly<Record<string, never>>): void {
  // The type of the parameter is the check.
}
