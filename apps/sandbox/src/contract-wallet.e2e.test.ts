// A Safe of three owners pays (ERC-1271): two agents on one PostgreSQL wait for the release by a person and for the signatures of
// the owners, which are imported at one of them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectErc20 } from '@pool/contracts';
import { parseEvmAddress } from '@pool/core';
import { createEvmProvider } from '@pool/evm-sender';
import { encodeApproveCall } from '@pool/signers';
import { readData } from '@pool/testkit';
import { type JsonRpcProvider, NonceManager, Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { voteLimitSeconds } from './custody/custody-place.ts';
import { countFundedBatches, fetchPoolBalance } from './demo/chain-facts.ts';
import { createJobStore } from './fixtures/job-store.ts';
import { deploySafe, type Safe, signAsOwners } from './fixtures/safe.ts';
import { clientOf, startTestStack, type TestStack } from './fixtures/test-stack.ts';
import { runAgentCommand } from './processes/agent-command.ts';
import type { Agent } from './processes/agent-process.ts';

const owners = [1, 2, 3].map((index) => new Wallet(`0x${String(index).repeat(64)}`));
const [first, second, third] = owners as [Wallet, Wallet, Wallet];

describe('a contract wallet that pays', () => {
  let stack: TestStack;
  let provider: JsonRpcProvider;
  let wallet: Safe;
  let shared: Record<string, string>;
  let agents: [Agent, Agent];
  let keyFile: string;

  const run = (agent: Agent, ...args: string[]) =>
    runAgentCommand({ environment: { ...agent.environment, ...shared } }, ['release', ...args]);
  const trace = async ({ url, loopbackToken }: Agent, key: string) => {
    const headers = { authorization: `Bearer ${loopbackToken}` };
    const answer = await fetch(`${url}/api/disburse/${key}/trace`, { headers });
    return (await answer.json()) as { outage?: { message: string }; refusal?: { message: string } };
  };
  const stageOf = async (key: string) => (await clientOf(agents[1]).getJob(key)).body.stage;
  const waitForStage = (key: string, stage: string) => expect.poll(() => stageOf(key)).toBe(stage);
  const readRequests = async (agent: Agent) => {
    const { requests } = readData((await run(agent, 'owners', '--json')).stdout) as {
      requests: { key: string; digest: string; safeMessageHash: string; state: string }[];
    };
    return requests;
  };
  const sign = (of: readonly Wallet[], digest: string, chainId = stack.chainId) =>
    signAsOwners(of, { chainId, wallet: wallet.address, digest });
  const importText = async (agent: Agent, text: string) => {
    const file = join(agent.home, 'owners.txt');
    writeFileSync(file, text);
    return (await run(agent, 'import', file)).code;
  };
  /** As a browser on the agent's machine does. */
  const openConsole = async (agent: Agent, path: string) => {
    const environment = { ...agent.environment, ...shared };
    const { stdout } = await runAgentCommand({ environment }, ['console']);
    const [login = ''] = /http:\S+/.exec(stdout) ?? [];
    const { origin } = new URL(login);
    const init = { redirect: 'manual', method: 'POST' } as const;
    const opened = await fetch(`${origin}/console/login`, {
      ...{ ...init, headers: { origin } },
      body: new URLSearchParams({ token: login.split('/').at(-1) ?? '' }),
    });
    const [cookie = ''] = opened.headers.get('set-cookie')?.split(';') ?? [];
    const url = `${origin}${opened.headers.get('location')}${path}`;
    const page = await (await fetch(url, { headers: { cookie } })).text();
    return {
      page,
      async giveFile(text: string) {
        const body = new FormData();
        body.set('form', /name="form" value="([^"]+)"/.exec(page)?.[1] ?? '');
        body.set('file', new File([text], 'owners.txt'));
        const answer = await fetch(url, { ...init, headers: { origin, cookie }, body });
        return [answer.status, await answer.text()] as const;
      },
    };
  };
  const release = async (key: string): Promise<void> => {
    const request = join(stack.directory, `${key}-request.json`);
    const answer = join(stack.directory, `${key}-answer.json`);
    await run(agents[0], 'show', key, '--out', request);
    await run(agents[0], 'sign', request, '--key-file', keyFile, '--out', answer, '--yes');
    expect((await run(agents[0], 'import', answer)).code).toBe(0);
  };
  const approve = async (key: string): Promise<void> => {
    const call = /to (0x[0-9a-fA-F]{40}), value 0, data (0x[0-9a-f]+)/;
    await expect.poll(async () => (await trace(agents[1], key)).outage?.message).toMatch(call);
    const [, to = '', data = ''] =
      call.exec((await trace(agents[1], key)).outage?.message ?? '') ?? [];
    await wallet.execute(to, data);
  };

  beforeAll(async () => {
    stack = await startTestStack({ acceptsVotes: true });
    provider = createEvmProvider({ rpcUrl: stack.rpcUrl, chainId: stack.chainId });
    const employer = new NonceManager(new Wallet(stack.employer.privateKey, provider));
    wallet = await deploySafe(employer, owners, 2);
    const usdc = connectErc20(stack.deployed.tokens['USDC']?.address ?? '', employer);
    await (await usdc.transfer(wallet.address, 10_000n)).wait();
    shared = { ...(await createJobStore()) };
    keyFile = join(stack.directory, 'ben.pem');
    const made = await runAgentCommand(stack.agent, ['release', 'new-key', keyFile]);
    const publicKey = /0x[0-9a-f]{64}/.exec(made.stdout)?.[0] ?? '';
    const policy = join(stack.directory, 'policy.json');
    const people = [
      { name: 'Ada', prepares: ['loopback'] },
      { name: 'Ben', publicKey },
    ];
    const rule = { chain: stack.chain, token: 'USDC', from: '0.001', required: 1, people: ['Ben'] };
    const rules = [{ ...rule, from: '0', required: 0 }, rule];
    const text = JSON.stringify({ version: 1, name: 'p', waitHours: 72, people, rules });
    writeFileSync(policy, text);
    shared['DISBURSE_RELEASE_POLICY'] = policy;
    const funder = {
      DISBURSE_SIGNER: 'contract_wallet',
      DISBURSE_CONTRACT_WALLET_ADDRESS: wallet.address,
      DISBURSE_VOTE_LIMIT_SECONDS: String(voteLimitSeconds),
    };
    agents = [
      await stack.startAgent({ name: 'one', funder, env: shared }),
      await stack.startAgent({ name: 'two', funder, env: shared }),
    ];
  });
  afterAll(async () => {
    provider.destroy();
    await stack.end();
  });

  it('waits for its owners through a restart, and pays once with their signatures and its own allowance', async () => {
    const key = 'june';
    const environment = { ...agents[0].environment, ...shared };
    const checked = await runAgentCommand({ environment }, ['config', 'check', '--json']);
    expect(checked.stdout).toContain('2 of 3 owners sign');
    const request = stack.createRequest({ 0: 100n });
    const headers = {
      authorization: `Bearer ${agents[0].loopbackToken}`,
      'content-type': 'application/json',
    };
    const body = JSON.stringify(request);
    const report = await fetch(`${agents[0].url}/api/validate`, { method: 'POST', headers, body });
    expect(await report.json()).toMatchObject({
      allowanceState: 'insufficient',
      preflight: [{ code: 'allowance_outside', severity: 'warning' }],
    });

    await clientOf(agents[0]).disburse(key, request);
    await waitForStage(key, 'awaiting-approval');
    await agents[0].process.kill();
    const [asked] = await readRequests(agents[1]);
    expect(asked).toMatchObject({ key, state: 'waiting' });
    const { digest = '', safeMessageHash } = asked ?? {};
    for (const text of [
      sign([first], digest),
      sign([first, second], digest, 1),
      sign([first, second], `0x${'5'.repeat(64)}`),
      JSON.stringify({ safe: first.address, preparedSignature: sign([first, second], digest) }),
    ]) {
      expect(await importText(agents[1], text)).toBe(2);
    }
    agents[0] = await agents[0].restart(shared);
    const console = await openConsole(agents[0], `releases/owners/${safeMessageHash}`);
    expect(console.page).toContain('<dd>0.0001 USDC (100 base units)</dd>');
    expect(await console.giveFile(sign([third], digest))).toEqual([
      400,
      expect.stringContaining('1 of its owners signed, and 2 must'),
    ]);
    expect(await console.giveFile(sign([third, first], digest))).toEqual([303, '']);
    expect(await importText(agents[1], sign([third, first], digest))).toBe(0);
    await approve(key);
    const job = await clientOf(agents[0]).waitForJob(key);
    expect(job).toMatchObject({ state: 'done', result: { status: 'completed' } });
    expect(await countFundedBatches(stack.place)).toBe(1);
    expect(await readRequests(agents[0])).toEqual([]);
  });

  it('waits for a person first; a release and signatures that are imported at one agent count once', async () => {
    const key = 'july';
    for (const agent of agents) {
      await clientOf(agent).disburse(key, stack.createRequest({ 0: 2_000n }));
    }
    await waitForStage(key, 'awaiting-release');
    await release(key);
    await waitForStage(key, 'awaiting-approval');

    const [asked] = await readRequests(agents[1]);
    const { digest = '', safeMessageHash: messageHash } = asked ?? {};
    const preparedSignature = sign([first, second], digest);
    const message = { safe: wallet.address, messageHash, preparedSignature, proposedBy: '0x' };
    expect((await run(agents[1], 'import', 'https://127.0.0.1:1/message')).code).toBe(2);
    expect(await importText(agents[1], JSON.stringify(message))).toBe(0);
    await approve(key);
    expect(await clientOf(agents[1]).waitForJob(key)).toMatchObject({ state: 'done' });
    expect(await countFundedBatches(stack.place)).toBe(2);

    const { entries } = readData((await run(agents[0], 'log', '--json')).stdout) as {
      entries: { key: string; event: string }[];
    };
    expect(entries.filter((entry) => entry.key === key).map(({ event }) => event)).toEqual([
      ...['prepare', 'release', 'released'],
      ...['owners-asked', 'owners-signed', 'paid'],
    ]);
    expect((await run(agents[0], 'verify')).code).toBe(0);
  });

  it('is not paid while its owners are others than those who signed, and the job says so', async () => {
    const key = 'august';
    await agents[1].process.stop();
    await agents[0].process.stop();
    const fault = { ...shared, NODE_ENV: 'test', DISBURSE_FAULT: 'signing.after-store' };
    const dying = await agents[0].restart(fault);
    await clientOf(dying).disburse(key, stack.createRequest({ 0: 300n }));
    agents[0] = dying;
    await expect.poll(async () => (await run(dying, 'list', '--json')).stdout).toContain(key);
    // Amounts of 24 hours count together, so a person is asked for this one too.
    await release(key);
    await expect.poll(async () => (await readRequests(dying)).length).toBe(1);
    const [asked] = await readRequests(dying);
    expect(await importText(dying, sign([first, second], asked?.digest ?? ''))).toBe(0);
    expect(await dying.process.exited).toMatchObject({ signal: 'SIGKILL' });
    await wallet.setOwners([third], 1);
    const token = stack.deployed.tokens['USDC']?.address ?? '';
    await wallet.execute(
      token,
      encodeApproveCall(parseEvmAddress(stack.place.contracts.pool), 300n),
    );
    agents = [await agents[0].restart(shared), await agents[1].restart(shared)];
    await waitForStage(key, 'settlement-refused');
    // It is sent again from time to time.
    const refusal = async () => (await trace(agents[1], key)).refusal?.message;
    await expect.poll(refusal).toMatch(/signature/);
    expect(await countFundedBatches(stack.place)).toBe(2);
    await wallet.setOwners(owners, 2);
    expect(await clientOf(agents[1]).waitForJob(key)).toMatchObject({ state: 'done' });
    expect(await fetchPoolBalance(stack.place, 'USDC')).toBe(2_400n);
  });
});
