// Which credentials are accepted depends on the configuration of the agent (docs/decisions/0010).
import { PoolError, Secret } from '@pool/core';
import { expect, it } from 'vitest';
import { authenticate, type BearerDeps, createCredentialLimiter } from './bearer.ts';

const loopbackToken = 'ab'.repeat(32);
const apiKey = `pool_live_abcd1234_${'A'.repeat(44)}`;
const employerId = '5b1d1f0e-6f55-4d3a-9d53-6f1f2c1a7e01';

function createDeps(verifier: BearerDeps['verifier']): BearerDeps {
  return {
    loopbackToken: new Secret(loopbackToken),
    verifier,
    employerId: () => employerId,
    refusal: () => undefined,
    limiter: createCredentialLimiter(9, () => 0),
  };
}

it('accepts no API key if the platform’s verify-key is not configured [auth.verify-url-needed]', async () => {
  const deps = createDeps(undefined);
  await expect(authenticate(`Bearer ${apiKey}`, 'disburse', deps)).rejects.toMatchObject({
    code: 'verification_unavailable',
    status: 503,
    message: expect.stringContaining('DISBURSE_PLATFORM_VERIFY_URL'),
  });
  // The loopback token needs no verification.
  expect(await authenticate(`Bearer ${loopbackToken}`, 'disburse', deps)).toEqual({
    kind: 'loopback',
  });
  const key = { valid: true, capability: 'disburse', employerId, address: '0x', keyId: 1 } as const;
  const verifying = createDeps({ verify: () => Promise.resolve(key) });
  expect(await authenticate(`Bearer ${apiKey}`, 'disburse', verifying)).toEqual({
    kind: 'api-key',
    address: '0x',
    keyId: 1,
  });
});

it('notifies the verifier when the caller disconnects', async () => {
  const { signal } = new AbortController();
  const heard: unknown[] = [];
  const deps = createDeps({
    verify: (_key, given) => {
      heard.push(given);
      return Promise.resolve({ valid: false });
    },
  });
  await expect(authenticate(`Bearer ${apiKey}`, 'disburse', deps, signal)).rejects.toMatchObject({
    status: 401,
  });
  expect(heard).toEqual([signal]);
});

it('names the mismatch to a key of the employer that this directory does not belong to', async () => {
  const other = '5b1d1f0e-6f55-4d3a-9d53-6f1f2c1a7e02';
  const key = {
    valid: true,
    capability: 'disburse',
    employerId: other,
    address: '0x',
    keyId: 1,
  } as const;
  const refusal = new PoolError('employer_mismatch', 'the directory belongs to another employer');
  const verifier = { verify: async () => key };
  const refused = { ...createDeps(verifier), refusal: () => refusal };
  await expect(authenticate(`Bearer ${apiKey}`, 'disburse', refused)).rejects.toBe(refusal);
  // Without a mismatch of the directory it is a foreign key.
  await expect(
    authenticate(`Bearer ${apiKey}`, 'disburse', createDeps(verifier)),
  ).rejects.toMatchObject({ code: 'forbidden' });
});
