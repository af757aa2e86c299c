/**
 * Reads back what became of the gate's answers at custodian B, which only ever asks: a vote is done when the transaction shows it or is
 * over, and a request that ended waits no more.
 *
 * @module
 */
import { errorCodeOf } from '@pool/core';
import type { Vote, WaitingRequest } from '@pool/policy';
import * as v from 'valibot';
import type { VotingDeps } from '../judge/judge.ts';
import type { CustodianBReader } from './read-client.ts';

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
    const { id, requestId, value, decidedAtMs } = vote;
    const shown = await read(vote, decidedAtMs);
    if (shown === undefined) {
      return;
    }
    if (shown === 'gone') {
      ledger.markSeen(id, nowMs());
      ledger.writeAudit('vote-lost', { requestId }, nowMs());
      return;
    }
    const { status, signedBy, rejectedBy } = shown;
    const isSigned = status === 'COMPLETED' || (signedBy ?? []).includes(signerId);
    if (!isSigned && !finalStatuses.has(status)) {
      return;
    }
    ledger.markSeen(id, nowMs());
    const isOther = value === 'approve' ? rejectedBy === signerId : isSigned;
    if (isOther) {
      ledger.writeAudit('vote-differs', { requestId, stored: value, status }, nowMs());
      log.error(
        { request: requestId, stored: value, status },
        'the custodian shows another answer of the paired user than the ledger; read the audit log, and pair the user anew if nobody explains it',
      );
    }
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
