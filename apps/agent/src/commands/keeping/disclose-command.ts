/**
 * `disburse-agent disclose payer` and `disclose payee`. Both sign in this process: no route of the agent signs a disclosure. For a payee
 * the agent must run: its history says which payments there are.
 *
 * @module
 */
import { type Disclosure, type EvmChainSettings, PoolError } from '@pool/core';
import {
  exitCodes,
  type HolderClient,
  listPaidInsertions,
  type Output,
  writeNewFile,
} from '@pool/pay-run';
import { assertSigns, openHolder } from '@pool/signers';
import { createDisclosureContent, type DisclosureChoice, serializeDisclosure } from '@pool/wallet';
import { createEvmRecords, discloseReceived, type ReceivedSources } from '@pool/wallet/evm';
import { readConfig } from '../../config/config.ts';
import { createDeliveries } from '../../services/holder/served-notes.ts';
import { findChain, findToken } from '../../services/holder/spend-place.ts';
import { readPurpose, signDisclosure } from '../../services/sign-disclosure.ts';
import { openClient } from '../holder/balance-command.ts';
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

/** @returns the exit code */
export async function runDisclosePayer(
  options: DiscloseOptions,
  output: Pick<Output, 'out'>,
  createRecords: typeof createEvmRecords = createEvmRecords,
): Promise<number> {
  const choice = readChoice(options);
  const config = readConfig(options.envFile);
  const { key: chain, settings } = findChain(config, options.chain);
  const symbol = options.token ?? config.holder.tokenSymbol;
  const token = findToken(symbol, settings);
  const { chainId, pool } = settings;
  const records = createRecords(settings);
  try {
    const { payer, insertions } = await listPaidInsertions(
      config,
      { ...choice, jobs: options.job, payRun: options.payRun },
      { chain, chainId, pool, symbol, token },
      records,
    );
    const parties = { settings, token, role: 'payer', discloser: payer } as const;
    const { nowMs, ...purpose } = readPurpose(options);
    const content = createDisclosureContent(purpose, parties, insertions, nowMs);
    const signature = await signDisclosure(content, config, chain);
    return writeDisclosure({ ...content, signature }, options, output);
  } finally {
    records.close();
  }
}

/** What `disclose payee` asks. */
export type PayeeSources = Omit<ReceivedSources, 'fetchHistory'> & {
  readonly client: Pick<HolderClient, 'history'>;
};

/** @returns the exit code */
export async function runDisclosePayee(
  given: Omit<DiscloseOptions, 'job'>,
  output: Pick<Output, 'out'>,
): Promise<number> {
  const options = { ...given, job: [] };
  const config = readConfig(options.envFile);
  const { holder, chainsFile, platformUrl } = config;
  assertSigns(holder, 'sign a disclosure');
  const { key, settings } = findChain(config, options.chain);
  const { client, token } = openClient(options);
  const { balanceToken } = holder;
  const records = createEvmRecords(settings);
  try {
    const sources: PayeeSources = {
      client,
      records,
      deliveries: createDeliveries({ platformUrl, balanceToken, chain: key }),
      holder: await openHolder({ chain: key, chainsFile, holder }),
    };
    return await discloseAsPayee({ ...options, token }, settings, sources, output);
  } finally {
    records.close();
  }
}

/** @returns the exit code */
export async function discloseAsPayee(
  options: DiscloseOptions & { readonly token: string },
  settings: EvmChainSettings,
  { client, ...sources }: PayeeSources,
  output: Pick<Output, 'out'>,
): Promise<number> {
  const { range, ...choice } = readChoice(options);
  if (options.job.length > 0 || options.payRun !== undefined) {
    throw refuse(
      '--job and --pay-run name what a payer paid; choose by --tx, --commitment or days',
    );
  }
  const symbol = options.token;
  const document = await discloseReceived(
    choice,
    readPurpose(options),
    { settings, symbol, token: findToken(symbol, settings) },
    { ...sources, fetchHistory: (after) => client.history(symbol, { ...range, after }) },
  );
  return writeDisclosure(document, options, output);
}

/** At least one option must choose: nobody should disclose everything by leaving options out. */
function readChoice(options: DiscloseOptions): DisclosureChoice {
  const { tx, commitment, job, payRun, from, to, year } = options;
  const words = [payRun, from, to, year].filter((word) => word !== undefined);
  if (tx.length + commitment.length + job.length + words.length === 0) {
    throw refuse(
      'choose the payments: --tx, --commitment, --job, --pay-run, --from, --to or --year',
    );
  }
  return {
    transactions: tx,
    commitments: commitment,
    range: parseRange(options),
    withMemos: options.memos === true,
  };
}

/** Writes the signed document to a new file that its owner alone can read. @returns the exit code */
function writeDisclosure(
  document: Disclosure,
  { out: path, memos }: Pick<DiscloseOptions, 'out' | 'memos'>,
  { out }: Pick<Output, 'out'>,
): number {
  writeNewFile(path, serializeDisclosure(document));
  const payments = document.insertions.flatMap(({ payments: shown }) => shown).length;
  const expiry = new Date(1_000 * document.expiresAt).toISOString();
  out(
    [
      `${path}: ${payments} payment(s), signed by ${document.discloser} as ${document.role}, until ${expiry}`,
      'It proves that each payment exists, its amount and token, and who received it.',
      document.role === 'payer'
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

function refuse(message: string): PoolError {
  return new PoolError('invalid_request', message);
}
