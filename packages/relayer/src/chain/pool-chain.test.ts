/** How the relayer reads the answers of an RPC. */
import { assertField, Secret } from '@pool/core';
import { Wallet } from 'ethers';
import { beforeAll, describe, expect, it } from 'vitest';
import { type StubAnswer, startStubRpc } from '../../test/stub-rpc.ts';
import { testSettings } from '../../test/test-settings.ts';
import { createTestSettlement } from '../../test/test-settlement.ts';
import { createEvmPoolChain, type FundCall } from './pool-chain.ts';

describe('simulateFund', () => {
  let fund: FundCall;
  beforeAll(async () => {
    const funder = new Wallet(`0x${'11'.repeat(32)}`);
    const token = testSettings.tokens['USDC']?.address ?? '';
    const target = { settings: testSettings, token, funder, timestamp: 1_800_000_000 };
    ({ request: fund } = await createTestSettlement(target, { eligibilityRoot: assertField(5n) }));
  });

  async function simulate(answer: StubAnswer): Promise<string | undefined> {
    // A node that names no block: the ceiling is the one of the batch.
    const rpc = await startStubRpc((method) =>
      method === 'eth_getBlockByNumber' ? { result: null } : answer(method),
    );
    const settings = { ...testSettings, rpcUrl: rpc.rpcUrl };
    const chain = createEvmPoolChain('anvil', settings, new Secret(`0x${'31'.repeat(32)}`));
    try {
      return (await chain.simulate({ kind: 'fund', call: fund }))?.code;
    } finally {
      chain.close();
      rpc.stop();
    }
  }

  it('reports a revert, and nothing for a call that succeeds', async () => {
    expect(await simulate(() => ({ result: '0x' }))).toBeUndefined();
    const reverted = { code: 3, message: 'execution reverted', data: '0x' };
    expect(await simulate(() => ({ error: reverted }))).toEqual(expect.any(String));
  });

  it('simulates with a gas limit, and reports a call that needs more', async () => {
    const error = { code: -32000, message: 'out of gas: gas required exceeds: 1964270' };
    expect(await simulate(() => ({ error }))).toBe('gas_ceiling_exceeded');
  });

  it.each([
    ['is busy', { code: -32005, message: 'request limit reached' }],
    ['does not know the method', { code: -32601, message: 'the method does not exist' }],
    ['is behind', { code: -32000, message: 'header not found' }],
  ])('does not report a settlement as reverted when the node %s', async (_name, error) => {
    await expect(simulate(() => ({ error }))).rejects.toThrow();
  });
});

describe('assertChain', () => {
  it('refuses a pool whose contracts are not the expected ones, and another chain', async () => {
    let chainId = testSettings.chainId;
    const rpc = await startStubRpc((method) => ({
      result: method === 'eth_chainId' ? `0x${chainId.toString(16)}` : '0xfe',
    }));
    const settings = { ...testSettings, rpcUrl: rpc.rpcUrl };
    const chain = createEvmPoolChain('anvil', settings, new Secret(`0x${'31'.repeat(32)}`));
    try {
      await expect(chain.assertChain()).rejects.toMatchObject({ code: 'pool_code_differs' });
      chainId = 1;
      await expect(chain.assertChain()).rejects.toMatchObject({ code: 'wrong_chain' });
    } finally {
      chain.close();
      rpc.stop();
    }
  });
});
