/**
 * The funder's signer as the configuration names it: a key of this process, an enclave, or a wallet at a custodian.
 *
 * @module
 */
import type { ChainsFile } from '@pool/core';
import {
  type Approver,
  areDevelopmentPcrs,
  createApproverClient,
  createCustodianASigner,
  createCustodianBSigner,
  createEnclaveSigner,
  createLocalKeySigner,
  type EnclaveSigner,
  type Signer,
  type SignerAllow,
} from '@pool/signers';
import type { Config } from '../../config/config.ts';
import type {
  ApproveConnection,
  CustodianAConnection,
  EnclaveConnection,
  RemoteFunder,
} from '../../config/custody-config.ts';
import type { Finding } from '../peers/readiness.ts';

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
  const { remoteFunder, funderPrivateKey } = config;
  const allow = createAllow(chainsFile);
  if (remoteFunder !== undefined) {
    return createRemoteFunder(remoteFunder, allow, config, chainsFile);
  }
  return funderPrivateKey === undefined
    ? undefined
    : createLocalKeySigner({ privateKey: funderPrivateKey, allow });
}

function createRemoteFunder(
  funder: RemoteFunder,
  allow: SignerAllow,
  config: FunderConfig,
  chainsFile: ChainsFile,
): Signer {
  switch (funder.kind) {
    case 'enclave': {
      const { enclave, address } = funder;
      return createEnclaveSigner({ ...describeEnclave(enclave, config.isProduction), address });
    }
    case 'custodian_a': {
      const { account, approve, walletId, address } = funder;
      const approver = createApprover(approve);
      return createCustodianASigner({
        ...describeAccount(account),
        ...{ walletId, address, allow, approver },
      });
    }
    case 'custodian_b': {
      const { kind: _kind, approve, ...vault } = funder;
      const assetChainId = findAssetChain(config.chain, chainsFile);
      return createCustodianBSigner({
        ...vault,
        ...(assetChainId === undefined ? {} : { assetChainId }),
        allow,
        approver: createApprover(approve),
      });
    }
  }
}

/** The chain of the custodian's asset: DISBURSE_CHAIN, or the only chain. Undefined: the signer refuses token approvals. */
function findAssetChain(chain: string | undefined, { chains }: ChainsFile): number | undefined {
  const all = Object.entries(chains);
  const found = chain === undefined && all.length === 1 ? all[0]?.[1] : chains[chain ?? ''];
  return found?.chainId;
}

/** The options of an account at custodian A, for funder and holder. */
export function describeAccount({ origin, ...account }: CustodianAConnection) {
  return origin === undefined ? account : { ...account, origin };
}

function isClosable(signer: Signer): signer is EnclaveSigner {
  return 'close' in signer;
}

/**
 * The options of an enclave, for funder and holder. A development root is accepted if it is the pinned one, the PCRs of a development
 * enclave are pinned, and this is not production. The agent warns of such pins at start.
 */
export function describeEnclave(
  { socketPath, rootSha256, pcrs, deterministic }: EnclaveConnection,
  isProduction: boolean,
) {
  const allowInsecureDevelopmentRoot = !isProduction && areDevelopmentPcrs(pcrs);
  return { socketPath, pins: { rootSha256, pcrs, allowInsecureDevelopmentRoot }, deterministic };
}

function closeSigner(signer: Signer): void {
  if (isClosable(signer)) {
    signer.close();
  }
}

export function createApprover({ url, token }: ApproveConnection): Approver {
  return createApproverClient({ url, token });
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
      closeSigner(signer);
    }
    return describe(true, signer.name, describeReachable(config.remoteFunder));
  };
}

function describeReachable({ kind }: RemoteFunder): string {
  return kind === 'enclave'
    ? 'the enclave answers, and its attestation is that of the configuration'
    : 'the custodian answers, and the wallet has the configured address; whether a vote is given shows at the first payment';
}

function describe(ok: boolean, kind: string, message: string): Finding {
  return { ok, detail: { kind, message } };
}
