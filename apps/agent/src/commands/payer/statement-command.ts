/**
 * `disburse-agent statement`, which `@pool/pay-run` carries out.
 *
 * @module
 */
import { type Output, type StatementCommand, writeStatement } from '@pool/pay-run';
import { createEvmRecords } from '@pool/wallet/evm';
import { systemClock } from '@pool/wallet/node';
import { readConfig } from '../../config/config.ts';
import { findChain } from '../../services/holder/spend-place.ts';
import { parseRange } from '../holder/history-range.ts';
import { openLedgerOwner } from './payer-commands.ts';

export type StatementOptions = Omit<StatementCommand, 'chain'> & {
  readonly chain?: string;
  readonly envFile?: string;
};

/** @returns the exit code */
export async function runStatement(
  options: StatementOptions,
  output: Output,
  openRecords: typeof createEvmRecords = createEvmRecords,
): Promise<number> {
  const { from = '', to = '' } = parseRange(options);
  const { key: chain } = findChain(readConfig(options.envFile), options.chain);
  const ports = { ...openLedgerOwner(options, output), openRecords, nowMs: systemClock.nowMs };
  return await writeStatement({ ...options, chain, from, to }, ports, output);
}
