import { PoolError, Secret } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { createDeliveries } from './served-notes.ts';

describe('the platform’s listing', () => {
  const input = { platformUrl: 'http://127.0.0.1:9/agent-edge', chain: 'anvil' };
  const balanceToken = new Secret(`pool_live_reader`);

  it('is not read without DISBURSE_BALANCE_TOKEN, which the message names [variable.balance-token]', () => {
    expect(() => createDeliveries({ ...input, balanceToken: undefined })).toThrow(
      expect.objectContaining({
        code: 'holder_unavailable',
        status: 503,
        message: expect.stringContaining('DISBURSE_BALANCE_TOKEN'),
      }),
    );
  });

  it('is read with the agent’s own key', async () => {
    let used: string | undefined;
    const deliveries = createDeliveries({
      ...input,
      balanceToken,
      createClient: (token) => {
        used = token.reveal();
        return { getNotes: async () => ({ notes: [] }) };
      },
    });
    await deliveries.fetchPage('USDC', undefined);
    expect(used).toBe(balanceToken.reveal());
  });

  it.each<[PoolError, string]>([
    [new PoolError('unauthorized', 'revoked'), 'holder_unavailable'],
    [new PoolError('forbidden', 'other capability'), 'holder_unavailable'],
    [new PoolError('invalid-token', 'unknown there'), 'platform_invalid_response'],
    [new PoolError('platform_unreachable', 'down'), 'platform_unreachable'],
    [new PoolError('rate_limited', 'slow down'), 'platform_unreachable'],
  ])('reports %s as a failure of the platform, never of the caller', async (error, code) => {
    const deliveries = createDeliveries({
      ...input,
      balanceToken,
      createClient: () => ({ getNotes: () => Promise.reject(error) }),
    });
    await expect(deliveries.fetchPage('USDC', undefined)).rejects.toMatchObject({
      code,
      status: 503,
    });
  });
});
