/**
 * Payments of a funder's batches, or of a holder's transfers, opened for a disclosure. Reads the stores of the agent directory.
 *
 * @module
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  computeWalletAddress,
  type DisclosedInsertion,
  type EvmAddress,
  type Hex32,
  PoolError,
  type Secret,
} from '@pool/core';
import { findJobServer, type JobStorePlace } from '@pool/idempotency';
import { findFingerprintKey, readPaidBatch } from '@pool/operations';
import {
  assertFound,
  createPace,
  type DisclosureChoice,
  isChosen,
  isInRange,
  type KeptOpenings,
  openBatch,
  openSpend,
} from '@pool/wallet';
import type { EvmRecords } from '@pool/wallet/evm';
import {
  findSharedState,
  openingsPath,
  openOpeningsStore,
  openSpendArchive,
} from '@pool/wallet/node';
import { isLabelOf } from '../ledger/invited-record.ts';
import { parsePayRun } from '../ledger/pay-run-label.ts';
import { listPartKeys } from '../ledger/pay-run-of-key.ts';
import { listAllPayRuns } from '../ledger/shared-ledger.ts';
import { readRecord, withStore } from '../ledger/stored-keys.ts';

// Everything that this agent can disclose as a payer: openings that were kept when recipients and seeds were erased, and those of payments
// that still have them.

/** Makes no file. @throws PoolError `store_damaged`; the errors of the stores */
async function listOpenings(
  stores: Stores,
  isWanted: (openings: {
    readonly jobKey?: string | undefined;
    readonly txHash: string;
  }) => boolean,
): Promise<readonly KeptOpenings[]> {
  const found = [
    ...(await readKept(stores)),
    ...(await readSpends(stores.home)),
    ...(await readJobs(stores.jobs, isWanted)),
  ].filter(isWanted);
  // An erasure that was interrupted has both.
  return [...new Map(found.map((openings) => [openings.root, openings])).values()];
}

/** Those of the agent's directory, from before it shared its job store too, and those that agents share. */
async function readKept(stores: Stores): Promise<readonly KeptOpenings[]> {
  const { home, jobs, fingerprintKey = findFingerprintKey(home) } = stores;
  const own = existsSync(openingsPath(home)) ? openOpeningsStore(home) : undefined;
  const settings = findJobServer(jobs);
  const { mustBeDurable = false } = jobs;
  const shared = settings && (await findSharedState({ settings, mustBeDurable }, 'read'));
  try {
    if (shared !== undefined && fingerprintKey === undefined) {
      throw new PoolError(
        'invalid_configuration',
        'DISBURSE_FINGERPRINT_KEY is not set, and the agent directory has no fingerprint.key; without the key of the agents of this job store, their openings cannot be read',
      );
    }
    return [
      ...((await own?.readAll()) ?? []),
      ...((fingerprintKey && (await shared?.openOpenings(fingerprintKey).readAll())) ?? []),
    ];
  } finally {
    own?.close();
    await shared?.close();
  }
}

async function readSpends(home: string): Promise<readonly KeptOpenings[]> {
  const path = join(home, 'spends.sqlite');
  if (!existsSync(path)) {
    return [];
  }
  const archive = openSpendArchive(path);
  try {
    const spends = await archive.listErasable(Number.MAX_SAFE_INTEGER, 100_000);
    return spends.flatMap((spend) => openSpend(spend) ?? []);
  } finally {
    archive.close();
  }
}

/** @param isWanted - asked before a batch is rebuilt, which takes up to a second */
async function readJobs(
  jobs: JobStorePlace,
  isWanted: Parameters<typeof listOpenings>[1],
): Promise<readonly KeptOpenings[]> {
  return await withStore(jobs, [], async (store) => {
    const found: KeptOpenings[] = [];
    for (const { scope, key } of await store.listNames()) {
      const job = await store.get(scope, key);
      if (job?.state === 'done') {
        const paid = await readPaidBatch(store, job, readRecord(job.payload));
        if (paid !== undefined && isWanted(paid)) {
          found.push(await openBatch(paid, createPace()));
        }
      }
    }
    return found;
  });
}

export type PaidChoice = DisclosureChoice & {
  /** Idempotency-Keys. Empty: all. */
  readonly jobs: readonly string[];
  /** Label of a pay run. */
  readonly payRun: string | undefined;
};

/** The token of a pool. */
export type PaidPlace = {
  /** Key of the chain. */
  readonly chain: string;
  readonly chainId: number;
  readonly pool: EvmAddress;
  readonly symbol: string;
  readonly token: EvmAddress;
};

type Stores = {
  readonly home: string;
  readonly jobs: JobStorePlace;
  /** `DISBURSE_FINGERPRINT_KEY`. Default: that of the directory. */
  readonly fingerprintKey: Secret | undefined;
};

/** @throws PoolError `not_found`; `invalid_request` if several people paid: one document has one signer */
export async function listPaidInsertions(
  stores: Stores,
  choice: PaidChoice,
  place: PaidPlace,
  records: Pick<EvmRecords, 'fetchTransactionLeaves' | 'fetchBlockTime'>,
): Promise<{ readonly payer: EvmAddress; readonly insertions: readonly DisclosedInsertion[] }> {
  const jobs = [...choice.jobs, ...(await listPayRunKeys(choice.payRun, place, stores))];
  const isWanted = ({ jobKey, txHash }: { jobKey?: string | undefined; txHash: string }): boolean =>
    isChosen(jobs, jobKey) && isChosen(choice.transactions, txHash);
  const chosen: { readonly openings: KeptOpenings; readonly payments: Payments }[] = [];
  for (const openings of await listOpenings(stores, isWanted)) {
    const { insertion, chainId, pool, token } = openings;
    const isHere = chainId === place.chainId && pool === place.pool && token === place.token;
    const payments = insertion.payments.filter(({ commitment }) =>
      isChosen(choice.commitments, commitment),
    );
    if (isHere && payments.length > 0 && (await hasLandedIn(choice.range, openings, records))) {
      chosen.push({ openings, payments });
    }
  }
  assertFound(chosen.length);
  const payer = findPayer(chosen.map(({ openings }) => openings));
  const insertions: DisclosedInsertion[] = [];
  for (const { openings, payments } of chosen) {
    const leaf = await findLeaf(records, openings);
    if (leaf === undefined) {
      throw new PoolError(
        'chain_unreachable',
        `the RPC does not serve the payment in transaction ${openings.txHash}; try again, or use another RPC`,
      );
    }
    insertions.push(showPayments(openings, leaf.leafIndex, payments, choice.withMemos));
  }
  return { payer, insertions };
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

function findPayer(openings: readonly KeptOpenings[]): EvmAddress {
  const payers = new Set(openings.map(({ insertion }) => payerOf(insertion)));
  const [payer, ...others] = payers;
  if (payer === undefined || others.length > 0) {
    throw new PoolError(
      'invalid_request',
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

/** By the time of the block, as the payee's history has it. The agent's own time of a job is another one. */
async function hasLandedIn(
  range: DisclosureChoice['range'],
  openings: KeptOpenings,
  records: Pick<EvmRecords, 'fetchTransactionLeaves' | 'fetchBlockTime'>,
): Promise<boolean> {
  if (range.from === undefined && range.to === undefined) {
    return true;
  }
  const leaf = await findLeaf(records, openings);
  // If it is in the range by the agent's own time, the disclosure fails on the missing leaf.
  return isInRange(
    range,
    leaf === undefined
      ? openings.paidAtMs
      : 1_000 * (await records.fetchBlockTime(leaf.blockNumber)),
  );
}

async function findLeaf(
  records: Pick<EvmRecords, 'fetchTransactionLeaves'>,
  { txHash, root }: { readonly txHash: Hex32; readonly root: Hex32 },
) {
  const leaves = await records.fetchTransactionLeaves(txHash);
  return leaves.find(({ batchRoot }) => batchRoot === root);
}

/** The keys of the parts that a label paid, by the ledger of pay runs. */
async function listPayRunKeys(
  label: string | undefined,
  { chain, symbol: token }: PaidPlace,
  stores: Stores,
): Promise<readonly string[]> {
  if (label === undefined) {
    return [];
  }
  const payRun = parsePayRun(label);
  const found = (await listAllPayRuns(stores)).filter(
    (one) => one.chain === chain && one.token === token && isLabelOf(one.payRun, payRun),
  );
  if (found.length === 0) {
    throw new PoolError('not_found', `this agent has no pay run ${payRun} on ${chain}`);
  }
  return found.flatMap(listPartKeys).map(([key]) => key);
}
