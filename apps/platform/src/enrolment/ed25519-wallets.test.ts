/** Wallets of Solana and Stellar: they sign in and enrol, are not written to the gate, and cannot spend (docs/decisions/0006). */
import { createPrivateKey, sign } from 'node:crypto';
import {
  type AccountAddress,
  bytesToHex,
  chainFamilies,
  computeEd25519SignInBytes,
  type Ed25519FamilyName,
  type EncryptionPublicKey,
  errorCodeOf,
  type Hex,
  parseEd25519Address,
  parseHex,
  verifyEd25519Evidence,
} from '@pool/core';
import { computeX25519PublicKey } from '@pool/notes';
import { createEdgeClient, type SessionClient } from '@pool/platform-client';
import { createTestHolder, testEvidenceDomain } from '@pool/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import {
  createFakeGate,
  createTestPlatform,
  type TestPlatform,
} from '../fixtures/test-platform.ts';

/** Test 1 of RFC 8032, section 7.1. */
const seed = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';
const walletPub: Hex = parseHex(
  '0xd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
);
const privateKey = createPrivateKey({
  key: Buffer.from(`302e020100300506032b657004220420${seed}`, 'hex'),
  format: 'der',
  type: 'pkcs8',
});
const encryptionPublicKey = computeX25519PublicKey(12345n);

function addressOf(family: Ed25519FamilyName): AccountAddress {
  return parseEd25519Address(family, chainFamilies[family].formatAddress(walletPub));
}

describe.each(['solana', 'stellar'] as const)('a wallet of %s', (family) => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let gate: ReturnType<typeof createFakeGate>;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.reset();
    gate = createFakeGate(() => Promise.resolve({ status: 'whitelisted' }));
    platform = createTestPlatform(database, { gate, admission: { invitations: 'screened' } });
  });

  async function signIn(
    options: {
      readonly key?: EncryptionPublicKey | undefined;
      readonly sealed?: boolean;
      readonly change?: (message: string) => string;
    } = {},
  ): Promise<SessionClient> {
    const session = platform.session();
    const { key = encryptionPublicKey, sealed = true, change = (message) => message } = options;
    await session.signIn({
      ...testEvidenceDomain,
      address: addressOf(family),
      signMessage: (message) => {
        const bytes = computeEd25519SignInBytes(family, change(message));
        return Promise.resolve(bytesToHex(sign(null, bytes, privateKey)));
      },
      ...(sealed ? { encryptionPublicKey: key } : {}),
    });
    return session;
  }

  it('signs in, registers and enrols as `eligibility_disabled`, takes no leaf, and leaves evidence [variable.holder-signer-ed25519]', async () => {
    const session = await signIn();
    expect(await session.register()).toMatchObject({ address: addressOf(family), created: true });
    const enrolled = { walletPub, encryptionPublicKey, readiness: 'eligibility_disabled' };
    expect(await session.onboard(walletPub, encryptionPublicKey)).toMatchObject({
      created: true,
      ...enrolled,
    });
    expect(await session.onboard(walletPub, encryptionPublicKey)).toMatchObject({ created: false });
    expect(await session.getEnrollment()).toMatchObject(enrolled);
    expect(gate.asked).toEqual([]);
    const subject = await database.db.selectFrom('subjects').selectAll().executeTakeFirstOrThrow();
    expect(subject.admitted_at).toBeNull();
    const evidence = {
      message: subject.evidence_message,
      signature: parseHex(subject.evidence_signature),
    };
    expect(verifyEd25519Evidence(evidence, testEvidenceDomain, platform.clock.nowMs)).toMatchObject(
      { family, walletPub, address: addressOf(family), encryptionPublicKey },
    );
  });

  it('needs the invitation that other wallets need, and counts against the limit of its network address', async () => {
    platform = createTestPlatform(database, {
      gate,
      admission: { invitations: 'required', enrolmentsPerAddress: 1 },
    });
    const session = await signIn();
    await session.register();
    expect(await session.onboard(walletPub, encryptionPublicKey).catch(errorCodeOf)).toBe(
      'not_invited',
    );
    expect(await database.db.selectFrom('subjects').selectAll().execute()).toEqual([]);
    const employer = await createTestHolder('employer');
    await platform.edgeToken(employer.address);
    const inviting = await platform.signIn(employer);
    expect(await inviting.invite([addressOf(family)])).toMatchObject({ walletsTaken: 1 });
    await session.onboard(walletPub, encryptionPublicKey);
    expect((await inviting.listInvitations()).invitations[0]?.enrolledAt).toBeDefined();
    const next = await createTestHolder('next');
    await inviting.invite([next.address]);
    const other = await platform.signIn(next);
    await other.register();
    expect(await other.onboard(next.walletPub, next.encryptionPublicKey).catch(errorCodeOf)).toBe(
      'rate_limited',
    );
  });

  it('rotates its key with a newer text that lists the next one', async () => {
    const session = await signIn();
    await session.register();
    await session.onboard(walletPub, encryptionPublicKey);
    const next = computeX25519PublicKey(54321n);
    await expect(
      session.rotateEncryptionKey(walletPub, encryptionPublicKey, next),
    ).rejects.toMatchObject({ code: 'evidence_required' });
    const again = await signIn({ key: next });
    expect(await again.rotateEncryptionKey(walletPub, encryptionPublicKey, next)).toMatchObject({
      rotated: true,
      encryptionPublicKey: next,
      readiness: 'eligibility_disabled',
    });
  });

  it.each<[string, Parameters<typeof signIn>[0], string]>([
    ['over another text', { change: (message) => `${message} ` }, 'invalid_signature'],
    [
      'as the other family signs it',
      {
        change: (message) =>
          family === 'stellar' ? message.replace('Stellar', 'Solana') : `x${message}`,
      },
      'invalid_signature',
    ],
  ])('does not sign in with a signature %s', async (_case, options, code) => {
    expect(await signIn(options).catch(errorCodeOf)).toBe(code);
  });

  it('does not sign in twice with one nonce, nor at another platform', async () => {
    const session = platform.session();
    let body = '';
    const raw = (text: string) =>
      platform.app.request('/api/auth/verify', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: text,
      });
    await session.signIn({
      ...testEvidenceDomain,
      address: addressOf(family),
      signMessage: (message) => {
        const bytes = computeEd25519SignInBytes(family, message);
        const signature = bytesToHex(sign(null, bytes, privateKey));
        body = JSON.stringify({ message, signature });
        return Promise.resolve(signature);
      },
    });
    expect((await raw(body)).status).toBe(401);
    await expect(
      session.signIn({
        domain: 'other.test',
        uri: 'https://other.test',
        address: addressOf(family),
        signMessage: (message) =>
          Promise.resolve(
            bytesToHex(sign(null, computeEd25519SignInBytes(family, message), privateKey)),
          ),
      }),
    ).rejects.toMatchObject({ code: 'invalid_sign_in' });
  });

  it('is not enrolled with the W of another wallet, an EVM P, a P of small order or one without evidence', async () => {
    const session = await signIn();
    await session.register();
    const evm = await createTestHolder('evm');
    const code = (w: string, p: string) => session.onboard(w, p).catch(errorCodeOf);
    expect(await code(evm.walletPub, encryptionPublicKey)).toBe('invalid_wallet_pub');
    const other = '0x3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c';
    expect(await code(other, encryptionPublicKey)).toBe('wallet_mismatch');
    expect(await code(walletPub, `0x01${'00'.repeat(31)}`)).toBe('invalid_encryption_key');
    // u and u + 2^255 are one key.
    const alias = `${encryptionPublicKey.slice(0, -2)}${(
      Number.parseInt(encryptionPublicKey.slice(-2), 16) | 0x80
    ).toString(16)}`;
    expect(await code(walletPub, alias)).toBe('invalid_encryption_key');
    expect(await code(walletPub, computeX25519PublicKey(7n))).toBe('evidence_required');
    expect(await database.db.selectFrom('subjects').selectAll().execute()).toEqual([]);
  });

  it('is told in words that it cannot spend, and has no notes', async () => {
    const session = await signIn();
    await session.register();
    await session.onboard(walletPub, encryptionPublicKey);
    const clientOf = async (capability: 'holder.read' | 'holder.transfer') => {
      const { apiKey } = await session.mintKey(capability, 'x');
      return createEdgeClient({
        url: `${platform.url}/agent-edge`,
        token: apiKey,
        fetch: platform.fetch,
      });
    };
    const spends = await clientOf('holder.transfer');
    await expect(spends.getSpend('k')).rejects.toMatchObject({
      code: 'forbidden',
      status: 403,
      message: expect.stringContaining('cannot be paid or spend'),
    });
    const reads = await clientOf('holder.read');
    expect((await reads.getNotes({ chain: 'anvil', token: 'USDC' })).notes).toEqual([]);
  });

  it('keeps its agents at the edge with a token of the operator, whose bootstrap names it', async () => {
    const session = await signIn();
    await session.register();
    await expect(session.mintEdgeToken('x')).rejects.toMatchObject({
      code: 'edge_token_not_allowed',
    });
    const { token } = await platform.edgeToken(addressOf(family));
    const edge = createEdgeClient({
      url: `${platform.url}/agent-edge`,
      token,
      fetch: platform.fetch,
    });
    expect((await edge.bootstrap()).employerAddress).toBe(addressOf(family));
    // Its address is no recipient of an EVM pool.
    const recipients = await edge.lookupRecipients('anvil', [addressOf(family)]);
    expect(recipients).toEqual([{ address: addressOf(family), readiness: 'not_enrolled' }]);
  });
});
