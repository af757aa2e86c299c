/**
 * The people whom this machine has invited, for a payer whose roster names them.
 *
 * @module
 */
import { type Invitations, type InviteeState, keyOfPerson, type Output } from '@pool/pay-run';
import { readInvitingSettings } from '../config/config.ts';
import {
  confirmWallets,
  type InvitedPerson,
  nameOf,
  pinWallets,
  readInvited,
} from '../state/invited-people.ts';
import { type EmployerLogin, withSession } from './employer-session.ts';

/** Reads the configuration and signs in when it is first asked. */
export function createInvitations(login: EmployerLogin, terminal: Output['terminal']): Invitations {
  return {
    find(text) {
      const people = readInvited(readInvitingSettings(login.envFile).home);
      const sought = text.toLowerCase();
      const found = people.filter(
        ({ reference, name, email }) =>
          reference === text || [name, email].some((word) => word?.toLowerCase() === sought),
      );
      const firsts = new Map(
        found.map((one) => [keyOfPerson(one), findLinks(people, one)[0] ?? one]),
      );
      return [...firsts.values()].map((first) => ({
        person: first.reference,
        label: nameOf(first),
      }));
    },
    async readStates(persons) {
      const settings = readInvitingSettings(login.envFile);
      const { links } = await withSession(login, settings, terminal, (session) =>
        session.listInvitationLinks(),
      );
      const people = await pinWallets(settings.home, links);
      const byReference = new Map(links.map((link) => [link.reference, link]));
      const firsts = new Map(people.map((one) => [one.reference, one]));
      return new Map(
        persons.map((person): [string, InviteeState] => {
          const first = firsts.get(person);
          if (first === undefined) {
            // No wallet was pinned here, so the platform could name any.
            return [person, { person, label: person, state: 'elsewhere' }];
          }
          const newest = findNewest(people, first);
          const link = byReference.get(newest.reference);
          const label = nameOf(newest);
          if (link === undefined) {
            return [person, { person, label, state: 'unknown' }];
          }
          const { state, expiresAt } = link;
          const known = { person, label, state, expiresAt };
          return [person, { ...known, ...compareWallets(newest, link.address) }];
        }),
      );
    },
    async confirm(wallets) {
      const { home } = readInvitingSettings(login.envFile);
      const people = readInvited(home);
      const shown = people.flatMap((first) => {
        const address = wallets.get(first.reference);
        return address === undefined
          ? []
          : [[findNewest(people, first).reference, address] as const];
      });
      await confirmWallets(home, new Map(shown));
    },
  };
}

/** All links of a person, oldest first. */
function findLinks(people: readonly InvitedPerson[], one: InvitedPerson): readonly InvitedPerson[] {
  const key = keyOfPerson(one);
  return people.filter((other) => keyOfPerson(other) === key);
}

/** The newest link of a person is the one that counts. */
function findNewest(people: readonly InvitedPerson[], first: InvitedPerson): InvitedPerson {
  return findLinks(people, first).at(-1) ?? first;
}

function compareWallets(
  { address: pinned, confirmed }: InvitedPerson,
  named: string | undefined,
): Pick<InviteeState, 'address' | 'isNew' | 'changed'> {
  if (named === undefined) {
    return {};
  }
  return pinned !== undefined && pinned !== named
    ? { changed: { pinned, named } }
    : { address: named, ...(confirmed === true ? {} : { isNew: true }) };
}
