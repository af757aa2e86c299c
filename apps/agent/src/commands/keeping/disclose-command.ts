/**
 * What the commands of disclosures share: which payments are chosen, the terms of the document, and the file.
 *
 * @module
 */
import { writeFileSync } from 'node:fs';
import {
  type DisclosedInsertion,
  type DisclosureContent,
  type EvmAddress,
  type EvmChainSettings,
  type Hex,
  PoolError,
} from '@pool/core';
import { createDisclosure } from '@pool/notes';
import { exitCodes } from '@pool/pay-run';
import type { Config } from '../../config/config.ts';
import { readChainsFile } from '../../services/peers/chains.ts';
import type { Output } from '../../terminal/command-output.ts';
import { parseRange, type RangeOptions } from '../holder/history-range.ts';

export type DiscloseOptions = RangeOptions & {
  readonly tx: readonly string[];
  readonly commitment: readonly string[];
  readonly job: readonly string[];
  readonly payRun?: string;
  readonly token?: string;
  readonly chain?: string;
  readonly purpose: string;
  readonly days: string;
  readonly challenge?: string;
  readonly memos?: boolean;
  readonly out: string;
  readonly envFile?: string;
};

/** @throws PoolError `invalid-chain`. Never taken from a discloser: chain and pool are those of the own chains.json */
export function findChain(
  { chain, chainsFile }: Pick<Config, 'chain' | 'chainsFile'>,
  named: string | undefined,
): { readonly key: string; readonly settings: EvmChainSettings } {
  const { chains } = readChainsFile(chainsFile);
  const [only, ...others] = Object.keys(chains);
  const key = named ?? chain ?? (others.length === 0 ? only : undefined);
  const settings = key !== undefined && Object.hasOwn(chains, key) ? chains[key] : undefined;
  if (key === undefined || settings === undefined) {
    const known = Object.keys(chains).sort().join(', ');
    throw new PoolError('invalid-chain', `name one of these chains with --chain: ${known}`);
  }
  return { key, settings };
}

/** @throws PoolError `unknown_token` */
export function findToken(symbol: string, { tokens }: EvmChainSettings): EvmAddress {
  const token = Object.hasOwn(tokens, symbol) ? tokens[symbol] : undefined;
  if (token === undefined) {
    throw new PoolError(
      'unknown_token',
      `--token must be one of ${Object.keys(tokens).sort().join(', ')}`,
    );
  }
  return token.address;
}

/** At least one option must choose: nobody should disclose everything by leaving options out. */
export function assertChoice(options: DiscloseOptions): void {
  const { tx, commitment, job, payRun, from, to, year } = options;
  const words = [payRun, from, to, year].filter((word) => word !== undefined);
  if (tx.length + commitment.length + job.length + words.length === 0) {
    throw refuse(
      'choose the payments: --tx, --commitment, --job, --pay-run, --from, --to or --year',
    );
  }
}

/** True where an option chooses it, or where the option is not given. */
export function isChosen(chosen: readonly string[], value: string | undefined): boolean {
  return chosen.length === 0 || chosen.some((text) => text.toLowerCase() === value?.toLowerCase());
}

/** @throws PoolError `not_found` */
export function assertFound(count: number): void {
  if (count === 0) {
    throw new PoolError(
      'not_found',
      'no payment of this agent matches; look at "disburse-agent history" or at the keys of "disburse-agent tenancy keys". Openings are erased after DISBURSE_DISCLOSURE_YEARS',
    );
  }
}

/** The checked content. @throws PoolError `invalid_request` */
export function createContent(
  { purpose, days, challenge }: DiscloseOptions,
  parties: {
    readonly settings: EvmChainSettings;
    readonly token: EvmAddress;
    readonly role: 'payer' | 'payee';
    readonly discloser: EvmAddress;
  },
  insertions: readonly DisclosedInsertion[],
  nowMs: number,
): DisclosureContent {
  if (!/^[1-9][0-9]{0,4}$/.test(days)) {
    throw refuse('--days: give the number of days after which the document proves nothing');
  }
  const issuedAt = Math.floor(nowMs / 1_000);
  const { settings, token, role, discloser } = parties;
  return createDisclosure({
    version: 1,
    kind: 'disclosure',
    chainId: settings.chainId,
    pool: settings.pool,
    ...{ token, role, discloser, purpose },
    ...(challenge === undefined ? {} : { challenge }),
    issuedAt,
    expiresAt: issuedAt + 86_400 * Number(days),
    insertions: [...insertions],
  });
}

/** Writes the signed document to a new file that its owner alone can read. @returns the exit code */
export function writeDisclosure(
  content: DisclosureContent,
  signature: Hex,
  { out: path, memos }: Pick<DiscloseOptions, 'out' | 'memos'>,
  { out }: Pick<Output, 'out'>,
): number {
  try {
    writeFileSync(path, `${JSON.stringify({ ...content, signature }, null, 2)}\n`, {
      mode: 0o600,
      flag: 'wx',
    });
  } catch (cause) {
    throw new PoolError(
      'file_not_written',
      `${path} cannot be written; it must be a new file in an existing folder`,
      { cause },
    );
  }
  const payments = content.insertions.flatMap(({ payments: shown }) => shown).length;
  const expiry = new Date(1_000 * content.expiresAt).toISOString();
  out(
    [
      `${path}: ${payments} payment(s), signed by ${content.discloser} as ${content.role}, until ${expiry}`,
      'It proves that each payment exists, its amount and token, and who received it.',
      content.role === 'payer'
        ? 'It proves who paid. For spends of a holder the auditor learns the amount of the change.'
        : 'It does not prove who paid.',
      memos === true
        ? 'It proves the memos that it shows.'
        : 'It says nothing about memos; --memos adds them.',
      'It is confidential: everybody who has it sees these payments.',
    ].join('\n'),
  );
  return exitCodes.ok;
}

/** Whether a time is in the chosen days. */
export function isInRange(options: RangeOptions, ms: number): boolean {
  const { from, to } = parseRange(options);
  return (
    (from === undefined || ms >= Date.parse(from)) && (to === undefined || ms < Date.parse(to))
  );
}

export function refuse(message: string): PoolError {
  return new PoolError('invalid_request', message);
}
