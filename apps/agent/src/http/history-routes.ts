/**
 * The route of the holder's history. It takes a `holder.read` key of the holder's own wallet, as the balance does.
 *
 * @module
 */
import { type Capability, historyQuery } from '@pool/api';
import { PoolError, parseWire } from '@pool/core';
import type { Shell, ShellEnv } from '@pool/http-server';
import type { Context, MiddlewareHandler } from 'hono';
import * as v from 'valibot';
import type { HistoryRequest, HolderHistory } from '../services/holder-history.ts';
import { type HolderEnv, requireHolder } from './holder-routes.ts';

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
  app.get('/api/history', requireBearer('holder.read'), requireHolder(address), async (context) =>
    context.json(await history.read(readRequest(context))),
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
  return {
    token: query.token,
    from: query.from === undefined ? undefined : Date.parse(query.from) / 1_000,
    to: query.to === undefined ? undefined : Date.parse(query.to) / 1_000,
    after: query.after,
  };
}
