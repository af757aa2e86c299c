// The contract from outside: a sandbox as a person starts it, the example client, which imports nothing of this repository,
// and the agent's own command.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readData } from '@pool/testkit';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { retryAfterSeconds, startStumblingProxy } from './stumbling-proxy.ts';

function scriptAt(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}
const client = scriptAt('examples/http-client/src/main.ts');
const sandbox = scriptAt('apps/sandbox/src/main.ts');
const agent = scriptAt('apps/agent/src/main.ts');

type Result = { readonly code: number; readonly stdout: string; readonly stderr: string };

function run(script: string, args: readonly string[], env: Record<string, string> = {}) {
  return new Promise<Result>((resolve) => {
    const options = ['--conditions=@pool/source', '--disable-warning=ExperimentalWarning'];
    const child = execFile(
      process.execPath,
      [...options, script, ...args],
      { env: { ...process.env, ...env } },
      (_, stdout, stderr) => {
        resolve({ code: child.exitCode ?? 1, stdout, stderr });
      },
    );
  });
}

type Payment = {
  readonly issues: readonly { readonly requestIndex: number; readonly code: string }[];
  readonly firstIssue: { readonly code: string; readonly message: string };
  readonly paid: readonly { readonly recipientAddress: string; readonly amount: string }[];
  readonly key: string;
  readonly job: {
    readonly key: string;
    readonly state: string;
    readonly result: { readonly batches: readonly { readonly txHash: string }[] };
  };
};

type Place = {
  readonly agentUrl: string;
  readonly rpcUrl: string;
  /** Of the agent, for its commands. */
  readonly agentHome: string;
  readonly contracts: { readonly pool: string };
  readonly employer: { readonly privateKey: string };
  readonly holders: readonly { readonly address: string; readonly walletPub: string }[];
};

describe('the sandbox from outside', () => {
  let directory: string;
  let path: string;
  let place: Place;
  let payment: Payment;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'pool-http-client-'));
    const up = await run(sandbox, ['up', '--holders', '3', '--dir', directory]);
    expect(up).toMatchObject({ code: 0 });
    path = join(directory, 'sandbox.json');
    place = JSON.parse(readFileSync(path, 'utf8')) as Place;
  });
  afterAll(async () => {
    await run(sandbox, ['down', '--dir', directory]);
    rmSync(directory, { recursive: true, force: true });
  });

  async function askChain<T>(method: string, ...params: readonly unknown[]): Promise<T> {
    const response = await fetch(place.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return ((await response.json()) as { result: T }).result;
  }

  /** Hashes of the transactions with events of the pool, oldest first. */
  async function findPoolTransactions(): Promise<readonly string[]> {
    const filter = { address: place.contracts.pool, fromBlock: '0x0', toBlock: 'latest' };
    const logs = await askChain<{ transactionHash: string }[]>('eth_getLogs', filter);
    return [...new Set(logs.map(({ transactionHash }) => transactionHash))];
  }

  it('pays a roster as the contract of the service describes it [auth.headless-sign-in, capability.foreign-employer, capability.revoked]', async () => {
    const result = await run(client, [path]);
    expect([result.code, result.stderr]).toEqual([0, expect.stringContaining('paid in 0x')]);
    payment = JSON.parse(result.stdout) as Payment;
    expect(payment.job).toMatchObject({
      key: payment.key,
      state: 'done',
      result: {
        status: 'completed',
        batches: [{ index: 0, recipientCount: 3, status: 'success' }],
        notes: payment.paid.map((entry, requestIndex) => ({ ...entry, requestIndex })),
        skipped: [],
        allowance: { state: 'insufficient' },
      },
    });
    expect(result.stderr).toMatch(/\nrevoked the key\nthe revoked key and .+ were refused\n$/);
    // The parts of a key are not disclosed.
    expect(result.stdout + result.stderr).not.toMatch(/pool_live_[A-Za-z0-9]{8}_/);
  });

  it('gets five mistakes of five kinds from validation, and the first from disburse [disburse.first-issue-alone, validate.every-issue, error.validate-lists-instead]', () => {
    expect(
      payment.issues.map(({ requestIndex, code }) => `${requestIndex} ${code}`).sort(),
    ).toEqual([
      '-1 invalid-token',
      '0 invalid-amount',
      '1 invalid-address',
      '2 duplicate-recipient',
      '3 unregistered-recipient',
    ]);
    expect(payment.firstIssue).toEqual({ code: 'invalid-token', message: expect.any(String) });
  });

  it('leaves no recipient and no recipient’s amount in the transaction [service.nothing-private-on-chain]', async () => {
    const hash = payment.job.result.batches[0]?.txHash;
    const transaction = await askChain<{ to: string; input: string }>(
      'eth_getTransactionByHash',
      hash,
    );
    const receipt = await askChain<{
      status: string;
      logs: { topics: string[]; data: string }[];
    }>('eth_getTransactionReceipt', hash);
    expect(receipt.status).toBe('0x1');
    expect(transaction.to).toBe(place.contracts.pool.toLowerCase());
    const text = [
      transaction.input,
      ...receipt.logs.flatMap(({ topics, data }) => [...topics, data]),
    ].join(' ');
    const total = payment.paid.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    const word = (value: bigint): string => value.toString(16).padStart(64, '0');
    // The search finds existing text. Otherwise the rest would prove nothing.
    expect(text).toContain(word(total));
    for (const { recipientAddress, amount } of payment.paid) {
      expect(text).not.toContain(recipientAddress.slice(2).toLowerCase());
      expect(text).not.toContain(BigInt(amount).toString(16));
    }
    for (const { walletPub } of place.holders) {
      expect(text).not.toContain(walletPub.slice(4));
    }
  });

  it('pays once with repeated requests, and the same pay run again pays nobody [disburse.replay-same-body]', async () => {
    const proxy = await startStumblingProxy(place.agentUrl, {
      // The roster with mistakes comes first.
      'POST disburse': ['none', 'down', 'busy', 'lost'],
      'GET disburse': ['lost', 'down'],
    });
    onTestFinished(() => proxy.stop());
    const elsewhere = join(directory, 'stumbling.json');
    writeFileSync(elsewhere, JSON.stringify({ ...place, agentUrl: proxy.url }), { mode: 0o600 });
    const before = await findPoolTransactions();
    const stumbled = await run(client, [elsewhere, 'stumbling']);
    expect([stumbled.code, stumbled.stderr]).toEqual([0, expect.stringContaining('paid in 0x')]);
    const paid = JSON.parse(stumbled.stdout) as Payment;
    const [batch] = paid.job.result.batches;
    expect((await findPoolTransactions()).slice(before.length)).toEqual([batch?.txHash]);

    const [, first = 0, second = 0, third = 0] = proxy.cameAt.get('POST disburse') ?? [];
    for (const waitedMs of [second - first, third - second]) {
      expect(waitedMs).toBeGreaterThanOrEqual(retryAfterSeconds * 1_000 - 10);
    }

    const again = await run(client, [path, 'stumbling']);
    expect((JSON.parse(again.stdout) as Payment).job).toEqual(paid.job);
    expect(await findPoolTransactions()).toHaveLength(before.length + 1);
  });

  it('ends with the difference from the description', async () => {
    const elsewhere = join(directory, 'elsewhere.json');
    const [holder] = (JSON.parse(readFileSync(path, 'utf8')) as { holders: object[] }).holders;
    // A wallet that is not a funder of this agent: its key belongs to another employer.
    writeFileSync(elsewhere, JSON.stringify({ ...place, employer: holder }), { mode: 0o600 });
    expect(await run(client, [elsewhere])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(
        'validating: expected 200, and was told 401 {"code":"unauthorized"',
      ),
    });
  });

  it('also pays a roster by the agent’s own command, and reports the allowance [service.roles-as-commands-and-routes, command.disburse-allowance-line]', async () => {
    const roster = join(directory, 'roster.csv');
    writeFileSync(roster, `address,amount\n${place.holders[0]?.address},25\n`);
    const args = ['disburse', '--file', roster, '--pay-run', 'bonus'];
    const environment = { DISBURSE_HOME: place.agentHome };
    const paid = await run(agent, args, environment);
    expect(paid.code).toBe(0);
    expect(paid.stdout).toContain('completed: 1 recipient(s)');
    expect(paid.stdout.split('\n')).toContain('allowance: insufficient at the pre-proof check');
    // The same roster under the same label is the same payment.
    const again = await run(agent, [...args, '--json'], environment);
    expect((readData(again.stdout) as { job: Payment['job'] }).job).toMatchObject({
      state: 'done',
      result: { batches: [{ txHash: /0x[0-9a-f]{64}/.exec(paid.stdout)?.[0] }] },
    });
  });
});
