/** The agent's disbursement routes: check a batch, pay it, follow its job. */
import { setTimeout as sleep } from 'node:timers/promises';
import { call, expectStatus } from './http.ts';

export type Batch = {
  readonly token: string;
  /** Amounts are whole numbers of base units, as text: 5 USDC, with its 6 decimals, is `5000000`. */
  readonly recipients: readonly { readonly recipientAddress: string; readonly amount: string }[];
};

export type Report = {
  readonly ok: boolean;
  /** Everything that is wrong; `requestIndex` is a position in `recipients`, or -1 for the batch as a whole. */
  readonly issues: readonly {
    readonly requestIndex: number;
    readonly code: string;
    readonly message: string;
  }[];
  /** Other obstacles: too little money, a service that is down. */
  readonly preflight?: readonly { readonly code: string; readonly message: string }[];
};

export type Job = {
  readonly state: 'accepted' | 'submitted' | 'done' | 'failed';
  readonly stage?: string;
  readonly result?: {
    /** `partial`: the transaction failed on chain, and nobody was paid. */
    readonly status: 'completed' | 'partial';
    readonly batches: readonly { readonly txHash: string; readonly recipientCount: number }[];
  };
  readonly error?: { readonly code: string; readonly message: string };
};

export type Agent = ReturnType<typeof createAgent>;

export function createAgent(agentUrl: string, apiKey: string) {
  const headers = { authorization: `Bearer ${apiKey}` };
  const post = { method: 'POST', isRepeatable: true } as const;
  return {
    async validate(batch: Batch): Promise<Report> {
      const answer = await call(`${agentUrl}/api/validate`, { ...post, headers, body: batch });
      return expectStatus('validating', answer, 200) as Report;
    },
    /** The key names this payment: sent again with the same batch, it answers the same job and pays nobody twice. */
    disburse: (key: string, batch: Batch) =>
      call(`${agentUrl}/api/disburse`, {
        ...post,
        headers: { ...headers, 'idempotency-key': key },
        body: batch,
      }),
    getJob: (key: string) =>
      call(`${agentUrl}/api/disburse/${encodeURIComponent(key)}`, { headers }),
  };
}

/**
 * Asks once a second until the job is `done` or `failed`.
 * @param onStage - told each step as it begins
 * @throws Error after ten minutes, and when the job cannot be read
 */
export async function waitForJob(
  agent: Agent,
  key: string,
  onStage: (stage: string) => void,
): Promise<Job> {
  const deadline = Date.now() + 600_000;
  for (let stage = ''; ; await sleep(1_000)) {
    const job = expectStatus('the job', await agent.getJob(key), 200) as Job;
    if (job.state === 'done' || job.state === 'failed') {
      return job;
    }
    if (job.stage !== undefined && job.stage !== stage) {
      stage = job.stage;
      onStage(stage);
    }
    if (Date.now() > deadline) {
      throw new Error(
        `the job is still ${job.state} after ten minutes; read it again under ${key}`,
      );
    }
  }
}
