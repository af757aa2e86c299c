/**
 * What all nodes of the page say of the pool's history. A balance that follows from it is not the word of one node.
 *
 * @module
 */
import { type EvmChainSettings, listRpcUrls, PoolError } from '@pool/core';
import type { BrowserPorts } from '@pool/wallet/browser';
import { askAll, createEvmHistory } from '@pool/wallet/evm';

type History = ReturnType<BrowserPorts['createHistory']>;

/**
 * The ports of a wallet that asks every node of `chains.json`: `rpcUrl`, and `approve.secondRpcUrl` if it is there. They throw PoolError
 * `nodes_disagree`.
 */
export function createAgreedPorts(settings: EvmChainSettings) {
  const nodes = listRpcUrls(settings).map((rpcUrl) => ({ ...settings, rpcUrl }));
  return {
    createHistory: () => joinHistories(nodes.map(createEvmHistory)),
  };
}

/** @param nodes - one or more */
export function joinHistories(nodes: readonly History[]): History {
  const [only, ...others] = nodes;
  if (only !== undefined && others.length === 0) return only;
  return {
    node: nodes.map(({ node }) => node).join(' and '),
    async fetchFinalBlock() {
      const finals = await Promise.all(nodes.map((node) => node.fetchFinalBlock()));
      const number = Math.min(...finals.map((block) => block.number));
      const hash = await fetchBlockHash(number);
      if (hash === undefined) throw missing(number);
      return { number, hash };
    },
    fetchBlockHash,
    fetchLeaves: (from, to) => askAll(nodes, (node) => node.fetchLeaves(from, to)),
    fetchNoteRoot: (block) => askAll(nodes, (node) => node.fetchNoteRoot(block)),
    close() {
      for (const node of nodes) node.close();
    },
  };

  /** A node that is behind another does not contradict it. */
  async function fetchBlockHash(number: number) {
    const hashes = await Promise.all(nodes.map((node) => node.fetchBlockHash(number)));
    const known = hashes.filter((hash) => hash !== undefined);
    if (known.length !== 0 && known.length !== hashes.length) throw missing(number);
    return await askAll(hashes, async (hash) => hash);
  }
}

function missing(number: number): PoolError {
  return new PoolError('chain_unreachable', `a node does not have block ${number} yet; try again`);
}
