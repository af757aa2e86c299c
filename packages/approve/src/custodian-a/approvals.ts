/**
 * The calls of an approver to custodian A: list what waits, read one approval, vote.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { CustodianAClient } from '@pool/signers';
import * as v from 'valibot';
import { createPageReader } from '../gate/page-reader.ts';
import { type Approval, approvalPageSchema, approvalSchema } from './wire.ts';

export type Approvals = {
  /**
   * Approvals in pages, newest first.
   * @param limit - of one page. Smaller pages are asked for while an answer is too large
   * @throws like {@link Approvals.listPending}
   */
  pages(query: Readonly<Record<string, string>>, limit: number): AsyncIterable<readonly Approval[]>;
  /** Every page. @throws PoolError `custodian_unreachable`, `custodian_refused`, `custodian_invalid_response` */
  listPending(): Promise<readonly Approval[]>;
  /** Undefined: the custodian does not have it. @throws like {@link Approvals.listPending} */
  read(approvalId: string): Promise<Approval | undefined>;
  /**
   * Sends a vote. A refusal because the user has voted, or because nothing is pending, is no error: what stands is read back.
   * @throws like {@link Approvals.listPending}; the vote may have been accepted
   */
  vote(approvalId: string, value: 'Approved' | 'Denied', reason: string): Promise<void>;
};

/** More pages mean a custodian that never ends its list. */
const maxPages = 10_000;

/** As the custodian's own lists have it. */
const pendingLimit = 20;

/** Answers to a vote after which only reading tells what stands: voted before, or resolved meanwhile. */
const settledStatuses: ReadonlySet<number> = new Set([400, 404, 409, 412]);

export function createApprovals(client: CustodianAClient): Approvals {
  async function get(path: string, query: Readonly<Record<string, string>> = {}) {
    const answer = await client.get(path, { query });
    if (answer.status === 404) {
      return undefined;
    }
    if (answer.status < 200 || answer.status > 299) {
      throw client.createRefusal(answer, `GET ${path}`);
    }
    return answer.body;
  }

  async function* pages(query: Readonly<Record<string, string>>, limit: number) {
    const readPage = createPageReader([limit, 20, 5, 1], (size, token: string | undefined) =>
      get('/v2/policy-approvals', {
        ...query,
        limit: String(size),
        ...(token === undefined ? {} : { paginationToken: token }),
      }),
    );
    let token: string | undefined;
    for (let page = 0; page < maxPages; page += 1) {
      const body = await readPage(token);
      const { items, nextPageToken } = parse(approvalPageSchema, body);
      yield items;
      if (nextPageToken === undefined || nextPageToken === null || nextPageToken === '') {
        return;
      }
      token = nextPageToken;
    }
    throw new PoolError(
      'custodian_invalid_response',
      `the custodian's list of approvals has more than ${maxPages} pages`,
    );
  }

  return {
    pages,
    async listPending() {
      const found = new Map<string, Approval>();
      for await (const page of pages({ status: 'Pending' }, pendingLimit)) {
        for (const item of page) {
          found.set(item.id, item);
        }
      }
      return [...found.values()];
    },
    async read(approvalId) {
      const body = await get(`/v2/policy-approvals/${encodeURIComponent(approvalId)}`);
      return body === undefined ? undefined : parse(approvalSchema, body);
    },
    async vote(approvalId, value, reason) {
      const change = await client.authorize({
        method: 'POST',
        path: `/v2/policy-approvals/${encodeURIComponent(approvalId)}/decisions`,
        body: JSON.stringify({ value, reason }),
      });
      const answer = await client.send(change);
      const isSettled = answer.status < 300 || settledStatuses.has(answer.status);
      if (!isSettled) {
        throw client.createRefusal(answer, 'the vote');
      }
    },
  };
}

function parse<TSchema extends v.GenericSchema>(
  schema: TSchema,
  body: unknown,
): v.InferOutput<TSchema> {
  const result = v.safeParse(schema, body);
  if (!result.success) {
    throw new PoolError(
      'custodian_invalid_response',
      "the custodian's answer about approvals does not have the documented form",
    );
  }
  return result.output;
}
