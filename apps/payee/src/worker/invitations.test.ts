import { type PoolError, parseEvmAddress, type Secret } from '@pool/core';
import type { OpenedInvitation } from '@pool/platform-client/browser';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Inviter } from '../wallet-port.ts';
import { acceptInvitation, createInviters, readInvitation } from './invitations.ts';
import type { Place } from './place.ts';

const pool = parseEvmAddress('0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359');
const otherPool = '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb';
const place = {
  evidence: { domain: 'pool.example', uri: 'https://pool.example' },
  chain: { key: 'base', settings: { pool } },
} as Place;

let calls: string[];
let found: OpenedInvitation;
let stored: readonly Inviter[] | undefined;
beforeEach(() => {
  calls = [];
  stored = undefined;
  found = answer(pool);
});

function answer(address: string, key = 'base'): OpenedInvitation {
  return {
    ...{ success: true, state: 'open', expiresAt: '2027-01-31T00:00:00.000Z', chain: key },
    ...{ employerAddress: '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf', employerName: 'Acme' },
    chains: { [key]: { pool: address } },
  } as unknown as OpenedInvitation;
}

const session = {
  async openInvitation(code: Secret) {
    calls.push(`open ${code.reveal()}`);
    return found;
  },
  async acceptInvitation(code: Secret) {
    calls.push(`accept ${code.reveal()}`);
    return { ...found, state: 'accepted' } as OpenedInvitation;
  },
};
const inviters = createInviters({
  find: async () => stored,
  async change(_, change) {
    [stored] = change([stored]);
  },
});

describe('an invitation into the pool of the page', () => {
  it('is read, and says who invites', async () => {
    expect(await readInvitation(place, session, 'c')).toEqual({
      ...{ state: 'open', employer: 'Acme', platform: 'pool.example', chain: 'base', pool },
      employerAddress: '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
      expiresAtMs: Date.UTC(2027, 0, 31),
    });
    expect(calls).toEqual(['open c']);
  });

  it('is accepted, and its employer kept once', async () => {
    await acceptInvitation(place, session, 'c', inviters);
    expect(calls).toEqual(['open c', 'accept c']);
    found = { ...found, employerName: 'Acme 2' };
    await acceptInvitation(place, session, 'd', inviters);
    found = { ...found, employerAddress: parseEvmAddress(otherPool) };
    await acceptInvitation(place, session, 'e', inviters);
    const kept = (await inviters.list()).map(({ employer, employerAddress }) => [
      employer,
      employerAddress,
    ]);
    expect(kept).toEqual([
      ['Acme 2', '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf'],
      ['Acme 2', otherPool],
    ]);
  });

  it.each([
    ['another pool', answer(otherPool)],
    ['another chain', answer(pool, 'other')],
  ])('into %s is neither shown nor accepted', async (_, given) => {
    found = given;
    const refused = (error: PoolError) => error.code;
    expect(await readInvitation(place, session, 'c').catch(refused)).toBe('invalid-chain');
    expect(await acceptInvitation(place, session, 'c', inviters).catch(refused)).toBe(
      'invalid-chain',
    );
    expect(calls).toEqual(['open c', 'open c']);
    expect(await inviters.list()).toEqual([]);
  });
});
