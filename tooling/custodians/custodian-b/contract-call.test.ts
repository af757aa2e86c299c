import { afterEach, describe, expect, it } from 'vitest';
import { type FakeNode, startFakeNode } from './fixtures/fake-node.ts';
import { startWorld, vectors, type World } from './fixtures/world.ts';

const { contractCall, callbacks } = vectors;

let world: World | undefined;
let node: FakeNode | undefined;
afterEach(async () => {
  await world?.stop();
  await node?.close();
  world = undefined;
});

/** The nonce and the fees are those of the vectors' transaction. */
async function start(): Promise<{ world: World; node: FakeNode }> {
  node = await startFakeNode(7);
  world = await startWorld({
    reply: () => ({ action: 'APPROVE' }),
    config: {
      chains: { ETH_TEST5: { rpcUrl: node.url, chainId: contractCall.chainId } },
      receiptPollMs: 1,
    },
  });
  return { world, node };
}

async function create(request: object = contractCall.request): Promise<string> {
  const answer = await world?.callAs('agent', '/v1/transactions', { body: request });
  return String(answer?.body['id']);
}

describe('contract calls', () => {
  it('builds, signs and broadcasts the transaction of the vectors, and answers its hash', async () => {
    const { world, node } = await start();
    const id = await create();
    const confirming = await world.readUntil(id, 'CONFIRMING');
    const [sent] = node.sent;
    expect(sent?.unsignedSerialized).toBe(contractCall.unsignedTransaction);
    expect(sent?.unsignedHash).toBe(contractCall.digest);
    expect([sent?.from, sent?.hash]).toStrictEqual([world.address, confirming['txHash']]);
    node.mine('0x1');
    const done = await world.readUntil(id, 'COMPLETED');
    expect(done).toMatchObject({
      subStatus: 'CONFIRMED',
      txHash: sent?.hash,
      sourceAddress: world.address,
      destinationAddress: sent?.to,
      destination: { type: 'ONE_TIME_ADDRESS' },
    });
    expect(done).not.toHaveProperty('signedMessages');
  });

  it('shows the contract at both stages, and the whole transaction at the second', async () => {
    const { world, node } = await start();
    node.mine('0x1');
    const id = await create();
    await world.readUntil(id, 'COMPLETED');
    const received = world.handler?.received.map(({ payload }) => payload);
    const expected = callbacks.slice(2, 4).map(({ payload }) => payload);
    expect(received).toMatchObject(
      expected.map((payload) => ({ ...payload, txId: id, requestId: id })),
    );
    expect(received?.[0]).not.toHaveProperty('rawTx');
  });

  it('fails without a signature when the call would revert', async () => {
    const { world, node } = await start();
    node.refuseEstimates();
    const body = await world.readUntil(await create(), 'FAILED');
    expect(body).toMatchObject({
      signedBy: [],
      errorDescription: 'eth_estimateGas: execution reverted',
    });
    expect(node.sent).toHaveLength(0);
  });

  it('fails when the chain reverted it', async () => {
    const { world, node } = await start();
    node.mine('0x0');
    const body = await world.readUntil(await create(), 'FAILED');
    expect(body).toMatchObject({ subStatus: 'SMART_CONTRACT_EXECUTION_FAILED' });
  });

  it.each([
    ['a value', { amount: '0.1' }],
    ['another kind of destination', { destination: { type: 'VAULT_ACCOUNT', id: '1' } }],
    ['no call data', { extraParameters: {} }],
    ['an asset of another chain', { assetId: 'BTC' }],
  ])('refuses %s', async (_, change) => {
    const { world } = await start();
    const body = { ...contractCall.request, ...change };
    expect((await world.callAs('agent', '/v1/transactions', { body })).status).toBe(400);
  });

  it('cannot be cancelled once it was broadcast', async () => {
    const { world } = await start();
    const id = await create();
    await world.readUntil(id, 'CONFIRMING');
    const answer = await world.callAs('agent', `/v1/transactions/${id}/cancel`, { method: 'POST' });
    expect(answer.status).toBe(400);
  });
});
