/**
 * Deployment of a whole pool: registry, tree library, one verifier per circuit, the pool itself.
 *
 * The addresses follow from deployer and nonce, so all contracts are sent at once and mined together.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { Signer } from 'ethers';
import { connectShieldedPool } from '../calls/shielded-pool.ts';
import { listCircuitVerifiers, type VerifierName, verifierPlaces } from '../code/contract-code.ts';
import { developmentVerifiers } from '../generated/development-verifiers.ts';
import { eligibilityRegistryArtifact } from '../generated/eligibility-registry.ts';
import { noteTreeArtifact } from '../generated/note-tree.ts';
import { shieldedPoolArtifact } from '../generated/shielded-pool.ts';
import { locatePool, makeInitCode } from './deployment-plan.ts';

export type DeployPoolOptions = {
  /** Pays for the deployment; needs a provider. Gets no role unless it is named below. */
  readonly signer: Signer;
  /** Grants roles, enables tokens, resumes funding. Default: the signer. */
  readonly admin?: string;
  /** May pause funding. */
  readonly guardian: string;
  /** May submit batches. */
  readonly relayer: string;
  /** May publish and revoke eligibility roots. */
  readonly gate: string;
  /** Seconds for which a replaced eligibility root stays accepted, 3,000 to 86,400. Default: 3600. */
  readonly eligibilityGraceSeconds?: number;
  /** Tokens to enable at once. Only when the signer is the administrator. */
  readonly tokens?: readonly string[];
};

export type PoolAddresses = {
  readonly pool: string;
  readonly registry: string;
  readonly noteTree: string;
  /** Block in which the pool was created: where an indexer starts. */
  readonly deploymentBlock: number;
} & Readonly<Record<VerifierName, string>>;

/**
 * Deploys a pool and returns its addresses once every contract is mined.
 *
 * Only on the development chains 31337 and 1337. The verifiers in this package hold keys of the development setup, whose
 * secrets are public, and their constructors refuse every other chain. There, nothing is sent.
 *
 * @example
 * const { pool, registry } = await deployPool({ signer, guardian, relayer, gate, tokens: [token] });
 *
 * @throws PoolError `deployment_failed`, `invalid_deployment`, `development_key_on_public_chain`
 */
export async function deployPool(options: DeployPoolOptions): Promise<PoolAddresses> {
  const { signer } = options;
  const deployer = await signer.getAddress();
  const admin = options.admin ?? deployer;
  const tokens = options.tokens ?? [];
  if (tokens.length > 0 && admin.toLowerCase() !== deployer.toLowerCase()) {
    throw new PoolError(
      'invalid_deployment',
      'Only the administrator enables tokens: deploy with its key, or enable them afterwards.',
    );
  }
  await assertDevelopmentChain(signer);
  const firstNonce = await signer.getNonce('pending');
  const { registry, noteTree, addresses, pool } = locatePool(deployer, firstNonce);
  const roles = [admin, options.guardian, options.relayer, registry];
  const codes = [
    makeInitCode(eligibilityRegistryArtifact, [
      admin,
      options.gate,
      options.eligibilityGraceSeconds ?? 3600,
    ]),
    makeInitCode(noteTreeArtifact, []),
    ...verifierPlaces.map(({ circuit }) => makeInitCode(developmentVerifiers[circuit], [])),
    makeInitCode(shieldedPoolArtifact, [...roles, listCircuitVerifiers(addresses)], noteTree),
  ];
  const sent = [];
  for (const [offset, { initCode }] of codes.entries()) {
    sent.push(await signer.sendTransaction({ data: initCode, nonce: firstNonce + offset }));
  }
  const receipts = await Promise.all(sent.map((transaction) => transaction.wait()));
  const poolReceipt = receipts.at(-1);
  if (poolReceipt === null || poolReceipt === undefined) {
    throw new PoolError('deployment_failed', 'The pool was sent but not mined.');
  }
  const contract = connectShieldedPool(pool, signer);
  for (const token of tokens) await (await contract.enableToken(token)).wait();
  return {
    pool,
    registry,
    noteTree,
    ...(Object.fromEntries(
      verifierPlaces.map(({ name }, index) => [name, addresses[index]]),
    ) as Record<VerifierName, string>),
    deploymentBlock: poolReceipt.blockNumber,
  };
}

/** The verifiers' constructors check the same. This check saves the gas of the earlier contracts. */
async function assertDevelopmentChain(signer: Signer): Promise<void> {
  const chainId = (await signer.provider?.getNetwork())?.chainId;
  if (chainId !== undefined && chainId !== 31337n && chainId !== 1337n) {
    throw new PoolError(
      'development_key_on_public_chain',
      `Chain ${chainId} is not a development chain. The verifiers of this package hold development keys, so they can only be deployed on chain 31337 or 1337.`,
    );
  }
}
