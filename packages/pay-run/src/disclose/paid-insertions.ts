/**
 * `disburse-agent disclose payer`: proves payments of the funder's batches, or of the holder's transfers. It reads the stores of the agent
 * directory and signs in this process: no route of the agent signs a disclosure.
 *
 * @module
 */
import {
  computeWalletAddress,
  type DisclosedInsertion,
  type DisclosureContent,
  type EvmAddress,
  type Hex,
  PoolError,
} from '@pool/core';
import { computePartKey, openPayRunLedger, parsePayRun, payRunLedgerPath } from '@pool/pay-run';
import { createLocalKeySigner, createSignRequest } from '@pool/signers';
import type { KeptOpenings } from '@pool/wallet';
import { createEvmRecords, type EvmRecords } from '@pool/wallet/evm';
import { systemClock } from '@pool/wallet/node';
import { type Config, readConfig } from '../../config/config.ts';
import { assertSigns, openHolder } from '../../services/signers/holder.ts';
import { listOpenings } from '../../state/payer-openings.ts';
import type { Output } from '../../terminal/command-output.ts';
import { parseRange, type RangeOptions } from '../holder/history-range.ts';
import {
  assertChoice,
  assertFound,
  createContent,
  type DiscloseOptions,
  findChain,
  findToken,
  isChosen,
  isInRange,
  refuse,
  writeDisclosure,
} from './disclose-options.ts';

/** @returns the exit code */
export async function runDisclosePayer(
  options: DiscloseOptions,
  output: Pick<Output, 'out'>,
  createRecords: typeof createEvmRecords = createEvmRecords,
): Promise<number> {
  assertChoice(options);
  const config = readConfig(options.envFile);
  const { key, settings } = findChain(config, options.chain);
  const symbol = options.token ?? config.holder.tokenSymbol;
  const token = findToken(symbol, settings);
  const jobs = [...options.job, ...listPayRunKeys(options.payRun, key, symbol, config)];
  const isWanted = ({ jobKey, txHash }: { jobKey?: string | undefined; txHash: string }): boolean =>
    isChosen(jobs, jobKey) && isChosen(options.tx, txHash);
  const range = parseRange(options);
  const wanted = (await listOpenings(config, isWanted)).flatMap((openings) => {
    const { insertion, chainId, pool } = openings;
    const isHere =
      chainId === settings.chainId && pool === settings.pool && openings.token === token;
    const payments = insertion.payments.filter(({ commitment }) =>
      isChosen(options.commitment, commitment),
    );
    return isHere && payments.length > 0 ? [{ openings, payments }] : [];
  });
  const records = createRecords(settings);
  try {
    const chosen =
      range.from === undefined && range.to === undefined
        ? wanted
        : await filterByBlockTime(wanted, options, records);
    assertFound(chosen.length);
    const discloser = findPayer(chosen.map(({ openings }) => openings));
    const insertions: DisclosedInsertion[] = [];
    for (const { openings, payments } of chosen) {
      const index = await findIndex(records, openings);
      insertions.push(showPayments(openings, index, payments, options.memos === true));
    }
    const parties = { settings, token, role: 'payer' as const, discloser };
    const content = createContent(options, parties, insertions, systemClock.nowMs());
    return writeDisclosure(content, await sign(content, config, key), options, output);
  } finally {
    records.close();
  }
}

type Payments = DisclosedInsertion['payments'];

/** Without memos the document has neither their secrets nor the other sealed notes. */
function showPayments(
  { insertion, txHash }: KeptOpenings,
  index: number,
  chosen: Payments,
  withMemos: boolean,
): DisclosedInsertion {
  const payments = withMemos ? chosen : chosen.map(({ memo: _, ...payment }) => payment);
  const { sealedNotes, ...rest } = insertion;
  const sealed = withMemos && sealedNotes !== undefined ? { sealedNotes } : {};
  return { ...rest, ...sealed, txHash, index, payments };
}

/** One document has one signer. */
function findPayer(openings: readonly KeptOpenings[]): EvmAddress {
  const payers = new Set(openings.map(({ insertion }) => payerOf(insertion)));
  const [payer, ...others] = payers;
  if (payer === undefined || others.length > 0) {
    throw refuse(
      `these payments were made by ${[...payers].join(' and ')}, and a document has one signer; make one for each, for example with --job or --tx`,
    );
  }
  return payer;
}

function payerOf(insertion: DisclosedInsertion): EvmAddress {
  const payer =
    insertion.kind === 'batch'
      ? insertion.funding?.funder
      : insertion.change && computeWalletAddress(insertion.change.walletPub);
  if (payer === undefined) {
    throw new Error('openings of a payer name the payer');
  }
  return payer;
}

/** Those that landed in the range by the time of their block, as the payee's history has it. The agent's own time of a job is another one. */
async function filterByBlockTime<T extends { readonly openings: KeptOpenings }>(
  wanted: readonly T[],
  range: RangeOptions,
  records: Pick<EvmRecords, 'fetchTransactionLeaves' | 'fetchBlockTime'>,
): Promise<readonly T[]> {
  const chosen: T[] = [];
  for (const one of wanted) {
    const leaf = await findLeaf(records, one.openings);
    // If it is in the range by the agent's own time, the disclosure fails on the missing leaf.
    const paidAtMs =
      leaf === undefined
        ? one.openings.paidAtMs
        : 1_000 * (await records.fetchBlockTime(leaf.blockNumber));
    if (isInRange(range, paidAtMs)) {
      chosen.push(one);
    }
  }
  return chosen;
}

async function findLeaf(
  records: Pick<EvmRecords, 'fetchTransactionLeaves'>,
  { txHash, root }: KeptOpenings,
): Promise<Awaited<ReturnType<EvmRecords['fetchTransactionLeaves']>>[number] | undefined> {
  const leaves = await records.fetchTransactionLeaves(txHash);
  return leaves.find(({ batchRoot }) => batchRoot === root);
}

async function findIndex(
  records: Pick<EvmRecords, 'fetchTransactionLeaves'>,
  openings: KeptOpenings,
): Promise<number> {
  const { txHash } = openings;
  const leaf = await findLeaf(records, openings);
  if (leaf === undefined) {
    throw new PoolError(
      'chain_unreachable',
      `the RPC does not serve the payment in transaction ${txHash}; try again, or use another RPC`,
    );
  }
  return leaf.leafIndex;
}

/** The keys of the parts that a label paid, by the ledger of pay runs. */
function listPayRunKeys(
  label: string | undefined,
  chain: string,
  token: string,
  { home }: Config,
): readonly string[] {
  if (label === undefined) {
    return [];
  }
  const payRun = parsePayRun(label);
  const ledger = openPayRunLedger(payRunLedgerPath(home));
  try {
    const record = ledger.read({ chain, token, payRun });
    if (record === undefined) {
      throw new PoolError('not_found', `this agent directory has no pay run ${payRun} on ${chain}`);
    }
    const { digest, parts } = record;
    return parts.flatMap(({ attempt: attempts }, place) =>
      Array.from({ length: attempts }, (_, index) => index + 1).map((attempt) =>
        computePartKey({ payRun, digest, part: place + 1, count: parts.length, attempt }),
      ),
    );
  } finally {
    ledger.close();
  }
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
