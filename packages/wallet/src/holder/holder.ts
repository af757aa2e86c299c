import type { EvmChainSettings } from '@pool/core';

export type { Holder, HolderKey } from '@pool/signers/holder-signer';

/** A chain with a pool, by the agent's own settings. */
export type HolderChain = { readonly key: string; readonly settings: EvmChainSettings };
