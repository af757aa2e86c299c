/**
 * The clients of `disburse-agent transfer`, `send` and `consolidate`: the spend routes of the agent on this machine, with the API key of
 * a role. A spend is sent once. After a broken connection the client only attaches to it, so that nothing is paid twice
 * (docs/decisions/0011).
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ConsolidateRequest,
  type Consolidation,
  consolidationSchema,
  formatIdempotencyKey,
  isPoolError,
  PoolError,
  type Secret,
  type SendRequest,
  type SpendOperationName,
  type SpendReceipt,
  spendReceiptSchema,
  type TransferRequest,
} from '@pool/core';
import { isCode } from '@pool/storage';
import type { SpendProgress } from '@pool/wallet/node';
import * as v from 'valibot';
import { type AgentCaller, createAgentCaller, createUnreachable } from './agent-client.ts';
import { createProvenFetch } from './proven-fetch.ts';

/** Headers that this agent's own commands send beside the role's API key (docs/decisions/0011). They are not part of the API. */
export const commandHeaders = {
  /** The loopback token: shows that the caller is a command on this machine. */
  proof: 'x-disburse-command',
  /** Key of the chain to spend on. Only with a proof. */
  chain: 'x-disburse-chain',
  /** `only`: read the outcome of a spend that was sent before, and begin none. */
  attach: 'x-disburse-attach',
} as const;

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
  /** The loopback token, by which agent and command know each other. */
  readonly readLoopbackToken: () => Secret;
  /** How long one answer may take, in milliseconds. */
  readonly timeoutMs?: number;
  /** How long a broken connection is tried again, and a request that is answered 429, in milliseconds. */
  readonly reattachMs?: number;
  /** A line for people: why nothing happens now. */
  readonly onPause?: (text: string) => void;
};

/** Half an hour, the most that the deadline of a spend can be away, and as long again for finality. */
const defaultTimeoutMs = 60 * 60_000;

/** How long a command waits for a spend, in milliseconds: the vote of a holder's signer that needs one comes on top. */
export function computeSpendWaitMs({
  remote,
  voteLimitSeconds,
}: {
  readonly remote: { readonly role: { readonly needsVote: boolean } } | undefined;
  readonly voteLimitSeconds: number;
}): number {
  return defaultTimeoutMs + (remote?.role.needsVote === true ? voteLimitSeconds * 1_000 : 0);
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
  const { baseUrl, timeoutMs = defaultTimeoutMs, reattachMs = defaultReattachMs } = deps;
  const call = createPatientCaller(deps);

  function post(order: SpendOrder, signal: AbortSignal): Promise<SpendReceipt> {
    const { key, chain, isAttached, operation, body } = order;
    const headers = {
      'idempotency-key': formatIdempotencyKey(key),
      ...(isAttached ? { [commandHeaders.attach]: 'only' } : {}),
      ...(chain === undefined
        ? {}
        : {
            [commandHeaders.chain]: chain,
            [commandHeaders.proof]: deps.readLoopbackToken().reveal(),
          }),
    };
    const request = createPost(body, signal, headers);
    return call(spendReceiptSchema, `/api/${operation}`, request, timeoutMs);
  }

  return {
    async spend(order, signal) {
      let isSent = false;
      const ask = (isAgain: boolean): Promise<SpendReceipt> => {
        isSent = isAgain;
        // The agent may be starting again. Without a journal it has then forgotten the key, and says so.
        return post(isAgain ? { ...order, isAttached: true } : order, signal);
      };
      const isSilent = (error: unknown): boolean =>
        isPoolError(error) && silent.includes(error.status);
      try {
        return await (order.body.dryRun === true
          ? ask(false)
          : askThroughBreaks(ask, isSilent, reattachMs, signal));
      } catch (error) {
        if (signal.aborted) {
          throw new PoolError(
            'interrupted',
            `the agent goes on with the spend of key ${order.key}`,
          );
        }
        const isCut = findBreak(error) !== undefined;
        if (isCut && !isSent) {
          throw createUnreachable(baseUrl, error, { found: ', and this command sent nothing' });
        }
        throw isCut || (isSent && isSilent(error))
          ? new PoolError(
              'spend_unfinished',
              'the connection to the agent ended before its answer, so the outcome of the spend is not known',
              { cause: error },
            )
          : error;
      }
    },
    progress: (operation, key) =>
      call(progressSchema, `/api/${operation}/progress`, {
        headers: { 'idempotency-key': formatIdempotencyKey(key) },
      }) as Promise<SpendProgress>,
  };
}

function createPost(
  body: unknown,
  signal: AbortSignal,
  headers: Record<string, string> = {},
): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal,
  };
}

function createPatientCaller({
  baseUrl,
  token,
  readLoopbackToken,
  reattachMs,
  onPause,
}: SpendClientDeps): AgentCaller {
  const patience = reattachMs === undefined ? {} : { patienceMs: reattachMs };
  const send = createProvenFetch(readLoopbackToken);
  return createAgentCaller(baseUrl, token, send, { ...patience, onPause });
}

/** Whether a request has no answer: no agent listens, so nothing was sent; or it may have arrived. Undefined: the agent answered. */
function findBreak(error: unknown): 'not-sent' | 'broken' | undefined {
  if (
    !isPoolError(error) ||
    !['agent_unreachable', 'agent_invalid_response'].includes(error.code)
  ) {
    return undefined;
  }
  return isCode(error.cause, 'ECONNREFUSED') ? 'not-sent' : 'broken';
}

/**
 * After a broken connection asks again, for a while.
 *
 * @param ask - `isAgain`: an earlier request may have arrived
 * @param passes - whether an answer to a further question says nothing
 */
async function askThroughBreaks<T>(
  ask: (isAgain: boolean) => Promise<T>,
  passes: (error: unknown) => boolean,
  patienceMs: number,
  signal: AbortSignal,
): Promise<T> {
  let giveUpAtMs: number | undefined;
  for (;;) {
    try {
      return await ask(giveUpAtMs !== undefined);
    } catch (error) {
      const found = findBreak(error);
      const isRepeated =
        giveUpAtMs === undefined ? found === 'broken' : found !== undefined || passes(error);
      if (signal.aborted || !isRepeated || performance.now() >= (giveUpAtMs ?? Infinity)) {
        throw error;
      }
      giveUpAtMs ??= performance.now() + patienceMs;
      await sleep(reattachPauseMs, undefined, { signal });
    }
  }
}

export type ConsolidateClient = {
  /** @throws PoolError the agent's own codes; `agent_unreachable`, `interrupted` */
  step(request: ConsolidateRequest, signal: AbortSignal): Promise<Consolidation>;
};

/**
 * One call for each step. A call can be repeated after any error, because a step that is underway is attached to and the plan is made again
 * each time.
 */
export function createConsolidateClient(deps: SpendClientDeps): ConsolidateClient {
  const { baseUrl, timeoutMs = defaultTimeoutMs, reattachMs = defaultReattachMs } = deps;
  const call = createPatientCaller(deps);
  return {
    async step(request, signal) {
      const ask = (): Promise<Consolidation> =>
        call(consolidationSchema, '/api/consolidate', createPost(request, signal), timeoutMs);
      try {
        return await askThroughBreaks(ask, () => false, reattachMs, signal);
      } catch (error) {
        if (signal.aborted) {
          throw new PoolError('interrupted', 'the agent goes on with the step that is underway');
        }
        throw findBreak(error) === undefined
          ? error
          : createUnreachable(baseUrl, error, {
              advice: '; then run the same command again, which continues',
            });
      }
    },
  };
}
