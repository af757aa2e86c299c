/**
 * What a production deployment creates, and where: known completely before anything is sent, because an address follows from the
 * deployer and its nonce, and the code from the pinned keys.
 *
 * @module
 */
import { type CircuitName, circuitNames, PoolError, parseEvmAddress } from '@pool/core';
import { AbiCoder, concat, getCreateAddress, Interface, keccak256, toUtf8Bytes } from 'ethers';
import { type ContractArtifact, linkBytecode } from '../artifact.ts';
import { developmentChains } from '../code/compare-pool.ts';
import {
  listCircuitVerifiers,
  renderNoteTreeCode,
  renderPoolCode,
  renderRegistryCode,
  renderVerifierCode,
  verifierPlaces,
} from '../code/contract-code.ts';
import { hasNoContribution, isOfDevelopmentSetup } from '../code/key-words.ts';
import type { CircuitKeys } from '../code/pinned-keys.ts';
import { eligibilityRegistryArtifact } from '../generated/eligibility-registry.ts';
import { keyVerifierArtifact } from '../generated/key-verifier.ts';
import { noteTreeArtifact } from '../generated/note-tree.ts';
import { shieldedPoolArtifact } from '../generated/shielded-pool.ts';

/** Everything that decides what is deployed. Public. */
export type DeploymentTerms = {
  readonly chainId: number;
  readonly deployer: string;
  /** The deployer's nonce of the first creation. */
  readonly firstNonce: number;
  readonly admin: string;
  readonly guardian: string;
  readonly relayer: string;
  readonly gate: string;
  readonly graceSeconds: number;
  /** keccak256 over all verification keys. */
  readonly keysDigest: string;
};

export type PlannedContract = {
  readonly name: string;
  readonly address: string;
  readonly nonce: number;
  /** Creation bytecode with its arguments. */
  readonly initCode: string;
  readonly constructorArguments: string;
  /** The runtime code that the chain must have then. */
  readonly runtimeCode: string;
  /** File and name, for source verification. */
  readonly source: string;
};

/**
 * The keys of all five circuits, which a pool needs.
 * @throws PoolError `invalid_deployment`, `development_key_on_public_chain`, `no_contribution`
 */
export function requireAllKeys(
  keys: CircuitKeys,
  chainId: number,
): Readonly<Record<CircuitName, readonly string[]>> {
  const entries = circuitNames.map((circuit) => {
    const words = keys[circuit];
    if (words === undefined) {
      throw new PoolError(
        'invalid_deployment',
        `The manifest pins no verification key of ${circuit}, or the folder lacks ${circuit}/verification-key.json. A pool needs the keys of all five circuits: fetch them with \`pool-circuits fetch\`.`,
      );
    }
    if (!developmentChains.includes(chainId)) {
      if (isOfDevelopmentSetup(words)) {
        throw new PoolError(
          'development_key_on_public_chain',
          `The key of ${circuit} comes from the INSECURE development setup, whose secrets are public. It is deployed on chain 31337 or 1337 only. Use the keys of a ceremony.`,
        );
      }
      if (hasNoContribution(words)) {
        throw new PoolError(
          'no_contribution',
          `Nobody contributed to the key of ${circuit}: anyone can forge proofs under it. Use the keys of a finished ceremony.`,
        );
      }
    }
    return [circuit, words] as const;
  });
  return Object.fromEntries(entries) as Record<CircuitName, readonly string[]>;
}

export function digestKeys(keys: CircuitKeys): string {
  return keccak256(toUtf8Bytes(JSON.stringify(circuitNames.map((circuit) => keys[circuit]))));
}

/** Where a deployer's contracts will be: in the order in which they are created. */
export function locatePool(deployer: string, firstNonce: number) {
  const addressAt = (offset: number): string =>
    getCreateAddress({ from: deployer, nonce: firstNonce + offset });
  const addresses = verifierPlaces.map((_, index) => addressAt(2 + index));
  const [registry, noteTree, pool] = [addressAt(0), addressAt(1), addressAt(2 + addresses.length)];
  return { registry, noteTree, addresses, pool, addressAt };
}

/** In the order in which they are created: the pool last, because its constructor requires the others. */
export function planDeployment(
  terms: DeploymentTerms,
  keys: Readonly<Record<CircuitName, readonly string[]>>,
): readonly PlannedContract[] {
  const { deployer, firstNonce, admin, guardian, relayer, gate, graceSeconds, chainId } = terms;
  const { registry, noteTree, addresses, pool, addressAt } = locatePool(deployer, firstNonce);
  const verifiers = Object.fromEntries(
    verifierPlaces.map(({ circuit }, index) => [circuit, addresses[index]]),
  ) as Record<CircuitName, string>;
  const place = { chainId, pool: parseEvmAddress(pool) };
  const parts: Omit<PlannedContract, 'address' | 'nonce'>[] = [
    {
      name: 'registry',
      source: 'solidity/EligibilityRegistry.sol:EligibilityRegistry',
      runtimeCode: renderRegistryCode(BigInt(graceSeconds)),
      ...makeInitCode(eligibilityRegistryArtifact, [admin, gate, graceSeconds]),
    },
    {
      name: 'noteTree',
      source: 'solidity/lib/NoteTree.sol:NoteTree',
      runtimeCode: renderNoteTreeCode(noteTree),
      ...makeInitCode(noteTreeArtifact, []),
    },
    ...verifierPlaces.map(({ circuit, name }) => ({
      name,
      source: 'solidity/KeyVerifier.sol:KeyVerifier',
      runtimeCode: renderVerifierCode(keys[circuit]),
      ...makeInitCode(keyVerifierArtifact, [keys[circuit]]),
    })),
    {
      name: 'pool',
      source: 'solidity/ShieldedPool.sol:ShieldedPool',
      runtimeCode: renderPoolCode(place, { registry, noteTree, verifiers }),
      ...makeInitCode(
        shieldedPoolArtifact,
        [admin, guardian, relayer, registry, listCircuitVerifiers(addresses)],
        noteTree,
      ),
    },
  ];
  return parts.map((part, offset) => ({
    ...part,
    address: addressAt(offset),
    nonce: firstNonce + offset,
  }));
}

export function makeInitCode(
  artifact: ContractArtifact,
  values: readonly unknown[],
  noteTree?: string,
): Pick<PlannedContract, 'initCode' | 'constructorArguments'> {
  const { inputs } = new Interface(artifact.abi).deploy;
  const constructorArguments = AbiCoder.defaultAbiCoder().encode(inputs, values);
  const libraries = noteTree === undefined ? {} : { NoteTree: noteTree };
  return {
    constructorArguments,
    initCode: concat([linkBytecode(artifact, libraries), constructorArguments]),
  };
}
