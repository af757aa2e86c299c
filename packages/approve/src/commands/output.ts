/**
 * What a command prints to, and what every command needs: its context, and the ledger beside the running gate.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { PoolError } from '@pool/core';
import { type Ledger, openLedger } from '@pool/policy';
import { type GatePlaces, parseGatePlaces } from '../config/config.ts';
import type { ConfigSource } from '../config/env-file.ts';
import { ledgerPath } from '../config/gate-home.ts';

export type Streams = {
  /** Standard output: only the outcome. */
  out(text: string): void;
  /** Standard error. */
  err(text: string): void;
};

export type CommandContext = {
  readonly streams: Streams;
  readonly source: ConfigSource;
  readonly nowMs: () => number;
};

/** Options of every command. */
export type CommonOptions = { readonly envFile?: string; readonly json?: boolean };

/** For scripts. The README has the table. */
export const exitCodes = {
  ok: 0,
  /** A problem of configuration or arguments, a failed check of the doctor, or a bug. */
  error: 1,
  /** The answer is no: a manifest is denied, an unknown digest, a broken audit log. */
  refused: 2,
  /** The answer is not yet: a manifest waits. */
  notNow: 6,
} as const;

/** One JSON document with `--json`, else the text. */
export function print(
  { streams }: CommandContext,
  { json = false }: CommonOptions,
  document: unknown,
  text: string,
): void {
  streams.out(json ? JSON.stringify(document, printable, 2) : text);
}

/** JSON has no big integers. */
function printable(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

/** Opens the ledger of the gate's directory for one piece of work. @throws PoolError `invalid_configuration` if there is none */
export async function withLedger<T>(
  { source }: CommandContext,
  { envFile }: CommonOptions,
  work: (ledger: Ledger, places: GatePlaces) => T | Promise<T>,
): Promise<T> {
  const places = parseGatePlaces(source, envFile);
  const path = ledgerPath(places.home);
  if (!existsSync(path)) {
    throw new PoolError(
      'invalid_configuration',
      `there is no ledger in ${places.home}; start the gate once, or set APPROVE_HOME to its directory`,
    );
  }
  const ledger = openLedger({ path, role: 'operator' });
  try {
    return await work(ledger, places);
  } finally {
    ledger.close();
  }
}
