/**
 * The compiler's output for one contract, and the insertion of a library's address.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import {
  type BaseContractMethod,
  type ContractTransactionResponse,
  getAddress,
  type JsonFragment,
} from 'ethers';

/** A method of a contract that is only read. */
export type Read<Args extends unknown[], Result> = BaseContractMethod<Args, Result, Result>;
/** A method that is sent as a transaction. */
export type Write<Args extends unknown[]> = BaseContractMethod<
  Args,
  void,
  ContractTransactionResponse
>;

/** A place in the creation bytecode that holds a library's address. */
export type LibraryLink = {
  readonly library: string;
  /** Byte offset into the bytecode. */
  readonly start: number;
};

/** Where the code that a chain stores is in the creation bytecode, and what construction writes into it. */
export type RuntimeLayout = {
  /** Byte offset into the creation bytecode. */
  readonly start: number;
  /** Bytes. */
  readonly length: number;
  /** Byte offsets of 32-byte words in the stored code, by the immutable's name, in the order of the source. */
  readonly immutables: Readonly<Record<string, readonly number[]>>;
  /** Places in the stored code that hold a library's address. A library holds its own. */
  readonly links: readonly LibraryLink[];
};

export type ContractArtifact = {
  readonly abi: readonly JsonFragment[];
  /** Creation bytecode, `0x` hex; zeros where a library's address belongs. */
  readonly bytecode: string;
  readonly links: readonly LibraryLink[];
  readonly runtime: RuntimeLayout;
};

/**
 * Creation bytecode with every library address in place.
 * @throws PoolError `invalid_deployment` when a linked library has no address
 */
export function linkBytecode(
  artifact: Pick<ContractArtifact, 'bytecode' | 'links'>,
  libraries: Readonly<Record<string, string>> = {},
): string {
  let code = artifact.bytecode;
  for (const { library, start } of artifact.links) {
    const address = libraries[library];
    if (address === undefined) {
      throw new PoolError('invalid_deployment', `Deploy the library ${library} first.`);
    }
    const at = 2 + 2 * start;
    code = code.slice(0, at) + getAddress(address).slice(2).toLowerCase() + code.slice(at + 40);
  }
  return code;
}
