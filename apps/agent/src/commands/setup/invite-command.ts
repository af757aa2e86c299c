/**
 * `disburse-agent invite`: invites people who have no wallet yet. It makes a link for each at the platform, and writes the links into a file.
 * Names and e-mail addresses stay on this machine: the platform gets a random reference for each person.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import type { InvitationLink } from '@pool/api';
import { encodeCsvField, PoolError, type Secret } from '@pool/core';
import {
  createPerson,
  exitCodes,
  findPersonProblem,
  keyOfPerson,
  type Output,
  type Person,
  parsePeople,
  readRosterText,
  writeNewFile,
} from '@pool/pay-run';
import type { CreatedInvitationLinks, SessionClient } from '@pool/platform-client';
import { readInvitingSettings } from '../../config/config.ts';
import { type EmployerLogin, withSession } from '../../onboard/employer-session.ts';
import {
  type InvitedPerson,
  nameOf,
  pinWallets,
  readInvited,
  withInvitedLock,
  writeInvited,
} from '../../state/invited-people.ts';
import { assertFree } from '../../terminal/new-file.ts';

export type InviteLogin = EmployerLogin & { readonly json?: boolean };

export type InviteOptions = InviteLogin & {
  readonly file?: string;
  readonly name?: string;
  readonly email?: string;
  readonly out?: string;
  readonly days?: string;
  readonly again?: boolean;
};

type Streams = Pick<Output, 'out' | 'terminal'>;

/** The platform's own limit for one call. */
const linksPerCall = 500;

/** What became of a person's link; undefined: the platform knows no such link. */
type State = InvitationLink['state'] | undefined;

/** @returns the exit code */
export async function runInvite(
  options: InviteOptions,
  { out, terminal }: Streams,
): Promise<number> {
  const settings = readInvitingSettings(options.envFile);
  const people = readPeople(options);
  const days = parseDays(options.days);
  if (options.out === undefined) {
    throw refuse('name a new file for the links with --out');
  }
  const path = resolve(options.out);
  assertFree(path, dirname(path) === settings.home);
  readInvited(settings.home);
  const result = await withSession(options, settings, terminal, (session, platformUrl) =>
    withInvitedLock(settings.home, async () => {
      const invited = readInvited(settings.home);
      const { links } = await session.listInvitationLinks();
      const states = new Map(links.map(({ reference, state }) => [reference, state]));
      const { chosen, kept } = choosePeople(people, invited, states, options.again === true);
      if (chosen.length === 0) {
        return { chosen, kept, quota: undefined };
      }
      const replaced = new Set(chosen.map(({ reference }) => reference));
      const others = invited.filter(({ reference }) => !replaced.has(reference));
      // Before the platform is asked: if its answer is lost, the next run makes these links again, under the same references.
      writeInvited(settings.home, [...others, ...chosen]);
      const created = await createLinks(session, chosen, days);
      writeNewFile(path, formatLinks(chosen, created, platformUrl));
      writeInvited(settings.home, [
        ...others,
        ...chosen.map((person) => ({ ...person, hasLink: true })),
      ]);
      return { chosen, kept, quota: created.quota };
    }),
  );
  out(options.json === true ? createDocument(path, result) : describeText(path, result));
  return exitCodes.ok;
}

function readPeople({ file, name, email }: InviteOptions): readonly Person[] {
  if (file !== undefined && (name !== undefined || email !== undefined)) {
    throw refuse('give --file, or --name and --email of one person, not both');
  }
  if (file !== undefined) {
    return parsePeople(readRosterText(file));
  }
  const person = createPerson((column) => ({ name, email })[column]);
  if (person.name === undefined && person.email === undefined) {
    throw refuse('nobody is named: give --file, or --name or --email of one person');
  }
  const problem = findPersonProblem(person);
  if (problem !== undefined) {
    throw refuse(`--${problem}`);
  }
  return [person];
}

function parseDays(text: string | undefined): number | undefined {
  if (text !== undefined && !/^[1-9][0-9]{0,3}$/.test(text)) {
    throw refuse('--days must be a whole number of days, from 1');
  }
  return text === undefined ? undefined : Number(text);
}

type Chosen = {
  /** Get a link, under a new reference or that of a link which nobody has or which is replaced. */
  readonly chosen: readonly InvitedPerson[];
  readonly kept: readonly { readonly person: InvitedPerson; readonly state: State }[];
};

/** @param again - replaces links that nobody has used */
function choosePeople(
  people: readonly Person[],
  invited: readonly InvitedPerson[],
  states: ReadonlyMap<string, State>,
  again: boolean,
): Chosen {
  // The newest of a person is the one that counts.
  const known = new Map(invited.map((person) => [keyOfPerson(person), person]));
  const chosen: InvitedPerson[] = [];
  const kept: { person: InvitedPerson; state: State }[] = [];
  for (const person of people) {
    const earlier = known.get(keyOfPerson(person));
    const state = earlier === undefined ? undefined : states.get(earlier.reference);
    const isUnused = state === 'created' || state === 'opened';
    if (earlier !== undefined && isUnused && (again || !earlier.hasLink)) {
      // With the wallet that was named for it, if there is one.
      chosen.push({ ...earlier, ...person, hasLink: false });
    } else if (
      earlier === undefined ||
      state === undefined ||
      state === 'expired' ||
      state === 'revoked'
    ) {
      chosen.push({ ...person, reference: randomBytes(10).toString('hex'), hasLink: false });
    } else {
      kept.push({ person: earlier, state });
    }
  }
  return { chosen, kept };
}

type Created = {
  readonly links: ReadonlyMap<string, { readonly code: Secret; readonly expiresAt: string }>;
  readonly quota: Pick<CreatedInvitationLinks, 'walletLimit' | 'walletsTaken'>;
};

async function createLinks(
  session: SessionClient,
  people: readonly InvitedPerson[],
  days: number | undefined,
): Promise<Created> {
  const links = new Map<string, { code: Secret; expiresAt: string }>();
  let quota: Created['quota'] = { walletLimit: 0, walletsTaken: 0 };
  for (let from = 0; from < people.length; from += linksPerCall) {
    const references = people.slice(from, from + linksPerCall).map(({ reference }) => reference);
    const made = await session.createInvitationLinks(references, days);
    quota = { walletLimit: made.walletLimit, walletsTaken: made.walletsTaken };
    for (const { reference, code, expiresAt } of made.links) {
      links.set(reference, { code, expiresAt });
    }
  }
  return { links, quota };
}

/** Secret. A table for a mail merge. */
function formatLinks(
  people: readonly InvitedPerson[],
  { links }: Created,
  platformUrl: string,
): string {
  const rows = people.map(({ reference, name = '', email = '' }) => {
    const link = links.get(reference);
    if (link === undefined) {
      throw new PoolError(
        'platform_invalid_response',
        `the platform made no link for the reference ${reference}; nothing was written`,
      );
    }
    // Behind the fragment: a browser sends it to no server.
    const url = `${platformUrl}/payee/#invite=${link.code.reveal()}`;
    return [reference, name, email, url, link.expiresAt];
  });
  return [['reference', 'name', 'email', 'link', 'expires'], ...rows]
    .map((row) => `${row.map(encodeCsvField).join(',')}\r\n`)
    .join('');
}

type InviteResult = Chosen & { readonly quota: Created['quota'] | undefined };

function createDocument(path: string, { chosen, kept, quota }: InviteResult): object {
  return {
    ...(quota === undefined ? {} : { file: path, ...quota }),
    invited: chosen.map(({ hasLink: _, ...person }) => person),
    kept: kept.map(({ person: { hasLink: _, ...person }, state }) => ({ ...person, state })),
  };
}

function describeText(path: string, { chosen, kept, quota }: InviteResult): string {
  return [
    ...(quota === undefined
      ? ['nobody was invited']
      : [
          `wrote ${path} (mode 0600) with ${chosen.length} link(s): whoever has a link can use it, so send each to its person alone`,
          `${quota.walletsTaken} of ${quota.walletLimit} wallets are invited or enrolled`,
        ]),
    ...kept.map(({ person, state }) => `${nameOf(person)} has a link already: ${state}`),
    ...(kept.some(({ state }) => state === 'created' || state === 'opened')
      ? ['--again replaces links that nobody has used']
      : []),
  ].join('\n');
}

/** @returns the exit code */
export async function runListInvited(
  options: InviteLogin,
  { out, terminal }: Streams,
): Promise<number> {
  const settings = readInvitingSettings(options.envFile);
  readInvited(settings.home);
  const list = await withSession(options, settings, terminal, (session) =>
    session.listInvitationLinks(),
  );
  const known = await pinWallets(settings.home, list.links);
  const people = new Map(known.map((person) => [person.reference, person]));
  const rows = list.links.map((link) => {
    const { name, email, address: pinned } = people.get(link.reference) ?? {};
    const isChanged = pinned !== undefined && link.address !== undefined && pinned !== link.address;
    return {
      ...(isChanged ? { earlierAddress: pinned } : {}),
      ...(name === undefined ? {} : { name }),
      ...(email === undefined ? {} : { email }),
      ...link,
    };
  });
  const { walletLimit, walletsTaken } = list;
  if (options.json === true) {
    out({ walletLimit, walletsTaken, links: rows });
    return exitCodes.ok;
  }
  const lines = rows.map(
    (row) =>
      `${row.state.padEnd(8)}  ${row.reference.padEnd(20)}  until ${row.expiresAt.slice(0, 10)}  ${nameOf(row)}${row.address === undefined ? '' : `  ${row.address}`}${row.earlierAddress === undefined ? '' : `, and earlier ${row.earlierAddress}: ask the person which one is theirs, and invite them again`}`,
  );
  out([...lines, `${walletsTaken} of ${walletLimit} wallets are invited or enrolled`].join('\n'));
  return exitCodes.ok;
}

/** @returns the exit code */
export async function runRevokeInvitation(
  reference: string,
  options: InviteLogin,
  { out, terminal }: Streams,
): Promise<number> {
  const settings = readInvitingSettings(options.envFile);
  await withSession(options, settings, terminal, (session) =>
    session.revokeInvitationLink(reference),
  );
  out(options.json === true ? { reference, state: 'revoked' } : `${reference}: revoked`);
  return exitCodes.ok;
}

function refuse(message: string): PoolError {
  return new PoolError('invalid_request', message);
}
