/**
 * The contacts of an account in a browser, sealed in its database (holder/contacts.ts).
 *
 * @module
 */
import type { EvidenceDomain, WalletPub } from '@pool/core';
import type { EvidenceVerifier } from '../evidence-verifier.ts';
import {
  addContact,
  assertContactFree,
  type Contact,
  type ContactChange,
  fetchContactKeys,
  findContact,
  parseLabel,
  removeContact,
} from '../holder/contacts.ts';
import type { RecipientPort } from '../ports.ts';
import type { SealedRecords } from './store/sealed-records.ts';

/** Every method throws PoolError; a label that cannot be used is `invalid_contact`. */
export type BrowserContacts = {
  /** By label. */
  list(): Promise<readonly Contact[]>;
  /**
   * Asks the platform about the address of W. The label goes nowhere.
   * @returns `rotated`: its wallet signed for another P
   * @throws PoolError `unregistered-recipient`, `contact_changed`
   */
  add(label: string, walletPub: WalletPub): Promise<ContactChange['outcome']>;
  remove(label: string): Promise<void>;
  /** @returns W, whose evidence is verified again. @throws PoolError `contact_changed` */
  find(label: string): Promise<WalletPub>;
};

/** All contacts are one record: a label must not look like another one. */
const all = 'all';

export function createBrowserContacts({
  records,
  domain,
  nowMs,
  ...ports
}: {
  readonly records: SealedRecords<readonly Contact[]>;
  readonly domain: EvidenceDomain;
  readonly nowMs: () => number;
  /** Key of the chain. */
  readonly chain: string;
  readonly lookup: RecipientPort;
  readonly verifier: EvidenceVerifier;
}): BrowserContacts {
  const list = async (): Promise<readonly Contact[]> => (await records.find(all)) ?? [];
  return {
    list,
    async add(text, walletPub) {
      const label = parseLabel(text);
      // Refused before anything is asked.
      assertContactFree(await list(), label, walletPub);
      const keys = await fetchContactKeys(walletPub, ports);
      const contact = { label, ...keys, addedAt: new Date(nowMs()).toISOString() };
      let outcome: ContactChange['outcome'] = 'added';
      await records.change([all], ([stored = []]) => {
        const changed = addContact(stored, contact);
        outcome = changed.outcome;
        return [changed.contacts];
      });
      return outcome;
    },
    remove: (label) => records.change([all], ([stored = []]) => [removeContact(stored, label)]),
    find: async (label) => findContact(await list(), label, domain, nowMs()),
  };
}
