/**
 * The code that a deployed contract has on chain, computed from the compiler's output: with its immutables and the addresses of
 * its libraries in place.
 *
 * @module
 */
import { getAddress } from 'ethers';
import type { ContractArtifact } from '../artifact.ts';

export type RuntimeValues = {
  /** 32 bytes each as `0x` hex, by the name in the source. */
  readonly immutables?: Readonly<Record<string, string>>;
  /** Addresses by name. A library holds its own. */
  readonly libraries?: Readonly<Record<string, string>>;
};

/** The runtime code, `0x` hex in lower case. A value that is not given stays zero, so the code equals no deployed one. */
export function renderRuntimeCode(
  { bytecode, runtime }: Pick<ContractArtifact, 'bytecode' | 'runtime'>,
  { immutables = {}, libraries = {} }: RuntimeValues = {},
): string {
  const from = 2 + 2 * runtime.start;
  const code = [...bytecode.slice(from, from + 2 * runtime.length)];
  const put = (start: number, value: string): void => {
    for (const [index, digit] of [...value.slice(2)].entries()) code[2 * start + index] = digit;
  };
  for (const [name, places] of Object.entries(runtime.immutables)) {
    const value = immutables[name];
    if (value !== undefined) for (const start of places) put(start, value);
  }
  for (const { library, start } of runtime.links) {
    const address = libraries[library];
    if (address !== undefined) put(start, getAddress(address).toLowerCase());
  }
  return `0x${code.join('')}`;
}

/** The address that a contract's code holds in an immutable. */
export function readImmutableAddress(
  { runtime }: Pick<ContractArtifact, 'runtime'>,
  code: string,
  name: string,
): string {
  const [start = 0] = runtime.immutables[name] ?? [];
  return readAddress(code, start + 12);
}

/** The address of a library that a contract's code calls. */
export function readLibraryAddress(
  { runtime }: Pick<ContractArtifact, 'runtime'>,
  code: string,
  name: string,
): string {
  const link = runtime.links.find(({ library }) => library === name);
  return readAddress(code, link?.start ?? 0);
}

/** Zeros where the code is too short: the code is compared afterwards. */
function readAddress(code: string, start: number): string {
  const from = 2 + 2 * start;
  return getAddress(`0x${code.slice(from, from + 40).padEnd(40, '0')}`);
}
