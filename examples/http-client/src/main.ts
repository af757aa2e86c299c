/**
 * Usage: node src/main.ts [sandbox.json]
 *
 * Pays a roster in a running sandbox over HTTP alone, and shows what is refused. Prints one JSON document.
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Batch, createAgent, waitForJob } from './agent.ts';
import { expectAnswer } from './http.ts';
import { openSession } from './platform.ts';

type Sandbox = {
  readonly agentUrl: string;
  readonly platformUrl: string;
  readonly chainId: number;
  readonly employer: { readonly privateKey: string };
  readonly holders: readonly { readonly address: string; readonly privateKey: string }[];
};

type Issue = { readonly requestIndex: number; readonly code: string };

const path =
  process.argv[2] ?? fileURLToPath(new URL('../../../.sandbox/sandbox.json', import.meta.url));

async function payRoster({ agentUrl, platformUrl, chainId, employer, holders }: Sandbox) {
  const [first, second, third] = holders;
  if (first === undefined || second === undefined || third === undefined) {
    throw new Error('the sandbox has fewer than three holders');
  }

  const funder = await openSession(platformUrl, chainId, employer.privateKey);
  const key = await funder.mintKey('disburse', 'http client');
  const agent = createAgent(agentUrl, key.apiKey);

  // Five mistakes of five kinds. Validating tells all of them; disbursing would stop at the first.
  const mistaken: Batch = {
    token: 'NOT-A-TOKEN',
    recipients: [
      { recipientAddress: first.address, amount: '1.5' },
      { recipientAddress: 'nobody', amount: '1' },
      { recipientAddress: second.address, amount: '1' },
      { recipientAddress: second.address, amount: '1' },
      { recipientAddress: '0x000000000000000000000000000000000000dEaD', amount: '1' },
    ],
  };
  const validated = expectAnswer('validating', await agent.validate(mistaken), 200).body;
  const issues = validated['issues'] as readonly Issue[];
  if (validated['ok'] !== false) {
    throw new Error('validating called a roster with five mistakes good');
  }
  const refused = await agent.disburse(`mistaken-${randomUUID()}`, mistaken);
  const firstIssue = expectAnswer('the mistaken roster', refused, 400).body;

  const batch: Batch = {
    token: 'USDC',
    recipients: [
      { recipientAddress: first.address, amount: '3000000001' },
      { recipientAddress: second.address, amount: '4000000007' },
      { recipientAddress: third.address, amount: '5000000011' },
    ],
  };
  const good = expectAnswer('validating', await agent.validate(batch), 200).body;
  if (good['ok'] !== true) {
    throw new Error(`validating found in a good roster: ${JSON.stringify(good)}`);
  }
  const payment = `payroll-${randomUUID()}`;
  expectAnswer('the roster', await agent.disburse(payment, batch), 202);
  const job = await waitForJob(agent, payment);
  if (job.result?.status !== 'completed') {
    throw new Error(`the job ended ${job.state}: ${JSON.stringify(job.result ?? job.error)}`);
  }
  expectAnswer('the same roster again', await agent.disburse(payment, batch), 200);
  const other = { ...batch, recipients: batch.recipients.slice(0, 1) };
  const conflict = await agent.disburse(payment, other);
  expectAnswer('another roster', conflict, 409, 'idempotency_conflict');

  await funder.revokeKey(key.id);
  expectAnswer('the revoked key', await agent.getJob(payment), 401, 'unauthorized');

  const stranger = await openSession(platformUrl, chainId, first.privateKey);
  const foreign = await stranger.mintKey('disburse', 'another employer');
  const foreignAgent = createAgent(agentUrl, foreign.apiKey);
  const foreignAnswer = await foreignAgent.disburse(payment, batch);
  expectAnswer("another employer's key", foreignAnswer, 403, 'forbidden');
  await stranger.revokeKey(foreign.id);

  return {
    issues: issues.map(({ requestIndex, code }) => ({ requestIndex, code })),
    firstIssue,
    paid: batch.recipients,
    key: payment,
    job,
    refused: { revokedKey: 401, foreignKey: foreignAnswer.status },
  };
}

try {
  const sandbox = JSON.parse(await readFile(path, 'utf8')) as Sandbox;
  console.log(JSON.stringify(await payRoster(sandbox), undefined, 2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
