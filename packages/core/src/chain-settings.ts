/**
 * The agent's own trust root: which chains, pools, tokens and RPCs it believes in (`chains.json`). A
 * platform may repeat these; a difference makes the chain `invalid-chain`, it never overrides.
 *
 * @module
 */
import * as v from 'valibot';
import {
  chainKeySchema,
  configuredAddressSchema,
  evmAddressSchema,
  tokenSymbolSchema,
  urlSchema,
} from './schema.ts';

/** When a block counts as final: the chain's own `finalized` tag, or a fixed depth under the head. */
export const finalityRuleSchema = v.variant('kind', [
  v.strictObject({ kind: v.literal('finalized-tag') }),
  v.strictObject({
    kind: v.literal('depth'),
    blocks: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10_000)),
  }),
]);
export type FinalityRule = v.InferOutput<typeof finalityRuleSchema>;

export const tokenSettingsSchema = v.strictObject({
  address: configuredAddressSchema,
  decimals: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(36)),
  /** EIP-2612 domain version when the token has `permit`; absent: `approve` is used. */
  permitVersion: v.optional(v.pipe(v.string(), v.maxLength(8))),
  /** EIP-712 domain name of the token; required with `permitVersion`. */
  permitName: v.optional(v.pipe(v.string(), v.maxLength(64))),
  /** The token refuses to change a non-zero allowance: set it to zero first. */
  zeroFirst: v.optional(v.boolean()),
});
export type TokenSettings = v.InferOutput<typeof tokenSettingsSchema>;

export const evmChainSettingsSchema = v.strictObject({
  family: v.literal('evm'),
  chainId: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(2 ** 48)),
  rpcUrl: urlSchema,
  pool: configuredAddressSchema,
  registry: configuredAddressSchema,
  /** Block at which the pool was deployed: where event scans begin. */
  deployedAtBlock: v.pipe(v.number(), v.integer(), v.minValue(0)),
  finality: finalityRuleSchema,
  /** The most recipients that one call may have, for example 64; 256 where a key of fund-256 is at hand. */
  maxRecipients: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(256)),
  tokens: v.record(tokenSymbolSchema, tokenSettingsSchema),
});
export type EvmChainSettings = v.InferOutput<typeof evmChainSettingsSchema>;

/**
 * A chain that is named without a pool, by its family alone: recognised, and nothing is paid there. Any
 * family may be named, so that one file serves agents of several releases.
 */
const poollessChainSchema = v.strictObject({
  family: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,31}$/)),
});

/** Chosen by what stands there, so that a mistake in full settings is told as one, field by field. */
const chainSchema = v.lazy((value) =>
  isPoolless(value) ? poollessChainSchema : evmChainSettingsSchema,
);

function isPoolless(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('family' in value)) {
    return false;
  }
  // No pool can be settled on these families here, so nothing but the family may stand there.
  const isOther = value.family === 'solana' || value.family === 'stellar';
  return isOther || Object.keys(value).length === 1;
}

const evidenceDomainSchema = v.strictObject({
  domain: v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
  uri: urlSchema,
});

/** `chains.json`, read: the platform whose sign-in texts count as evidence, and the chains. */
export type ChainsFile = {
  readonly evidence: v.InferOutput<typeof evidenceDomainSchema>;
  /** Chains with a pool. */
  readonly chains: Readonly<Record<string, EvmChainSettings>>;
  /** Family by key of the chains without one. Absent: none is named. */
  readonly poolless?: Readonly<Record<string, string>>;
};

/** In the file both kinds stand under `chains`; they are read apart, so that no payment meets the other kind. */
export const chainsFileSchema = v.pipe(
  v.strictObject({
    evidence: evidenceDomainSchema,
    chains: v.record(chainKeySchema, chainSchema),
  }),
  v.transform(({ evidence, chains }): ChainsFile => {
    const payable: Record<string, EvmChainSettings> = {};
    const poolless: Record<string, string> = {};
    for (const [key, settings] of Object.entries(chains)) {
      if ('pool' in settings) {
        payable[key] = settings;
      } else {
        poolless[key] = settings.family;
      }
    }
    return {
      evidence,
      chains: payable,
      ...(Object.keys(poolless).length === 0 ? {} : { poolless }),
    };
  }),
);

/**
 * The part of the chain settings a platform vends at bootstrap and the agent compares. Unknown fields are ignored, as in
 * all of bootstrap.
 */
export const vendedChainSchema = v.object({
  chainId: v.number(),
  pool: evmAddressSchema,
  registry: evmAddressSchema,
  tokens: v.record(tokenSymbolSchema, evmAddressSchema),
});
export type VendedChain = v.InferOutput<typeof vendedChainSchema>;
