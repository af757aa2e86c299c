// The holder's balance on a whole deployment: recipients who enrolled read what they were paid through agents of their own.
import { readdirSync } from 'node:fs';
import { Secret } from '@pool/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSession } from './chain/people.ts';
import { type HolderAgent, startHolderAgent } from './fixtures/holder-agent.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';
import { runAgentCommand } from './processes/agent-command.ts';

describe('the balance', () => {
  let stack: TestStack;
  let agent: HolderAgent;
  beforeAll(async () => {
    stack = await startTestStack();
    agent = await startHolderAgent(stack, stack.holders[0]!, 'holder');
  });
  afterAll(async () => {
    await stack.end();
  });

  async function pay(key: string, amounts: Readonly<Record<number, bigint>>): Promise<void> {
    await stack.client.disburse(key, stack.createRequest(amounts));
    expect(await stack.client.waitForJob(key)).toMatchObject({ result: { status: 'completed' } });
  }

  async function ask(bearer: string, query = '?token=USDC') {
    const response = await fetch(`${agent.url}/api/balance${query}`, {
      headers: { authorization: `Bearer ${bearer}` },
    });
    return { status: response.status, body: await response.json() };
  }

  const balance = (total: string, notes: number, largestNote: string) => ({
    status: 200,
    body: { total, symbol: 'USDC', notes, largestNote, chain: stack.chain },
  });

  it('is empty before a payment', async () => {
    expect(await ask(agent.readKey)).toEqual(balance('0', 0, '0'));
  });

  it('is what the holder was paid, in whichever batch [service.account-operations, balance.route, balance.total]', async () => {
    await pay('first', { 0: 30n, 1: 5n });
    expect(await ask(agent.readKey)).toEqual(balance('30', 1, '30'));
    await pay('second', { 0: 12n, 2: 7n });
    expect(await ask(agent.readKey)).toEqual(balance('42', 2, '30'));
  });

  it('is printed by the command as one line, and quiet in a pipe [balance.line, command.balance]', async () => {
    const { stdout, code } = await runAgentCommand(agent, ['balance']);
    expect([code, stdout]).toEqual([0, `42 USDC (2 note(s), largest 30) on ${stack.chain}\n`]);
  });

  it('is the same after a restart and after a rescan', async () => {
    await agent.process.stop();
    const { readKey, keys } = agent;
    agent = { ...(await agent.restart({ DISBURSE_LOG_LEVEL: 'info' })), readKey, keys };
    expect(await ask(readKey)).toEqual(balance('42', 2, '30'));
    const { stdout } = await runAgentCommand(agent, ['rescan']);
    expect(stdout).toBe(`42 USDC (2 note(s), largest 30) on ${stack.chain}\n`);
    const caches = readdirSync(agent.home).filter((name) => name.endsWith('.sqlite'));
    expect(caches.filter((name) => name.startsWith('holder-notes-'))).toHaveLength(1);
  });

  it('refuses other wallets, other capabilities and the loopback token [capability.holder-read]', async () => {
    const own = await openSession(new Secret(stack.holders[0]!.privateKey), stack);
    const { apiKey: transfer } = await own.mintKey('holder.transfer', 'test');
    const other = await openSession(new Secret(stack.holders[1]!.privateKey), stack);
    const { apiKey: foreign } = await other.mintKey('holder.read', 'test');
    for (const bearer of [transfer.reveal(), agent.loopbackToken]) {
      expect(await ask(bearer)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
    for (const bearer of [foreign.reveal(), 'f'.repeat(64)]) {
      expect(await ask(bearer)).toMatchObject({ status: 401 });
    }
  });

  it('refuses a token that is not configured, also as an address', async () => {
    const address = stack.place.tokens['USDC']?.address ?? '';
    for (const token of ['DAI', address]) {
      expect(await ask(agent.readKey, `?token=${token}`)).toMatchObject({
        status: 400,
        body: { code: 'unknown_token' },
      });
    }
    expect(await ask(agent.readKey, '')).toMatchObject({ body: { code: 'invalid_request' } });
  });

  it('is empty for a viewing key whose P is not enrolled [balance.other-p]', async () => {
    const other = await startHolderAgent(stack, stack.holders[0]!, 'other-key', {
      DISBURSE_HOLDER_VIEWING_KEY: `0x${'1'.padStart(64, '0')}`,
      DISBURSE_HOLDER_ENCRYPTION_PUBKEY: '',
    });
    const response = await fetch(`${other.url}/api/balance?token=USDC`, {
      headers: { authorization: `Bearer ${other.readKey}` },
    });
    expect(await response.json()).toMatchObject({ total: '0', notes: 0 });
    await other.process.stop();
  });

  it('is read by an agent with W and the viewing key alone, which cannot spend [service.viewing-key-moves-nothing]', async () => {
    const holder = stack.holders[0]!;
    const reading = await startHolderAgent(stack, holder, 'reading', {
      DISBURSE_HOLDER_PRIVATE_KEY: '',
      DISBURSE_HOLDER_WALLET_PUB: holder.walletPub,
      DISBURSE_HOLDER_VIEWING_KEY: holder.viewingKey,
    });
    const { stdout } = await runAgentCommand(reading, ['balance']);
    expect(stdout).toBe(`42 USDC (2 note(s), largest 30) on ${stack.chain}\n`);
    const identity = await runAgentCommand(reading, ['identity']);
    expect(JSON.parse(identity.stdout)).toMatchObject({
      walletPub: holder.walletPub,
      encryptionPublicKey: holder.encryptionPublicKey,
      signer: 'read-only',
    });
    const session = await openSession(new Secret(holder.privateKey), stack);
    const { apiKey } = await session.mintKey('holder.send', 'test');
    const spend = await fetch(`${reading.url}/api/send`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey.reveal()}`,
        'content-type': 'application/json',
        'idempotency-key': 'never',
      },
      body: JSON.stringify({ token: 'USDC', amount: '1' }),
    });
    expect([spend.status, await spend.json()]).toMatchObject([403, { code: 'holder_read_only' }]);
    await reading.process.stop();
  });

  it('ends with the revocation of the key, at the next request', async () => {
    const session = await openSession(new Secret(stack.holders[0]!.privateKey), stack);
    const { apiKey, id } = await session.mintKey('holder.read', 'short');
    expect((await ask(apiKey.reveal())).status).toBe(200);
    await session.revokeKey(id);
    expect((await ask(apiKey.reveal())).status).toBe(401);
  });
});
