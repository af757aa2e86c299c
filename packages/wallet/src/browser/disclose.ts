/**
 * A payslip with its proof: a disclosure that the account signs as the payee (docs/disclosure.md).
 *
 * @module
 */
import { type Disclosure, PoolError } from '@pool/core';
import type { DisclosurePurpose } from '../disclosure/choice.ts';
import { discloseReceived, type ReceivedSources } from '../evm/received-insertions.ts';
import type { HolderChain } from '../holder/holder.ts';
import type { HolderHistory } from '../holder/wallet-history.ts';

export type PayslipDisclosure = DisclosurePurpose & {
  /** Symbol. */
  readonly token: string;
  /** Of the received notes that are shown. One or more. */
  readonly commitments: readonly string[];
  /** Shows memos too. The chain proves those of transfers only. */
  readonly withMemos: boolean;
};

type Sources = Pick<ReceivedSources, 'holder' | 'deliveries'> & {
  readonly chain: HolderChain;
  readonly history: Pick<HolderHistory, 'read'>;
  readonly createRecords: (
    settings: HolderChain['settings'],
  ) => ReceivedSources['records'] & { close(): void };
  readonly nowMs: () => number;
};

/** @throws PoolError `not_found`, `invalid_request` */
export async function disclosePayslips(
  { token: symbol, commitments, withMemos, ...purpose }: PayslipDisclosure,
  { holder, deliveries, chain, history, createRecords, nowMs }: Sources,
): Promise<Disclosure> {
  const token = chain.settings.tokens[symbol]?.address;
  // An empty choice would show everything.
  if (token === undefined || commitments.length === 0) {
    throw new PoolError(
      'invalid_request',
      token === undefined
        ? `this pool has no token ${symbol}`
        : 'name the payslips that the document shows',
    );
  }
  const records = createRecords(chain.settings);
  try {
    return await discloseReceived(
      { transactions: [], commitments, withMemos },
      { ...purpose, nowMs: nowMs() },
      { settings: chain.settings, token, symbol },
      {
        ...{ holder, deliveries, records },
        fetchHistory: (after) => history.read({ token: symbol, after }),
      },
    );
  } finally {
    records.close();
  }
}
