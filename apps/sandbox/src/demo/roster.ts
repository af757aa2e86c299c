/**
 * The roster as the demo compares it with what was received. The agent's own command checks the file; this only reads
 * what it accepted.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { type EvmAddress, parseAmount, parseEvmAddress } from '@pool/core';
import { parse } from 'csv-parse/sync';

export type RosterLine = {
  readonly address: EvmAddress;
  /** Base units. */
  readonly amount: bigint;
  readonly memo: string | undefined;
};

/** @param path - a CSV file with the header `address,amount[,memo]`, already accepted by the agent */
export function readRoster(path: string): readonly RosterLine[] {
  const text = readFileSync(path, 'utf8');
  const rows = parse(text, {
    columns: (names: readonly string[]) => names.map((name) => name.toLowerCase()),
    // The header has it between its first two names.
    delimiter: /[,;\t]/.exec(text)?.[0] ?? ',',
    trim: true,
    bom: true,
    skip_records_with_empty_values: true,
  });
  return rows.map((row) => {
    const { address, amount, memo } = row as Readonly<Record<string, string | undefined>>;
    return {
      address: parseEvmAddress(address),
      amount: parseAmount(amount),
      memo: memo === '' ? undefined : memo,
    };
  });
}
