// The main job over real processes: pay, pay again, be refused. One deployment, tests in order.
import { connectErc20 } from '@pool/contracts';
import {
  deriveTraceId,
  disbursementJobSchema,
  fieldToHex,
  parseHex,
  parseWire,
  Secret,
} from '@pool/core';
import { computeWalletId } from '@pool/notes';
import { createGateClient } from '@pool/platform-client';
import { JsonRpcProvider, Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSession } from './chain/people.ts';
import { countFundedBatches, fetchAllowance, fetchPoolBalance } from './demo/chain-facts.ts';
import { readReceivedNotes } from './demo/received-notes.ts';
import { createAgentClient } from './fixtures/agent-client.ts';
import { clientOf, startTestStack, type TestStack } from './fixtures/test-stack.ts';

const stranger = '0x000000000000000000000000000000000000dEaD';

describe('a deployment', () => {
  let stack: TestStack;
  beforeAll(async () => {
    stack = await startTestStack({ provesWhole: true });
  });
  afterAll(async () => {
    await stack.end();
  });

  it('pays a roster, and every recipient opens exactly its own note [service.pays-many, service.roles-as-commands-and-routes, request.default-chain, job.states, job.stage, job.result-when-done, result.completed-though-insufficient, poll.job, variable.gate, variable.signer-unset, limit.one-batch]', async () => {
    const { client, place, holders } = stack;
    const amounts = { 0: 1_500_000n, 1: 2n, 2: 7_000_001n };
    await stack.withoutBlocks(async () => {
      const accepted = await client.disburse('june', stack.createRequest(amounts));
      expect(accepted).toEqual({
        status: 202,
        body: { key: 'june', state: 'accepted', statusUrl: '/api/disburse/june' },
      });
      await expect.poll(async () => (await client.getJob('june')).body.stage).toBe('settling');
    });
    const job = await client.waitForJob('june');

    expect(parseWire(disbursementJobSchema, job, 'job')).toEqual(job);
    expect(job).toMatchObject({
      key: 'june',
      state: 'done',
      result: {
        status: 'completed',
        batches: [{ index: 0, recipientCount: 3, status: 'success' }],
        skipped: [],
        allowance: { state: 'insufficient' },
      },
    });
    expect(job.result?.notes.map(({ amount }) => amount)).toEqual(['1500000', '2', '7000001']);

    for (const [index, amount] of Object.entries(amounts)) {
      const holder = holders[Number(index)]!;
      const [note, ...others] = await readReceivedNotes(place, holder, 'USDC');
      expect(others).toEqual([]);
      const reported = job.result?.notes[Number(index)];
      expect(note).toMatchObject({ amount, commitment: reported?.commitment });
      expect(note?.txHash).toBe(job.result?.batches[0]?.txHash);
    }
    expect(await readReceivedNotes(place, holders[3]!, 'USDC')).toEqual([]);
    expect(await fetchPoolBalance(place, 'USDC')).toBe(8_500_003n);
    // The permit was for exactly the total: nothing is left to take.
    expect(await fetchAllowance(place, 'USDC', stack.employer.address)).toBe(0n);
    expect(await countFundedBatches(place)).toBe(1);
  });

  it('answers the same key and body with the original job, another body with a conflict [state.terminal, disburse.200-terminal, disburse.replay-other-body]', async () => {
    const { client } = stack;
    const original = (await client.getJob('june')).body;
    const amounts = { 0: 1_500_000n, 1: 2n, 2: 7_000_001n };
    const again = await client.disburse('june', stack.createRequest(amounts));
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject(original);
    expect((await client.disburse('"june"', stack.createRequest(amounts))).status).toBe(200);

    const other = await client.disburse('june', stack.createRequest({ 0: 1_500_000n }));
    expect(other.status).toBe(409);
    expect(other.body.code).toBe('idempotency_conflict');
    expect(await countFundedBatches(stack.place)).toBe(1);
  });

  it('pays nobody twice when a second agent with an empty job store gets the same key [disburse.one-payment-a-key]', async () => {
    const original = (await stack.client.getJob('june')).body;
    const second = clientOf(await stack.startAgent({ name: 'second' }));
    expect((await second.getJob('june')).status).toBe(404);
    const amounts = { 0: 1_500_000n, 1: 2n, 2: 7_000_001n };
    expect((await second.disburse('june', stack.createRequest(amounts))).status).toBe(202);
    const job = await second.waitForJob('june');
    expect(job).toMatchObject({ state: 'done', result: { status: 'completed' } });
    expect(job.result?.batches[0]?.txHash).toBe(original.result?.batches[0]?.txHash);
    expect(await countFundedBatches(stack.place)).toBe(1);
    expect(await fetchPoolBalance(stack.place, 'USDC')).toBe(8_500_003n);
  });

  it('refuses a recipient who is not enrolled before anything is proved [service.recipients-are-listed, request.unregistered-fail, error.unregistered-recipient]', async () => {
    const request = stack.createRequest({ 0: 1n });
    const recipients = [...request.recipients, { recipientAddress: stranger, amount: '5' }];
    const refused = await stack.client.disburse('july', { ...request, recipients });
    expect(refused.status).toBe(400);
    expect(refused.body.code).toBe('unregistered-recipient');
    expect((await stack.client.getJob('july')).status).toBe(404);
  });

  it('skips and reports that recipient if the request allows it [request.unregistered-skip, result.skipped]', async () => {
    const request = stack.createRequest({ 4: 9n });
    const recipients = [{ recipientAddress: stranger, amount: '5' }, ...request.recipients];
    await stack.client.disburse('july', { ...request, recipients, unregistered: 'skip' });
    const job = await stack.client.waitForJob('july');
    expect(job.result).toMatchObject({
      status: 'completed',
      notes: [{ requestIndex: 1, amount: '9', status: 'success' }],
      skipped: [{ requestIndex: 0, recipientAddress: stranger, code: 'unregistered-recipient' }],
    });
    expect((await readReceivedNotes(stack.place, stack.holders[4]!, 'USDC'))[0]?.amount).toBe(9n);
  });

  it('reports its ceiling when a call is too large [disburse.no-split, error.batch-too-large, limit.recipients]', async () => {
    const { chains, chain } = stack;
    const settings = chains.chains[chain]!;
    const agent = await stack.startAgent({
      name: 'small',
      chains: { ...chains, chains: { [chain]: { ...settings, maxRecipients: 2 } } },
    });
    const request = stack.createRequest({ 0: 1n, 1: 1n, 2: 1n });
    const answer = await clientOf(agent).disburse('large', request);
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe('batch-too-large');
    expect(answer.body.message).toMatch(/\b2\b/);
  });

  it('accepts a disburse key of its employer, and no other credential [key.revocation-next-request, capability.disburse, capability.one-only]', async () => {
    const { url } = stack.agent;
    const statusWith = async (token: string): Promise<number> =>
      (await createAgentClient({ url, token }).getJob('june')).status;
    expect(await statusWith(stack.employer.apiKeys.disburse)).toBe(200);
    expect(await statusWith('')).toBe(401);
    expect(await statusWith(stack.edgeToken)).toBe(401);

    const session = await openSession(new Secret(parseHex(stack.place.employer.privateKey)), stack);
    const reader = await session.mintKey('holder.read', 'test');
    expect(await statusWith(reader.apiKey.reveal())).toBe(403);
    const foreign = await openSession(new Secret(stack.holders[0]!.privateKey), stack);
    expect(await statusWith((await foreign.mintKey('disburse', 'test')).apiKey.reveal())).toBe(401);

    const revoked = await session.mintKey('disburse', 'test');
    expect(await statusWith(revoked.apiKey.reveal())).toBe(200);
    await session.revokeKey(revoked.id);
    expect(await statusWith(revoked.apiKey.reveal())).toBe(401);
  });

  it('approves a token without permit for exactly the total, zero first [service.exact-allowance]', async () => {
    const { place, employer, client } = stack;
    const provider = new JsonRpcProvider(place.rpcUrl, undefined, { cacheTimeout: -1 });
    const wallet = new Wallet(employer.privateKey, provider);
    const token = connectErc20(place.tokens['USDT']!.address, wallet);
    await (await token.approve(place.contracts.pool, 3n)).wait();
    provider.destroy();

    await client.disburse('usdt', { ...stack.createRequest({ 5: 40n, 0: 2n }), token: 'USDT' });
    const job = await client.waitForJob('usdt');
    expect(job.result).toMatchObject({
      status: 'completed',
      allowance: { state: 'insufficient' },
    });
    expect(await fetchPoolBalance(place, 'USDT')).toBe(42n);
    expect(await fetchAllowance(place, 'USDT', employer.address)).toBe(0n);
  });

  it('fails a job whose recipient lost its place on the list, with nothing on chain [job.states, job.error-when-failed, state.failed-means-no-effect, failure.failed]', async () => {
    const { gateUrl, gateClients, holders, place, client } = stack;
    const writer = createGateClient({
      url: gateUrl,
      oauth: {
        tokenUrl: `${gateUrl}/oauth/token`,
        clientId: gateClients.writer.clientId,
        clientSecret: new Secret(gateClients.writer.clientSecret),
        scope: 'gate.read gate.write',
      },
    });
    const walletId = fieldToHex(computeWalletId(holders[3]!.walletPub));
    expect(await writer.deleteWallet(walletId)).toMatchObject({ status: 'removed' });
    const before = await countFundedBatches(place);
    // The platform has not noticed yet, so the request is accepted.
    const accepted = await client.disburse('revoked', stack.createRequest({ 2: 3n, 3: 4n }));
    expect(accepted.status).toBe(202);
    const job = await client.waitForJob('revoked');
    expect(job).toMatchObject({ state: 'failed', error: { code: 'unregistered-recipient' } });
    expect(job.result).toBeUndefined();
    expect(await countFundedBatches(place)).toBe(before);
  });

  it('writes one id of a payment to the logs of agent and platform, and its key to no log', () => {
    const logs = stack.readLogs();
    const traced = logs
      .split('\n')
      .filter((line) => line.includes(deriveTraceId('june')))
      .map((line) => JSON.parse(line) as { msg: string });
    const messages = traced.map(({ msg }) => msg);
    // The agent writes it from acceptance to the end, the platform from the post to the final block.
    for (const message of [
      'disbursement accepted',
      'job ended',
      'settlement accepted',
      'settlement sent',
      'settled',
    ]) {
      expect(messages).toContain(message);
    }
    expect(logs).not.toContain('june');
  });

  it('keeps every secret out of every log and every job [service.secrets-stay]', async () => {
    const jobs = await Promise.all(
      ['june', 'july', 'usdt', 'revoked'].map(async (key) =>
        JSON.stringify((await stack.client.getJob(key)).body),
      ),
    );
    const text = stack.readLogs() + jobs.join('\n');
    expect(text.length).toBeGreaterThan(10_000);
    const secrets = {
      'employer key': stack.employer.privateKey,
      'API key': stack.employer.apiKeys.disburse,
      'edge token': stack.edgeToken,
      'loopback token': stack.agent.loopbackToken,
      'reader secret': stack.gateClients.reader.clientSecret,
      'writer secret': stack.gateClients.writer.clientSecret,
      ...Object.fromEntries(
        stack.holders.flatMap((holder, index) => [
          [`private key ${index}`, holder.privateKey],
          [`viewing key ${index}`, holder.viewingKey],
        ]),
      ),
    };
    for (const [name, secret] of Object.entries(secrets)) {
      // Whole, without 0x, and the random tail by itself.
      const forms = [secret, secret.replace(/^0x/, ''), secret.slice(-24)];
      expect(
        forms.filter((form) => text.toLowerCase().includes(form.toLowerCase())),
        name,
      ).toEqual([]);
    }
  });
});
