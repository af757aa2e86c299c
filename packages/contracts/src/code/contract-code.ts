/**
 * The runtime code of each contract of a pool, rendered from what it must hold.
 *
 * @module
 */
import type { EvmChainSettings } from '@pool/core';
import { AbiCoder, encodeBytes32String, id, keccak256, toBeHex, zeroPadValue } from 'ethers';
import type { ContractArtifact } from '../artifact.ts';
import { developmentKeyWords } from '../generated/development-keys.ts';
import { eligibilityRegistryArtifact } from '../generated/eligibility-registry.ts';
import { fund16VerifierArtifact } from '../generated/fund-16-verifier.ts';
import { fund64VerifierArtifact } from '../generated/fund-64-verifier.ts';
import { fund256VerifierArtifact } from '../generated/fund-256-verifier.ts';
import { keyVerifierArtifact } from '../generated/key-verifier.ts';
import { noteTreeArtifact } from '../generated/note-tree.ts';
import { shieldedPoolArtifact } from '../generated/shielded-pool.ts';
import { spend2x4VerifierArtifact } from '../generated/spend-2x4-verifier.ts';
import { spend16x8VerifierArtifact } from '../generated/spend-16x8-verifier.ts';
import { renderRuntimeCode } from './runtime-code.ts';

/** The verifiers of a pool: the circuit of each, the pool's immutable that names it, and its form with the development key. */
export const verifierPlaces = [
  { circuit: 'fund-16', immutable: 'fund16Verifier', development: fund16VerifierArtifact },
  { circuit: 'fund-64', immutable: 'fund64Verifier', development: fund64VerifierArtifact },
  { circuit: 'fund-256', immutable: 'fund256Verifier', development: fund256VerifierArtifact },
  { circuit: 'spend-2x4', immutable: 'spend2x4Verifier', development: spend2x4VerifierArtifact },
  { circuit: 'spend-16x8', immutable: 'spend16x8Verifier', development: spend16x8VerifierArtifact },
] as const satisfies readonly {
  readonly circuit: string;
  readonly immutable: string;
  readonly development: ContractArtifact;
}[];

export type VerifiedCircuit = (typeof verifierPlaces)[number]['circuit'];

export const verifiedCircuits: readonly VerifiedCircuit[] = verifierPlaces.map(
  ({ circuit }) => circuit,
);

/** What a pool's code holds, beside its chain and its own address. */
export type PoolParts = {
  readonly registry: string;
  readonly noteTree: string;
  readonly verifiers: Readonly<Record<VerifiedCircuit, string>>;
};

const domainType = id(
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
);

export function renderPoolCode(
  { chainId, pool }: Pick<EvmChainSettings, 'chainId' | 'pool'>,
  { registry, noteTree, verifiers }: PoolParts,
): string {
  const [hashedName, hashedVersion] = [id('ShieldedPool'), id('1')];
  const domain = AbiCoder.defaultAbiCoder().encode(
    ['bytes32', 'bytes32', 'bytes32', 'uint256', 'address'],
    [domainType, hashedName, hashedVersion, chainId, pool],
  );
  const wired = verifierPlaces.map(({ circuit, immutable }) => [
    immutable,
    toWord(verifiers[circuit]),
  ]);
  return renderRuntimeCode(shieldedPoolArtifact, {
    immutables: {
      ...(Object.fromEntries(wired) as Record<string, string>),
      eligibilityRegistry: toWord(registry),
      _cachedDomainSeparator: keccak256(domain),
      _cachedChainId: toBeHex(chainId, 32),
      _cachedThis: toWord(pool),
      _hashedName: hashedName,
      _hashedVersion: hashedVersion,
      _name: toShortString('ShieldedPool'),
      _version: toShortString('1'),
    },
    libraries: { NoteTree: noteTree },
  });
}

export function renderRegistryCode(graceSeconds: bigint): string {
  return renderRuntimeCode(eligibilityRegistryArtifact, {
    immutables: { gracePeriodSeconds: toBeHex(graceSeconds, 32) },
  });
}

export function renderNoteTreeCode(noteTree: string): string {
  return renderRuntimeCode(noteTreeArtifact, { libraries: { NoteTree: noteTree } });
}

/** The verifier that `pool-contracts deploy` makes for a key. @param words - of `parseKeyWords` */
export function renderVerifierCode(words: readonly string[]): string {
  const names = Object.keys(keyVerifierArtifact.runtime.immutables);
  const values = names.map((name, index): [string, string] => [name, words[index] ?? '0x']);
  return renderRuntimeCode(keyVerifierArtifact, { immutables: Object.fromEntries(values) });
}

/** Every code that a circuit's verifier may have: a development key has a contract of its own beside that of any key. */
export function listVerifierCodes(circuit: VerifiedCircuit, words: readonly string[]): string[] {
  const place = verifierPlaces.find((one) => one.circuit === circuit);
  const isDevelopment = developmentKeyWords[circuit].every((word, index) => word === words[index]);
  return [
    renderVerifierCode(words),
    ...(place !== undefined && isDevelopment ? [renderRuntimeCode(place.development)] : []),
  ];
}

function toWord(address: string): string {
  return zeroPadValue(address, 32).toLowerCase();
}

/** OpenZeppelin's `ShortString`: the bytes, and their number in the last one. */
function toShortString(text: string): string {
  return `${encodeBytes32String(text).slice(0, 64)}${toBeHex(text.length, 1).slice(2)}`;
}
