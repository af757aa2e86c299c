/**
 * The clients of `disburse-agent transfer`, `send` and `consolidate`: the spend routes of the agent on this machine, with the API key of
 * a role. A spend is sent once. After a broken connection the client only attaches to it, so that nothing is paid twice
 * (docs/decisions/0011).
 *
 * @module
 */
import { type RequestOptions, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ConsolidateRequest,
  type Consolidation,
  consolidationSchema,
  formatIdempotencyKey,
  isPoolError,
  PoolError,
  peerCode,
  type Secret,
  type SendRequest,
  type SpendOperationName,
  type SpendReceipt,
  spendReceiptSchema,
  type TransferRequest,
} from '@pool/core';
import { agentErrorSchema, createAgentCaller, createUnreachable } from '@pool/pay-run';
import type { SpendProgress } from '@pool/wallet/node';
import * as v from 'valibot';
import type { HolderConfig } from '../../config/holder-config.ts';
import { commandHeaders } from './command-headers.ts';

export type SpendOrder = {
  readonly operation: SpendOperationName;
  readonly key: string;
  readonly body: TransferRequest | SendRequest;
  /** Undefined: the chain that the agent's holder is configured for. */
  readonly chain: string | undefined;
  /** Reads the outcome of a spend that was sent before, and begins none. */
  readonly isAttached: boolean;
};

export type SpendClient = {
  /**
   * Waits for the outcome, which takes minutes.
   * @throws PoolError the agent's own codes; `agent_unreachable`: nothing was sent; `spend_unfinished`: the outcome is not known;
   *   `interrupted`
   */
  spend(order: SpendOrder, signal: AbortSignal): Promise<SpendReceipt>;
  progress(operation: SpendOperationName, key: string): Promise<SpendProgress>;
};

export type SpendClientDeps = {
  /** For example `http://127.0.0.1:8787`. */
  readonly baseUrl: string;
  readonly token: Secret;
  /** The loopback token, which shows that the caller is a command on this machine. Read only when it is needed. */
  readonly readLoopbackToken: () => Secret;
  /** How long one answer may take, in milliseconds. */
  readonly timeoutMs?: number;
  /** How long a broken connection is tried again, in milliseconds. */
  readonly reattachMs?: number;
};

/** Half an hour, the most that the deadline of a spend can be away, and as long again for finality. */
const defaultTimeoutMs = 60 * 60_000;

/** How long a command waits for a spend, in milliseconds: the vote of a holder's signer that needs one comes on top. */
export function computeSpendWaitMs({
  remote,
  voteLimitSeconds,
}: Pick<HolderConfig, 'remote' | 'voteLimitSeconds'>): number {
  return defaultTimeoutMs + (remote?.role.needsVote ? voteLimitSeconds * 1_000 : 0);
}

const defaultReattachMs = 60_000;
const reattachPauseMs = 1_000;

/** Statuses that say nothing about a spend that was sent before: the agent is not ready, or does not take the key now. */
const silent: readonly number[] = [401, 403, 429, 503];

const progressSchema = v.object({
  isRunning: v.boolean(),
  stage: v.optional(
    v.picklist(['checking', 'signing', 'awaiting-approval', 'proving', 'settling']),
  ),
  seconds: v.optional(v.number()),
  fraction: v.optional(v.number()),
});

export function createSpendClient(deps: SpendClientDeps): SpendClient {
  const { baseUrl, token, timeoutMs = defaultTimeoutMs, reattachMs = defaultReattachMs } = deps;
  const call = createAgentCaller(baseUrl, token);

  function headersOf({ key, chain, isAttached }: SpendOrder): Record<string, string> {
    return {
      'idempotency-key': formatIdempotencyKey(key),
      ...(isAttached ? { [commandHeaders.attach]: 'only' } : {}),
      ...(chain === undefined
        ? {}
        : {
            [commandHeaders.chain]: chain,
            [commandHeaders.proof]: deps.readLoopbackToken().reveal(),
          }),
    };
  }

  function post(order: SpendOrder, signal: AbortSignal): Promise<SpendReceipt> {
    return postAndWait(spendReceiptSchema, `${baseUrl}/api/${order.operation}`, {
      ...{ token, headers: headersOf(order), body: order.body, signal, timeoutMs },
      statuses: [200, 422],
    });
  }

  /** The agent may be starting again. Without a journal it has then forgotten the key, and says so. */
  async function attachAgain(order: SpendOrder, signal: AbortSignal): Promise<SpendReceipt> {
    const giveUpAtMs = performance.now() + reattachMs;
    for (;;) {
      await sleep(reattachPauseMs, undefined, { signal });
      try {
        return await post({ ...order, isAttached: true }, signal);
      } catch (error) {
        const isDecided = isPoolError(error) && !silent.includes(error.status);
        if (isDecided || signal.aborted) {
          throw error;
        }
        if (performance.now() >= giveUpAtMs) {
          throw new BrokenError('', { cause: error });
        }
      }
    }
  }

  return {
    async spend(order, signal) {
      try {
        try {
          return await post(order, signal);
        } catch (error) {
          if (!(error instanceof BrokenError) || signal.aborted || order.body.dryRun === true) {
            throw error;
          }
          return await attachAgain(order, signal);
        }
      } catch (error) {
        throw explain(error, order, baseUrl, signal);
      }
    },
    progress: (operation, key) =>
      call(progressSchema, `/api/${operation}/progress`, {
        headers: { 'idempotency-key': formatIdempotencyKey(key) },
      }) as Promise<SpendProgress>,
  };
}

/** No agent listens, so nothing was sent. */
class NotSentError extends Error {}

/** The request may have arrived, and its answer did not. */
class BrokenError extends Error {}

type LongRequest = {
  readonly token: Secret;
  readonly headers?: Record<string, string>;
  readonly body: unknown;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Of an answer that is not an error. */
  readonly statuses: readonly number[];
};

/**
 * One POST without the time limits of `fetch`, which ends a request whose answer takes more than five minutes.
 * @throws PoolError the agent's error; NotSentError; BrokenError also for an answer that is not an agent's
 */
async function postAndWait<TSchema extends v.GenericSchema>(
  schema: TSchema,
  url: string,
  { token, headers, body, signal, timeoutMs, statuses }: LongRequest,
): Promise<v.InferOutput<TSchema>> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: unknown }>();
  const options: RequestOptions = {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token.reveal()}`,
      'content-type': 'application/json',
      ...headers,
    },
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    agent: false,
  };
  const sent = request(url, options, (response) => {
    json(response).then(
      (parsed) => resolve({ status: response.statusCode ?? 0, body: parsed }),
      (cause: unknown) => reject(new BrokenError('', { cause })),
    );
  });
  sent.on('error', (cause) => {
    const isRefused = 'code' in cause && cause.code === 'ECONNREFUSED';
    reject(isRefused ? new NotSentError('', { cause }) : new BrokenError('', { cause }));
  });
  sent.end(JSON.stringify(body));
  const answer = await promise;
  const expected = v.safeParse(schema, answer.body);
  if (statuses.includes(answer.status) && expected.success) {
    return expected.output;
  }
  const error = v.safeParse(agentErrorSchema, answer.body);
  throw answer.status < 400 || !error.success
    ? new BrokenError()
    : new PoolError(peerCode(error.output.code), error.output.message, { status: answer.status });
}

function explain(
  error: unknown,
  { key, body }: SpendOrder,
  baseUrl: string,
  signal: AbortSignal,
): unknown {
  if (signal.aborted) {
    return new PoolError('interrupted', `the agent goes on with the spend of key ${key}`);
  }
  if (error instanceof NotSentError || (error instanceof BrokenError && body.dryRun === true)) {
    return createUnreachable(baseUrl, error, { found: ', and this command sent nothing' });
  }
  if (error instanceof BrokenError) {
    return new PoolError(
      'spend_unfinished',
      'the connection to the agent ended before its answer, so the outcome of the spend is not known',
      { cause: error },
    );
  }
  return error;
}

export type ConsolidateClient = {
  /** @throws PoolError the agent's own codes; `agent_unreachable`, `interrupted` */
  step(request: ConsolidateRequest, signal: AbortSignal): Promise<Consolidation>;
};

export type ConsolidateClientDeps = {
  /** For example `http://127.0.0.1:8787`. */
  readonly baseUrl: string;
  readonly token: Secret;
  /** How long a step may take, in milliseconds. */
  readonly timeoutMs?: number;
  /** How long a broken connection is tried again, in milliseconds. */
  readonly retryMs?: number;
};

/**
 * One call for each step. A call can be repeated after any error, because a step that is underway is attached to and the plan is made again
 * each time.
 */
export function createConsolidateClient({
  baseUrl,
  token,
  timeoutMs = defaultTimeoutMs,
  retryMs = defaultReattachMs,
}: ConsolidateClientDeps): ConsolidateClient {
  return {
    async step(request, signal) {
      const giveUpAtMs = performance.now() + retryMs;
      let isSent = false;
      for (;;) {
        try {
          return await postAndWait(consolidationSchema, `${baseUrl}/api/consolidate`, {
            ...{ token, body: request, signal, timeoutMs, statuses: [200] },
          });
        } catch (error) {
          if (signal.aborted) {
            throw new PoolError('interrupted', 'the agent goes on with the step that is underway');
          }
          isSent ||= error instanceof BrokenError;
          const isBroken =
            error instanceof BrokenError || (isSent && error instanceof NotSentError);
          if (!isBroken || performance.now() >= giveUpAtMs) {
            throw isBroken || error instanceof NotSentError
              ? createUnreachable(baseUrl, error, {
                  advice: '; then run the same command again, which continues',
                })
              : error;
          }
          await sleep(reattachPauseMs);
        }
      }
    },
  };
}
