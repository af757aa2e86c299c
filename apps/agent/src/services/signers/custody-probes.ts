/**
 * The signers of this configuration, and who must answer before anything can be signed (docs/decisions/0015).
 *
 * @module
 */

import { type ChainsFile, computeWalletAddress } from '@pool/core';
import {
  type CustodyProbe,
  createCustodyProbe,
  createFinding,
  type Finding,
  type Probe,
} from '@pool/operations';
import {
  type ApproverWallet,
  createApproverClient,
  createHolderSigner,
  createLocalKeySigner,
  type HolderSigner,
  type OwnersDesk,
  type RemoteHolder,
  type Signer,
  type SignerAllow,
} from '@pool/signers';
import type { Config } from '../../config/config.ts';
import { probeContractWallet } from './contract-wallet-probe.ts';

// The funder's signer as the configuration names it: a key of this process, an enclave, or a wallet at a custodian.

type FunderConfig = Pick<Config, 'chain' | 'funderPrivateKey' | 'isProduction' | 'remoteFunder'>;

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
 * @param owners - where requests wait for the owners of a contract wallet. Absent: no signature is asked for
 * @throws PoolError `invalid_configuration`
 */
export function createFunderSigner(
  config: FunderConfig,
  chainsFile: ChainsFile,
  owners?: OwnersDesk,
): Signer | undefined {
  const { remoteFunder, funderPrivateKey, isProduction } = config;
  const allow = createAllow(chainsFile);
  if (remoteFunder !== undefined) {
    const assetChainId = findAssetChain(config.chain, chainsFile);
    return remoteFunder.open({ allow, assetChainId, isProduction, owners });
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
      return createFinding(
        false,
        'none',
        'no funder signer is configured: requests get invalid-chain for every chain',
      );
    }
    if (config.remoteFunder === undefined) {
      return createFinding(true, signer.name, 'the funder signs with a key of this process');
    }
    if (config.remoteFunder.kind === 'contract_wallet') {
      return await probeContractWallet(config.remoteFunder.address, readChains());
    }
    try {
      await signer.probe?.(signal === undefined ? {} : { signal });
    } finally {
      signer.close?.();
    }
    return createFinding(true, signer.name, config.remoteFunder.role.answers);
  };
}

type CustodyConfig = FunderConfig & Pick<Config, 'holder' | 'funderEd25519Key'>;

/** No funder signer is configured, and a key of a holder's role is: nobody asks this agent to pay a batch (docs/decisions/0010). */
export function isHolderOnly({
  funderPrivateKey,
  funderEd25519Key,
  remoteFunder,
  holder: { balanceToken, transferToken, sendToken },
}: CustodyConfig): boolean {
  return (
    [funderPrivateKey, funderEd25519Key, remoteFunder].every((signer) => signer === undefined) &&
    [balanceToken, transferToken, sendToken].some((token) => token !== undefined)
  );
}

/**
 * Those outside this process. Each question uses a new connection, so that an answer is not an old one.
 * @param readChains - called when the funder's signer is asked first
 */
export function listCustodyProbes(
  config: CustodyConfig,
  readChains: () => ChainsFile,
): readonly CustodyProbe[] {
  const probes: CustodyProbe[] = [];
  const { remoteFunder, holder } = config;
  if (remoteFunder !== undefined) {
    probes.push({ part: 'signer', ask: createFunderProbe(config, readChains) });
  }
  if (holder.remote !== undefined) {
    probes.push({ part: 'holderSigner', ask: createHolderProbe(holder, holder.remote) });
  }
  const wallets = listVotedWallets(config);
  // One gate for both wallets: they read the same variables.
  const approve = remoteFunder?.approve ?? holder.remote?.approve;
  if (approve !== undefined) {
    probes.push({
      part: 'approve',
      async ask(signal) {
        await createApproverClient(approve).probe(wallets, signal);
        return createFinding(
          true,
          'reachable',
          'the approve process accepts the token, and lists the wallets',
        );
      },
    });
  }
  return probes;
}

function listVotedWallets({ remoteFunder, holder: { remote } }: CustodyConfig): ApproverWallet[] {
  const wallets: ApproverWallet[] = [];
  if (remoteFunder?.approve !== undefined) {
    const { address, kind: custodian } = remoteFunder;
    wallets.push({ address, role: 'funder', custodian });
  }
  if (remote?.approve !== undefined) {
    const address = computeWalletAddress(remote.walletPub);
    wallets.push({ address, role: 'holder', custodian: remote.kind });
  }
  return wallets;
}

function createHolderProbe(holder: Config['holder'], { role }: RemoteHolder): CustodyProbe['ask'] {
  let kept: HolderSigner | undefined;
  return async (signal) => {
    kept ??= createHolderSigner(holder);
    try {
      await kept.probe?.({ signal });
    } finally {
      kept.close?.();
    }
    return createFinding(true, kept.name, role.answers);
  };
}

/** `signer` of readiness. */
export function createSignerProbe(
  config: CustodyConfig,
  chainsFile: ChainsFile,
  timeoutMs?: number,
): Probe {
  const remote = listCustodyProbes(config, () => chainsFile);
  const local: CustodyProbe = {
    part: 'signer',
    ask: isHolderOnly(config)
      ? async () =>
          createFinding(
            true,
            'holder',
            'this agent spends for its holder only, and has no funder signer',
          )
      : createFunderProbe(config, () => chainsFile),
  };
  return createCustodyProbe(
    config.remoteFunder === undefined ? [local, ...remote] : remote,
    timeoutMs,
  );
}
