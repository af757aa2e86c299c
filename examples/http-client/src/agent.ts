/** The agent's disbursement routes: check a batch, pay it, follow its job. */
import { type Answer, call } from './http.ts';

export type Batch = {
  readonly token: string;
  readonly recipients: readonly { readonly recipientAddress: string; readonly amount: string }[];
};

export type Job = {
  readonly state: string;
  readonly result?: {
    readonly status: string;
    readonly batches: readonly { readonly txHash: string; readonly recipientCount: number }[];
    readonly notes: readonly { readonly recipientAddress: string; readonly amount: string }[];
    readonly allowance: { readonly state: string };
  };
  readonly error?: { readonly code: string; readonly message: string };
};

export type Agent = {
  validate(batch: Batch): Promise<Answer>;
  /** The key names this payment: whoever repeats it with the same batch pays nobody twice. */
  disburse(key: string, batch: Batch): Promise<Answer>;
  getJob(key: string): Promise<Answer>;
};

export function createAgent(agentUrl: string, apiKey: string): Agent {
  const authorization = `Bearer ${apiKey}`;
  return {
    validate: (batch) =>
      call(`${agentUrl}/api/validate`, { method: 'POST', headers: { authorization }, body: batch }),
    disburse: (key, batch) =>
      call(`${agentUrl}/api/disburse`, {
        method: 'POST',
        headers: { authorization, 'idempotency-key': key },
        body: batch,
      }),
    getJob: (key) =>
      call(`${agentUrl}/api/disburse/${encodeURIComponent(key)}`, { headers: { authorization } }),
  };
}

/** Asks until the job is `done` or `failed`. @throws Error when it takes longer than ten minutes */
export async function waitForJob(agent: Agent, key: string): Promise<Job> {
  const deadline = Date.now() + 600_000;
  for (;;) {
    const { status, headers, body } = await agent.getJob(key);
    if (status === 200 && (body['state'] === 'done' || body['state'] === 'failed')) {
      return body as Job;
    }
    if (Date.now() > deadline) {
      throw new Error(`the job is still ${String(body['state'])} after ten minutes`);
    }
    // A rate limit says when to come back.
    const seconds = Number(headers.get('retry-after') ?? '1');
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  }
}
