/**
 * The routes of the holder that move value: transfer and send. Each takes a key with the capability of its role that the holder's own
 * wallet minted, and answers on the same connection, which takes minutes (docs/decisions/0043).
 *
 * @module
 */
import type { Capability } from '@pool/api';
import {
  deriveTraceId,
  isPoolError,
  parseIdempotencyKey,
  type SpendOperationName,
} from '@pool/core';
import { limitBody, readJsonBody, type Shell } from '@pool/http-server';
import { createPace } from '@pool/operations';
import type { MiddlewareHandler } from 'hono';
import type { HolderSpends } from '../services/holder-spends.ts';
import { type HolderEnv, requireHolder } from './holder-routes.ts';

/** A spend pays at most seven wallets. */
const maxBodyBytes = 64 * 1024;

export function addSpendRoutes(
  app: Shell,
  deps: {
    readonly spends: Pick<HolderSpends, 'spend'>;
    /** address(W). */
    readonly address: () => Promise<string>;
    readonly requireBearer: (capability: Capability) => MiddlewareHandler<HolderEnv>;
  },
): void {
  const { spends, address, requireBearer } = deps;

  function addRoute(operation: SpendOperationName): void {
    app.post(
      `/api/${operation}`,
      requireBearer(`holder.${operation}`),
      requireHolder(address),
      limitBody(maxBodyBytes),
      async (context) => {
        const key = parseIdempotencyKey(context.req.header('idempotency-key'));
        const body = await readJsonBody(context, createPace());
        // A key can name a payment of people. The log contains the trace id instead.
        context.get('log').info({ trace: deriveTraceId(key), operation }, 'spend asked for');
        try {
          const receipt = await spends.spend({ operation, key, body });
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
  }

  addRoute('transfer');
  addRoute('send');
}

/** `spendable` of `insufficient_funds`, and `largestSpend` of `consolidation_required`. Undefined for other errors. */
function pickAmounts(
  details: Readonly<Record<string, unknown>> | undefined,
): { readonly spendable: string; readonly largestSpend?: string } | undefined {
  const spendable = details?.['spendable'];
  const largestSpend = details?.['largestSpend'];
  if (typeof spendable !== 'string') {
    return undefined;
  }
  return typeof largestSpend === 'string' ? { spendable, largestSpend } : { spendable };
}
