/**
 * Who has been invited: names and e-mail addresses by reference, in `invitations.json` of the agent directory (0600). The platform knows the
 * references only. No code of a link is in it.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PoolError, parseWire } from '@pool/core';
import { isCode, replaceDurableFile } from '@pool/storage';
import * as v from 'valibot';

const personSchema = v.strictObject({
  reference: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{8,64}$/)),
  name: v.optional(v.pipe(v.string(), v.maxLength(120))),
  email: v.optional(v.pipe(v.string(), v.maxLength(254))),
  /** False: the link may exist, but no file has it. */
  hasLink: v.boolean(),
});
export type InvitedPerson = v.InferOutput<typeof personSchema>;

const fileSchema = v.strictObject({
  version: v.literal(1),
  people: v.pipe(v.array(personSchema), v.maxLength(1_000_000)),
});

export function invitedPath(home: string): string {
  return join(home, 'invitations.json');
}

/** In the order in which they were invited. @throws PoolError `store_damaged` */
export function readInvited(home: string): readonly InvitedPerson[] {
  const path = invitedPath(home);
  try {
    const stored: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return parseWire(fileSchema, stored, 'invitations.json').people;
  } catch (cause) {
    if (isCode(cause, 'ENOENT')) {
      return [];
    }
    throw new PoolError(
      'store_damaged',
      `${path} cannot be read; restore it from a backup, or move it away: the names of earlier invitations are then unknown`,
      { cause },
    );
  }
}

export function writeInvited(home: string, people: readonly InvitedPerson[]): void {
  replaceDurableFile(invitedPath(home), `${JSON.stringify({ version: 1, people }, null, 2)}\n`);
}
