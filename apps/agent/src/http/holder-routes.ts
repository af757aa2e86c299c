/**
 * The routes of the holder: balance, history, transfer, send and consolidate, and for this agent's own command line progress, arrivals, a
 * rescan and the sweep of a rotation. Each takes a key with the capability of its role that the holder's own wallet minted
 * (docs/decisions/0010). A spend is answered on the same connection, which takes minutes (docs/decisions/0011).
 *
 * @module
 */
import { type Balance, type Capability, historyQuery } from '@pool/api';
import { isSameSecret } from '@pool/configuration';
import {
  deriveTraceId,
  fieldToHex,
  isPoolError,
  PoolError,
  parseIdempotencyKey,
  parseWire,
  type Secret,
  type SpendOperationName,
} from '@pool/core';
import { limitBody, readJsonBody, type Shell, type ShellEnv } from '@pool/http-server';
import { commandHeaders } from '@pool/pay-run';
import { createPace, describeLocked } from '@pool/wallet';
import type {
  Arrival,
  BalanceReport,
  HistoryRequest,
  HolderHistory,
  HolderReads,
  HolderSpends,
} from '@pool/wallet/node';
import type { Context, MiddlewareHandler } from 'hono';
import * as v from 'valibot';
import type { Principal } from './bearer.ts';
import { takesQuery } from './takes-query.ts';

/** A spend pays at most seven wallets. */
const maxBodyBytes = 64 * 1024;

const querySchema = v.object(historyQuery);

export type HolderEnv = { Variables: { principal: Principal } };

/**
 * Admits the holder's own keys.
 * @param address - of the holder's wallet; asked after the key was verified
 * @throws PoolError 403 `forbidden` for the loopback token and for keys of other wallets
 */
function requireHolder(address: () => Promise<string>): MiddlewareHandler<HolderEnv> {
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

export type HolderRoutesDeps = {
  readonly notes: HolderReads;
  readonly history: Pick<HolderHistory, 'read'>;
  readonly spends: Pick<HolderSpends, 'spend' | 'consolidate' | 'progress' | 'sweep' | 'locked'>;
  readonly requireBearer: (capability: Capability) => MiddlewareHandler<HolderEnv>;
  /** Shows that a request comes from a command on this machine. */
  readonly loopbackToken: Secret;
};

export function addHolderRoutes(app: Shell, deps: HolderRoutesDeps): void {
  const { notes, history, spends, requireBearer, loopbackToken } = deps;
  const admit = (role: 'read' | SpendOperationName) =>
    [requireBearer(`holder.${role}`), requireHolder(() => notes.address())] as const;
  const answer = async (token: string, report: BalanceReport): Promise<Balance> => {
    const locked = await spends.locked(token);
    return { ...createBalance(report), ...(locked === undefined ? {} : describeLocked(locked)) };
  };

  app.get('/api/balance', ...admit('read'), takesQuery('token'), async (context) => {
    const token = readToken(context);
    return context.json(await answer(token, await notes.readBalance(token)));
  });

  // For this agent's own command line. A first sync can take minutes.
  app.get('/api/balance/progress', ...admit('read'), takesQuery(), (context) =>
    context.json(notes.progress()),
  );

  // For this agent's own command line too.
  app.get(
    '/api/balance/arrivals',
    ...admit('read'),
    takesQuery('token', 'after'),
    async (context) => {
      const { arrivals, balance, decimals, cursor } = await notes.readArrivals(
        readToken(context),
        readCursor(context),
      );
      return context.json({
        ...{ balance: createBalance(balance), decimals, cursor },
        arrivals: arrivals.map(describeArrival),
      });
    },
  );

  app.post('/api/balance/rescan', ...admit('read'), async (context) => {
    const from = context.req.query('from');
    if (from !== undefined && !/^(?:0|[1-9][0-9]{0,14})$/.test(from)) {
      throw new PoolError('invalid_request', 'from: give the number of a block');
    }
    const fromBlock = from === undefined ? undefined : Number(from);
    context.get('log').info({}, 'rescan asked for');
    const token = readToken(context);
    return context.json(await answer(token, await notes.rescan(token, fromBlock)));
  });

  app.get(
    '/api/history',
    ...admit('read'),
    takesQuery(...Object.keys(historyQuery)),
    async (context) => context.json(await history.read(readRequest(context))),
  );

  for (const operation of ['transfer', 'send'] as const) {
    app.post(`/api/${operation}`, ...admit(operation), limitBody(maxBodyBytes), async (context) => {
      const key = parseIdempotencyKey(context.req.header('idempotency-key'));
      const command = readCommand((name) => context.req.header(name), loopbackToken);
      const body = await readJsonBody(context, createPace());
      // A key can name a payment of people. The log contains the trace id instead.
      context.get('log').info({ trace: deriveTraceId(key), operation }, 'spend asked for');
      try {
        const receipt = await spends.spend({ operation, key, body, ...command });
        return context.json(receipt, receipt.status === 'reverted' ? 422 : 200);
      } catch (error) {
        const amounts = isPoolError(error) ? pickAmounts(error.details) : undefined;
        if (!isPoolError(error) || amounts === undefined) {
          throw error;
        }
        const { code, message } = error;
        context.set('answeredCode', code);
        return context.json({ code, message, ...amounts }, 409);
      }
    });

    // For this agent's own command line.
    app.get(`/api/${operation}/progress`, ...admit(operation), (context) => {
      const key = parseIdempotencyKey(context.req.header('idempotency-key'));
      return context.json(spends.progress(operation, key));
    });
  }

  app.post('/api/consolidate', ...admit('transfer'), limitBody(maxBodyBytes), async (context) => {
    const body = await readJsonBody(context, createPace());
    context.get('log').info({}, 'consolidation asked for');
    return context.json(await spends.consolidate(body));
  });

  // For this agent's own command line: one step of `rotate-viewing-key`. It pays nobody but the holder. Whoever has only the API key
  // must not choose when notes are linked to each other.
  app.post('/api/transfer/sweep', ...admit('transfer'), async (context) => {
    if (!isCommand((name) => context.req.header(name), loopbackToken)) {
      throw new PoolError(
        'forbidden',
        'only a command on the machine of the agent can move the notes of an earlier key: use "disburse-agent rotate-viewing-key"',
      );
    }
    const { token = '', to = '', dryRun } = context.req.query();
    context.get('log').info({}, 'sweep asked for');
    return context.json(await spends.sweep(token, to, dryRun === 'true'));
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

/**
 * What only this agent's own commands can say. The routes themselves accept no chain, so that a caller cannot choose where a proof is
 * sent.
 * @throws PoolError `invalid_request` for a chain without the loopback token
 */
function readCommand(
  header: (name: string) => string | undefined,
  loopbackToken: Secret,
): { readonly chain?: string; readonly isAttached: boolean } {
  const isAttached = header(commandHeaders.attach) === 'only';
  const chain = header(commandHeaders.chain);
  if (chain === undefined) {
    return { isAttached };
  }
  if (!isCommand(header, loopbackToken)) {
    throw new PoolError(
      'invalid_request',
      'only a command on the machine of the agent can choose the chain; omit the header',
    );
  }
  return { isAttached, chain };
}

function isCommand(header: (name: string) => string | undefined, loopbackToken: Secret): boolean {
  return isSameSecret(header(commandHeaders.proof) ?? '', loopbackToken.reveal());
}

/** What `insufficient_funds` and `consolidation_required` carry. The first is always there. */
const amountFields = ['spendable', 'locked', 'lockedUntil', 'largestSpend'] as const;

/** Undefined for other errors. */
function pickAmounts(
  details: Readonly<Record<string, unknown>> | undefined,
): Readonly<Partial<Record<(typeof amountFields)[number], string>>> | undefined {
  if (typeof details?.['spendable'] !== 'string') {
    return undefined;
  }
  return Object.fromEntries(
    amountFields.flatMap((name) => {
      const value = details[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}
