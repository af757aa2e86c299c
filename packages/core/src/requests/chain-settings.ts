/**
 * The agent's own trust root: which chains, pools, tokens and RPCs it trusts (`chains.json`). A
 * platform may repeat these. A chain with a difference is refused as `invalid-chain`; the platform's value is never used.
 *
 * @module
 */
import * as v from 'valibot';
import { chainFamilies, findChainFamily } from '../chain-families/families.ts';
import { largestBatch } from '../values/circuit-sizes.ts';
import {
  chainKeySchema,
  configuredAddressSchema,
  described,
  evmAddressSchema,
  optional,
  tokenSymbolSchema,
  urlSchema,
} from './schema.ts';

/** When a block counts as final: the chain's own `finalized` tag, or a fixed depth under the head. */
export const finalityRuleSchema = v.variant('kind', [
  v.strictObject({
    kind: described(
      v.literal('finalized-tag'),
      'A block is final at or below the block that the RPC tags `finalized`.',
    ),
  }),
  v.strictObject({
    kind: described(v.literal('depth'), 'A block is final when `blocks` blocks follow it.'),
    blocks: described(
      v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10_000)),
      'How many blocks must follow a block before it counts as final.',
    ),
  }),
]);
export type FinalityRule = v.InferOutput<typeof finalityRuleSchema>;

export const tokenSettingsSchema = v.strictObject({
  address: described(configuredAddressSchema, 'EVM address of the token contract.'),
  decimals: described(
    v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(36)),
    'Decimal places between one token and its base unit, for display and `--decimal` only.',
  ),
  permitVersion: optional(
    v.pipe(v.string(), v.maxLength(8)),
    'EIP-712 domain version of a token with `permit` (EIP-2612). Absent: the agent uses `approve`.',
  ),
  permitName: optional(
    v.pipe(v.string(), v.maxLength(64)),
    'EIP-712 domain name of the token. Required with `permitVersion`.',
  ),
  zeroFirst: optional(
    v.boolean(),
    'True: the token refuses to change a non-zero allowance, so the agent sets it to zero first.',
  ),
});
export type TokenSettings = v.InferOutput<typeof tokenSettingsSchema>;

/** What only programs that ask a second node read of a chain's settings: the gate beside a custodian, and the payee's page. */
const approveSettingsSchema = v.strictObject({
  secondRpcUrl: optional(
    urlSchema,
    'JSON-RPC endpoint of a second node, run by somebody else. The gate and the payee’s page accept only what both answer. May contain an access key: a secret.',
  ),
  maxClockDifferenceSeconds: optional(
    v.pipe(v.number(), v.integer(), v.minValue(30), v.maxValue(3_600)),
    'How many seconds the clock of the gate may differ from the newest block. Default: 300. A chain that makes blocks less often needs more.',
  ),
});

export const evmChainSettingsSchema = v.strictObject({
  family: described(v.literal('evm'), 'Chain family; decides the format of addresses.'),
  chainId: described(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(2 ** 48)),
    'EIP-155 chain id. An RPC that answers another one is refused.',
  ),
  rpcUrl: described(
    urlSchema,
    'JSON-RPC endpoint that the agent reads the chain from. May contain an access key: a secret.',
  ),
  pool: described(configuredAddressSchema, 'EVM address of the ShieldedPool contract.'),
  registry: described(configuredAddressSchema, 'EVM address of the EligibilityRegistry contract.'),
  deployedAtBlock: described(
    v.pipe(v.number(), v.integer(), v.minValue(0)),
    'Number of the block in which the pool was deployed. Event scans begin there.',
  ),
  finality: described(
    finalityRuleSchema,
    'When a block counts as final: the RPC’s `finalized` tag, or a number of blocks on top.',
  ),
  maxRecipients: described(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(largestBatch)),
    `Most recipients of one call, for example 64. More than 64 needs a key of fund-${largestBatch}.`,
  ),
  tokens: described(
    v.record(tokenSymbolSchema, tokenSettingsSchema),
    'Tokens that can be paid on this chain, by symbol.',
  ),
  approve: optional(
    approveSettingsSchema,
    'Settings of the gate beside a custodian. Of the other programs, the payee’s page reads `secondRpcUrl`.',
  ),
});
export type EvmChainSettings = v.InferOutput<typeof evmChainSettingsSchema>;

/** Every node that a program asks which accepts only what all answer. One or two. */
export function listRpcUrls({ rpcUrl, approve }: EvmChainSettings): readonly string[] {
  return [rpcUrl, ...(approve?.secondRpcUrl === undefined ? [] : [approve.secondRpcUrl])];
}

/**
 * A chain without a pool, named by its family alone: its addresses are recognised, and nothing is paid there. Any
 * family may be named, so that one file serves agents of several releases.
 */
const addressOnlyChainSchema = v.strictObject({
  family: described(
    v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,31}$/)),
    'Chain family, for example `solana`; decides the format of addresses.',
  ),
});

/** The entry's content decides the schema, so that a mistake in full settings is reported for its own field. */
const chainSchema = v.lazy((value) =>
  isAddressOnlyChain(value) ? addressOnlyChainSchema : evmChainSettingsSchema,
);

function isAddressOnlyChain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('family' in value)) {
    return false;
  }
  // No pool can be settled on these families, so such an entry holds the family and nothing else.
  const family = typeof value.family === 'string' ? findChainFamily(value.family) : undefined;
  const isOther = family !== undefined && family !== chainFamilies.evm;
  return isOther || Object.keys(value).length === 1;
}

const evidenceDomainSchema = v.strictObject({
  domain: described(
    v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
    'Host, with its port if it has one, that sign-in texts of the platform must name (EIP-4361 `domain`).',
  ),
  uri: described(urlSchema, 'URL of the platform that sign-in texts must name (EIP-4361 `URI`).'),
});

/** `chains.json`, read: the platform whose sign-in texts count as evidence, and the chains. */
export type ChainsFile = {
  readonly evidence: v.InferOutput<typeof evidenceDomainSchema>;
  /** Chains with a pool. */
  readonly chains: Readonly<Record<string, EvmChainSettings>>;
  /** Family of each chain without a pool, by key. Absent: the file has none. */
  readonly addressOnlyChains?: Readonly<Record<string, string>>;
};

/** The file has both kinds under `chains`. They are separated on reading, so that no payment meets a chain without a pool. */
export const chainsFileSchema = v.pipe(
  v.strictObject({
    evidence: described(
      evidenceDomainSchema,
      'The platform whose sign-in texts bind an encryption key to a wallet.',
    ),
    chains: described(
      v.record(chainKeySchema, chainSchema),
      'The chains this agent knows, by key.',
    ),
  }),
  v.transform(({ evidence, chains }): ChainsFile => {
    const payable: Record<string, EvmChainSettings> = {};
    const addressOnlyChains: Record<string, string> = {};
    for (const [key, settings] of Object.entries(chains)) {
      if ('pool' in settings) {
        payable[key] = settings;
      } else {
        addressOnlyChains[key] = settings.family;
      }
    }
    return {
      evidence,
      chains: payable,
      ...(Object.keys(addressOnlyChains).length === 0 ? {} : { addressOnlyChains }),
    };
  }),
);

/**
 * The part of the chain settings a platform vends at bootstrap and the agent compares. Unknown fields are ignored, as in
 * all of bootstrap.
 */
export const vendedChainSchema = v.object({
  chainId: described(v.number(), 'EIP-155 chain id, for example 8453.'),
  pool: described(
    evmAddressSchema,
    'EVM address of the ShieldedPool contract, which holds the tokens.',
  ),
  registry: described(
    evmAddressSchema,
    'EVM address of the EligibilityRegistry contract, which holds the eligibility roots.',
  ),
  tokens: described(
    v.record(tokenSymbolSchema, evmAddressSchema),
    'EVM addresses of the token contracts, by symbol.',
  ),
});
export type VendedChain = v.InferOutput<typeof vendedChainSchema>;
