// The contract from outside: a sandbox as a person starts it, the example client that knows nothing of this repository,
// and the agent's own command.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const scriptAt = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
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
  readonly refused: { readonly revokedKey: number; readonly foreignKey: number };
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

  it('pays a roster as the contract of the service describes it', async () => {
    const result = await run(client, [path]);
    expect(result).toMatchObject({ code: 0, stderr: '' });
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
    expect(payment.refused).toEqual({ revokedKey: 401, foreignKey: 403 });
  });

  it('is told five mistakes of five kinds at once, and stopped at the first', () => {
    expect(
      payment.issues.map(({ requestIndex, code }) => `${requestIndex} ${code}`).sort(),
    ).toEqual([
      '-1 invalid-token',
      '0 invalid-amount',
      '1 invalid-address',
      '3 duplicate-recipient',
      '4 unregistered-recipient',
    ]);
    expect(payment.firstIssue).toEqual({ code: 'invalid-token', message: expect.any(String) });
  });

  it('leaves no recipient and no recipient’s amount in the transaction', async () => {
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
    // What stands there is found: otherwise the rest would prove nothing.
    expect(text).toContain(word(total));
    for (const { recipientAddress, amount } of payment.paid) {
      expect(text).not.toContain(recipientAddress.slice(2).toLowerCase());
      expect(text).not.toContain(BigInt(amount).toString(16));
    }
    for (const { walletPub } of place.holders) {
      expect(text).not.toContain(walletPub.slice(4));
    }
  });

  it('ends with what was not as described', async () => {
    const elsewhere = join(directory, 'elsewhere.json');
    const [holder] = (JSON.parse(readFileSync(path, 'utf8')) as { holders: object[] }).holders;
    // A wallet that is no funder of this agent: its key is another employer's.
    writeFileSync(elsewhere, JSON.stringify({ ...place, employer: holder }), { mode: 0o600 });
    expect(await run(client, [elsewhere])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('validating: expected 200'),
    });
  });

  it('pays a roster by the agent’s own command too, and says how it found the allowance', async () => {
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
    expect((JSON.parse(again.stdout) as { job: Payment['job'] }).job).toMatchObject({
      state: 'done',
      result: { batches: [{ txHash: /0x[0-9a-f]{64}/.exec(paid.stdout)?.[0] }] },
    });
  });
});
