/**
 * The runtime code of each contract of a pool, rendered from what it must hold.
 *
 * @module
 */
import { type CircuitName, circuitNames, circuitShapes, type EvmChainSettings } from '@pool/core';
import { AbiCoder, encodeBytes32String, id, keccak256, toBeHex, zeroPadValue } from 'ethers';
import { developmentKeyWords } from '../generated/development-keys.ts';
import { developmentVerifiers } from '../generated/development-verifiers.ts';
import { eligibilityRegistryArtifact } from '../generated/eligibility-registry.ts';
import { keyVerifierArtifact } from '../generated/key-verifier.ts';
import { noteTreeArtifact } from '../generated/note-tree.ts';
import { shieldedPoolArtifact } from '../generated/shielded-pool.ts';
import { renderRuntimeCode } from './runtime-code.ts';

/** `fund-16` → `fund16Verifier`: the name of a circuit's verifier in a deployment. */
export type VerifierName<Circuit extends CircuitName = CircuitName> =
  Circuit extends `${infer Kind}-${infer Size}` ? `${Kind}${Size}Verifier` : never;

/** Places of each kind in the pool's code, and what a free one holds: PLACES and FREE of ShieldedPool.sol. */
const placesOfKind = 4;
const freePlace = `0x${'ff'.repeat(32)}`;

/**
 * The verifiers of a pool, in the order in which its constructor takes them: the circuit of each, its name in a deployment, and
 * the pool's immutables that hold its lengths and its address.
 */
export const verifierPlaces = (['fund', 'spend'] as const).flatMap((kind) =>
  circuitNames
    .filter((circuit) => circuit.startsWith(kind))
    .map((circuit, place) => ({
      circuit,
      name: `${circuit.replace('-', '')}Verifier` as VerifierName,
      key: `_${kind}Key${place}`,
      immutable: `_${kind}Verifier${place}`,
    })),
);

/** The argument of the pool's constructor. @param addresses - in the order of {@link verifierPlaces} */
export function listCircuitVerifiers(addresses: readonly string[]) {
  return verifierPlaces.map(({ circuit }, index) => ({
    ...circuitShapes[circuit],
    verifier: addresses[index],
  }));
}

function listPlaces(verifiers: Readonly<Record<CircuitName, string>>): Record<string, string> {
  const free = ['fund', 'spend'].flatMap((kind) =>
    Array.from({ length: placesOfKind }, (_, place) => [
      [`_${kind}Key${place}`, freePlace],
      [`_${kind}Verifier${place}`, toBeHex(0, 32)],
    ]),
  );
  const taken = verifierPlaces.flatMap(({ circuit, key, immutable }) => {
    const { inputs, outputs } = circuitShapes[circuit];
    return [
      [key, toBeHex((BigInt(inputs) << 128n) | BigInt(outputs), 32)],
      [immutable, toWord(verifiers[circuit])],
    ];
  });
  return Object.fromEntries([...free.flat(), ...taken]) as Record<string, string>;
}

/** What a pool's code holds, beside its chain and its own address. */
export type PoolParts = {
  readonly registry: string;
  readonly noteTree: string;
  readonly verifiers: Readonly<Record<CircuitName, string>>;
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
  return renderRuntimeCode(shieldedPoolArtifact, {
    immutables: {
      ...listPlaces(verifiers),
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
export function listVerifierCodes(circuit: CircuitName, words: readonly string[]): string[] {
  const isDevelopment = developmentKeyWords[circuit].every((word, index) => word === words[index]);
  return [
    renderVerifierCode(words),
    ...(isDevelopment ? [renderRuntimeCode(developmentVerifiers[circuit])] : []),
  ];
}

function toWord(address: string): string {
  return zeroPadValue(address, 32).toLowerCase();
}

/** OpenZeppelin's `ShortString`: the bytes, and their number in the last one. */
function toShortString(text: string): string {
  return `${encodeBytes32String(text).slice(0, 64)}${toBeHex(text.length, 1).slice(2)}`;
}
