/**
 * The routes of the holder that move value: transfer and send. Each takes a key with the capability of its role that the holder's own
 * wallet minted, and answers on the same connection, which takes minutes (docs/decisions/0011).
 *
 * @module
 */
import type { Capability } from '@pool/api';
import { isSameSecret } from '@pool/configuration';
import {
  deriveTraceId,
  isPoolError,
  PoolError,
  parseIdempotencyKey,
  type Secret,
  type SpendOperationName,
} from '@pool/core';
import { limitBody, readJsonBody, type Shell } from '@pool/http-server';
import { commandHeaders } from '@pool/pay-run';
import { createPace } from '@pool/wallet';
import type { HolderSpends } from '@pool/wallet/node';
import type { MiddlewareHandler } from 'hono';
import { type HolderEnv, requireHolder } from './holder-routes.ts';

/** A spend pays at most seven wallets. */
const maxBodyBytes = 64 * 1024;

export function addSpendRoutes(
  app: Shell,
  deps: {
    readonly spends: Pick<HolderSpends, 'spend' | 'consolidate' | 'progress' | 'sweep'>;
    /** address(W). */
    readonly address: () => Promise<string>;
    readonly requireBearer: (capability: Capability) => MiddlewareHandler<HolderEnv>;
    /** Shows that a request comes from a command on this machine. */
    readonly loopbackToken: Secret;
  },
): void {
  const { spends, address, requireBearer, loopbackToken } = deps;

  function addRoute(operation: SpendOperationName): void {
    app.post(
      `/api/${operation}`,
      requireBearer(`holder.${operation}`),
      requireHolder(address),
      limitBody(maxBodyBytes),
      async (context) => {
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
      },
    );

    // For this agent's own command line.
    app.get(
      `/api/${operation}/progress`,
      requireBearer(`holder.${operation}`),
      requireHolder(address),
      (context) => {
        const key = parseIdempotencyKey(context.req.header('idempotency-key'));
        return context.json(spends.progress(operation, key));
      },
    );
  }

  addRoute('transfer');
  addRoute('send');

  app.post(
    '/api/consolidate',
    requireBearer('holder.transfer'),
    requireHolder(address),
    limitBody(maxBodyBytes),
    async (context) => {
      const body = await readJsonBody(context, createPace());
      context.get('log').info({}, 'consolidation asked for');
      return context.json(await spends.consolidate(body));
    },
  );

  // For this agent's own command line: one step of `rotate-viewing-key`. It pays nobody but the holder. Whoever has only the API key
  // must not choose when notes are linked to each other.
  app.post(
    '/api/transfer/sweep',
    requireBearer('holder.transfer'),
    requireHolder(address),
    async (context) => {
      if (!isCommand((name) => context.req.header(name), loopbackToken)) {
        throw new PoolError(
          'forbidden',
          'only a command on the machine of the agent can move the notes of an earlier key: use "disburse-agent rotate-viewing-key"',
        );
      }
      const { token = '', to = '', dryRun } = context.req.query();
      context.get('log').info({}, 'sweep asked for');
      return context.json(await spends.sweep(token, to, dryRun === 'true'));
    },
  );
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
