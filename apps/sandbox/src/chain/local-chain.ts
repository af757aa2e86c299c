/**
 * The sandbox's chain: anvil with a block at a fixed interval and short epochs, so that `finalized` means something,
 * with the pool and two test tokens on it.
 *
 * @module
 */
import {
  connectShieldedPool,
  deployPool,
  deployPoolTestToken,
  deployZeroFirstTestToken,
  mintTestToken,
  type PoolAddresses,
} from '@pool/contracts';
import { type ChainsFile, parseEvmAddress } from '@pool/core';
import { createEvmProvider } from '@pool/evm-sender';
import { mineMeanwhile } from '@pool/testkit';
import { NonceManager, parseEther, Wallet } from 'ethers';
import { deriveEmployerKey, deriveRoleKey } from './sandbox-keys.ts';

export const chainKey = 'anvil';
export const chainId = 31337;

/** Base units of each test token that the employer starts with: ten million of six decimals. */
const employerFunds = 10_000_000_000_000n;

export type DeployedChain = {
  readonly contracts: PoolAddresses;
  readonly tokens: ChainsFile['chains'][string]['tokens'];
};

/**
 * anvil's arguments: `finalized` is two blocks under the head. Silent: it would log private keys.
 * @param blockSeconds - time between blocks. Below 1, some blocks have equal timestamps, as on rollups
 */
export function anvilArguments(port: number, blockSeconds = 1): string[] {
  const network = ['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(chainId)];
  return [...network, '--block-time', String(blockSeconds), '--slots-in-an-epoch', '1', '--silent'];
}

/** Undefined while the chain does not answer. */
export async function readChainId(rpcUrl: string): Promise<number | undefined> {
  try {
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }),
      signal: AbortSignal.timeout(2_000),
    });
    const { result } = (await response.json()) as { result?: unknown };
    return typeof result === 'string' ? Number(result) : undefined;
  } catch {
    return undefined;
  }
}

/** The tokens of every deployment. */
const testTokens = ['USDC', 'USDT'];

/**
 * Deploys pool and tokens, and gives the employer tokens, and coin for approvals.
 * @param ownToken - symbol of one more token, unless every deployment has it
 */
export async function deployChain(rpcUrl: string, ownToken = 'USDC'): Promise<DeployedChain> {
  const provider = createEvmProvider({ rpcUrl, chainId });
  provider.pollingInterval = 25;
  const deploy = async (): Promise<DeployedChain> => {
    const signer = new NonceManager(new Wallet(deriveRoleKey('deployer').reveal(), provider));
    const addressOf = (role: 'guardian' | 'relayer' | 'publisher'): string =>
      new Wallet(deriveRoleKey(role).reveal()).address;
    const contracts = await deployPool({
      signer,
      guardian: addressOf('guardian'),
      relayer: addressOf('relayer'),
      gate: addressOf('publisher'),
    });
    signer.reset();
    const usdc = await deployPoolTestToken({ signer, name: 'USD Coin', symbol: 'USDC' });
    const usdt = await deployZeroFirstTestToken({ signer, name: 'Tether USD', symbol: 'USDT' });
    const own = testTokens.includes(ownToken)
      ? undefined
      : await deployPoolTestToken({ signer, name: ownToken, symbol: ownToken });
    const employer = new Wallet(deriveEmployerKey().reveal()).address;
    const pool = connectShieldedPool(contracts.pool, signer);
    for (const token of [usdc, usdt, ...(own === undefined ? [] : [own])]) {
      await (await pool.enableToken(token)).wait();
      await mintTestToken(token, signer, employer, employerFunds);
    }
    await (await signer.sendTransaction({ to: employer, value: parseEther('10') })).wait();
    return {
      contracts,
      tokens: {
        USDC: {
          address: parseEvmAddress(usdc),
          decimals: 6,
          permitName: 'USD Coin',
          permitVersion: '1',
        },
        USDT: { address: parseEvmAddress(usdt), decimals: 6, zeroFirst: true },
        ...(own === undefined
          ? {}
          : { [ownToken]: { address: parseEvmAddress(own), decimals: 6 } }),
      },
    };
  };
  try {
    const deployed = await mineMeanwhile(provider, deploy);
    // The last poll for a receipt may not have been sent yet. A destroyed provider would fail it outside of any call, and end the process.
    await provider.removeAllListeners();
    await provider.getBlockNumber();
    return deployed;
  } finally {
    provider.destroy();
  }
}

/** The chains file that platform, gate and agent each get a copy of. */
export function createChainsFile(
  deployed: DeployedChain,
  where: {
    readonly rpcUrl: string;
    readonly platformUrl: string;
    readonly maxRecipients: number;
    readonly finalityBlocks: number | undefined;
  },
): ChainsFile {
  const { contracts, tokens } = deployed;
  const { finalityBlocks: blocks } = where;
  return {
    evidence: { domain: new URL(where.platformUrl).host, uri: where.platformUrl },
    chains: {
      [chainKey]: {
        family: 'evm',
        chainId,
        rpcUrl: where.rpcUrl,
        pool: parseEvmAddress(contracts.pool),
        registry: parseEvmAddress(contracts.registry),
        deployedAtBlock: contracts.deploymentBlock,
        finality: blocks === undefined ? { kind: 'finalized-tag' } : { kind: 'depth', blocks },
        maxRecipients: where.maxRecipients,
        tokens,
      },
    },
  };
}
