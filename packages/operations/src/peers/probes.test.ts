import { PoolError } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { createChainsProbe, createStoreProbe } from './probes.ts';

async function answers(): Promise<number> {
  return 1;
}

async function unreachable(): Promise<never> {
  throw new PoolError('chain_unreachable', 'the RPC at https://key@rpc.example is down');
}

async function wrong(): Promise<never> {
  throw new PoolError('wrong_chain', 'another chain');
}

function probe(chains: Readonly<Record<string, () => Promise<number>>>) {
  const contexts = Object.entries(chains).map(
    ([key, fetchHeadTimestamp]) => [key, { chain: { fetchHeadTimestamp } }] as const,
  );
  return createChainsProbe(new Map(contexts))();
}

describe('the RPC of the chains in readiness', () => {
  it.each([
    ['all answer', { anvil: answers, base: answers }, true, 'reachable', /each chain/],
    ['one of two does not', { anvil: unreachable, base: answers }, true, 'chain_degraded', /anvil/],
    ['the only one does not', { anvil: unreachable }, false, 'chain_unreachable', /anvil/],
    ['the only one is another chain', { anvil: wrong }, false, 'chain_unreachable', /another/],
    ['there is none', {}, true, 'none', /no chain/],
  ])('%s', async (_, chains, ok, kind, message) => {
    const finding = await probe(chains);
    expect(finding).toMatchObject({ ok, detail: { kind } });
    expect(finding.detail.message).toMatch(message);
    expect(finding.detail.message).not.toContain('rpc.example');
  });
});

describe('the shared database in readiness', () => {
  it('is reachable while it answers', async () => {
    const down = createStoreProbe({ get: unreachable });
    const finding = await down();
    expect(finding).toMatchObject({ ok: false, detail: { kind: 'unreachable' } });
    expect(finding.detail.message).not.toContain('rpc.example');
    const up = createStoreProbe({ get: async () => undefined });
    expect(await up()).toMatchObject({ ok: true, detail: { kind: 'reachable' } });
  });
});
