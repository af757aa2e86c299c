/**
 * A plain HTTP client of the agent's disbursement routes, for the demo and the end-to-end tests.
 *
 * @module
 */
import type { DisbursementJob, DisburseRequest, JobStage } from '@pool/core';
import { PoolError } from '@pool/core';

export type AgentAnswer = {
  readonly status: number;
  /** A job, or `{code, message}`. */
  readonly body: Partial<DisbursementJob> & { readonly code?: string; readonly message?: string };
};

export type AgentClient = {
  disburse(key: string, request: DisburseRequest): Promise<AgentAnswer>;
  getJob(key: string): Promise<AgentAnswer>;
  /** Waits for the end of the job. */
  cancel(key: string): Promise<AgentAnswer>;
  /**
   * Polls until the job is `done` or `failed`. An agent that does not answer is called again: it may be restarting.
   * @throws PoolError `sandbox_failed` after the time limit
   */
  waitForJob(key: string, options?: WaitOptions): Promise<DisbursementJob>;
};

export type WaitOptions = {
  readonly timeoutMs?: number;
  /** Called once for each stage of the job that a poll sees. */
  readonly onStage?: (stage: JobStage) => void;
};

export function createAgentClient(agent: {
  readonly url: string;
  /** Loopback token or API key. */
  readonly token: string;
}): AgentClient {
  async function call(path: string, init: RequestInit): Promise<AgentAnswer> {
    const response = await fetch(`${agent.url}${path}`, {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${agent.token}` },
      redirect: 'error',
      signal: AbortSignal.timeout(60_000),
    });
    return { status: response.status, body: (await response.json()) as AgentAnswer['body'] };
  }

  const pathOf = (key: string): string => `/api/disburse/${encodeURIComponent(key)}`;
  const getJob = (key: string): Promise<AgentAnswer> => call(pathOf(key), { method: 'GET' });

  return {
    disburse: (key, request) =>
      call('/api/disburse', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(request),
      }),
    getJob,
    cancel: (key) => call(pathOf(key), { method: 'DELETE' }),
    async waitForJob(key, { timeoutMs = 300_000, onStage } = {}) {
      const deadline = performance.now() + timeoutMs;
      let seen: JobStage | undefined;
      for (;;) {
        const { body } = await getJob(key).catch((): AgentAnswer => ({ status: 0, body: {} }));
        if (body.stage !== undefined && body.stage !== seen) {
          seen = body.stage;
          onStage?.(seen);
        }
        if (body.state === 'done' || body.state === 'failed') {
          return body as DisbursementJob;
        }
        if (performance.now() > deadline) {
          throw new PoolError(
            'sandbox_failed',
            `the job is still ${body.state ?? 'unknown'} in stage ${body.stage ?? 'none'}`,
          );
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  };
}
