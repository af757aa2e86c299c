/**
 * The calls of an approver to custodian A: list what waits, read one approval, vote.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { Cut } from '@pool/http-client';
import type { CustodianAClient } from '@pool/signers';
import * as v from 'valibot';
import { cutItem, cutPage } from '../custodian/list-cut.ts';
import { createPageReader } from '../custodian/page-reader.ts';
import { approvalPageSchema, type ListedApproval, readApproval } from './wire.ts';

export type Approvals = {
  /**
   * Approvals in pages, newest first. One that cannot be read is one item among the others.
   * @param limit - of one page. Smaller pages are asked for while an answer is too large
   * @throws PoolError `custodian_unreachable`, `custodian_refused`, `custodian_invalid_response`
   */
  pages(
    query: Readonly<Record<string, string>>,
    limit: number,
  ): AsyncIterable<readonly ListedApproval[]>;
  /** Undefined: the custodian does not have it. @throws like {@link Approvals.pages} */
  read(approvalId: string): Promise<ListedApproval | undefined>;
  /**
   * Sends a vote. A refusal because the user has voted, or because nothing is pending, is no error: what stands is read back.
   * @throws like {@link Approvals.pages}; the vote may have been accepted
   */
  vote(approvalId: string, value: 'Approved' | 'Denied', reason: string): Promise<void>;
};

/** More pages mean a custodian that never ends its list. */
const maxPages = 10_000;

/** Answers to a vote after which only reading tells what stands: voted before, or resolved meanwhile. */
const settledStatuses: ReadonlySet<number> = new Set([400, 404, 409, 412]);

export function createApprovals(client: CustodianAClient): Approvals {
  async function get(path: string, cut: Cut, query: Readonly<Record<string, string>> = {}) {
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
    async *pages(query, limit) {
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
    async read(approvalId) {
      const body = await get(`/v2/policy-approvals/${encodeURIComponent(approvalId)}`, cutItem);
      return body === undefined ? undefined : readApproval(body);
    },
    async vote(approvalId, value, reason) {
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
