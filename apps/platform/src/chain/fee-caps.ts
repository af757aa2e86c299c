/**
 * `PLATFORM_RELAYER_MAX_FEE_GWEI`: what a transaction of the relayer may cost at most for each unit of gas, one
 * amount for every chain or one for each of those named.
 *
 * @module
 */

/** Wei for each unit of gas, by chain key. A chain that is not there has no cap. */
export type FeeCaps = ReadonlyMap<string, bigint>;

/**
 * @param entries - `50` caps every chain, `base=0.5` one of them; gwei, at most 9 decimals
 * @param chainKeys - the chains there are
 * @returns a text saying what is wrong, which repeats nothing of the entries, when they mean nothing
 */
export function parseFeeCaps(
  entries: readonly string[],
  chainKeys: readonly string[],
): FeeCaps | string {
  const caps = new Map<string, bigint>();
  for (const entry of entries) {
    const separator = entry.indexOf('=');
    const named = separator < 0 ? chainKeys : [entry.slice(0, separator).trim()];
    const wei = parseGwei(entry.slice(separator + 1).trim());
    if (wei === undefined) {
      return 'must hold amounts of gwei above 0, of at most 9 decimals';
    }
    if (!named.every((key) => chainKeys.includes(key))) {
      return 'names a chain that is not in PLATFORM_CHAINS_FILE';
    }
    if (named.some((key) => caps.has(key))) {
      return 'caps a chain twice';
    }
    for (const key of named) {
      caps.set(key, wei);
    }
  }
  return caps;
}

/** @returns wei; undefined for what is no amount above 0 */
function parseGwei(text: string): bigint | undefined {
  const [, whole, fraction = ''] = /^([0-9]{1,9})(?:\.([0-9]{1,9}))?$/.exec(text) ?? [];
  const wei = whole === undefined ? 0n : BigInt(whole + fraction.padEnd(9, '0'));
  return wei > 0n ? wei : undefined;
}
