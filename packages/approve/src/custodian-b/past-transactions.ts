/**
 * The transactions of custodian B that the paired user signed, newest first.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import * as v from 'valibot';
import type { HistorySource, PastApproval } from '../gate/history.ts';
import type { CustodianBReader } from './read-client.ts';
import { parseTransaction, readTransactionContent } from './wire.ts';

const pageSize = 200;

const signedSchema = v.object({
  createdAt: v.pipe(v.number(), v.minValue(0)),
  lastUpdated: v.nullish(v.pipe(v.number(), v.minValue(0))),
  signedBy: v.nullish(v.array(v.string()), []),
  status: v.string(),
});
type Signed = v.InferOutput<typeof signedSchema>;

/** A list that is cut would make a restored ledger look complete, so it is refused: its pages throw `custodian_invalid_response`. */
export function createPastTransactions(
  reader: CustodianBReader,
  signerId: string,
  findChainId: (to: string) => number | undefined,
): HistorySource {
  return {
    async *pages() {
      let before: number | undefined;
      for (;;) {
        const query = {
          limit: String(pageSize),
          ...(before === undefined ? {} : { before: String(before) }),
        };
        const items = readItems(await reader.get('/v1/transactions', query));
        yield items.flatMap(({ item, signed }) => readPast(item, signed, signerId, findChainId));
        const oldest = items.at(-1);
        if (oldest === undefined || items.length < pageSize) {
          return;
        }
        // Others of the same millisecond may be on the next page.
        const next = oldest.signed.createdAt + 1;
        if (before !== undefined && next >= before) {
          throw invalid('the list of transactions does not go back in time');
        }
        before = next;
      }
    },
  };
}

type Item = { readonly item: unknown; readonly signed: Signed };

function readItems(body: unknown): readonly Item[] {
  if (!Array.isArray(body)) {
    throw invalid('the list of transactions is no array');
  }
  return body.map((item: unknown) => {
    const signed = v.safeParse(signedSchema, item);
    if (!signed.success) {
      throw invalid('a transaction in the list has no createdAt or no status');
    }
    return { item, signed: signed.output };
  });
}

function invalid(what: string): PoolError {
  return new PoolError(
    'custodian_invalid_response',
    `${what}, so the custodian's history is not complete; check that the gate's API user may read transactions`,
  );
}

function readPast(
  item: unknown,
  { signedBy, status, createdAt, lastUpdated }: Signed,
  signerId: string,
  findChainId: (to: string) => number | undefined,
): readonly PastApproval[] {
  const transaction = parseTransaction(item);
  if (transaction === undefined) {
    return [];
  }
  if (!signedBy?.includes(signerId) && status !== 'COMPLETED') {
    return [];
  }
  const chainId = findChainId(transaction.destinationAddress ?? '');
  const reading = readTransactionContent(transaction, {}, chainId);
  return reading.kind === 'preimage'
    ? [
        {
          wallet: transaction.source.id,
          preimage: reading.preimage,
          atMs: lastUpdated ?? createdAt,
        },
      ]
    : [];
}
