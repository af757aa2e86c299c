/**
 * The holder's notes in the process of a command, from the agent directory and the chain alone: the platform is not asked, and the place up
 * to which its listing was read stays as it is. The agent of the same directory may run.
 *
 * @module
 */
import type { Holder, HolderChain } from '../../holder/holder.ts';
import type { HolderNotes } from '../../holder/wallet-notes.ts';
import { createHolderNotes, type HolderNotesDeps } from './holder-notes.ts';

export type LocalNotesDeps = Pick<
  HolderNotesDeps,
  'home' | 'log' | 'createHistory' | 'createScanner'
> & { readonly holder: Holder; readonly chain: HolderChain };

/** Over all viewing keys of the holder. The caller closes it. */
export function openLocalNotes({ holder, chain, ...base }: LocalNotesDeps): HolderNotes {
  return createHolderNotes({
    ...base,
    openHolder: async () => holder,
    findChain: () => chain,
    // A page without a cursor: a sync stores no place of it.
    createDeliveries: () => ({ fetchPage: async () => ({ notes: [] }) }),
  });
}
