/**
 * Contacts: labels for W, kept in `contacts.json` of the agent's directory (0600) with the evidence that binds P to W (protocol §2). A label
 * is used on this machine only and is part of no request.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type EvidenceDomain,
  encryptionPublicKeySchema,
  evidenceSchema,
  isPoolError,
  PoolError,
  parseWalletPub,
  parseWire,
  verifyEvidence,
  type WalletPub,
  walletPubSchema,
} from '@pool/core';
import { isCode, replaceDurableFile } from '@pool/storage';
import * as v from 'valibot';

const contactSchema = v.strictObject({
  label: v.pipe(v.string(), v.maxLength(32)),
  walletPub: walletPubSchema,
  encryptionPublicKey: encryptionPublicKeySchema,
  /** The sign-in of W that lists P. */
  evidence: evidenceSchema,
  addedAt: v.pipe(v.string(), v.isoTimestamp()),
});
export type Contact = v.InferOutput<typeof contactSchema>;

const fileSchema = v.strictObject({
  version: v.literal(1),
  contacts: v.pipe(v.array(contactSchema), v.maxLength(10_000)),
});

const labelPattern = /^[a-z0-9][a-z0-9._-]{0,31}$/;

export function contactsPath(home: string): string {
  return join(home, 'contacts.json');
}

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

/** @throws PoolError `store_damaged` */
export function readContacts(home: string): readonly Contact[] {
  const path = contactsPath(home);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if (isCode(cause, 'ENOENT')) {
      return [];
    }
    throw damaged(path, cause);
  }
  try {
    return parseWire(fileSchema, JSON.parse(text), 'contacts.json').contacts;
  } catch (cause) {
    throw damaged(path, cause);
  }
}

export function writeContacts(home: string, contacts: readonly Contact[]): void {
  replaceDurableFile(contactsPath(home), `${JSON.stringify({ version: 1, contacts }, null, 2)}\n`);
}

/** Labels by W. An unreadable file gives none: a history is shown in any case. */
export function readLabels(home: string): ReadonlyMap<string, string> {
  try {
    return new Map(readContacts(home).map(({ walletPub, label }) => [walletPub, label]));
  } catch {
    return new Map();
  }
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
      `@${label} is another wallet, ${named.walletPub}; a wallet never changes its W. Choose another label, or run "disburse-agent contacts remove ${label}" first`,
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

/**
 * W of a contact. The stored evidence is verified again, so a W that was exchanged in the file is noticed.
 * @throws PoolError `invalid_contact`, `contact_changed`, `store_damaged`
 */
export function findContact(
  home: string,
  text: string,
  domain: EvidenceDomain,
  nowMs: number,
): WalletPub {
  const label = parseLabel(text);
  const contacts = readContacts(home);
  const contact = contacts.find((one) => one.label === label);
  if (contact === undefined) {
    const known = contacts.map((one) => `@${one.label}`).join(', ');
    throw new PoolError(
      'invalid_contact',
      known === ''
        ? `there is no contact @${label}, and none at all; add one with "disburse-agent contacts add ${label} <W>"`
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
    `the evidence of @${label} is not of its wallet, or of another platform: the file was changed. Ask its owner for W, and add the contact again`,
  );
}

function damaged(path: string, cause: unknown): PoolError {
  return new PoolError(
    'store_damaged',
    `${path} cannot be read; restore it from a backup, or move it away and add the contacts again`,
    { cause },
  );
}
