/**
 * The people whom this machine has invited, for a payer whose roster names them.
 *
 * @module
 */
import type { Invitations, InviteeState, Output } from '@pool/pay-run';
import { readInvitingSettings } from '../config/config.ts';
import {
  confirmWallets,
  findLinks,
  findPeople,
  type InvitedPerson,
  nameOf,
  pinWallets,
  readInvited,
} from '../state/invited-people.ts';
import { type EmployerLogin, withSession } from './employer-session.ts';

/** Reads the configuration and signs in when it is first asked. */
export function createInvitations(login: EmployerLogin, terminal: Output['terminal']): Invitations {
  return {
    find: (text) => findPeople(readInvitingSettings(login.envFile).home, text),
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
