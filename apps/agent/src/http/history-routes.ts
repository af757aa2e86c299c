/**
 * The route of the holder's history. It takes a `holder.read` key of the holder's own wallet, as the balance does.
 *
 * @module
 */
import { type Capability, historyQuery } from '@pool/api';
import { PoolError, parseWire } from '@pool/core';
import type { Shell, ShellEnv } from '@pool/http-server';
import type { HistoryRequest, HolderHistory } from '@pool/wallet/node';
import type { Context, MiddlewareHandler } from 'hono';
import * as v from 'valibot';
import { type HolderEnv, requireHolder } from './holder-routes.ts';
import { takesQuery } from './takes-query.ts';

const querySchema = v.object(historyQuery);

export function addHistoryRoutes(
  app: Shell,
  deps: {
    readonly history: Pick<HolderHistory, 'read'>;
    /** address(W). */
    readonly address: () => Promise<string>;
    readonly requireBearer: (capability: Capability) => MiddlewareHandler<HolderEnv>;
  },
): void {
  const { history, address, requireBearer } = deps;
  app.get(
    '/api/history',
    requireBearer('holder.read'),
    requireHolder(address),
    takesQuery(...Object.keys(historyQuery)),
    async (context) => context.json(await history.read(readRequest(context))),
  );
}

function readRequest(context: Context<ShellEnv & HolderEnv>): HistoryRequest {
  const all = context.req.queries();
  for (const [name, values] of Object.entries(all)) {
    if (values.length > 1) {
      throw new PoolError('invalid_request', `${name}: give it once`);
    }
  }
  const query = parseWire(querySchema, context.req.query(), 'the query');
  const from = readTime('from', query.from);
  const to = readTime('to', query.to);
  if (from !== undefined && to !== undefined && from > to) {
    throw new PoolError('invalid_request', 'to: must not be before from');
  }
  return {
    token: query.token,
    from,
    to,
    after: query.after,
  };
}

/** Unix seconds. A day that the month does not have would otherwise become one of the next month. */
function readTime(name: string, text: string | undefined): number | undefined {
  if (text === undefined) {
    return undefined;
  }
  const ms = Date.parse(text);
  if (Number.isNaN(ms) || `${new Date(ms).toISOString().slice(0, 19)}Z` !== text) {
    throw new PoolError('invalid_request', `${name}: there is no such day`);
  }
  return ms / 1_000;
}
