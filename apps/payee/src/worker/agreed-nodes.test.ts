import type { Field, Hex32 } from '@pool/core';
import { createEvmHistory } from '@pool/wallet/evm';
import { beforeEach, expect, it } from 'vitest';
import { testSettings } from '../../../../packages/relayer/test/test-settings.ts';
import { createAgreedPorts, joinHistories } from './agreed-nodes.ts';

const leaf = { leafIndex: 0, root: 1n as Field, newRoot: 2n as Field, blockNumber: 3 };

/** A node that has a number of blocks. */
function createNode(name: string) {
  const node = { name, blocks: 10, root: 2n, leaves: [leaf], isClosed: false };
  return {
    node,
    history: {
      node: name,
      fetchFinalBlock: async () => ({ number: node.blocks, hash: hashOf(node.blocks) }),
      fetchBlockHash: async (block: number) => (block <= node.blocks ? hashOf(block) : undefined),
      fetchLeaves: async () => node.leaves as never,
      fetchNoteRoot: async () => node.root as Field,
      close: () => void Object.assign(node, { isClosed: true }),
    },
  };
}

function hashOf(block: number): Hex32 {
  return `0x${block.toString(16).padStart(64, '0')}` as Hex32;
}

let first: ReturnType<typeof createNode>;
let second: ReturnType<typeof createNode>;
let both: ReturnType<typeof joinHistories>;
beforeEach(() => {
  first = createNode('one.example');
  second = createNode('two.example');
  both = joinHistories([first.history, second.history]);
});

it('answers what both nodes answer, up to the block that is final for both', async () => {
  second.node.blocks = 8;
  expect(both.node).toBe('one.example and two.example');
  expect(await both.fetchFinalBlock()).toEqual({ number: 8, hash: hashOf(8) });
  expect(await both.fetchLeaves(0, 8)).toEqual([leaf]);
  expect(await both.fetchNoteRoot(8)).toBe(2n);
  expect(await both.fetchBlockHash(11)).toBeUndefined();
  both.close();
  expect([first.node.isClosed, second.node.isClosed]).toEqual([true, true]);
});

it('takes a block that one node does not have yet for no difference', async () => {
  second.node.blocks = 8;
  await expect(both.fetchBlockHash(9)).rejects.toMatchObject({ code: 'chain_unreachable' });
});

it.each<[string, () => void]>([
  ['root', () => Object.assign(second.node, { root: 3n })],
  ['leaf', () => Object.assign(second.node, { leaves: [{ ...leaf, root: 7n }] })],
  ['missing leaf', () => Object.assign(second.node, { leaves: [] })],
])('says that the nodes differ: %s', async (_, lie) => {
  lie();
  const asked = Promise.all([both.fetchNoteRoot(8), both.fetchLeaves(0, 8)]);
  await expect(asked).rejects.toMatchObject({ code: 'nodes_disagree' });
});

it('asks the nodes of chains.json: one, or two', () => {
  const one = createAgreedPorts(testSettings).createHistory();
  expect(one.node).toBe(createEvmHistory(testSettings).node);
  const approve = { secondRpcUrl: 'https://two.example/key' };
  const two = createAgreedPorts({ ...testSettings, approve }).createHistory();
  expect(two.node).toBe(`${one.node} and two.example`);
  one.close();
  two.close();
});
