/**
 * Contacts: labels for W, with the evidence that binds P to W (protocol §2). A label is used by its owner only and is part of no request.
 *
 * @module
 */
import {
  computeWalletAddress,
  type EvidenceDomain,
  encryptionPublicKeySchema,
  evidenceSchema,
  isPoolError,
  PoolError,
  parseWalletPub,
  verifyEvidence,
  type WalletPub,
  walletPubSchema,
} from '@pool/core';
import * as v from 'valibot';
import type { EvidenceVerifier } from '../evidence-verifier.ts';
import type { RecipientPort } from '../ports.ts';

export const contactSchema = v.strictObject({
  label: v.pipe(v.string(), v.maxLength(32)),
  walletPub: walletPubSchema,
  encryptionPublicKey: encryptionPublicKeySchema,
  /** The sign-in of W that lists P. */
  evidence: evidenceSchema,
  addedAt: v.pipe(v.string(), v.isoTimestamp()),
});
export type Contact = v.InferOutput<typeof contactSchema>;

const labelPattern = /^[a-z0-9][a-z0-9._-]{0,31}$/;

/**
 * The label as it is stored: in lower case, and only ASCII, so that two scripts cannot spell labels that look the same.
 * @throws PoolError `invalid_contact`
 */
export function parseLabel(text: string): string {
  const label = text.replace(/^@/, '').toLowerCase();
  if (!labelPattern.test(label)) {
    throw new PoolError(
      'invalid_contact',
      'a label has 1 to 32 letters a to z, digits, dots, dashes or underscores, and begins with a letter or digit, for example ben',
    );
  }
  return label;
}

export type ContactChange = {
  readonly contacts: readonly Contact[];
  /** `rotated`: the same W has another P now. */
  readonly outcome: 'added' | 'unchanged' | 'rotated';
};

/** @throws PoolError `invalid_contact` if label or W is taken, or another label looks like this one */
export function assertContactFree(
  contacts: readonly Contact[],
  label: string,
  walletPub: WalletPub,
): void {
  const named = contacts.find((contact) => contact.label === label);
  if (named !== undefined && named.walletPub !== walletPub) {
    throw new PoolError(
      'invalid_contact',
      `@${label} is another wallet, ${named.walletPub}; a wallet never changes its W. Choose another label, or remove that contact first`,
    );
  }
  const owned = contacts.find((contact) => contact.walletPub === walletPub);
  if (owned !== undefined && owned.label !== label) {
    throw new PoolError(
      'invalid_contact',
      `this wallet is already @${owned.label}; remove that contact first to rename it`,
    );
  }
  const twin = contacts.find(
    (contact) => contact.label !== label && describeLooks(contact.label) === describeLooks(label),
  );
  if (twin !== undefined) {
    throw new PoolError(
      'invalid_contact',
      `@${label} looks like @${twin.label}, which is another wallet; choose a label that cannot be mistaken for it`,
    );
  }
}

/**
 * Adds a contact whose evidence was verified, or renews the evidence of the same W under the same label.
 * @throws PoolError like {@link assertContactFree}
 */
export function addContact(contacts: readonly Contact[], added: Contact): ContactChange {
  const { label, encryptionPublicKey } = added;
  assertContactFree(contacts, label, parseWalletPub(added.walletPub));
  const named = contacts.find((contact) => contact.label === label);
  const others = contacts.filter((contact) => contact.label !== label);
  const outcome =
    named === undefined
      ? 'added'
      : named.encryptionPublicKey === encryptionPublicKey
        ? 'unchanged'
        : 'rotated';
  const sorted = [...others, added].sort((left, right) => (left.label < right.label ? -1 : 1));
  return { contacts: sorted, outcome };
}

/** Labels with one description are easily mistaken for each other. */
function describeLooks(label: string): string {
  return label
    .replace(/[._-]/g, '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replaceAll('cl', 'd')
    .replace(/[1i]/g, 'l')
    .replaceAll('0', 'o')
    .replaceAll('5', 's')
    .replaceAll('2', 'z');
}

/** @throws PoolError `invalid_contact` if there is none of that label */
export function removeContact(contacts: readonly Contact[], text: string): readonly Contact[] {
  const label = parseLabel(text);
  const others = contacts.filter((contact) => contact.label !== label);
  if (others.length === contacts.length) {
    throw new PoolError('invalid_contact', `there is no contact @${label}`);
  }
  return others;
}

/**
 * Asks the platform about the address of W, as a payment does. What it serves is verified and pinned.
 * @param ports.chain - key
 * @throws PoolError `unregistered-recipient`, `contact_changed`, and those of the platform
 */
export async function fetchContactKeys(
  walletPub: WalletPub,
  {
    chain,
    lookup,
    verifier,
  }: {
    readonly chain: string;
    readonly lookup: RecipientPort;
    readonly verifier: EvidenceVerifier;
  },
): Promise<Pick<Contact, 'walletPub' | 'encryptionPublicKey' | 'evidence'>> {
  const address = computeWalletAddress(walletPub);
  const [record] = await lookup.lookupRecipients(chain, [address]);
  if (record === undefined || record.evidence === undefined) {
    throw new PoolError(
      'unregistered-recipient',
      `the wallet ${address} has not signed in and enrolled at the platform, so it cannot be paid and nothing binds its keys; ask its owner to enrol`,
    );
  }
  const [verdict] = await verifier.verifyAll([{ address, record }]);
  if (verdict?.kind !== 'verified' || verdict.recipient.walletPub !== walletPub) {
    const reason = verdict?.kind === 'refused' ? verdict.reason : 'it is of another wallet';
    throw new PoolError(
      'contact_changed',
      `the platform's evidence for this wallet does not hold: ${reason}. The contact was not changed`,
    );
  }
  const { encryptionPublicKey, evidence } = verdict.recipient;
  return { walletPub, encryptionPublicKey, evidence };
}

/**
 * W of a contact. The stored evidence is verified again, so a W that was exchanged in the store is noticed.
 * @throws PoolError `invalid_contact`, `contact_changed`
 */
export function findContact(
  contacts: readonly Contact[],
  text: string,
  domain: EvidenceDomain,
  nowMs: number,
): WalletPub {
  const label = parseLabel(text);
  const contact = contacts.find((one) => one.label === label);
  if (contact === undefined) {
    const known = contacts.map((one) => `@${one.label}`).join(', ');
    throw new PoolError(
      'invalid_contact',
      known === ''
        ? `there is no contact @${label}, and none at all; add one with its W`
        : `there is no contact @${label}; contacts: ${known}`,
    );
  }
  return assertContact(contact, domain, nowMs);
}

function assertContact(contact: Contact, domain: EvidenceDomain, nowMs: number): WalletPub {
  const { label, walletPub, encryptionPublicKey } = contact;
  try {
    const verified = verifyEvidence(contact.evidence, domain, nowMs);
    if (verified.walletPub === walletPub && verified.encryptionPublicKey === encryptionPublicKey) {
      return verified.walletPub;
    }
  } catch (error) {
    if (!isPoolError(error)) {
      throw error;
    }
  }
  throw new PoolError(
    'contact_changed',
    `the evidence of @${label} is not of its wallet, or of another platform: what was stored was changed. Ask its owner for W, and add the contact again`,
  );
}
