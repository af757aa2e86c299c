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
import { type BoundedAnswer, type Fetch, fetchBounded, readText } from '@pool/http-client';
import * as v from 'valibot';
import { type AgentClient, jobTraceSchema } from '../ports.ts';
import { createProvenFetch } from './proven-fetch.ts';

const reportSchema = v.object({
  ok: v.boolean(),
  issues: v.array(v.object({ requestIndex: v.number(), code: v.string(), message: v.string() })),
  preflight: v.optional(
    v.array(v.object({ code: v.string(), message: v.string(), severity: v.optional(v.string()) })),
  ),
  skipped: v.optional(disbursementResultSchema.entries.skipped),
});

/** Of an agent's refusal. */
const agentErrorSchema = v.object({ code: v.string(), message: v.string() });

/** @param words - what is said beside it */
export function createUnreachable(
  baseUrl: string,
  cause: unknown,
  { found = '', advice = '' }: { readonly found?: string; readonly advice?: string } = {},
): PoolError {
  return new PoolError(
    'agent_unreachable',
    `no agent answers at ${baseUrl}${found}: start it with "disburse-agent serve", or set DISBURSE_HOST and DISBURSE_PORT${advice}`,
    { cause },
  );
}

/** Base URL of the agent on this machine. */
export function urlOf(address: { readonly host: string; readonly port: number }): string {
  const host = address.host === '0.0.0.0' ? '127.0.0.1' : address.host;
  const name = host.includes(':') ? `[${host.replace(/^\[|\]$/g, '')}]` : host;
  return `http://${name}:${address.port}`;
}

/** Sends one request and checks its answer. Rejects with the agent's own code, `agent_unreachable`, `agent_not_proven` or `agent_invalid_response`. */
export type AgentCaller = <TSchema extends v.GenericSchema>(
  schema: TSchema,
  path: string,
  init?: RequestInit,
  timeoutMs?: number,
) => Promise<v.InferOutput<TSchema>>;

const defaultTimeoutMs = 60_000;

/** What a caller does with 429, when the agent takes no more requests for a moment. */
export type AgentPace = {
  /** How long a request is repeated before the refusal is reported, in milliseconds. Default: a minute. */
  readonly patienceMs?: number;
  /** Told once for each request, at its first pause. */
  readonly onPause?: ((text: string) => void) | undefined;
};

/** The history of a holder has no other limit. */
const maxBytes = 64 * 1024 * 1024;

/** The JSON of an answer, or why it is not JSON. */
type Content = { readonly value?: unknown; readonly cut?: unknown };

/**
 * @param baseUrl - for example `http://127.0.0.1:8787`
 * @param token - the loopback token or an API key
 * @param send - sends it to the proven agent only: createProvenFetch
 */
export function createAgentCaller(
  baseUrl: string,
  token: Secret,
  send: Fetch,
  { patienceMs = 60_000, onPause }: AgentPace = {},
): AgentCaller {
  /** Waits on 429: a roster in hundreds of parts sends many requests at once. */
  async function askAtPace(
    path: string,
    init: RequestInit,
    timeoutMs: number,
  ): Promise<BoundedAnswer<Content>> {
    let giveUpAtMs: number | undefined;
    for (;;) {
      const answer = await ask(path, init, timeoutMs);
      const pauseMs = Math.min(5, Number(answer.headers.get('retry-after') ?? 1) || 1) * 1_000;
      const nowMs = performance.now();
      if (answer.status !== 429 || nowMs + pauseMs > (giveUpAtMs ?? nowMs + patienceMs)) {
        return answer;
      }
      if (giveUpAtMs === undefined) {
        giveUpAtMs = nowMs + patienceMs;
        onPause?.('the agent takes no more requests for a moment (429); it is asked again');
      }
      await sleep(pauseMs, undefined, init.signal ? { signal: init.signal } : {});
    }
  }

  async function ask(
    path: string,
    { signal, ...init }: RequestInit,
    timeoutMs: number,
  ): Promise<BoundedAnswer<Content>> {
    const request = {
      fetch: send,
      url: new URL(`${baseUrl}${path}`),
      service: 'agent',
      init: { ...init, headers: { ...init.headers, authorization: `Bearer ${token.reveal()}` } },
      timeoutMs,
      maxBytes,
      signal: signal ?? undefined,
    } as const;
    try {
      return await fetchBounded(request, readContent);
    } catch (error) {
      if (isPoolError(error) && error.code !== 'agent_unreachable') {
        throw error;
      }
      throw createUnreachable(baseUrl, isPoolError(error) ? error.cause : error);
    }
  }

  return async (schema, path, init = {}, timeoutMs = defaultTimeoutMs) => {
    const { status, body } = await askAtPace(path, init, timeoutMs);
    // 422 comes with the receipt of a spend that reverted.
    const isSuccess = (status >= 200 && status <= 299) || status === 422;
    const answer = v.safeParse(schema, body.value);
    if (isSuccess && answer.success) {
      return answer.output;
    }
    const error = v.safeParse(agentErrorSchema, body.value);
    if (status >= 400 && error.success) {
      throw new PoolError(peerCode(error.output.code), error.output.message, {
        status,
        retryable: status >= 500 || status === 429,
      });
    }
    // This is not a refusal: the peer may have accepted the request.
    throw new PoolError(
      'agent_invalid_response',
      `the answer of ${baseUrl} is incomplete or not that of an agent of this version`,
      body.cut === undefined ? {} : { cause: body.cut },
    );
  };
}

/** The agent has answered, so a connection that breaks from here on does not mean that it is not there. */
async function readContent(chunks: AsyncIterable<Uint8Array>): Promise<Content> {
  try {
    return { value: JSON.parse(await readText(chunks)) };
  } catch (cut) {
    if (isPoolError(cut)) {
      throw cut;
    }
    return { cut };
  }
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

/**
 * @param baseUrl - for example `http://127.0.0.1:8787`
 * @param token - the loopback token
 */
export function createAgentClient(
  baseUrl: string,
  token: Secret,
  send: Fetch = createProvenFetch(() => token),
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
