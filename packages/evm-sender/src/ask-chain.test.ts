import { PoolError } from '@pool/core';
import { expect, it } from 'vitest';
import { askChain } from './ask-chain.ts';

const unreachable = { code: 'chain_unreachable', status: 503, retryable: true };

it('returns the answer of the chain', async () => {
  expect(await askChain(() => Promise.resolve(7), 1_000)).toBe(7);
});

it('reports every failure of the RPC as chain_unreachable', async () => {
  const cause = new Error('connection refused');
  await expect(askChain(() => Promise.reject(cause))).rejects.toMatchObject({
    ...unreachable,
    cause,
  });
});

it('fails if the chain does not answer in time', async () => {
  await expect(askChain(() => new Promise(() => undefined), 1)).rejects.toMatchObject(unreachable);
});

it('passes a PoolError on', async () => {
  const error = new PoolError('wrong_chain', 'the RPC serves another chain');
  await expect(askChain(() => Promise.reject(error), 1_000)).rejects.toBe(error);
});
