// Which signatures count for a change of the policy: those of this file, of what it follows, and of this place in the order of changes.
import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { policyJson } from '../fixtures/batches.ts';
import { listPolicySigners, type PolicyChange, signPolicyChange } from './policy-change.ts';

const nowMs = Date.parse('2026-11-24T00:00:00Z');
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const { x = '' } = publicKey.export({ format: 'jwk' });
const person = { name: 'A', publicKey: `0x${Buffer.from(x, 'base64url').toString('hex')}` };
const other = { ...person, name: 'B', publicKey: `0x${'11'.repeat(32)}` };
const humanRelease = { people: [person, other], required: 1, newPayee: true };
const [inEffect, next] = ['aa'.repeat(32), 'bb'.repeat(32)];
const text = JSON.stringify({ ...policyJson, humanRelease, policyChange: { people: 2 } });
const applied = { number: 3, sha256: inEffect, text };
const change = {
  sha256: next,
  previous: inEffect,
  number: 4,
  issuedAt: new Date(nowMs).toISOString(),
};

it.each<[string, Partial<PolicyChange>, readonly string[]]>([
  ['is this change', {}, ['A']],
  ['is of another file', { sha256: 'cc'.repeat(32) }, []],
  ['follows another policy', { previous: 'cc'.repeat(32) }, []],
  ['is an earlier change to the same file after the same policy', { number: 2 }, []],
  ['is of a later place', { number: 5 }, []],
  ['is dated ahead', { issuedAt: '2026-11-24T01:00:00.000Z' }, []],
])('counts by what a signature %s', (_what, changes, names) => {
  const signature = signPolicyChange({ ...change, ...changes }, privateKey);
  const signers = listPolicySigners([signature], next, applied, nowMs);
  expect(signers.map(({ name }) => name)).toEqual(names);
});
