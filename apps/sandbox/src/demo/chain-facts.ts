/**
 * Reads the result of a payment from the chain itself, without trust in any service.
 *
 * @module
 */
import { connectErc20, parsePoolEvent } from '@pool/contracts';
import { PoolError } from '@pool/core';
import { createEvmProvider } from '@pool/evm-sender';
import type { JsonRpcProvider } from 'ethers';
import { chainId } from '../chain/local-chain.ts';
import type { SandboxFile } from '../stack/sandbox-file.ts';

/** The parts of a running sandbox that this needs. */
export type ChainPlace = Pick<SandboxFile, 'rpcUrl' | 'contracts' | 'tokens'>;

async function withProvider<T>(
  { rpcUrl }: ChainPlace,
  read: (provider: JsonRpcProvider) => Promise<T>,
): Promise<T> {
  const provider = createEvmProvider({ rpcUrl, chainId });
  try {
    return await read(provider);
  } finally {
    provider.destroy();
  }
}

/** @throws PoolError `sandbox_failed` */
export function fetchGasUsed(place: ChainPlace, txHash: string): Promise<bigint> {
  return withProvider(place, async (provider) => {
    const receipt = await provider.getTransactionReceipt(txHash);
    if (receipt === null) {
      throw new PoolError('sandbox_failed', 'the chain has no such transaction');
    }
    return receipt.gasUsed;
  });
}

/** Base units of the token that the pool holds. */
export function fetchPoolBalance(place: ChainPlace, symbol: string): Promise<bigint> {
  return fetchTokenBalance(place, symbol, place.contracts.pool);
}

/** Base units of the token at an address. */
export function fetchTokenBalance(
  place: ChainPlace,
  symbol: string,
  owner: string,
): Promise<bigint> {
  return withProvider(place, (provider) =>
    connectErc20(addressOf(place, symbol), provider).balanceOf(owner),
  );
}

/** Base units of the token that the pool may still take from the account. */
export function fetchAllowance(place: ChainPlace, symbol: string, owner: string): Promise<bigint> {
  return withProvider(place, (provider) =>
    connectErc20(addressOf(place, symbol), provider).allowance(owner, place.contracts.pool),
  );
}

type PoolEvent = NonNullable<ReturnType<typeof parsePoolEvent>>;

/** The batches and spends that the pool has settled, in the order of the chain. */
export function fetchPoolEvents(
  place: ChainPlace,
): Promise<readonly { readonly txHash: string; readonly event: PoolEvent }[]> {
  return withProvider(place, async (provider) => {
    const logs = await provider.getLogs({
      address: place.contracts.pool,
      fromBlock: place.contracts.deploymentBlock,
    });
    return logs.flatMap((log) => {
      const event = parsePoolEvent(log);
      return event === undefined ? [] : [{ txHash: log.transactionHash, event }];
    });
  });
}

export async function countFundedBatches(place: ChainPlace): Promise<number> {
  return (await fetchPoolEvents(place)).filter(({ event }) => event.kind === 'fund').length;
}

function addressOf(place: ChainPlace, symbol: string): string {
  const token = place.tokens[symbol];
  if (token === undefined) {
    throw new PoolError('invalid-token', 'the sandbox has no such token');
  }
  return token.address;
}
