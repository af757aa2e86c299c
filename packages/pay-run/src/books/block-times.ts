/**
 * When payments landed: the time of their blocks, by the RPC of the chain.
 *
 * @module
 */
import { type EvmChainSettings, type Hex32, isPoolError, PoolError, parseHex32 } from '@pool/core';
import type { StatementLine } from '@pool/statements';
import type { EvmRecords } from '@pool/wallet/evm';
import type { Terminal } from '../ports.ts';

type OpenRecords = (
  settings: EvmChainSettings,
) => Pick<EvmRecords, 'fetchTransactionLeaves' | 'fetchBlockTime' | 'close'>;

export type BlockTimes = {
  readChains(): Readonly<Record<string, EvmChainSettings>>;
  /** Default: the RPC of the settings. */
  readonly openRecords?: OpenRecords;
};

/** Without an answer of the RPC a line has no time, and a note says so. */
export async function addBlockTimes(
  lines: readonly StatementLine[],
  { readChains, openRecords }: BlockTimes,
  terminal: Terminal,
): Promise<readonly StatementLine[]> {
  const times = new Map<string, number>();
  for (const [chain, paid] of Map.groupBy(lines, (line) => line.chain)) {
    const settings = readChains()[chain];
    const hashes = new Set(
      paid.flatMap(({ state, txHash }) => (state === 'paid' && txHash ? [parseHex32(txHash)] : [])),
    );
    if (settings === undefined || hashes.size === 0) {
      continue;
    }
    const records = (openRecords ?? (await import('@pool/wallet/evm')).createEvmRecords)(settings);
    try {
      for (const txHash of hashes) {
        times.set(txHash, await fetchTime(txHash, records));
      }
    } catch (error) {
      if (!isPoolError(error)) {
        throw error;
      }
      terminal.write(
        `note: the times of payments on ${chain} are missing, because the RPC does not answer: ${error.message}\n`,
      );
    } finally {
      records.close();
    }
  }
  return lines.map((line) => {
    const timeMs = line.txHash === undefined ? undefined : times.get(line.txHash);
    return timeMs === undefined || line.state !== 'paid' ? line : { ...line, timeMs };
  });
}

async function fetchTime(
  txHash: Hex32,
  records: Pick<EvmRecords, 'fetchTransactionLeaves' | 'fetchBlockTime'>,
): Promise<number> {
  const [leaf] = await records.fetchTransactionLeaves(txHash);
  if (leaf === undefined) {
    throw new PoolError('chain_unreachable', `the RPC does not serve transaction ${txHash}`);
  }
  return 1_000 * (await records.fetchBlockTime(leaf.blockNumber));
}
