/**
 * What a holder is told when the node of its chain contradicts itself. The node is named: `chains.json` can have several.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { HistoryPort } from './ports.ts';

type Node = Pick<HistoryPort, 'node'>;

/** @param found - as a clause */
export function createIncomplete({ node }: Node, found: string): PoolError {
  return new PoolError(
    'note_history_incomplete',
    `the node ${node} served incomplete or changed events of the pool: ${found}; the agent reads them again at the next try. If this stays, set rpcUrl in chains.json to another node`,
  );
}

/** It does not have a block that the agent has read before. */
export function createNodeBehind({ node }: Node): PoolError {
  return new PoolError(
    'chain_unreachable',
    `the node ${node} does not serve an earlier block; try again`,
  );
}

/** Its contract is at a later final block than its events, for example because several nodes answer for one address. */
export function createNodeLags(
  { node }: Node,
  readBlock: number | undefined,
  finalBlock: number,
): PoolError {
  return new PoolError(
    'chain_unreachable',
    `the node ${node} lags: its events end at the final block ${readBlock ?? 'none'}, and its contract answered for block ${finalBlock}; try again`,
  );
}
