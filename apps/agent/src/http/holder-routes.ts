/**
 * The routes of the holder: its balance, and for this agent's own command line the progress of a sync, arrivals and a rescan. Each takes a key
 * with the capability of its role that the holder's own wallet minted (docs/decisions/0010).
 *
 * @module
 */
import type { Balance, Capability } from '@pool/api';
import { fieldToHex, PoolError } from '@pool/core';
import type { Shell, ShellEnv } from '@pool/http-server';
import { describeLocked } from '@pool/wallet';
import type { Arrival, BalanceReport, HolderReads, HolderSpends } from '@pool/wallet/node';
import type { Context, MiddlewareHandler } from 'hono';
import type { Principal } from './bearer.ts';
import { takesQuery } from './takes-query.ts';

export type HolderEnv = { Variables: { principal: Principal } };

/**
 * Admits the holder's own keys.
 * @param address - of the holder's wallet; asked after the key was verified
 * @throws PoolError 403 `forbidden` for the loopback token and for keys of other wallets
 */
export function requireHolder(address: () => Promise<string>): MiddlewareHandler<HolderEnv> {
  return async (context, next) => {
    const principal = context.get('principal');
    if (principal.kind === 'loopback') {
      throw new PoolError(
        'forbidden',
        "the loopback token reaches the disbursement routes only; send an API key of the holder's wallet",
      );
    }
    if (principal.address.toLowerCase() !== (await address()).toLowerCase()) {
      throw new PoolError(
        'forbidden',
        "this API key belongs to another wallet than this agent's holder",
      );
    }
    await next();
  };
}

export function addHolderRoutes(
  app: Shell,
  notes: HolderReads,
  spends: Pick<HolderSpends, 'locked'>,
  requireBearer: (capability: Capability) => MiddlewareHandler<HolderEnv>,
): void {
  const answer = async (token: string, report: BalanceReport): Promise<Balance> => {
    const locked = await spends.locked(token);
    return { ...createBalance(report), ...(locked === undefined ? {} : describeLocked(locked)) };
  };
  const reader = [requireBearer('holder.read'), requireHolder(() => notes.address())] as const;

  app.get('/api/balance', ...reader, takesQuery('token'), async (context) => {
    const token = readToken(context);
    return context.json(await answer(token, await notes.readBalance(token)));
  });

  // For this agent's own command line. A first sync can take minutes.
  app.get('/api/balance/progress', ...reader, takesQuery(), (context) =>
    context.json(notes.progress()),
  );

  // For this agent's own command line too.
  app.get('/api/balance/arrivals', ...reader, takesQuery('token', 'after'), async (context) => {
    const { arrivals, balance, decimals, cursor } = await notes.readArrivals(
      readToken(context),
      readCursor(context),
    );
    return context.json({
      ...{ balance: createBalance(balance), decimals, cursor },
      arrivals: arrivals.map(describeArrival),
    });
  });

  app.post('/api/balance/rescan', ...reader, async (context) => {
    const from = context.req.query('from');
    if (from !== undefined && !/^(?:0|[1-9][0-9]{0,14})$/.test(from)) {
      throw new PoolError('invalid_request', 'from: give the number of a block');
    }
    const fromBlock = from === undefined ? undefined : Number(from);
    context.get('log').info({}, 'rescan asked for');
    const token = readToken(context);
    return context.json(await answer(token, await notes.rescan(token, fromBlock)));
  });
}

function readToken(context: Context<ShellEnv & HolderEnv>): string {
  const [token = '', ...others] = context.req.queries('token') ?? [];
  if (token === '' || others.length > 0) {
    throw new PoolError('invalid_request', 'token: give one token symbol, for example USDC');
  }
  return token;
}

/** Of an earlier answer: each store of notes has a part of it. */
function readCursor(context: Context<ShellEnv & HolderEnv>): string | undefined {
  const [after, ...others] = context.req.queries('after') ?? [];
  if (others.length > 0 || (after !== undefined && !/^[0-9a-f.-]{1,1000}$/.test(after))) {
    throw new PoolError('invalid_request', 'after: send the cursor of an earlier answer, once');
  }
  return after;
}

function describeArrival({ note, seenAtMs }: Arrival) {
  const { amount, memo, txHash, commitment } = note;
  return {
    time: `${new Date(seenAtMs).toISOString().slice(0, 19)}Z`,
    amount: amount.toString(),
    ...(memo === undefined ? {} : { memo }),
    ...{ txHash, commitment: fieldToHex(commitment) },
  };
}

function createBalance({ total, symbol, notes, largestNote, chain }: BalanceReport): Balance {
  return {
    total: total.toString(),
    symbol,
    notes,
    largestNote: largestNote.toString(),
    chain,
  };
}
