// Disclosures verified by nodes alone, with the vectors' events: nodes that agree, that lie, and that are behind.
import { parseEvmAddress } from '@pool/core';
import { isProved } from '@pool/notes';
import type { EvmRecords } from '@pool/wallet/evm';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/disclosure.json' with { type: 'json' };
import { verifyByNodes } from './verify-by-nodes.ts';

const [funded] = vectors.disclosures;
const pool = parseEvmAddress(vectors.facts.pool);
const terms = { nowMs: funded?.nowMs ?? 0, challenge: funded?.challenge };

/** What one node says. */
type Node = {
  readonly final?: number;
  readonly time?: number;
  readonly hasBatch?: boolean;
  readonly symbol?: string;
  readonly decimals?: number;
};

const leaves = vectors.facts.insertions.map((fact, place) => ({
  ...fact,
  kind: place === 0 ? 'fund' : 'spend',
  leafIndex: fact.index,
  blockNumber: 4,
}));

async function verify(nodes: readonly Node[], document: unknown = funded?.document) {
  let open = 0;
  const said = new Map(nodes.map((node, place) => [`http://node-${place}`, node]));
  const createRecords = ({ rpcUrl }: { readonly rpcUrl: string }): EvmRecords => {
    const { final = 9, time = 1_795_000_000, hasBatch = true, ...unit } = said.get(rpcUrl) ?? {};
    open += 1;
    return {
      fetchFinalBlock: async () => final,
      fetchBlockTime: async () => time,
      fetchSpendCalldata: async () => undefined,
      fetchFunder: async () => undefined,
      fetchGasCost: async () => undefined,
      fetchTransactionLeaves: async (txHash) =>
        leaves.filter((leaf) => hasBatch && leaf.txHash === txHash) as never,
      fetchLeaves: async () => [],
      fetchTokenUnit: async () => ({ symbol: 'USDC', decimals: 6, ...unit }),
      close: () => {
        open -= 1;
      },
    };
  };
  const place = { pool, rpcUrls: [...said.keys()] };
  try {
    return await verifyByNodes(document, place, terms, createRecords);
  } finally {
    expect(open).toBe(0);
  }
}

describe('a disclosure, by nodes alone', () => {
  it('is proved where all of them agree, with the times of the blocks and the unit of the token', async () => {
    const { report, times, unit } = await verify([{}, { final: 5 }]);
    expect(isProved(report)).toBe(true);
    expect([...times.values()]).toEqual([1_795_000_000]);
    expect(unit).toEqual({ symbol: 'USDC', decimals: 6 });
  });

  it.each([
    ['an event', { hasBatch: false }],
    ['the time of a block', { time: 1_795_000_012 }],
    ['the decimals of the token', { decimals: 18 }],
  ])('is not verified where they do not agree about %s', async (_, lie) => {
    await expect(verify([{}, lie])).rejects.toMatchObject({ code: 'nodes_disagree' });
  });

  it('is not on chain before the block is final for every node', async () => {
    const { report, times, unit } = await verify([{}, { final: 3 }]);
    expect(report.payments.map(({ exists }) => exists)).toEqual(
      Array.from({ length: 2 }, () => ({ state: 'not-proved', reason: 'not-on-chain' })),
    );
    expect([isProved(report), times.size, unit]).toEqual([false, 0, undefined]);
  });

  it('has amounts without a unit where the decimals are absurd', async () => {
    const { report, unit } = await verify([{ decimals: 200 }]);
    expect([isProved(report), unit]).toEqual([true, undefined]);
  });

  it.each([[null], [{}], [[]], ['text']])(
    'is malformed where it is no disclosure: %j',
    async (document) => {
      const { report } = await verify([{}], document);
      expect(report.discloser).toEqual({ state: 'not-proved', reason: 'malformed' });
    },
  );
});
