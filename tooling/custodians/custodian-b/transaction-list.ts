/**
 * Filters of `GET /v1/transactions`.
 *
 * @module
 */
import * as v from 'valibot';
import { malformed } from './api-problem.ts';
import type { Transaction } from './transaction.ts';

const number = v.pipe(v.string(), v.regex(/^\d{1,16}$/), v.transform(Number));
const querySchema = v.object({
  before: v.optional(number),
  after: v.optional(number),
  status: v.optional(v.string()),
  orderBy: v.optional(v.picklist(['createdAt', 'lastUpdated']), 'createdAt'),
  sort: v.optional(v.picklist(['ASC', 'DESC']), 'DESC'),
  limit: v.optional(v.pipe(number, v.minValue(1), v.maxValue(500)), '200'),
  sourceType: v.optional(v.string()),
  sourceId: v.optional(v.string()),
  assets: v.optional(v.string()),
  txHash: v.optional(v.string()),
});

/** @throws ApiProblemError 400 */
export function findTransactions(
  transactions: readonly Transaction[],
  query: Readonly<Record<string, string>>,
): readonly Transaction[] {
  const parsed = v.safeParse(querySchema, query);
  if (!parsed.success) {
    throw malformed(`${v.getDotPath(parsed.issues[0]) ?? 'the query'} is not of its form`);
  }
  const { before, after, status, orderBy, sort, limit, sourceType, sourceId, txHash } =
    parsed.output;
  const assets = parsed.output.assets?.split(',');
  const direction = sort === 'ASC' ? 1 : -1;
  return transactions
    .filter(
      (one) =>
        (before === undefined || one.createdAt < before) &&
        (after === undefined || one.createdAt > after) &&
        (status === undefined || one.status === status) &&
        (sourceType === undefined || sourceType === 'VAULT_ACCOUNT') &&
        (sourceId === undefined || one.vaultAccountId === sourceId) &&
        (assets === undefined || assets.includes(one.assetId)) &&
        (txHash === undefined || one.txHash === txHash),
    )
    .toSorted((a, b) => direction * (a[orderBy] - b[orderBy]))
    .slice(0, limit);
}
