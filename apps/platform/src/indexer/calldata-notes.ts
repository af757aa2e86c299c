/**
 * Restores the sealed notes of spends that nobody posted here, from the calldata of their transactions: the contract requires them
 * there, and its event has their hash. Whose they are is unknown, so they are served to everybody (docs/decisions/0056, §8).
 *
 * @module
 */
import { decodeSpend } from '@pool/contracts';
import { errorCodeOf, type Hex, parseHex } from '@pool/core';
import { computeSealedNotesHash } from '@pool/notes';
import type { PoolChain, SentCall } from '../chain/pool-chain.ts';
import type { PlatformDatabase } from '../database/platform-tables.ts';
import { parseWords } from '../edge/served-batches.ts';
import type { Log } from '../log.ts';
import { openLeaf } from '../relayer/spend-labels.ts';

export type RestoreDeps = {
  readonly db: PlatformDatabase;
  readonly chain: Pick<PoolChain, 'key' | 'settings' | 'fetchCall'>;
  readonly log: Log;
  readonly nowMs: () => number;
};

/** Bytes of a sealed note (protocol §3). */
const sealedBytes = 209;
/** Places in one calldata that are hashed. More are the work of somebody who hides the notes of a spend of their own. */
const maxCandidates = 64;
const leavesPerPass = 20;
/** A node that did not have a transaction is asked again after this time. */
const retryMs = 3_600_000;

/** One bounded step, so that new leaves do not wait. */
export async function restoreSpendNotes(deps: RestoreDeps): Promise<void> {
  const { db, chain, log, nowMs } = deps;
  const leaves = await db
    .selectFrom('batches')
    .select(['leaf_index', 'tx_hash', 'sealed_notes_hash', 'commitments'])
    .where('chain', '=', chain.key)
    .where('kind', '=', 'spend')
    .where('spend_id', 'is', null)
    .where('open_notes', '=', false)
    .where('commitments', 'is not', null)
    .where((eb) =>
      eb.or([
        eb('notes_sought_at', 'is', null),
        eb('notes_sought_at', '<', new Date(nowMs() - retryMs).toISOString()),
      ]),
    )
    .orderBy('leaf_index')
    .limit(leavesPerPass)
    .execute();
  for (const leaf of leaves) {
    const facts = { chain: chain.key, leaf: leaf.leaf_index, txHash: leaf.tx_hash };
    let call: SentCall | undefined;
    try {
      call = await chain.fetchCall(leaf.tx_hash);
    } catch (error) {
      log.warn({ ...facts, code: errorCodeOf(error) }, 'the transaction of a spend was not read');
      return;
    }
    const commitments = parseWords(leaf.commitments);
    const sealed = call && findSealedNotes(call.data, leaf.sealed_notes_hash, commitments.length);
    if (call === undefined || sealed === undefined) {
      log.warn(facts, 'the sealed notes of a spend were not found in its transaction');
      await markSought(deps, leaf.leaf_index);
      continue;
    }
    await storeNotes(
      deps,
      leaf.leaf_index,
      findToken(call, chain.settings.pool),
      commitments,
      sealed,
    );
    log.info({ ...facts, notes: sealed.length }, 'restored the sealed notes of a spend');
  }
}

/**
 * The notes whose hash is in the event, wherever the calldata has them: a wallet contract wraps the call to the pool in one of its own.
 * @param data - calldata, `0x` hex
 * @param outputs - number of notes
 * @returns in slot order; undefined: they are not there in plain form
 */
export function findSealedNotes(
  data: string,
  sealedNotesHash: string,
  outputs: number,
): readonly Hex[] | undefined {
  const hex = data.slice(2).toLowerCase();
  const bytes = outputs * sealedBytes;
  // ABI: the length in a word of 32 bytes, and then the bytes.
  const length = bytes.toString(16).padStart(64, '0');
  let candidates = 0;
  for (let at = hex.indexOf(length); at >= 0; at = hex.indexOf(length, at + 1)) {
    const start = at + length.length;
    if (at % 2 === 1 || start + 2 * bytes > hex.length) {
      continue;
    }
    candidates += 1;
    if (candidates > maxCandidates) {
      return undefined;
    }
    const notes = Array.from({ length: outputs }, (_, slot) =>
      parseHex(
        `0x${hex.slice(start + 2 * sealedBytes * slot, start + 2 * sealedBytes * (slot + 1))}`,
      ),
    );
    if (computeSealedNotesHash(notes) === sealedNotesHash) {
      return notes;
    }
  }
  return undefined;
}

/** Lower case. Null: the pool was called by another contract. */
function findToken({ to, data }: SentCall, pool: string): string | null {
  if (to?.toLowerCase() !== pool.toLowerCase()) {
    return null;
  }
  try {
    return decodeSpend(data).operation.token.toLowerCase();
  } catch {
    // Another function of the pool, none of which spends.
    return null;
  }
}

async function storeNotes(
  { db, chain, nowMs }: RestoreDeps,
  leafIndex: number,
  token: string | null,
  commitments: readonly string[],
  sealed: readonly Hex[],
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const open = await trx
      .updateTable('batches')
      .set({ open_notes: true, notes_sought_at: new Date(nowMs()).toISOString() })
      .where('chain', '=', chain.key)
      .where('leaf_index', '=', leafIndex)
      .where('spend_id', 'is', null)
      .where('open_notes', '=', false)
      .returning('leaf_index')
      .executeTakeFirst();
    if (open === undefined) {
      return;
    }
    await openLeaf(trx, { chain: chain.key, leafIndex, token });
    await trx
      .insertInto('calldata_notes')
      .values(
        sealed.map((note, slot) => ({
          chain: chain.key,
          leaf_index: leafIndex,
          slot,
          token,
          commitment: commitments[slot] ?? '',
          sealed: note,
        })),
      )
      .execute();
  });
}

async function markSought({ db, chain, nowMs }: RestoreDeps, leafIndex: number): Promise<void> {
  await db
    .updateTable('batches')
    .set({ notes_sought_at: new Date(nowMs()).toISOString() })
    .where('chain', '=', chain.key)
    .where('leaf_index', '=', leafIndex)
    .execute();
}
