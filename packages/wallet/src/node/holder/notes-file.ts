/**
 * Files of exported notes on this machine.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { fieldToHex, PoolError } from '@pool/core';
import {
  createRefusal,
  type ExpectedNotes,
  type NotesFile,
  parseNotesFile,
} from '../../holder/notes-document.ts';
import type { DeliveredNote, SyncIdentity } from '../../sync/ports.ts';

/** @throws PoolError `restore_refused` if it cannot be read; like {@link parseNotesFile} */
export function readNotesFile(path: string, expected: ExpectedNotes): NotesFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw createRefusal(path, 'it cannot be read', cause);
  }
  return parseNotesFile(text, expected, path);
}

/**
 * The notes of an export, for a withdrawal without a platform. Only their form is checked here: the sync opens each note and compares it
 * with the chain. Notes of all tokens: a spend uses those of its own. Entries that are damaged are left out: they must not stop a withdrawal of the others.
 * @throws PoolError `restore_refused`
 */
export function readKeptNotes(
  path: string,
  identity: Pick<SyncIdentity, 'chainId' | 'pool' | 'walletPub'>,
): readonly DeliveredNote[] {
  const { walletPub, notes } = readNotesFile(path, { ...identity, encryptionPublicKeys: [] });
  if (walletPub === undefined) {
    throw unusable(
      path,
      'a file of "disburse-agent redeliver" does not name the places of its notes; take it into the agent directory with "disburse-agent notes import", and run the command without --notes',
    );
  }
  if (walletPub.toLowerCase() !== identity.walletPub.toLowerCase()) {
    throw unusable(path, 'it belongs to another holder');
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

function unusable(path: string, found: string): PoolError {
  return new PoolError(
    'restore_refused',
    `${path} is not a usable file of exported notes: ${found}`,
  );
}
