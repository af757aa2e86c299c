/**
 * Asks the pool itself which notes are used (docs/decisions/0012). The notes come from events, and a node that changed the nullifiers of
 * one makes a used note look unspent.
 *
 * @module
 */

import {
  computeAssetId,
  type Hex32,
  isPoolError,
  PoolError,
  parseEvmAddress,
  parseField,
} from '@pool/core';
import { rethrowInterruption } from '@pool/idempotency/engine';
import type { ArchivedSpend } from '../archive/spend-archive.ts';
import type { NoteUse } from '../note-ports.ts';
import { findSpendContext, type SpendDeps } from './spend-deps.ts';
import type { SpendContext } from './spend-ports.ts';

/** The notes that a final spend has used, by the contract. @throws errors of the chain */
export async function fetchUses(
  { chain }: SpendContext,
  nullifiers: readonly Hex32[],
): Promise<readonly NoteUse[]> {
  const { outRoots, finalBlock } = await chain.fetchNullifierState(nullifiers);
  return nullifiers.flatMap((nullifier, place) => {
    const outRoot = outRoots[place];
    return outRoot === undefined
      ? []
      : [
          {
            nullifier: parseField(nullifier),
            outRoot: parseField(outRoot),
            finalBlock: finalBlock.number,
          },
        ];
  });
}

/**
 * After a spend lost its notes to another one: why the agent chose notes that were used.
 * @throws PoolError `note_history_incomplete` if the node had changed the event of that other spend, so that the notes looked unspent
 */
export async function explainAlreadySpent(spend: ArchivedSpend, deps: SpendDeps): Promise<void> {
  const context = findSpendContext(deps, spend);
  const token = spend.secrets?.manifest.token;
  if (context === undefined || token === undefined) {
    return;
  }
  try {
    const uses = await fetchUses(context, spend.inputNullifiers);
    await deps.notes.compareUses(
      computeAssetId(spend.chainId, spend.pool, parseEvmAddress(token)),
      uses,
    );
  } catch (error) {
    rethrowInterruption(error);
    // It only explains an outcome that is known: another failure of it is no answer.
    if (isPoolError(error) && error.code === 'note_history_incomplete') {
      throw new PoolError(
        error.code,
        `nothing of the spend moved, because another spend used one of its notes: ${error.message}. Then send it again under a new Idempotency-Key`,
        { cause: error, retryable: false },
      );
    }
  }
}
