/**
 * `disburse-agent disclose verify` and `disclose events`: what a disclosure proves, by the verifier's own RPC or by a file of events that
 * the verifier has made before. Chain, pool and platform come from its own chains.json. Needs no agent and no credential.
 *
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { readChainsFile } from '@pool/configuration';
import { formatTokenUnits, PoolError, quote } from '@pool/core';
import {
  type ChainFacts,
  type DisclosureReport,
  isProved,
  type PaymentClaims,
  verifyDisclosure,
} from '@pool/notes';
import { exitCodes, type Output } from '@pool/pay-run';
import {
  createEvmRecords,
  createFacts,
  type EvmRecords,
  fetchDisclosedEvents,
  fetchPoolEvents,
  parsePoolEvents,
} from '@pool/wallet/evm';
import { systemClock } from '@pool/wallet/node';
import { readKeepingSettings } from '../../config/config.ts';
import { findChain } from '../../services/holder/spend-place.ts';

export type VerifyOptions = {
  readonly challenge?: string;
  /** File of `disclose events`. Absent: the RPC is asked. */
  readonly archive?: string;
  readonly chain?: string;
  readonly json?: boolean;
  readonly envFile?: string;
};

export type EventsOptions = {
  readonly fromBlock?: string;
  readonly toBlock?: string;
  readonly chain?: string;
  readonly out: string;
  readonly envFile?: string;
};

/** @returns the exit code: 0 if the signature holds, and existence and amount of every payment are proved */
export async function runVerify(
  path: string,
  options: VerifyOptions,
  { out }: Pick<Output, 'out'>,
  createRecords: typeof createEvmRecords = createEvmRecords,
): Promise<number> {
  const config = readKeepingSettings(options.envFile);
  const { settings } = findChain(config, options.chain);
  const document = readJson(path);
  const known =
    options.archive === undefined
      ? await withRecords(createRecords(settings), (records) =>
          fetchDisclosedEvents(document, settings, [records]),
        )
      : parsePoolEvents(readJson(options.archive), options.archive);
  const evidenceDomain = readChainsFile(config.chainsFile).evidence;
  // Of the verifier's own settings: a file of another chain or pool is refused below.
  const facts: ChainFacts = { ...createFacts(known), evidenceDomain };
  if (facts.chainId !== settings.chainId || facts.pool !== settings.pool) {
    throw refuse(
      'the archive is of another chain or pool than chains.json; name the chain with --chain',
    );
  }
  const report = verifyDisclosure(document, facts, {
    nowMs: systemClock.nowMs(),
    challenge: options.challenge,
  });
  const decimals = new Map(
    Object.entries(settings.tokens).map(([symbol, token]) => [
      token.address as string,
      { symbol, decimals: token.decimals },
    ]),
  );
  out(options.json === true ? report : describe(report, decimals));
  return isProved(report) ? exitCodes.ok : exitCodes.error;
}

/** Writes the pool's events of a range of final blocks, for a verification without a network. @returns the exit code */
export async function runEvents(
  options: EventsOptions,
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const { settings } = findChain(readKeepingSettings(options.envFile), options.chain);
  return await withRecords(createEvmRecords(settings), async (records) => {
    const final = await records.fetchFinalBlock();
    const from = parseBlock('--from-block', options.fromBlock) ?? settings.deployedAtBlock;
    const to = Math.min(parseBlock('--to-block', options.toBlock) ?? final, final);
    const file = await fetchPoolEvents(settings, { from, to }, records);
    writeFileSync(options.out, `${JSON.stringify(file)}\n`, { flag: 'wx' });
    out(
      `${options.out}: ${file.events.length} batches and spends of blocks ${from} to ${to}, by your own RPC`,
    );
    return exitCodes.ok;
  });
}

async function withRecords<T>(
  records: EvmRecords,
  work: (records: EvmRecords) => Promise<T>,
): Promise<T> {
  try {
    return await work(records);
  } finally {
    records.close();
  }
}

function parseBlock(option: string, text: string | undefined): number | undefined {
  if (text !== undefined && !/^(?:0|[1-9][0-9]{0,14})$/.test(text)) {
    throw refuse(`${option}: give the number of a block`);
  }
  return text === undefined ? undefined : Number(text);
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw refuse(`${path} cannot be read as JSON`, cause);
  }
}

function refuse(message: string, cause?: unknown): PoolError {
  return new PoolError('invalid_request', message, { cause });
}

type Units = ReadonlyMap<string, { readonly symbol: string; readonly decimals: number }>;

/** For people. Texts of the document are quoted. */
function describe({ discloser, payments }: DisclosureReport, units: Units): string {
  if (discloser.state === 'not-proved') {
    return `nothing is proved: ${discloser.reason}`;
  }
  const { role, address, purpose, issuedAt, expiresAt } = discloser;
  return [
    `signed by the ${role} ${address}, for ${quote(purpose)}`,
    `issued ${formatTime(issuedAt)}, expires ${formatTime(expiresAt)}`,
    ...payments.flatMap((payment) => describePayment(payment, units)),
  ].join('\n');
}

function describePayment(payment: PaymentClaims, units: Units): readonly string[] {
  const { txHash, slot, exists, amount, memo, payer, payee } = payment;
  const unit = amount.state === 'proved' ? units.get(amount.token) : undefined;
  return [
    `payment in ${txHash}, slot ${slot}`,
    `  exists        ${exists.state === 'proved' ? `proved: ${exists.commitment}` : denied(exists)}`,
    `  amount        ${amount.state === 'proved' ? `proved: ${describeAmount(amount, unit)}` : denied(amount)}`,
    `  memo          ${memo.state === 'proved' ? `proved: ${memo.memo === null ? 'none' : quote(memo.memo)}` : denied(memo)}`,
    `  who paid      ${payer.state === 'proved' ? `proved: ${payer.address}` : denied(payer)}`,
    `  who received  ${payee.state === 'proved' ? `proved: ${payee.address} (W ${payee.walletPub})` : denied(payee)}`,
  ];
}

function describeAmount(
  { amount, token }: { readonly amount: bigint; readonly token: string },
  unit: { readonly symbol: string; readonly decimals: number } | undefined,
): string {
  return unit === undefined
    ? `${amount} base units of token ${token}, which is not in chains.json`
    : `${formatTokenUnits(amount, unit.decimals)} ${unit.symbol}`;
}

function denied({ reason }: { readonly reason: string }): string {
  return `not proved: ${reason}`;
}

/** A date ends earlier than the numbers that a document may have. */
function formatTime(seconds: number): string {
  const date = new Date(1_000 * seconds);
  return Number.isNaN(date.getTime()) ? `second ${seconds} of Unix time` : date.toISOString();
}
