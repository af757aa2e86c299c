/**
 * The client of `disburse-agent consolidate`: one call per step. A call can be repeated after any error, because a step that is underway is
 * attached to and the plan is made again each time.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ConsolidateRequest,
  type Consolidation,
  consolidationSchema,
  PoolError,
  type Secret,
} from '@pool/core';
import * as v from 'valibot';
import { BrokenError, NotSentError, postAndWait, readAgentError } from './spend-client.ts';

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

const defaultTimeoutMs = 60 * 60_000;
const defaultRetryMs = 60_000;
const retryPauseMs = 1_000;

export function createConsolidateClient(deps: ConsolidateClientDeps): ConsolidateClient {
  const { baseUrl, token, timeoutMs = defaultTimeoutMs, retryMs = defaultRetryMs } = deps;

  async function post(request: ConsolidateRequest, signal: AbortSignal): Promise<Consolidation> {
    const answer = await postAndWait(`${baseUrl}/api/consolidate`, {
      headers: {
        authorization: `Bearer ${token.reveal()}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(request),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    const consolidation = v.safeParse(consolidationSchema, answer.body);
    if (answer.status === 200 && consolidation.success) {
      return consolidation.output;
    }
    throw readAgentError(answer);
  }

  return {
    async step(request, signal) {
      const giveUpAtMs = performance.now() + retryMs;
      let isSent = false;
      for (;;) {
        try {
          return await post(request, signal);
        } catch (error) {
          if (signal.aborted) {
            throw new PoolError('interrupted', 'the agent goes on with the step that is underway');
          }
          isSent ||= error instanceof BrokenError;
          const isBroken =
            error instanceof BrokenError || (isSent && error instanceof NotSentError);
          if (!isBroken || performance.now() >= giveUpAtMs) {
            throw explain(error, baseUrl);
          }
          await sleep(retryPauseMs);
        }
      }
    },
  };
}

function explain(error: unknown, baseUrl: string): unknown {
  return error instanceof NotSentError || error instanceof BrokenError
    ? new PoolError(
        'agent_unreachable',
        `no agent answers at ${baseUrl}: start it with "disburse-agent serve", or set DISBURSE_HOST and DISBURSE_PORT; then run the same command again, which continues`,
        { cause: error },
      )
    : error;
}
