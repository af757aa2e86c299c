/**
 * Who has been invited: names and e-mail addresses by reference, in `invitations.json` of the agent directory (0600). The platform knows the
 * references only. No code of a link is in it. It also pins the wallet of each link, which only the platform's word binds to the person.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { InvitationLink } from '@pool/api';
import { PoolError, parseWire } from '@pool/core';
import { type Invitee, keyOfPerson, type Person } from '@pool/pay-run';
import { type FileLock, isCode, lockFile, replaceDurableFile, resultCodeOf } from '@pool/storage';
import * as v from 'valibot';
import { ensureAgentHome } from './agent-home.ts';

const personSchema = v.strictObject({
  reference: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{8,64}$/)),
  name: v.optional(v.pipe(v.string(), v.maxLength(120))),
  email: v.optional(v.pipe(v.string(), v.maxLength(254))),
  /** False: the link may exist, but no file has it. */
  hasLink: v.boolean(),
  /** The first wallet that the platform named for the link. */
  address: v.optional(v.pipe(v.string(), v.maxLength(128))),
  /** The payer has confirmed that this wallet is the person's. */
  confirmed: v.optional(v.literal(true)),
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

/** The name and the e-mail address, as far as they are known. */
export function nameOf({
  name,
  email,
  reference,
}: Person & { readonly reference: string }): string {
  return [name, email].filter((text) => text !== undefined).join(', ') || reference;
}

/** @param text - a reference, an e-mail address or a name. @returns everybody whom it can mean */
export function findPeople(home: string, text: string): readonly Invitee[] {
  const people = readInvited(home);
  const sought = text.toLowerCase();
  const found = people.filter(
    ({ reference, name, email }) =>
      reference === text || [name, email].some((word) => word?.toLowerCase() === sought),
  );
  const firsts = new Map(found.map((one) => [keyOfPerson(one), findLinks(people, one)[0] ?? one]));
  return [...firsts.values()].map((first) => ({ person: first.reference, label: nameOf(first) }));
}

/** All links of a person, oldest first. */
export function findLinks(
  people: readonly InvitedPerson[],
  one: InvitedPerson,
): readonly InvitedPerson[] {
  const key = keyOfPerson(one);
  return people.filter((other) => keyOfPerson(other) === key);
}

/**
 * Keeps the first wallet that the platform names for a link: a platform that names another one later is found out.
 * @returns everybody
 * @throws PoolError `invitations_in_use`, `store_damaged`
 */
export async function pinWallets(
  home: string,
  links: readonly Pick<InvitationLink, 'reference' | 'address'>[],
): Promise<readonly InvitedPerson[]> {
  return await withInvitedLock(home, async () => {
    const named = new Map(links.map(({ reference, address }) => [reference, address]));
    const known = readInvited(home);
    const people = known.map((person) => {
      const address = named.get(person.reference);
      return person.address !== undefined || address === undefined
        ? person
        : { ...person, address };
    });
    return writeChanged(home, known, people);
  });
}

/**
 * Keeps that the payer has confirmed wallets.
 * @param wallets - by the reference of their links, as they were shown
 * @throws as {@link pinWallets}
 */
export async function confirmWallets(
  home: string,
  wallets: ReadonlyMap<string, string>,
): Promise<void> {
  await withInvitedLock(home, async () => {
    const known = readInvited(home);
    const people = known.map((person) => {
      const shown = wallets.get(person.reference)?.toLowerCase();
      const isShown = shown !== undefined && person.address?.toLowerCase() === shown;
      return isShown && person.confirmed !== true
        ? { ...person, confirmed: true as const }
        : person;
    });
    writeChanged(home, known, people);
  });
}

function writeChanged(
  home: string,
  known: readonly InvitedPerson[],
  people: readonly InvitedPerson[],
): readonly InvitedPerson[] {
  if (people.some((person, index) => person !== known[index])) {
    writeInvited(home, people);
  }
  return people;
}

/** Only inside {@link withInvitedLock}: a write between this process's reading and its writing would be lost. */
export function writeInvited(home: string, people: readonly InvitedPerson[]): void {
  replaceDurableFile(invitedPath(home), `${JSON.stringify({ version: 1, people }, null, 2)}\n`);
}

const lockPauseMs = 50;
/** Result code of SQLite: somebody else holds it. */
const busy = 5;

/**
 * Reads, asks the platform and writes as one step: commands at once run one after the other. A process that dies leaves no lock.
 * @throws PoolError `invitations_in_use`
 */
export async function withInvitedLock<T>(
  home: string,
  work: () => Promise<T>,
  waitMs = 30_000,
): Promise<T> {
  ensureAgentHome(home);
  const lock = await takeLock(`${invitedPath(home)}.lock`, waitMs);
  try {
    return await work();
  } finally {
    lock.close();
  }
}

async function takeLock(path: string, waitMs: number): Promise<FileLock> {
  const giveUpAtMs = performance.now() + waitMs;
  for (;;) {
    try {
      return lockFile(path);
    } catch (cause) {
      if (resultCodeOf(cause) !== busy) {
        throw cause;
      }
      if (performance.now() > giveUpAtMs) {
        throw new PoolError(
          'invitations_in_use',
          `another command holds ${path}, and this one waited ${waitMs / 1_000} s for it; run it again when that has ended`,
          { cause },
        );
      }
      await sleep(lockPauseMs);
    }
  }
}
