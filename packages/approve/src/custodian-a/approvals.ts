/**
 * The calls of an approver to custodian A: list what waits, read one approval, vote.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { Cut } from '@pool/http-client';
import type { CustodianAClient } from '@pool/signers';
import * as v from 'valibot';
import { createPageReader, cutItem, cutPage } from '../custodian/page-reader.ts';
import { createUnread, type HistorySource, type PastApproval } from '../examine/history.ts';
import {
  type Approval,
  approvalPageSchema,
  type ListedApproval,
  readActivity,
  readApproval,
} from './wire.ts';

// The approvals of custodian A that our user gave, newest first.

/** An approval that cannot be read in its list is read alone. One that our user did not give is nobody's business here. */
export function createPastApprovals(approvals: Approvals, userId: string): HistorySource {
  async function readListed(listed: ListedApproval): Promise<readonly PastApproval[]> {
    if (listed.kind === 'approval') {
      return readPast(listed.approval, userId);
    }
    const alone = (listed.id === undefined ? undefined : await approvals.read(listed.id)) ?? listed;
    if (alone.kind === 'approval') {
      return readPast(alone.approval, userId);
    }
    const { id, voters } = alone;
    return voters?.includes(userId) === false
      ? []
      : [createUnread(id, 'the approval does not have the documented form')];
  }

  return {
    async *pages() {
      for await (const page of approvals.pages({}, 100)) {
        const found: PastApproval[] = [];
        for (const listed of page) {
          found.push(...(await readListed(listed)));
        }
        yield found;
      }
    },
  };
}

function readPast(approval: Approval, userId: string): readonly PastApproval[] {
  const own = approval.decisions.find((decision) => decision.userId === userId);
  if (own?.value !== 'Approved') {
    return [];
  }
  const { id, dateCreated } = approval;
  const atMs = Date.parse(own.date ?? dateCreated ?? '');
  const createdAtMs = Date.parse(dateCreated ?? own.date ?? '');
  if (Number.isNaN(atMs) || Number.isNaN(createdAtMs)) {
    // Without its day it would not count in the sum of that day.
    throw new PoolError(
      'custodian_invalid_response',
      `the approval ${id} has no date, so the custodian's history is not complete`,
    );
  }
  const { walletId: wallet, reading } = readActivity(approval.activity);
  return [{ id, wallet, reading, createdAtMs, atMs }];
}

export type Approvals = ReturnType<typeof createApprovals>;

/** More pages mean a custodian that never ends its list. */
const maxPages = 10_000;

/** Answers to a vote after which only reading tells what stands: voted before, or resolved meanwhile. */
const settledStatuses: ReadonlySet<number> = new Set([400, 404, 409, 412]);

type Query = Readonly<Record<string, string>>;

export function createApprovals(client: CustodianAClient) {
  async function get(path: string, cut: Cut, query: Query = {}) {
    const answer = await client.get(path, { query, cut });
    if (answer.status === 404) {
      return undefined;
    }
    if (answer.status < 200 || answer.status > 299) {
      throw client.createRefusal(answer, `GET ${path}`);
    }
    return answer.body;
  }

  return {
    /**
     * Approvals in pages, newest first. One that cannot be read is one item among the others.
     * @param limit - of one page. Smaller pages are asked for while an answer is too large
     * @throws PoolError `custodian_unreachable`, `custodian_refused`, `custodian_invalid_response`
     */
    async *pages(query: Query, limit: number): AsyncGenerator<readonly ListedApproval[]> {
      const readPage = createPageReader([limit, 20, 5, 1], (size, token: string | undefined) =>
        get('/v2/policy-approvals', cutPage(3, size), {
          ...query,
          limit: String(size),
          ...(token === undefined ? {} : { paginationToken: token }),
        }),
      );
      let token: string | undefined;
      for (let page = 0; page < maxPages; page += 1) {
        const body = v.safeParse(approvalPageSchema, await readPage(token));
        if (!body.success) {
          throw new PoolError(
            'custodian_invalid_response',
            "the custodian's list of approvals does not have the documented form",
          );
        }
        const { items, nextPageToken } = body.output;
        yield items.map(readApproval);
        if (nextPageToken === undefined || nextPageToken === null || nextPageToken === '') {
          return;
        }
        token = nextPageToken;
      }
      throw new PoolError(
        'custodian_invalid_response',
        `the custodian's list of approvals has more than ${maxPages} pages`,
      );
    },
    /** Undefined: the custodian does not have it. @throws like `pages` */
    async read(approvalId: string): Promise<ListedApproval | undefined> {
      const body = await get(`/v2/policy-approvals/${encodeURIComponent(approvalId)}`, cutItem);
      return body === undefined ? undefined : readApproval(body);
    },
    /**
     * Sends a vote. A refusal because the user has voted, or because nothing is pending, is no error: what stands is read back.
     * @throws like `pages`; the vote may have been accepted
     */
    async vote(approvalId: string, value: 'Approved' | 'Denied', reason: string): Promise<void> {
      const change = await client.authorize({
        method: 'POST',
        path: `/v2/policy-approvals/${encodeURIComponent(approvalId)}/decisions`,
        body: JSON.stringify({ value, reason }),
        // The answer repeats the request.
        cut: cutItem,
      });
      const answer = await client.send(change);
      const isSettled = answer.status < 300 || settledStatuses.has(answer.status);
      if (!isSettled) {
        throw client.createRefusal(answer, 'the vote');
      }
    },
  };
}
