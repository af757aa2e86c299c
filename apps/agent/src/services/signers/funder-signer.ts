/**
 * The funder's signer as the configuration names it: a key of this process, an enclave, or a wallet at a custodian.
 *
 * @module
 */
import type { ChainsFile } from '@pool/core';
import type { Finding } from '@pool/operations';
import { createLocalKeySigner, type Signer, type SignerAllow } from '@pool/signers';
import type { Config } from '../../config/config.ts';

export type FunderConfig = Pick<
  Config,
  'chain' | 'funderPrivateKey' | 'isProduction' | 'remoteFunder'
>;

/** What a funder signs, and for which pools: those of the agent's own chains.json. */
function createAllow({ chains }: ChainsFile): SignerAllow {
  return {
    kinds: ['fund-authorization', 'void', 'permit', 'token-approval'],
    pools: Object.values(chains).map(({ chainId, pool, tokens }) => ({
      chainId,
      pool,
      tokens: Object.values(tokens).map(({ address }) => address),
    })),
  };
}

/**
 * Calls nobody. Undefined: no funder signer is configured.
 * @throws PoolError `invalid_configuration`
 */
export function createFunderSigner(
  config: FunderConfig,
  chainsFile: ChainsFile,
): Signer | undefined {
  const { remoteFunder, funderPrivateKey, isProduction } = config;
  const allow = createAllow(chainsFile);
  if (remoteFunder !== undefined) {
    const assetChainId = findAssetChain(config.chain, chainsFile);
    return remoteFunder.open({ allow, assetChainId, isProduction });
  }
  return funderPrivateKey === undefined
    ? undefined
    : createLocalKeySigner({ privateKey: funderPrivateKey, allow });
}

/** The chain of the custodian's asset: DISBURSE_CHAIN, or the only chain. Undefined: the signer refuses token approvals. */
function findAssetChain(chain: string | undefined, { chains }: ChainsFile): number | undefined {
  const all = Object.entries(chains);
  const found = chain === undefined && all.length === 1 ? all[0]?.[1] : chains[chain ?? ''];
  return found?.chainId;
}

/**
 * Is the signer there? It is asked for its address or public key, never for a signature. An enclave gets a new connection each time, so
 * that an answer is not an old one. The signer is kept between the questions, because its account proves its key only once.
 * @param readChains - called when the signer is asked first
 */
export function createFunderProbe(
  config: FunderConfig,
  readChains: () => ChainsFile,
): (signal?: AbortSignal) => Promise<Finding> {
  let kept: Signer | undefined;
  return async (signal) => {
    kept ??= createFunderSigner(config, readChains());
    const signer = kept;
    if (signer === undefined) {
      return describe(
        false,
        'none',
        'no funder signer is configured: requests get invalid-chain for every chain',
      );
    }
    if (config.remoteFunder === undefined) {
      return describe(true, signer.name, 'the funder signs with a key of this process');
    }
    try {
      await signer.probe?.(signal === undefined ? {} : { signal });
    } finally {
      signer.close?.();
    }
    return describe(true, signer.name, config.remoteFunder.role.answers);
  };
}

function describe(ok: boolean, kind: string, message: string): Finding {
  return { ok, detail: { kind, message } };
}
