/**
 * What custodian B shows of the past: what became of the gate's answers, and the transactions that the paired user signed.
 *
 * @module
 */
import { errorCodeOf, PoolError } from '@pool/core';
import type { Vote, WaitingRequest } from '@pool/policy';
import * as v from 'valibot';
import { endVote } from '../custodian/end-vote.ts';
import { createPageReader, cutPage, cutWidePage } from '../custodian/page-reader.ts';
import { createUnread, type HistorySource, type PastApproval } from '../examine/history.ts';
import type { VotingDeps } from '../judge/judge.ts';
import { foreign } from '../preimage/preimage.ts';
import type { CustodianBReader } from './read-client.ts';
import { parseTransaction, readTransactionContent } from './wire.ts';

// Reads back what became of the gate's answers at custodian B, which only ever asks: a vote is done when the transaction shows it or is
// over, and a request that ended waits no more.

/** The provider repeats a request for at most this long. */
const longestRequestMs = 48 * 3_600_000;

const finalStatuses: ReadonlySet<string> = new Set([
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'REJECTED',
  'BLOCKED',
  'TIMEOUT',
]);

const transactionSchema = v.object({
  id: v.string(),
  status: v.string(),
  signedBy: v.nullish(v.array(v.string()), []),
  rejectedBy: v.nullish(v.string()),
});
type Shown = v.InferOutput<typeof transactionSchema>;

export function createReadBack(
  deps: Pick<VotingDeps, 'ledger' | 'nowMs' | 'log'> & {
    readonly reader: CustodianBReader;
    /** The paired user. */
    readonly signerId: string;
  },
) {
  const { reader, ledger, signerId, nowMs, log } = deps;

  /**
   * A request may have another id than its transaction. Where no transaction was shown, the request's own id is tried.
   *
   * @returns `gone`: there is no such transaction, or none can be found any more. Undefined: nothing is known
   */
  async function read(
    { requestId, transactionId }: Pick<Vote, 'requestId' | 'transactionId'>,
    sinceMs: number,
  ): Promise<Shown | 'gone' | undefined> {
    const txId = transactionId ?? requestId;
    const json = await reader.get(`/v1/transactions/${encodeURIComponent(txId)}`);
    const parsed = v.safeParse(transactionSchema, json);
    if (parsed.success && parsed.output.id === txId) {
      return parsed.output;
    }
    const isOver = transactionId !== undefined || nowMs() - sinceMs > longestRequestMs;
    return json === undefined && isOver ? 'gone' : undefined;
  }

  async function followVote(vote: Vote): Promise<void> {
    const shown = await read(vote, vote.decidedAtMs);
    if (shown === undefined) {
      return;
    }
    if (shown === 'gone') {
      endVote(deps, vote, 'lost');
      return;
    }
    const { status, signedBy, rejectedBy } = shown;
    const isSigned = status === 'COMPLETED' || (signedBy ?? []).includes(signerId);
    if (!isSigned && !finalStatuses.has(status)) {
      return;
    }
    const isOther = vote.value === 'approve' ? rejectedBy === signerId : isSigned;
    const difference = {
      data: { stored: vote.value, status },
      message:
        'the custodian shows another answer of the paired user than the ledger; read the audit log, and pair the user anew if nobody explains it',
    };
    endVote(deps, vote, isOther ? difference : undefined);
  }

  async function followWaiting(waiting: WaitingRequest): Promise<void> {
    const shown = await read(waiting, waiting.sinceMs);
    if (shown === 'gone' || (shown !== undefined && finalStatuses.has(shown.status))) {
      ledger.dropWaiting(waiting.requestId, nowMs());
    }
  }

  return {
    /** One look at each open vote and each wait. @throws PoolError of the first read that failed, after the others */
    async look(): Promise<void> {
      const work = [
        ...ledger.listOpenVotes().map((vote) => () => followVote(vote)),
        ...ledger.listWaiting().map((waiting) => () => followWaiting(waiting)),
      ];
      const failures: unknown[] = [];
      for (const follow of work) {
        await follow().catch((error: unknown) => void failures.push(error));
      }
      if (failures.length > 0) {
        const [first] = failures;
        log.warn({ failed: failures.length, error: errorCodeOf(first) ?? 'unknown' }, 'read back');
        throw first;
      }
    },
  };
}

/** Two at least: the last item of a page is the first of the next one. */
const pageSizes = [200, 50, 10];

/** Of one page, as the custodian allows it. */
const mostItems = 500;

const signedSchema = v.object({
  createdAt: v.pipe(v.number(), v.minValue(0)),
  lastUpdated: v.nullish(v.pipe(v.number(), v.minValue(0))),
  signedBy: v.nullish(v.array(v.string()), []),
  status: v.string(),
});
type Signed = v.InferOutput<typeof signedSchema>;

type Deps = {
  readonly reader: CustodianBReader;
  /** The paired user. */
  readonly signerId: string;
  readonly findChainId: (to: string) => number | undefined;
  /** Whether the policy lists a vault. */
  readonly isListed: (wallet: string) => boolean;
};

/**
 * A list that is cut would make a restored ledger look complete, so it is refused: its pages throw `custodian_invalid_response`. A transaction
 * that cannot be read in the list is read alone.
 */
export function createPastTransactions(deps: Deps): HistorySource {
  const { reader } = deps;

  async function readItem({ item, signed }: Item): Promise<readonly PastApproval[]> {
    const id = readId(item);
    if (signed !== undefined || id === undefined) {
      return readPast(item, signed, deps);
    }
    const alone = (await reader.get(`/v1/transactions/${encodeURIComponent(id)}`)) ?? item;
    return readPast(alone, readSigned(alone), deps);
  }

  return {
    async *pages() {
      const readPage = createPageReader(pageSizes, async (ofPages, { before, isWide }: Place) => {
        const size = isWide ? mostItems : ofPages;
        const query = {
          limit: String(size),
          ...(before === undefined ? {} : { before: String(before) }),
        };
        const cut = isWide ? cutWidePage(2) : cutPage(2, size);
        return { size, body: await reader.get('/v1/transactions', query, cut) };
      });
      let place: Place = { before: undefined, isWide: false };
      let narrow = 0;
      for (;;) {
        const { size, body } = await readPage(place);
        const items = readItems(body);
        const found: PastApproval[] = [];
        for (const item of items) {
          found.push(...(await readItem(item)));
        }
        yield found;
        // A custodian that does not give more when it is asked for more would end its list too early.
        if (place.isWide && items.length <= narrow) {
          throw invalid('the list of transactions does not go back in time');
        }
        if (items.length < size) {
          return;
        }
        narrow = size;
        place = findNextPlace(items, place);
      }
    },
  };
}

/** Pages go back in time. `isWide`: more items have one millisecond than fit into a page of the usual size. */
type Place = { readonly before: number | undefined; readonly isWide: boolean };

/** `signed` undefined: what the list needs of it cannot be read. */
type Item = { readonly item: unknown; readonly signed: Signed | undefined };

function findNextPlace(items: readonly Item[], { before, isWide }: Place): Place {
  const oldest = items.findLast(({ signed }) => signed !== undefined)?.signed;
  if (oldest === undefined) {
    throw invalid('no transaction of a page has a createdAt and a status');
  }
  // Others of the same millisecond may be on the next page.
  const next = oldest.createdAt + 1;
  if (before === undefined || next < before) {
    return { before: next, isWide: false };
  }
  if (isWide) {
    throw invalid('the list of transactions does not go back in time');
  }
  return { before, isWide: true };
}

function readItems(body: unknown): readonly Item[] {
  if (!Array.isArray(body)) {
    throw invalid('the list of transactions is no array');
  }
  return body.map((item: unknown) => ({ item, signed: readSigned(item) }));
}

function readSigned(item: unknown): Signed | undefined {
  const signed = v.safeParse(signedSchema, item);
  return signed.success ? signed.output : undefined;
}

function invalid(what: string): PoolError {
  return new PoolError(
    'custodian_invalid_response',
    `${what}, so the custodian's history is not complete; check that the gate's API user may read transactions`,
  );
}

function readPast(
  item: unknown,
  signed: Signed | undefined,
  { signerId, findChainId, isListed }: Omit<Deps, 'reader'>,
): readonly PastApproval[] {
  if (signed === undefined) {
    return isOfOthers(item, signerId)
      ? []
      : [createUnread(readId(item), 'the transaction has no createdAt or no status')];
  }
  const { status, createdAt, lastUpdated } = signed;
  const signedBy = signed.signedBy ?? [];
  const isOwn = signedBy.includes(signerId);
  const mayBeOwn = signedBy.length === 0 && status === 'COMPLETED';
  if (!isOwn && !mayBeOwn) {
    return [];
  }
  const transaction = parseTransaction(item);
  const times = { createdAtMs: createdAt, atMs: lastUpdated ?? createdAt };
  if (transaction === undefined) {
    const reading = foreign('the transaction is of an unknown form');
    const id = readId(item) ?? 'a transaction without an id';
    return isOwn ? [{ id, wallet: '', reading, ...times }] : [];
  }
  const chainId = findChainId(transaction.destinationAddress ?? '');
  const reading = readTransactionContent(transaction, {}, chainId);
  // Others sign other things in the same workspace. Where it does not show who, the gate signs with the policy's vaults only.
  return isOwn || (reading.kind !== 'foreign' && isListed(transaction.source.id))
    ? [{ id: transaction.id, wallet: transaction.source.id, reading, ...times }]
    : [];
}

/** It shows who signed it, and the paired user is not among them. */
function isOfOthers(item: unknown, signerId: string): boolean {
  const shown = v.safeParse(v.object({ signedBy: v.array(v.string()) }), item);
  return shown.success && !shown.output.signedBy.includes(signerId);
}

function readId(item: unknown): string | undefined {
  const parsed = v.safeParse(v.object({ id: v.pipe(v.string(), v.maxLength(256)) }), item);
  return parsed.success ? parsed.output.id : undefined;
}
