/**
 * Sealed notes that a holder kept in a file of `notes export`, for a withdrawal without a platform. Only their form is checked here: the
 * sync opens each note and compares it with the chain.
 *
 * @module
 */
import { fieldToHex, PoolError } from '@pool/core';
import type { DeliveredNote, SyncIdentity } from '../../sync/ports.ts';
import { readNotesFile } from './notes-document.ts';

/**
 * Notes of all tokens: a spend uses those of its own. Entries that are damaged are left out: they must not stop a withdrawal of the others.
 * @throws PoolError `restore_refused`
 */
export function readKeptNotes(
  path: string,
  identity: Pick<SyncIdentity, 'chainId' | 'pool' | 'walletPub'>,
): readonly DeliveredNote[] {
  const { walletPub, notes } = readNotesFile(path, { ...identity, encryptionPublicKeys: [] });
  if (walletPub === undefined) {
    throw invalid(
      path,
      'a file of "disburse-agent redeliver" does not name the places of its notes; take it into the agent directory with "disburse-agent notes import", and run the command without --notes',
    );
  }
  if (!isSameHex(walletPub, identity.walletPub)) {
    throw invalid(path, 'it belongs to another holder');
  }
  return notes.flatMap(({ offered, place }) =>
    offered === undefined || place === undefined
      ? []
      : [
          {
            commitment: fieldToHex(offered.commitment),
            sealed: offered.sealed,
            batchIndex: place.leafIndex,
            slot: place.slot,
          },
        ],
  );
}

function isSameHex(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}

function invalid(path: string, found: string): PoolError {
  return new PoolError(
    'restore_refused',
    `${path} is not a usable file of exported notes: ${found}`,
  );
}
