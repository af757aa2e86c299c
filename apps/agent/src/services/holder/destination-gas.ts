/**
 * Whether the address that a withdrawal goes to can pay gas: tokens that arrive at an address without native coin cannot be moved on from
 * there (docs/operations/keys-and-backups.md). Only a notice. Nothing depends on it, so nothing waits long for it and nothing fails.
 *
 * @module
 */
import type { EvmChainSettings } from '@pool/core';
import { withinTime } from '@pool/operations';
import { createEvmGasChain } from '@pool/wallet/evm';

const patienceMs = 4_000;

/** A chain, as far as it is known. */
type GasPlace = {
  readonly key: string | undefined;
  readonly settings: EvmChainSettings | undefined;
};

/**
 * Asks the chain's RPC for the newest balance of the address.
 * @param findPlace - may throw
 * @param findAddress - the destination, or undefined if it is not known here. May throw
 * @returns a line for people, or undefined: the address has coin, or nobody knows
 */
export async function findGasNotice(
  findPlace: () => GasPlace,
  findAddress: () => Promise<string | undefined>,
): Promise<string | undefined> {
  try {
    const { key, settings } = findPlace();
    const address = await findAddress();
    if (settings === undefined || address === undefined) {
      return undefined;
    }
    const balanceWei = await withinTime(fetchBalance(settings, address), patienceMs);
    return balanceWei > 0n
      ? undefined
      : `notice: ${address} has no native coin on ${key}, so it cannot pay gas: tokens that arrive there cannot be moved on until it gets some`;
  } catch {
    return undefined;
  }
}

async function fetchBalance(settings: EvmChainSettings, address: string): Promise<bigint> {
  const chain = createEvmGasChain(settings);
  try {
    return await chain.call((provider) => provider.getBalance(address));
  } finally {
    chain.close();
  }
}
