/**
 * Ends the settlements and spends that the index has found on chain, whatever transaction carried them
 * (docs/decisions/0007).
 *
 * @module
 */
import { deriveTraceId } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import type { Log } from '@pool/http-server';
import type { PoolChain } from '../chain/pool-chain.ts';
import { areLabelsOpen, openLeaf } from '../store/spend-labels.ts';

type SettleDeps = {
  readonly db: PlatformDatabase;
  readonly chain: Pick<PoolChain, 'key' | 'fetchReceipt'>;
  readonly log: Log;
};

/**
 * Settles every settlement whose batch is in a final block, through any transaction. Its notes become servable when
 * the chain has the hash of exactly these sealed notes.
 */
export async function settleLandedBatches({ db, chain, log }: SettleDeps): Promise<void> {
  const landed = await db
    .selectFrom('settlements as s')
    .innerJoin('batches as b', (join) =>
      join
        .onRef('b.chain', '=', 's.chain')
        .onRef('b.batch_id', '=', 's.batch_id')
        .onRef('b.batch_root', '=', 's.batch_root'),
    )
    .select([
      's.id as id',
      's.key as key',
      's.sealed_notes_hash as ownHash',
      'b.sealed_notes_hash as chainHash',
      'b.tx_hash as txHash',
      'b.block_number as blockNumber',
      'b.leaf_index as leafIndex',
    ])
    .where('s.chain', '=', chain.key)
    .where('s.state', '!=', 'settled')
    .execute();
  for (const { id, key, ownHash, chainHash, txHash, blockNumber, leafIndex } of landed) {
    const receipt = await chain.fetchReceipt(txHash);
    await db.transaction().execute(async (trx) => {
      await trx
        .updateTable('settlements')
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
        await trx
          .updateTable('batches')
          .set({ settlement_id: id })
          .where('chain', '=', chain.key)
          .where('leaf_index', '=', leafIndex)
          .execute();
      }
    });
    log.info({ settlement: id, trace: deriveTraceId(key), txHash, blockNumber }, 'settled');
  }
}

/**
 * Settles every spend whose outputs are in a final block. Its notes become servable when the chain has the hash of exactly these
 * sealed notes.
 */
export async function settleLandedSpends({ db, chain, log }: SettleDeps): Promise<void> {
  const landed = await db
    .selectFrom('spends as s')
    .innerJoin('batches as b', (join) =>
      join.onRef('b.chain', '=', 's.chain').onRef('b.batch_root', '=', 's.out_root'),
    )
    .innerJoin('nullifiers as n', (join) =>
      join
        .onRef('n.chain', '=', 'b.chain')
        .onRef('n.leaf_index', '=', 'b.leaf_index')
        .onRef('n.nullifier', '=', 's.first_nullifier'),
    )
    .select([
      's.id as id',
      's.key as key',
      's.token as token',
      's.sealed_notes_hash as ownHash',
      'b.sealed_notes_hash as chainHash',
      'b.tx_hash as txHash',
      'b.block_number as blockNumber',
      'b.leaf_index as leafIndex',
    ])
    .where('s.chain', '=', chain.key)
    .where('s.state', '!=', 'settled')
    .execute();
  for (const { id, key, token, ownHash, chainHash, txHash, blockNumber, leafIndex } of landed) {
    const receipt = await chain.fetchReceipt(txHash);
    await db.transaction().execute(async (trx) => {
      await trx
        .updateTable('spends')
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
        const isOpen = await areLabelsOpen(trx, id, txHash);
        if (isOpen) {
          await openLeaf(trx, { chain: chain.key, leafIndex, token });
        }
        await trx
          .updateTable('batches')
          .set({ spend_id: id, open_notes: isOpen })
          .where('chain', '=', chain.key)
          .where('leaf_index', '=', leafIndex)
          .execute();
        await trx
          .deleteFrom('calldata_notes')
          .where('chain', '=', chain.key)
          .where('leaf_index', '=', leafIndex)
          .execute();
      }
    });
    log.info({ spend: id, trace: deriveTraceId(key), txHash, blockNumber }, 'settled');
  }
}
