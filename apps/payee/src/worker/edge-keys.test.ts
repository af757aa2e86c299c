import { PoolError, Secret } from '@pool/core';
import type { SessionClient } from '@pool/platform-client/browser';
import { expect, it } from 'vitest';
import { mintEdgeKey } from './edge-keys.ts';

type Listed = {
  readonly id: number;
  readonly name: string;
  readonly revokedAt?: string;
  readonly issuedBy?: string;
};

const nowMs = Date.UTC(2026, 10, 28);
const [old, revokedAt] = ['payee page 2026-01-01', '2026-02-01T00:00:00Z'];

/** A platform that takes as many live keys as it has now, and one more if `isFull` is false. */
function createPlatform(listed: readonly Listed[], isFull = true) {
  const revoked: number[] = [];
  const made: string[] = [];
  const fail = async (): Promise<never> => {
    throw new PoolError('key_limit_reached', 'too many');
  };
  const mint = async (name: string): Promise<Secret> => {
    if (isFull && revoked.length === 0) return await fail();
    made.push(name);
    return new Secret('new');
  };
  const revoke = async (id: number): Promise<void> => void revoked.push(id);
  const describe = (start: string) =>
    listed.map((key) => ({ ...key, [`${start}Prefix`]: `pool_x_${key.id}` }));
  const session = {
    mintKey: async (_: string, name: string) => ({ apiKey: await mint(name) }),
    mintEdgeToken: async (name: string) => ({ token: await mint(name) }),
    listKeys: async () => describe('key'),
    listEdgeTokens: async () => describe('token'),
    revokeKey: revoke,
    revokeEdgeToken: revoke,
  } as unknown as SessionClient;
  return { session, revoked, made };
}

it('makes a key below the limit and revokes none', async () => {
  const { session, revoked, made } = createPlatform([{ id: 1, name: old }], false);
  expect((await mintEdgeKey(session, 'holder.read', [], nowMs)).reveal()).toBe('new');
  expect([revoked, made]).toEqual([[], ['payee page 2026-11-28']]);
});

it.each(['holder.read', 'edge'] as const)(
  'revokes the oldest live one of a page at the limit, for %s',
  async (kind) => {
    const { session, revoked, made } = createPlatform([
      { id: 1, name: old, revokedAt, issuedBy: 'session' },
      { id: 2, name: 'payroll', issuedBy: 'session' },
      { id: 3, name: old, issuedBy: 'session' },
      { id: 33, name: old, issuedBy: 'session' },
      { id: 4, name: old, issuedBy: 'session' },
    ]);
    const held = [new Secret('pool_x_3_secret')];
    await mintEdgeKey(session, kind, held, nowMs);
    expect([revoked, made]).toEqual([[33], ['payee page 2026-11-28']]);
  },
);

it('leaves tokens of the operator alone, whatever their name', async () => {
  const { session, revoked } = createPlatform([
    { id: 1, name: old, issuedBy: 'operator' },
    { id: 2, name: old, issuedBy: 'session' },
  ]);
  await mintEdgeKey(session, 'edge', [], nowMs);
  expect(revoked).toEqual([2]);
});

it('says that there are too many if none of them is of a page, or this profile has all', async () => {
  const { session, revoked } = createPlatform([
    { id: 2, name: 'payroll' },
    { id: 3, name: old },
  ]);
  const minting = mintEdgeKey(session, 'holder.read', [new Secret('pool_x_3_secret')], nowMs);
  await expect(minting).rejects.toMatchObject({ code: 'key_limit_reached' });
  expect(revoked).toEqual([]);
});
