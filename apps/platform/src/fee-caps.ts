/**
 * Upper bounds on what a transaction of the platform or of the gate may cost: `PLATFORM_RELAYER_MAX_FEE_GWEI` for each unit of gas,
 * `PLATFORM_RELAYER_MAX_COST_COIN` for all of its gas, and the same of the gate's publisher. One amount for every chain, or
 * one for each of those named.
 *
 * @module
 */

/** Wei by chain key. A chain without an entry has no cap. */
export type FeeCaps = ReadonlyMap<string, bigint>;

/** Units of the amounts, and their decimals. */
export const feeUnits = {
  gwei: { decimals: 9, name: 'gwei' },
  coin: { decimals: 18, name: "the chain's coin" },
} as const;

/**
 * @param entries - `50` caps every chain, `base=0.5` one of them
 * @param chainKeys - the configured chains
 * @returns the caps, or a message about invalid entries that repeats nothing of them
 */
export function parseFeeCaps(
  entries: readonly string[],
  chainKeys: readonly string[],
  unit: keyof typeof feeUnits,
): FeeCaps | string {
  const { decimals, name } = feeUnits[unit];
  const caps = new Map<string, bigint>();
  for (const entry of entries) {
    const separator = entry.indexOf('=');
    const named = separator < 0 ? chainKeys : [entry.slice(0, separator).trim()];
    const wei = parseWei(entry.slice(separator + 1).trim(), decimals);
    if (wei === undefined) {
      return `must hold amounts of ${name} above 0, of at most ${decimals} decimals`;
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

/** @returns wei; undefined for anything but an amount above 0 */
function parseWei(text: string, decimals: number): bigint | undefined {
  const [, whole, fraction = ''] = /^([0-9]{1,9})(?:\.([0-9]{1,18}))?$/.exec(text) ?? [];
  const wei =
    whole === undefined || fraction.length > decimals
      ? 0n
      : BigInt(whole + fraction.padEnd(decimals, '0'));
  return wei > 0n ? wei : undefined;
}
