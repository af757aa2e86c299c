/**
 * Usage: node src/main.ts [sandbox.json [pay run]]
 *
 * Pays a roster in a running sandbox over HTTP alone, and shows what is refused. Reports its steps on standard
 * error, and prints one JSON document at the end. The same pay run again is the same payment, and pays nobody twice.
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Agent, type Batch, createAgent, type Job, waitForJob } from './agent.ts';
import { expectRefusal, expectStatus } from './http.ts';
import { openSession } from './platform.ts';

type Sandbox = {
  readonly agentUrl: string;
  readonly platformUrl: string;
  readonly chainId: number;
  readonly employer: { readonly privateKey: string };
  readonly holders: readonly { readonly address: string; readonly privateKey: string }[];
};

const defaultPath = fileURLToPath(new URL('../../../.sandbox/sandbox.json', import.meta.url));
const [path = defaultPath, payRun = randomUUID()] = process.argv.slice(2);

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function main({ agentUrl, platformUrl, chainId, employer, holders }: Sandbox) {
  const [first, second, third] = holders;
  if (first === undefined || second === undefined || third === undefined) {
    throw new Error('the sandbox has fewer than three holders');
  }
  const batch: Batch = {
    token: 'USDC',
    recipients: [
      { recipientAddress: first.address, amount: '3000000001' },
      { recipientAddress: second.address, amount: '4000000007' },
      { recipientAddress: third.address, amount: '5000000011' },
    ],
  };
  // The key of a payment follows from the pay run, or is written down before anything is sent: a program that is
  // started again must send the same one.
  const payment = `payroll-${payRun}`;

  const funder = await openSession(platformUrl, chainId, employer.privateKey);
  say(`signed in as ${funder.address}`);
  const key = await funder.mintKey('disburse', 'http client');
  say(`minted the key ${key.keyPrefix}`);
  const agent = createAgent(agentUrl, key.apiKey);
  let shown: object;
  try {
    const mistakes = await showMistakes(agent, first.address);
    shown = {
      ...mistakes,
      key: payment,
      paid: batch.recipients,
      job: await pay(agent, payment, batch),
    };
  } finally {
    await funder.revokeKey(key.id);
    say('revoked the key');
  }
  expectRefusal('the revoked key', await agent.getJob(payment), 401, 'unauthorized');

  const stranger = await openSession(platformUrl, chainId, first.privateKey);
  const foreign = await stranger.mintKey('disburse', 'another employer');
  const answer = await createAgent(agentUrl, foreign.apiKey).disburse(payment, batch);
  await stranger.revokeKey(foreign.id);
  expectRefusal("another employer's key", answer, 401, 'unauthorized');
  say('the revoked key and the key of another employer were refused');
  return shown;
}

/** Five mistakes of five kinds: validating tells all of them, disbursing stops at the first. */
async function showMistakes(agent: Agent, address: string) {
  const mistaken: Batch = {
    token: 'NOT-A-TOKEN',
    recipients: [
      { recipientAddress: address, amount: '1.5' },
      { recipientAddress: 'nobody', amount: '1' },
      { recipientAddress: address, amount: '1' },
      { recipientAddress: '0x000000000000000000000000000000000000dEaD', amount: '1' },
    ],
  };
  const { ok, issues } = await agent.validate(mistaken);
  if (ok || new Set(issues.map(({ code }) => code)).size !== 5) {
    throw new Error(`a roster with five mistakes was judged ${JSON.stringify({ ok, issues })}`);
  }
  say(`validating finds: ${issues.map(({ code }) => code).join(', ')}`);
  const refused = await agent.disburse(`mistaken-${randomUUID()}`, mistaken);
  const firstIssue = expectStatus('disbursing the mistaken roster', refused, 400);
  return { issues, firstIssue };
}

async function pay(agent: Agent, payment: string, batch: Batch): Promise<Job> {
  const report = await agent.validate(batch);
  if (!report.ok) {
    throw new Error(`the roster cannot be paid: ${JSON.stringify(report)}`);
  }
  // 202: accepted, or still in progress. 200: this payment ended before, and this is its job.
  expectStatus('disbursing', await agent.disburse(payment, batch), 202, 200);
  say(`disbursing ${batch.recipients.length} amounts under the key ${payment}`);
  const job = await waitForJob(agent, payment, (stage) => say(`  ${stage}`));
  if (job.result?.status !== 'completed') {
    // Failed for good: after the cause is fixed, pay under a new key.
    throw new Error(`the job ended ${job.state}: ${JSON.stringify(job.result ?? job.error)}`);
  }
  say(`paid in ${job.result.batches[0]?.txHash ?? 'no transaction'}`);

  expectStatus('the same payment again', await agent.disburse(payment, batch), 200);
  const other = { ...batch, recipients: batch.recipients.slice(0, 1) };
  const conflict = await agent.disburse(payment, other);
  expectRefusal('another roster under the same key', conflict, 409, 'idempotency_conflict');
  return job;
}

try {
  const sandbox = JSON.parse(await readFile(path, 'utf8')) as Sandbox;
  console.log(JSON.stringify(await main(sandbox), undefined, 2));
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
