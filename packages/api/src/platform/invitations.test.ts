import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { gateCapacityResponseSchema } from '../gate/gate.ts';
import {
  invitationSchema,
  inviteRequestSchema,
  inviteResponseSchema,
  listInvitationsResponseSchema,
} from './invitations.ts';

const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const time = '2026-11-01T09:00:00.000Z';
const quota = { success: true, walletLimit: 1_000, walletsTaken: 1 };

describe('wire schemas of invitations and of the tree’s capacity', () => {
  it.each<[string, v.GenericSchema, Record<string, unknown>, readonly string[]]>([
    ['invite request', inviteRequestSchema, { addresses: [address] }, []],
    ['invite answer', inviteResponseSchema, quota, []],
    [
      'invitation',
      invitationSchema,
      { address, createdAt: time, expiresAt: time, enrolledAt: time },
      ['expiresAt', 'enrolledAt'],
    ],
    ['list', listInvitationsResponseSchema, { ...quota, invitations: [] }, []],
    ['capacity', gateCapacityResponseSchema, { capacity: 4, used: 4, nearlyFull: true }, []],
  ])('take a good %s and nothing more or less', (_name, schema, good, optional) => {
    expect(v.is(schema, good)).toBe(true);
    expect(v.is(schema, { ...good, extra: 1 })).toBe(false);
    for (const field of Object.keys(good)) {
      const without = Object.fromEntries(Object.entries(good).filter(([name]) => name !== field));
      expect([field, v.is(schema, without)]).toEqual([field, optional.includes(field)]);
      expect(v.is(schema, { ...good, [field]: null })).toBe(false);
    }
  });

  it.each([
    ['no address', []],
    ['501 addresses', Array.from({ length: 501 }, () => address)],
    ['a long text', ['0x'.padEnd(65, '0')]],
  ])('refuse an invitation of %s', (_name, addresses) => {
    expect(v.is(inviteRequestSchema, { addresses })).toBe(false);
  });
});
