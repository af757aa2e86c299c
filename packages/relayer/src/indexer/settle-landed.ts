/**
 * Ends the settlements and spends that the index has found on chain, whatever transaction carried them
 * (docs/decisions/0007).
 *
 * @module
 */
import { deriveTraceId } from '@pool/core';
import { type PlatformDatabase, type Term, writeAsLeader } from '@pool/database';
import type { Log } from '@pool/http-server';
import type { PoolChain } from '../chain/pool-chain.ts';
import { areLabelsOpen, openLeaf } from '../store/spend-store.ts';

type SettleDeps = {
  readonly db: PlatformDatabase;
  readonly chain: Pick<PoolChain, 'key' | 'fetchReceipt'>;
  readonly log: Log;
  readonly assertLeader?: Term['assertLeader'];
};

/** Of the row, and of the leaf that has its outputs. */
const columns = [
  's.id as id',
  's.kind as kind',
  's.key as key',
  's.token as token',
  's.sealed_notes_hash as ownHash',
  'b.sealed_notes_hash as chainHash',
  'b.tx_hash as txHash',
  'b.block_number as blockNumber',
  'b.leaf_index as leafIndex',
] as const;

/**
 * Settles every row whose outputs are in a final block, through any transaction. Its notes become servable when the chain
 * has the hash of exactly these sealed notes.
 */
export async function settleLanded(deps: SettleDeps): Promise<void> {
  const { chain, log } = deps;
  const landed = [...(await selectBatches(deps)), ...(await selectSpends(deps))];
  const receipts = landed.map(({ txHash }) => chain.fetchReceipt(txHash));
  await Promise.allSettled(receipts);
  for (const [place, row] of landed.entries()) {
    const { id, kind, key, token, ownHash, chainHash, txHash, blockNumber, leafIndex } = row;
    const receipt = await receipts[place];
    await writeAsLeader(deps, async (trx) => {
      await trx
        .updateTable('submissions')
        .set({
          state: 'settled',
          tx_hash: txHash,
          block_number: blockNumber,
          gas_used: receipt?.gasUsed.toString() ?? null,
          error_code: null,
          error_message: null,
        })
        .where('id', '=', id)
        .execute();
      if (ownHash === chainHash) {
        const leaf = { chain: chain.key, leafIndex };
        const isOpen = kind === 'spend' && (await claimNotes(trx, id, leaf, token, txHash));
        await trx
          .updateTable('batches')
          .set({ submission_id: id, open_notes: isOpen })
          .where('chain', '=', chain.key)
          .where('leaf_index', '=', leafIndex)
          .execute();
      }
    });
    log.info({ [kind]: id, trace: deriveTraceId(key), txHash, blockNumber }, 'settled');
  }
}

/** The stored notes of a spend take the place of those from its event. @returns whether they are served to everybody */
async function claimNotes(
  trx: PlatformDatabase,
  id: number,
  leaf: { readonly chain: string; readonly leafIndex: number },
  token: string,
  txHash: string,
): Promise<boolean> {
  const isOpen = await areLabelsOpen(trx, id, txHash);
  if (isOpen) {
    await openLeaf(trx, { ...leaf, token });
  }
  await trx
    .deleteFrom('calldata_notes')
    .where('chain', '=', leaf.chain)
    .where('leaf_index', '=', leaf.leafIndex)
    .execute();
  return isOpen;
}

async function selectBatches({ db, chain }: SettleDeps) {
  return await db
    .selectFrom('submissions as s')
    .innerJoin('batches as b', (join) =>
      join
        .onRef('b.chain', '=', 's.chain')
        .onRef('b.batch_id', '=', 's.batch_id')
        .onRef('b.batch_root', '=', 's.root'),
    )
    .select(columns)
    .where('s.chain', '=', chain.key)
    .where('s.state', '!=', 'settled')
    .execute();
}

async function selectSpends({ db, chain }: SettleDeps) {
  return await db
    .selectFrom('submissions as s')
    .innerJoin('batches as b', (join) =>
      join.onRef('b.chain', '=', 's.chain').onRef('b.batch_root', '=', 's.root'),
    )
    .innerJoin('nullifiers as n', (join) =>
      join
        .onRef('n.chain', '=', 'b.chain')
        .onRef('n.leaf_index', '=', 'b.leaf_index')
        .onRef('n.nullifier', '=', 's.first_nullifier'),
    )
    .select(columns)
    .where('s.chain', '=', chain.key)
    .where('s.state', '!=', 'settled')
    .execute();
}
