/**
 * The transactions of custodian B that the paired user signed, newest first.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import * as v from 'valibot';
import type { HistorySource, PastApproval } from '../gate/history.ts';
import { createPageReader } from '../gate/page-reader.ts';
import { foreign } from '../preimage/preimage.ts';
import type { CustodianBReader } from './read-client.ts';
import { parseTransaction, readTransactionContent } from './wire.ts';

/** Two at least: the last item of a page is the first of the next one. */
const pageSizes = [200, 50, 10, 2];

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
      const readPage = createPageReader(pageSizes, async (size, before: number | undefined) => {
        const query = {
          limit: String(size),
          ...(before === undefined ? {} : { before: String(before) }),
        };
        return { size, body: await reader.get('/v1/transactions', query) };
      });
      let before: number | undefined;
      for (;;) {
        const { size, body } = await readPage(before);
        const items = readItems(body);
        yield items.flatMap(({ item, signed }) => readPast(item, signed, signerId, findChainId));
        const oldest = items.at(-1);
        if (oldest === undefined || items.length < size) {
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
  const isOwn = signedBy?.includes(signerId) === true;
  if (!isOwn && status !== 'COMPLETED') {
    return [];
  }
  const transaction = parseTransaction(item);
  const times = { createdAtMs: createdAt, atMs: lastUpdated ?? createdAt };
  if (transaction === undefined) {
    const reading = foreign('the transaction is of an unknown form');
    return isOwn ? [{ id: readId(item), wallet: '', reading, ...times }] : [];
  }
  const chainId = findChainId(transaction.destinationAddress ?? '');
  const reading = readTransactionContent(transaction, {}, chainId);
  // Others sign other things in the same workspace.
  return isOwn || reading.kind === 'preimage'
    ? [{ id: transaction.id, wallet: transaction.source.id, reading, ...times }]
    : [];
}

function readId(item: unknown): string {
  const parsed = v.safeParse(v.object({ id: v.pipe(v.string(), v.maxLength(256)) }), item);
  return parsed.success ? parsed.output.id : 'a transaction without an id';
}
