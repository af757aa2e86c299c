/**
 * One pass of retention over a store.
 *
 * @module
 */

/** Items that are listed at once. */
const batchLimit = 100;

/**
 * Tries each item once. One that stays is listed again, before all that were not tried, and is skipped then.
 *
 * @param list - what is old enough, in the same order at each call
 * @param erase - false: the item stays, and the pass goes on
 * @returns how many were erased. @throws what `list` and `erase` throw; the pass has ended then
 */
export async function eraseEach<T>(
  list: (page: { readonly skip: number; readonly limit: number }) => Promise<readonly T[]>,
  erase: (item: T) => Promise<boolean>,
): Promise<number> {
  let erased = 0;
  let skip = 0;
  for (;;) {
    const expired = await list({ skip, limit: batchLimit });
    if (expired.length === 0) {
      return erased;
    }
    for (const item of expired) {
      const isErased = await erase(item);
      erased += Number(isErased);
      skip += Number(!isErased);
    }
  }
}
