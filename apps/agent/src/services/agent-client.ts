/**
 * The commands' client of the agent on this machine: its HTTP routes, with the loopback token.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type DisbursementJob,
  disbursementJobSchema,
  disbursementResultSchema,
  errorCodeOf,
  findErrorEntry,
  isPoolError,
  PoolError,
  peerCode,
  type Secret,
} from '@pool/core';
import { type AgentClient, jobTraceSchema } from '@pool/pay-run';
import * as v from 'valibot';

const reportSchema = v.object({
  ok: v.boolean(),
  issues: v.array(v.object({ requestIndex: v.number(), code: v.string(), message: v.string() })),
  preflight: v.optional(
    v.array(v.object({ code: v.string(), message: v.string(), severity: v.optional(v.string()) })),
  ),
  skipped: v.optional(disbursementResultSchema.entries.skipped),
});

/** A request is repeated this many times after 429, before the refusal is reported. */
const maxPauses = 30;

const errorSchema = v.object({ code: v.string(), message: v.string() });

/** Sends one request and checks its answer. Rejects with the agent's own code, `agent_unreachable` or `agent_invalid_response`. */
export type AgentCaller = <TSchema extends v.GenericSchema>(
  schema: TSchema,
  path: string,
  init?: RequestInit,
  timeoutMs?: number,
) => Promise<v.InferOutput<TSchema>>;

const defaultTimeoutMs = 60_000;

/** @param baseUrl - for example `http://127.0.0.1:8787` */
export function createAgentCaller(
  baseUrl: string,
  token: Secret,
  send: typeof fetch = fetch,
): AgentCaller {
  /** Waits on 429: a roster in hundreds of parts sends many requests at once. */
  async function askAtPace(path: string, init: RequestInit, timeoutMs: number): Promise<Response> {
    for (let pausesLeft = maxPauses; ; pausesLeft -= 1) {
      const response = await ask(path, init, timeoutMs);
      if (response.status !== 429 || pausesLeft === 0) {
        return response;
      }
      await sleep(Math.min(5, Number(response.headers.get('retry-after') ?? 1) || 1) * 1_000);
    }
  }

  async function ask(path: string, init: RequestInit, timeoutMs: number): Promise<Response> {
    try {
      return await send(`${baseUrl}${path}`, {
        ...init,
        redirect: 'error',
        signal: limit(init.signal, timeoutMs),
        headers: { ...init.headers, authorization: `Bearer ${token.reveal()}` },
      });
    } catch (cause) {
      throw new PoolError(
        'agent_unreachable',
        `no agent answers at ${baseUrl}: start it with "disburse-agent serve", or set DISBURSE_HOST and DISBURSE_PORT`,
        { cause },
      );
    }
  }

  return async (schema, path, init = {}, timeoutMs = defaultTimeoutMs) => {
    const response = await askAtPace(path, init, timeoutMs);
    let cut: unknown;
    const body: unknown = await response.json().catch((error: unknown) => {
      cut = error;
    });
    const answer = v.safeParse(schema, body);
    if (response.ok && answer.success) {
      return answer.output;
    }
    const error = v.safeParse(errorSchema, body);
    if (!response.ok && error.success) {
      throw new PoolError(peerCode(error.output.code), error.output.message, {
        status: response.status,
        retryable: response.status >= 500 || response.status === 429,
      });
    }
    // This is not a refusal: the peer may have accepted the request.
    throw new PoolError(
      'agent_invalid_response',
      `the answer of ${baseUrl} is incomplete or not that of an agent of this version`,
      cut === undefined ? {} : { cause: cut },
    );
  };
}

/**
 * For a question that is repeated for ever. The status does not tell: 503 is also the answer of an agent that somebody must configure.
 * The code does, by the catalogue.
 * @param error - of an {@link AgentCaller}
 */
export function passesByItself(error: unknown): boolean {
  if (!isPoolError(error)) {
    return false;
  }
  const { code, cause } = error;
  const isCutOff = code === 'agent_invalid_response' && cause !== undefined;
  return isCutOff || passing.has(code) || findErrorEntry(code)?.retry === true;
}

/** Beside those of the catalogue: another command writes the cache for a moment. */
const passing: ReadonlySet<string> = new Set(['note_cache_unavailable']);

function limit(signal: AbortSignal | null | undefined, timeoutMs: number): AbortSignal {
  const timeout = AbortSignal.timeout(timeoutMs);
  return signal === null || signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
}

/** @param baseUrl - for example `http://127.0.0.1:8787` */
export function createAgentClient(
  baseUrl: string,
  token: Secret,
  send: typeof fetch = fetch,
): AgentClient {
  const call = createAgentCaller(baseUrl, token, send);
  const pathOf = (key: string): string => `/api/disburse/${encodeURIComponent(key)}`;
  const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const job = (key: string): Promise<DisbursementJob> => call(disbursementJobSchema, pathOf(key));
  return {
    submit: (key, request) =>
      call(disbursementJobSchema, '/api/disburse', post(request, { 'idempotency-key': key })),
    job,
    async find(key) {
      try {
        return await job(key);
      } catch (error) {
        if (errorCodeOf(error) === 'not_found') {
          return undefined;
        }
        throw error;
      }
    },
    validate: (request) => call(reportSchema, '/api/validate', post(request)),
    cancel: (key) => call(disbursementJobSchema, pathOf(key), { method: 'DELETE' }),
    trace: (key) => call(jobTraceSchema, `${pathOf(key)}/trace`),
  };
}
