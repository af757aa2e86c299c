/**
 * The holder commands' client of the agent on this machine, with the API key of a role.
 *
 * @module
 */
import { agentRoutes, type Balance, type History } from '@pool/api';
import { PoolError, type Secret } from '@pool/core';
import type { Fetch } from '@pool/http-client';
import type { SyncProgress } from '@pool/wallet';
import * as v from 'valibot';
import { type AgentCaller, createAgentCaller } from './agent-client.ts';

/** Which entries of a history are asked for. */
export type HistoryRange = {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly after?: string | undefined;
};

const historySchema = agentRoutes.history.answers[200].schema;

const balanceSchema = agentRoutes.balance.answers[200].schema;

/** Every call throws PoolError: the agent's own codes, `agent_unreachable`, `agent_not_proven`, `agent_invalid_response`. */
export type HolderClient = {
  /** @param token - symbol */
  balance(token: string): Promise<Balance>;
  /** @param fromBlock - undefined: everything */
  rescan(token: string, fromBlock: number | undefined): Promise<Balance>;
  /** One page. @param range - instants of ISO 8601 in UTC with seconds, and the id of an entry */
  history(token: string, range: HistoryRange): Promise<History>;
  progress(): Promise<SyncProgress>;
  /**
   * @param after - `cursor` of an earlier answer. Undefined: no arrival is listed
   * @param signal - ends the request, with `agent_unreachable`
   */
  arrivals(token: string, after: string | undefined, signal: AbortSignal): Promise<ArrivalsAnswer>;
};

const arrivalSchema = v.object({
  /** When the agent saw it, ISO 8601 in UTC with seconds. */
  time: v.string(),
  /** Base units. */
  amount: v.string(),
  /** The payer's text. It can contain any character: escape it before it is shown. */
  memo: v.optional(v.string()),
  txHash: v.string(),
  commitment: v.string(),
});

const arrivalsSchema = v.object({
  balance: balanceSchema,
  /** Of the token. */
  decimals: v.number(),
  cursor: v.string(),
  /** Oldest first. */
  arrivals: v.array(arrivalSchema),
});

/** What the agent answers about arrivals. */
export type ArrivalsAnswer = v.InferOutput<typeof arrivalsSchema>;

const progressSchema = v.object({
  isRunning: v.boolean(),
  blocks: v.object({ read: v.number(), total: v.number() }),
  notes: v.number(),
});

/** A first sync reads the whole history of a pool, from a public RPC perhaps. */
const longTimeoutMs = 6 * 3_600_000;

/** How long an agent may show nothing new of its sync, and how often it is looked at, in milliseconds. */
const defaultWatch = { silenceMs: 5 * 60_000, lookMs: 10_000 };

/** @param send - as of createAgentCaller */
export function createHolderClient(
  baseUrl: string,
  token: Secret,
  send: Fetch,
  { silenceMs, lookMs } = defaultWatch,
): HolderClient {
  const call = createAgentCaller(baseUrl, token, send);
  const readProgress = (init: RequestInit = {}) =>
    call(progressSchema, '/api/balance/progress', init);

  /** Waits for as long as the agent shows that its sync goes on. @throws PoolError `agent_unreachable` of an agent that is silent */
  const callPatiently: AgentCaller = async (schema, path, init = {}) => {
    const ended = new AbortController();
    const silence = new AbortController();
    let [shown, shownAtMs] = ['', performance.now()];
    const timer = setInterval(() => {
      if (performance.now() - shownAtMs >= silenceMs) {
        silence.abort();
      }
      readProgress({ signal: ended.signal }).then(
        (progress) => {
          const text = JSON.stringify(progress);
          [shown, shownAtMs] = [text, text === shown ? shownAtMs : performance.now()];
        },
        () => undefined,
      );
    }, lookMs);
    try {
      const signals = [silence.signal, ...(init.signal ? [init.signal] : [])];
      return await call(schema, path, { ...init, signal: AbortSignal.any(signals) }, longTimeoutMs);
    } catch (error) {
      throw silence.signal.aborted
        ? new PoolError(
            'agent_unreachable',
            `the agent at ${baseUrl} has shown no progress for ${Math.round(silenceMs / 1_000)} s: read its log, and start it again`,
          )
        : error;
    } finally {
      clearInterval(timer);
      ended.abort();
    }
  };

  return {
    balance: (symbol) =>
      callPatiently(balanceSchema, `/api/balance?token=${encodeURIComponent(symbol)}`),
    rescan(symbol, fromBlock) {
      const from = fromBlock === undefined ? '' : `&from=${fromBlock}`;
      const path = `/api/balance/rescan?token=${encodeURIComponent(symbol)}${from}`;
      return callPatiently(balanceSchema, path, { method: 'POST' });
    },
    history(symbol, range) {
      const query = new URLSearchParams({ token: symbol });
      for (const [name, value] of Object.entries(range)) {
        if (value !== undefined) {
          query.set(name, value);
        }
      }
      return callPatiently(historySchema, `/api/history?${query.toString()}`);
    },
    progress: () => readProgress(),
    arrivals(symbol, after, signal) {
      const query = new URLSearchParams({ token: symbol });
      if (after !== undefined) {
        query.set('after', after);
      }
      return callPatiently(arrivalsSchema, `/api/balance/arrivals?${query.toString()}`, { signal });
    },
  };
}
