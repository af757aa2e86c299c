/**
 * Amounts as people read them: in the unit that the policy names, and in base units, which are what is signed.
 *
 * @module
 */
import { type EvmAddress, formatTokenUnits } from '@pool/core';
import type { Policy, TokenRule } from './policy-schema.ts';

/** How a token is written. It is the operator's word, not the token's. */
export type TokenUnit = Pick<TokenRule, 'symbol' | 'decimals'>;

/** Undefined: the policy does not list the token, so only base units can be shown. */
export function findTokenUnit(
  policy: Policy | undefined,
  asset: { readonly chainId: number; readonly pool: EvmAddress; readonly token: EvmAddress },
): TokenUnit | undefined {
  return policy?.pools
    .filter(({ chainId, pool }) => chainId === asset.chainId && pool === asset.pool)
    .flatMap(({ tokens }) => tokens)
    .find(({ token }) => token === asset.token);
}

/** `100,000.00 USDC (100000000000)`, or `100000000000 base units` of a token without a unit. Exact. */
export function describeAmount(amount: bigint, unit: TokenUnit | undefined): string {
  if (unit === undefined) {
    return `${amount} base units`;
  }
  const [whole = '', fraction = ''] = formatTokenUnits(amount, unit.decimals).split('.');
  const cents = fraction.padEnd(Math.min(2, unit.decimals), '0');
  const grouped = whole.replace(/\B(?=(?:[0-9]{3})+$)/g, ',');
  return `${grouped}${cents === '' ? '' : `.${cents}`} ${unit.symbol} (${amount})`;
}
