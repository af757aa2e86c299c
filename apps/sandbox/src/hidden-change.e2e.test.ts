// The platform takes a holder's spends, lands them through a contract whose calldata shows nothing of them, and lists no note. The holder's
// balance is complete all the same, and it spends its change.
import { edgeRoutes, type SpendRequest } from '@pool/api';
import { encodeSpend } from '@pool/contracts';
import { parseWire } from '@pool/core';
import { callWrapped, type LyingProxy, startLyingProxy } from '@pool/testkit';
import { concat, JsonRpcProvider, Wallet, ZeroAddress } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HolderAgent, startHolderAgent } from './fixtures/holder-agent.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';
import { ensureProvingKey } from './processes/artifacts.ts';
import { createProgress } from './processes/progress.ts';

describe('a platform that hides notes and whose relayer wraps spends', () => {
  let stack: TestStack;
  let provider: JsonRpcProvider;
  let proxy: LyingProxy;
  let agent: HolderAgent;
  /** By outRoot: the agent posts a refused spend again. */
  const taken = new Map<string, SpendRequest>();
  const vault = Wallet.createRandom().address;
  beforeAll(async () => {
    await ensureProvingKey(
      'spend-2x4',
      createProgress({ stream: process.stdout, plainLines: false }),
    );
    stack = await startTestStack({ holderCount: 2 });
    provider = new JsonRpcProvider(stack.rpcUrl, undefined, { cacheTimeout: -1 });
    proxy = await startLyingProxy(stack.platformUrl);
    const [holder] = stack.holders;
    if (holder === undefined) {
      throw new Error('the stack has no holder');
    }
    agent = await startHolderAgent(stack, holder, 'holder', {
      DISBURSE_PLATFORM_URL: `${proxy.url}/agent-edge`,
      DISBURSE_SEND_DESTINATIONS: `vault=${vault}`,
    });
    await stack.client.disburse('pay', stack.createRequest({ 0: 600n, 1: 5n }));
    expect(await stack.client.waitForJob('pay')).toMatchObject({ result: { status: 'completed' } });
    expect(await readBalance()).toEqual(['600', 1, '600']);
    proxy.setLies([
      { method: 'GET', path: /^\/agent-edge\/notes/, response: () => ({ notes: [] }) },
      {
        method: 'POST',
        path: /^\/agent-edge\/spends/,
        request: (body) => {
          const request = parseWire(edgeRoutes.postSpend.body, body, 'the spend');
          taken.set(request.spend.outRoot, request);
          return {};
        },
      },
    ]);
  });
  afterAll(async () => {
    provider.destroy();
    await proxy.stop();
    await stack.end();
  });

  /** Total, number of notes, largest. */
  async function readBalance(): Promise<readonly unknown[]> {
    const response = await fetch(`${agent.url}/api/balance?token=USDC`, {
      headers: { authorization: `Bearer ${agent.keys.read}` },
    });
    const { total, notes, largestNote } = (await response.json()) as Record<string, unknown>;
    return [total, notes, largestNote];
  }

  function send(amount: string): Promise<Response> {
    return fetch(`${agent.url}/api/send`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${agent.keys.send}`,
        'content-type': 'application/json',
        'idempotency-key': `send ${amount}`,
      },
      body: JSON.stringify({ token: 'USDC', amount, to: 'vault' }),
    });
  }

  /** Lands what the platform took, from an account of its own. @returns the calldata */
  async function wrap({ spend, proof, sealedNotes }: SpendRequest): Promise<string> {
    const relayer = Wallet.createRandom(provider);
    await provider.send('anvil_setBalance', [relayer.address, `0x${(10n ** 18n).toString(16)}`]);
    const { digest, withdrawAmount, recipient, deadline, ...rest } = spend;
    const call = encodeSpend({
      operation: {
        ...{ ...rest, D: digest, recipient: recipient ?? ZeroAddress },
        ...{ withdrawAmount: BigInt(withdrawAmount), deadline: BigInt(deadline) },
      },
      proof,
      sealedNotes: concat(sealedNotes.map(({ sealed }) => sealed)),
    });
    const { receipt, data } = await callWrapped(relayer, stack.deployed.contracts.pool, call);
    expect(receipt?.status).toBe(1);
    return data;
  }

  it.each([
    ['250', 1, ['350', 1, '350']],
    ['100', 2, ['250', 1, '250']],
  ] as const)(
    'a withdrawal of %s leaves the balance complete and spendable [balance.route, balance.note-count]',
    async (amount, count, balance) => {
      const asked = send(amount);
      await expect.poll(() => taken.size).toBeGreaterThanOrEqual(count);
      const spend = [...taken.values()].at(-1);
      if (spend === undefined) {
        throw new Error('the platform got no spend');
      }
      const data = await wrap(spend);
      for (const { sealed } of spend.sealedNotes) {
        expect(data).not.toContain(sealed.slice(2, 66));
      }
      const answer = await asked;
      expect([answer.status, await answer.json()]).toMatchObject([200, { status: 'success' }]);
      expect(await readBalance()).toEqual(balance);
      expect(proxy.applied.every((times) => times > 0)).toBe(true);
    },
  );
});
