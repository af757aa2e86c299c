/**
 * The contacts of an agent, kept in `contacts.json` of its directory (0600).
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PoolError, parseWire } from '@pool/core';
import { isCode, replaceDurableFile } from '@pool/storage';
import * as v from 'valibot';
import { type Contact, contactSchema } from '../../holder/contacts.ts';

const fileSchema = v.strictObject({
  version: v.literal(1),
  contacts: v.pipe(v.array(contactSchema), v.maxLength(10_000)),
});

export function contactsPath(home: string): string {
  return join(home, 'contacts.json');
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

function damaged(path: string, cause: unknown): PoolError {
  return new PoolError(
    'store_damaged',
    `${path} cannot be read; restore it from a backup, or move it away and add the contacts again`,
    { cause },
  );
}
