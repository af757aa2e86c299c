// The sign-in text that waits for a vote: what keeps it, what ends it, and that two onboardings have two files.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSignInMessage, PoolError, parseEvmAddress } from '@pool/core';
import { createFakeHolder } from '@pool/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { endsSignIn, openPendingSignIn } from './pending-sign-in.ts';

const { address } = createFakeHolder(1);
const nowMs = Date.UTC(2026, 10, 23);

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'onboard-'));
});
afterEach(() => rmSync(home, { recursive: true }));

function createText(nonce: string): string {
  return createSignInMessage({
    domain: 'pool.example',
    uri: 'https://pool.example',
    address: parseEvmAddress(address),
    chainId: 31_337,
    nonce,
    issuedAtMs: nowMs,
    expirationTimeMs: nowMs + 60_000,
  });
}

describe('a sign-in text that waits for a vote', () => {
  it('is not overwritten by the onboarding of another wallet or platform', () => {
    const purpose = {
      platformUrl: 'https://pool.example',
      address,
      encryptionPublicKey: undefined,
    };
    const own = openPendingSignIn(home, purpose);
    own.keep(createText('a'.repeat(20)));
    const others = [
      { ...purpose, address: createFakeHolder(2).address },
      { ...purpose, platformUrl: 'https://other.example' },
    ].map((other) => openPendingSignIn(home, other));
    for (const other of others) {
      other.keep(createText('b'.repeat(20)));
      other.forget();
    }
    expect(own.read(nowMs)).toBe(createText('a'.repeat(20)));
    expect(own.read(nowMs + 60_000)).toBeUndefined();
    expect(readdirSync(home)).toHaveLength(1);
  });

  it.each([
    ['the vote went against it', false, new PoolError('signer_refused', 'x'), true],
    ['the request expired', false, new PoolError('signer_expired', 'x'), true],
    ['the custodian is misconfigured', false, new PoolError('custodian_misconfigured', 'x'), false],
    ['the signature was not accepted', false, new PoolError('signature_rejected', 'x'), false],
    ['the nonce was used', true, new PoolError('invalid_request', 'x', { status: 401 }), true],
    ['the platform is not reached', true, new PoolError('platform_unreachable', 'x'), false],
    ['the answer cannot be read', true, new PoolError('platform_invalid_response', 'x'), false],
    ['a bug', true, new TypeError('x'), false],
  ])('after an error: %s', (_, isSigned, error, expected) => {
    expect(endsSignIn(error, isSigned)).toBe(expected);
  });
});
