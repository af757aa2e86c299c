import { type AssetId, computeAssetId, parseEvmAddress, type SpendManifest } from '@pool/core';

/** assetId of the manifest's chain, pool and token. @throws PoolError `invalid-address` */
export function computeManifestAssetId({ chainId, pool, token }: SpendManifest): AssetId {
  return computeAssetId(chainId, parseEvmAddress(pool), parseEvmAddress(token));
}
