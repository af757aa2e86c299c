/**
 * The holder's notes in the process of a command, from the agent directory and the chain alone: the platform is not asked, and the place up
 * to which its listing was read stays as it is. The agent of the same directory may run.
 *
 * @module
 */
import type { DeliveryPort } from '../../sync/ports.ts';
import type { Holder } from './holder.ts';
import {
  createHolderNotes,
  type HolderChain,
  type HolderNotes,
  type HolderNotesDeps,
} from './holder-notes.ts';
import { createKeyedNotes } from './keyed-notes.ts';

export type LocalNotesDeps = Pick<HolderNotesDeps, 'log' | 'createHistory' | 'createScanner'> & {
  /** The agent directory. */
  readonly home: string;
  readonly holder: Holder;
  readonly chain: HolderChain;
};

/** A page without a cursor: a sync stores no place of it. */
const noListing: DeliveryPort = { fetchPage: async () => ({ notes: [] }) };

/** Over all viewing keys of the holder. The caller closes it. */
export function openLocalNotes({ holder, chain, ...base }: LocalNotesDeps): HolderNotes {
  const createNotes = (openHolder: () => Promise<Holder>): HolderNotes =>
    createHolderNotes({
      ...base,
      openHolder,
      findChain: () => chain,
      createDeliveries: () => noListing,
    });
  const openHolder = async (): Promise<Holder> => holder;
  return holder.earlier.length === 0
    ? createNotes(openHolder)
    : createKeyedNotes({
        earlierCount: holder.earlier.length,
        openHolder,
        createNotes,
        createDeliveries: () => noListing,
        fetchRegistered: async () => undefined,
      });
}
