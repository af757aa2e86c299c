/**
 * The holder's notes over the files of an agent directory.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { createEvmHistory } from '../../evm/evm-history.ts';
import type { HolderStores } from '../../holder/key-notes.ts';
import {
  createWalletNotes,
  type HolderNotes,
  type WalletNotesDeps,
} from '../../holder/wallet-notes.ts';
import { serializeIdentity } from '../../note-files/note-json.ts';
import type { NoteArchive, SyncIdentity } from '../../sync/ports.ts';
import { openNoteArchive } from '../cache/note-archive.ts';
import { deriveNoteCacheKey } from '../cache/note-cache-file.ts';
import { openNoteStore } from '../cache/note-store.ts';
import type { Log } from '../log.ts';
import { openSpendArchive } from '../store/spend-archive.ts';

export type HolderNotesDeps = Omit<WalletNotesDeps, 'stores' | 'createHistory'> &
  Partial<Pick<WalletNotesDeps, 'createHistory'>> & {
    /** The agent directory. Undefined: nothing is written to disk. */
    readonly home: string | undefined;
    readonly log: Log;
  };

export function createHolderNotes({ home, log, ...deps }: HolderNotesDeps): HolderNotes {
  return createWalletNotes({
    createHistory: createEvmHistory,
    ...deps,
    stores: createFileStores(home, log),
  });
}

function createFileStores(home: string | undefined, log: Log): HolderStores {
  /** By P, without a directory: the only copies while this process runs. */
  const memoryArchives = new Map<string, NoteArchive>();
  return {
    openSpends: () =>
      openSpendArchive(home === undefined ? ':memory:' : join(home, 'spends.sqlite')),
    async openNotes(identity, viewingKey) {
      const { encryptionPublicKey } = identity;
      const path = home === undefined ? undefined : notePath(home, identity);
      const archive =
        memoryArchives.get(encryptionPublicKey) ??
        openNoteArchive(path === undefined ? ':memory:' : `${path}.archive`);
      if (path === undefined) {
        memoryArchives.set(encryptionPublicKey, archive);
      }
      const store = openNoteStore({
        path: path === undefined ? ':memory:' : `${path}.sqlite`,
        key: deriveNoteCacheKey(viewingKey),
        identity,
        onDiscard: (reason) => {
          log.warn({ reason }, 'the note cache is made again from chain, archive and platform');
        },
      });
      // Every write is on disk when it returns.
      return { store, archive, save: async () => true };
    },
  };
}

/**
 * The files of one chain, pool and key pair: a change of the configuration does not discard what another one needs.
 * @returns a path without its ending: `.sqlite` is the cache, `.archive` the archive
 */
function notePath(home: string, identity: SyncIdentity): string {
  const name = createHash('sha256').update(serializeIdentity(identity)).digest('hex').slice(0, 12);
  return join(home, `holder-notes-${name}`);
}
