/**
 * Compares the settings of a chain with the chain itself, before a person trusts them: pool, registry, tokens, decimals, and the block of
 * the deployment.
 *
 * @module
 */
import { connectErc20, connectShieldedPool, shieldedPoolInterface } from '@pool/contracts';
import type { EvmChainSettings } from '@pool/core';
import { createChainCall, createEvmProvider } from '@pool/evm-sender';
import type { JsonRpcProvider } from 'ethers';

type ChainCall = ReturnType<typeof createChainCall>;

/** Time limit of one RPC call. */
const timeoutMs = 10_000;

/**
 * What the settings say and the chain does not, one sentence each. Empty: the chain confirms them.
 * @throws PoolError `chain_unreachable`, `wrong_chain`
 */
export async function findChainDifferences(settings: EvmChainSettings): Promise<string[]> {
  const provider = createEvmProvider(settings, timeoutMs);
  const call = createChainCall(provider, settings);
  try {
    if (!(await hasPool(provider, call, settings))) {
      return [
        `the contract at pool ${settings.pool} is not a ShieldedPool with the registry ${settings.registry}`,
      ];
    }
    const isDeployment = await call(() => wasDeployedAt(provider, settings));
    const tokens = await Promise.all(
      Object.entries(settings.tokens).map(async ([symbol, { address, decimals }]) => {
        const answered = await attempt(call, () => connectErc20(address, provider).decimals());
        if (answered === undefined) {
          return `the contract at ${address} is not the token ${symbol}: it has no decimals`;
        }
        const isEnabled = await call(() =>
          connectShieldedPool(settings.pool, provider).isTokenEnabled(address),
        );
        return Number(answered) !== decimals
          ? `${symbol} has ${answered} decimals, and the file says ${decimals}`
          : isEnabled
            ? undefined
            : `the pool does not accept ${symbol}, ${address}`;
      }),
    );
    return [
      ...(isDeployment ? [] : [`the pool was not deployed in block ${settings.deployedAtBlock}`]),
      ...tokens.filter((problem) => problem !== undefined),
    ];
  } finally {
    provider.destroy();
  }
}

async function hasPool(
  provider: JsonRpcProvider,
  call: ChainCall,
  { pool, registry }: EvmChainSettings,
): Promise<boolean> {
  const answered = await attempt(call, () =>
    connectShieldedPool(pool, provider).eligibilityRegistry(),
  );
  return answered === registry;
}

/** The constructor grants the roles. Asked of one block, so that no node needs to be an archive. */
async function wasDeployedAt(
  provider: JsonRpcProvider,
  { pool, deployedAtBlock }: EvmChainSettings,
): Promise<boolean> {
  const event = shieldedPoolInterface.getEvent('RoleGranted');
  const logs = await provider.getLogs({
    address: pool,
    topics: [event?.topicHash ?? null],
    fromBlock: deployedAtBlock,
    toBlock: deployedAtBlock,
  });
  return logs.length > 0;
}

/** Undefined: there is no such contract, or it answers something else. */
async function attempt<T>(call: ChainCall, work: () => Promise<T>): Promise<T | undefined> {
  return await call(async () => {
    try {
      return await work();
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'BAD_DATA' || code === 'CALL_EXCEPTION') {
        return undefined;
      }
      throw error;
    }
  });
}
