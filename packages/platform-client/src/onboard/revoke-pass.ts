/**
 * Revokes every credential that one pass of `onboard` made. They are found by the name of the pass in the platform's own lists, not by
 * the answers of the pass: the answer to a mint can be lost, and its key is live all the same.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCodeOf } from '@pool/core';
import type { SessionClient } from '../session-client.ts';

type Credential = {
  /** For the operator, for example `API key 7`. */
  readonly label: string;
  readonly revoke: () => Promise<void>;
};

type Listing = {
  readonly what: string;
  readonly list: () => Promise<readonly Credential[]>;
};

const maxTries = 4;

/**
 * @param name - of the pass; no other credential has it
 * @param pauseMs - between two tries, and before the second look
 * @returns what may still be live, as texts for the operator. Empty: everything is revoked
 */
export async function revokePass(
  session: SessionClient,
  name: string,
  pauseMs: number,
): Promise<readonly string[]> {
  const listings: readonly Listing[] = [
    {
      what: 'edge tokens',
      list: async () =>
        (await session.listEdgeTokens())
          .filter((token) => token.name === name && token.revokedAt === undefined)
          .map(({ id }) => ({
            label: `edge token ${id}`,
            revoke: () => session.revokeEdgeToken(id),
          })),
    },
    {
      what: 'API keys',
      list: async () =>
        (await session.listKeys())
          .filter((key) => key.name === name && key.revokedAt === undefined)
          .map(({ id }) => ({ label: `API key ${id}`, revoke: () => session.revokeKey(id) })),
    },
  ];
  const left = await Promise.all(listings.map((listing) => revokeListed(listing, name, pauseMs)));
  return left.flat();
}

async function revokeListed(
  { what, list }: Listing,
  name: string,
  pauseMs: number,
): Promise<readonly string[]> {
  let left: readonly string[] = [];
  let hasSeenNone = false;
  for (let tries = 1; tries <= maxTries; tries += 1) {
    try {
      const live = await list();
      if (live.length === 0 && hasSeenNone) {
        return [];
      }
      // A mint whose answer was lost can still be under way, so an empty list is looked at twice.
      hasSeenNone = live.length === 0;
      left = live.map(({ label }) => label);
      await Promise.allSettled(live.map(({ revoke }) => revoke()));
    } catch (error) {
      const code = errorCodeOf(error) ?? 'unknown error';
      left = [`all ${what} named "${name}" (the platform did not list them: ${code})`];
    }
    await sleep(pauseMs);
  }
  return hasSeenNone ? [] : left;
}
