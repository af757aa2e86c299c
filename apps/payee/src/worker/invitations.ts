/**
 * Invitations into the page's pool, and the employers whose invitation the account accepted in this browser.
 *
 * @module
 */
import { PoolError, Secret } from '@pool/core';
import type { OpenedInvitation, SessionClient } from '@pool/platform-client/browser';
import type { SealedRecords } from '@pool/wallet/browser';
import type { Invitation, Inviter } from '../wallet-port.ts';
import type { Place } from './place.ts';

/** @throws PoolError of the platform; `invalid-chain` */
export async function readInvitation(
  place: Place,
  session: Pick<SessionClient, 'openInvitation'>,
  code: string,
): Promise<Invitation> {
  return describe(place, await session.openInvitation(new Secret(code)));
}

/**
 * Binds the invitation to the session's wallet, and keeps who invited it. An invitation into another pool is read, and not accepted.
 * @throws PoolError of the platform; `invalid-chain`
 */
export async function acceptInvitation(
  place: Place,
  session: Pick<SessionClient, 'openInvitation' | 'acceptInvitation'>,
  code: string,
  inviters: Pick<Inviters, 'add'>,
): Promise<void> {
  await readInvitation(place, session, code);
  const accepted = describe(place, await session.acceptInvitation(new Secret(code)));
  const { employer, employerAddress, pool } = accepted;
  await inviters.add({ employer, employerAddress, pool, acceptedAtMs: Date.now() });
}

function describe({ chain, evidence }: Place, found: OpenedInvitation): Invitation {
  const { key, settings } = chain;
  if (found.chains[key]?.pool !== settings.pool) {
    throw new PoolError('invalid-chain', 'the invitation is for another pool than the page’s');
  }
  return {
    state: found.state,
    employer: found.employerName,
    employerAddress: found.employerAddress,
    platform: evidence.domain,
    chain: key,
    pool: settings.pool,
    expiresAtMs: Date.parse(found.expiresAt),
  };
}

export type Inviters = {
  /** Oldest first. */
  list(): Promise<readonly Inviter[]>;
  /** An employer that invited the account before stays where it is, with the newer name. */
  add(inviter: Inviter): Promise<void>;
};

/** One record holds them all: an account has few. */
const name = 'all';

export function createInviters(
  records: Pick<SealedRecords<readonly Inviter[]>, 'find' | 'change'>,
): Inviters {
  return {
    list: async () => (await records.find(name)) ?? [],
    add: (inviter) =>
      records.change([name], ([stored = []]) => {
        const place = stored.findIndex(
          ({ employerAddress }) => employerAddress === inviter.employerAddress,
        );
        return [place === -1 ? [...stored, inviter] : stored.with(place, inviter)];
      }),
  };
}
