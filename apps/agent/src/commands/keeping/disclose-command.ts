/**
 * `disburse-agent disclose payer` and `disclose payee`. Both sign in this process: no route of the agent signs a disclosure. For a payee
 * the agent must run: its history says which payments there are.
 *
 * @module
 */
import {
  computeAssetId,
  type DisclosedInsertion,
  type DisclosureContent,
  type EvmAddress,
  type EvmChainSettings,
  type Hex,
  PoolError,
  parseEvmAddress,
} from '@pool/core';
import { createDisclosure } from '@pool/notes';
import { exitCodes, type HolderClient, listPaidInsertions, type Output } from '@pool/pay-run';
import { assertSigns, createLocalKeySigner, createSignRequest, openHolder } from '@pool/signers';
import type { DisclosureChoice } from '@pool/wallet';
import { createEvmRecords, listReceivedInsertions, type ReceivedSources } from '@pool/wallet/evm';
import { type Holder, systemClock } from '@pool/wallet/node';
import { type Config, readConfig } from '../../config/config.ts';
import { createDeliveries } from '../../services/holder/served-notes.ts';
import { findChain, findToken } from '../../services/holder/spend-place.ts';
import { writeNewFile } from '../../terminal/new-file.ts';
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
    const content = createContent(options, parties, insertions);
    return writeDisclosure(content, await sign(content, config, chain), options, output);
  } finally {
    records.close();
  }
}

/** What `disclose payee` asks. */
export type PayeeSources = Pick<ReceivedSources, 'records' | 'deliveries'> & {
  readonly client: Pick<HolderClient, 'history'>;
  readonly holder: Pick<Holder, 'walletPub' | 'address' | 'viewingKey' | 'signer'>;
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
    return await discloseReceived({ ...options, token }, settings, sources, output);
  } finally {
    records.close();
  }
}

/** @returns the exit code */
export async function discloseReceived(
  options: DiscloseOptions & { readonly token: string },
  settings: EvmChainSettings,
  { client, holder, records, deliveries }: PayeeSources,
  output: Pick<Output, 'out'>,
): Promise<number> {
  const { range, ...choice } = readChoice(options);
  if (options.job.length > 0 || options.payRun !== undefined) {
    throw refuse(
      '--job and --pay-run name what a payer paid; choose by --tx, --commitment or days',
    );
  }
  const symbol = options.token;
  const token = findToken(symbol, settings);
  const assetId = computeAssetId(settings.chainId, settings.pool, token);
  const insertions = await listReceivedInsertions(
    choice,
    { symbol, assetId },
    {
      ...{ holder, records, deliveries },
      fetchHistory: (after) => client.history(symbol, { ...range, after }),
    },
  );
  const discloser = parseEvmAddress(holder.address);
  const parties = { settings, token, role: 'payee', discloser } as const;
  const content = createContent(options, parties, insertions);
  return writeDisclosure(content, await holder.signer.signDisclosure(content), options, output);
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

/** The checked content. @throws PoolError `invalid_request` */
function createContent(
  { purpose, days, challenge }: DiscloseOptions,
  parties: {
    readonly settings: EvmChainSettings;
    readonly token: EvmAddress;
    readonly role: 'payer' | 'payee';
    readonly discloser: EvmAddress;
  },
  insertions: readonly DisclosedInsertion[],
): DisclosureContent {
  if (!/^[1-9][0-9]{0,4}$/.test(days)) {
    throw refuse('--days: give the number of days after which the document proves nothing');
  }
  const issuedAt = Math.floor(systemClock.nowMs() / 1_000);
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
function writeDisclosure(
  content: DisclosureContent,
  signature: Hex,
  { out: path, memos }: Pick<DiscloseOptions, 'out' | 'memos'>,
  { out }: Pick<Output, 'out'>,
): number {
  writeNewFile(path, `${JSON.stringify({ ...content, signature }, null, 2)}\n`);
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

async function sign(content: DisclosureContent, config: Config, chain: string): Promise<Hex> {
  const { funderPrivateKey, holder: holderConfig, chainsFile } = config;
  if (funderPrivateKey !== undefined) {
    const allow = { kinds: ['disclosure' as const] };
    const signer = createLocalKeySigner({ privateKey: funderPrivateKey, allow });
    const expectedSigner = await signer.address();
    if (expectedSigner === content.discloser) {
      const payload = { content };
      const outcome = await signer.submit(
        createSignRequest({ kind: 'disclosure', payload, expectedSigner }),
      );
      if (outcome.state === 'signed') {
        return outcome.signature;
      }
    }
  }
  assertSigns(holderConfig, 'sign a disclosure');
  const holder = await openHolder({ chain, chainsFile, holder: holderConfig });
  if (holder.address !== content.discloser) {
    throw new PoolError(
      'wallet_mismatch',
      `${content.discloser} paid, and this configuration has no key of it: a disclosure is signed by who paid. Set DISBURSE_FUNDER_PRIVATE_KEY or DISBURSE_HOLDER_PRIVATE_KEY to its key`,
    );
  }
  return await holder.signer.signDisclosure(content);
}

function refuse(message: string): PoolError {
  return new PoolError('invalid_request', message);
}
