/** Links that invite people without a wallet: who may use one, what it tells, and what the employer sees. */
import { errorCodeOf, Secret } from '@pool/core';
import type { SessionClient } from '@pool/platform-client';
import { createTestHolder, type TestHolder } from '@pool/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { testSettings } from '../../../../packages/relayer/test/test-settings.ts';
import { revokeCredential } from '../accounts/credentials.ts';
import {
  createFakeGate,
  createTestPlatform,
  type TestPlatform,
} from '../fixtures/test-platform.ts';

const dayMs = 86_400_000;
const references = ['reference-1', 'reference-2', 'reference-3'] as const;

describe('invitation links', () => {
  let database: TestDatabase;
  let employer: TestHolder;
  let ada: TestHolder;
  let ben: TestHolder;
  let platform: TestPlatform;
  let inviting: SessionClient;
  let tokenId: number;
  beforeAll(async () => {
    database = await openTestDatabase();
    [employer, ada, ben] = (await Promise.all(
      ['employer', 'ada', 'ben'].map((name) => createTestHolder(name)),
    )) as [TestHolder, TestHolder, TestHolder];
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.reset();
    platform = createTestPlatform(database, {
      gate: createFakeGate(() => Promise.resolve({ status: 'whitelisted' })),
      admission: { invitations: 'required', walletsPerEmployer: 2 },
    });
    inviting = await platform.signIn(employer);
    await inviting.register('Ada & Co');
    tokenId = (await platform.edgeToken(employer.address)).id;
  });

  async function createCode(reference: string = references[0], days?: number): Promise<Secret> {
    const { links } = await inviting.createInvitationLinks([reference], days);
    const [link] = links;
    if (link === undefined) throw new Error('no link');
    return link.code;
  }
  async function sessionOf(wallet: TestHolder): Promise<SessionClient> {
    const session = await platform.signIn(wallet);
    await session.register();
    return session;
  }
  const accept = async (wallet: TestHolder, code: Secret) =>
    await (await sessionOf(wallet)).acceptInvitation(code);
  const enrol = async (wallet: TestHolder) =>
    await (await sessionOf(wallet))
      .onboard(wallet.walletPub, wallet.encryptionPublicKey)
      .then(({ readiness }) => readiness, errorCodeOf);
  const states = async () => (await inviting.listInvitationLinks()).links.map(({ state }) => state);
  const taken = async () => (await inviting.listInvitations()).walletsTaken;

  it('tell their holder who invites, to which pools, and until when', async () => {
    const code = await createCode(references[0], 30);
    expect(await platform.session().openInvitation(code)).toEqual({
      success: true,
      state: 'open',
      expiresAt: new Date(platform.clock.nowMs + 30 * dayMs).toISOString(),
      employerAddress: employer.address,
      employerName: 'Ada & Co',
      chain: 'anvil',
      chains: {
        anvil: {
          chainId: testSettings.chainId,
          pool: testSettings.pool,
          registry: testSettings.registry,
          tokens: { USDC: testSettings.tokens['USDC']?.address },
        },
      },
    });
  });

  it('lead a person without a wallet to an eligible one, and the employer sees each step', async () => {
    const code = await createCode();
    expect(await states()).toEqual(['created']);
    await platform.session().openInvitation(code);
    expect(await states()).toEqual(['opened']);
    expect(await enrol(ada)).toBe('not_invited');
    expect(await accept(ada, code)).toMatchObject({ state: 'accepted' });
    expect(await states()).toEqual(['accepted']);
    expect(await enrol(ada)).toBe('ready');
    const { links } = await inviting.listInvitationLinks();
    expect(links).toEqual([
      {
        reference: references[0],
        state: 'eligible',
        createdAt: expect.any(String),
        expiresAt: expect.any(String),
        openedAt: expect.any(String),
        address: ada.address,
        acceptedAt: expect.any(String),
      },
    ]);
    expect(await platform.session().openInvitation(code)).toMatchObject({ state: 'accepted' });
  });

  it('show a wallet that the gate denies as enrolled', async () => {
    const denying = createTestPlatform(database, {
      gate: createFakeGate(() => Promise.resolve({ status: 'denied' })),
      admission: { invitations: 'required' },
    });
    const code = await createCode();
    const session = await denying.signIn(ada);
    await session.register();
    await session.acceptInvitation(code);
    await session.onboard(ada.walletPub, ada.encryptionPublicKey);
    expect(await states()).toEqual(['enrolled']);
  });

  it('serve one wallet, which may repeat the call', async () => {
    const code = await createCode();
    await accept(ada, code);
    await accept(ada, code);
    await expect(accept(ben, code)).rejects.toMatchObject({
      code: 'invitation_taken',
      status: 409,
    });
    await enrol(ada);
    expect(await accept(ada, code)).toMatchObject({ state: 'accepted' });
    expect(await enrol(ben)).toBe('not_invited');
  });

  it('are for one person each: a wallet accepts one link of an employer', async () => {
    const { links } = await inviting.createInvitationLinks(references.slice(0, 2));
    const [own, other] = links.map(({ code }) => code) as [Secret, Secret];
    await accept(ada, own);
    await expect(accept(ada, other)).rejects.toMatchObject({
      code: 'invitation_taken',
      message: expect.stringContaining('another person'),
    });
    await inviting.revokeInvitationLink(references[0]);
    expect(await accept(ada, other)).toMatchObject({ state: 'accepted' });
  });

  it('count as invitations, once, from their creation to the enrolment', async () => {
    const code = await createCode();
    expect(await taken()).toBe(1);
    await accept(ada, code);
    expect(await taken()).toBe(1);
    await enrol(ada);
    expect(await taken()).toBe(1);
    await expect(inviting.createInvitationLinks(references.slice(1))).rejects.toMatchObject({
      code: 'invitation_quota_exhausted',
      status: 403,
    });
    expect(await states()).toEqual(['eligible']);
    await createCode(references[1]);
    expect(await inviting.invite([ben.address]).catch(errorCodeOf)).toBe(
      'invitation_quota_exhausted',
    );
  });

  it('need an employer that may invite, and say nothing once it may not', async () => {
    const stranger = await sessionOf(ben);
    expect(await stranger.createInvitationLinks(references).catch(errorCodeOf)).toBe(
      'invitation_quota_exhausted',
    );
    const code = await createCode();
    await revokeCredential(database.db, 'edge token', tokenId, platform.clock.nowMs);
    expect(await platform.session().openInvitation(code)).toMatchObject({ state: 'revoked' });
    expect(await accept(ada, code).catch(errorCodeOf)).toBe('invitation_ended');
  });

  it('expire, and no longer count', async () => {
    const code = await createCode(references[0], 1);
    platform.clock.nowMs += dayMs;
    expect(await platform.session().openInvitation(code)).toMatchObject({ state: 'expired' });
    await expect(accept(ada, code)).rejects.toMatchObject({
      code: 'invitation_ended',
      status: 409,
      message: expect.stringContaining('expired'),
    });
    inviting = await platform.signIn(employer);
    expect([await states(), await taken()]).toEqual([['expired'], 0]);
  });

  it('expire for a wallet that accepted and did not enrol', async () => {
    await accept(ada, await createCode(references[0], 1));
    platform.clock.nowMs += dayMs;
    expect(await enrol(ada)).toBe('not_invited');
    inviting = await platform.signIn(employer);
    expect([await states(), await taken()]).toEqual([['expired'], 0]);
  });

  it('do not shorten an invitation of the address itself', async () => {
    await inviting.invite([ada.address]);
    await accept(ada, await createCode(references[0], 1));
    expect(await taken()).toBe(1);
    platform.clock.nowMs += 2 * dayMs;
    expect(await enrol(ada)).toBe('ready');
  });

  it('can be revoked until the wallet has enrolled, and say so', async () => {
    const code = await createCode();
    await inviting.revokeInvitationLink(references[0]);
    await inviting.revokeInvitationLink(references[0]);
    expect([await states(), await taken()]).toEqual([['revoked'], 0]);
    expect(await platform.session().openInvitation(code)).toMatchObject({ state: 'revoked' });
    await expect(accept(ada, code)).rejects.toMatchObject({
      code: 'invitation_ended',
      message: expect.stringContaining('withdrawn'),
    });

    const other = await createCode(references[1]);
    await accept(ada, other);
    await inviting.revokeInvitationLink(references[1]);
    expect(await enrol(ada)).toBe('not_invited');

    await accept(ben, await createCode(references[2]));
    await enrol(ben);
    await expect(inviting.revokeInvitationLink(references[2])).rejects.toMatchObject({
      code: 'invitation_used',
      status: 409,
    });
    for (const unknown of ['reference-9', 'reference\u0000']) {
      expect(await inviting.revokeInvitationLink(unknown).catch(errorCodeOf)).toBe('not_found');
    }
  });

  it('are revoked by their own employer only', async () => {
    await createCode();
    const other = await sessionOf(ben);
    expect(await other.revokeInvitationLink(references[0]).catch(errorCodeOf)).toBe('not_found');
    expect((await other.listInvitationLinks()).links).toEqual([]);
  });

  it('are replaced under their reference while no wallet has accepted', async () => {
    const lost = await createCode();
    const found = await createCode();
    expect(await taken()).toBe(1);
    expect(await platform.session().openInvitation(lost).catch(errorCodeOf)).toBe('not_found');
    await accept(ada, found);
    await expect(
      inviting.createInvitationLinks([references[1], references[0]]),
    ).rejects.toMatchObject({
      code: 'invitation_taken',
      message: expect.stringContaining(references[0]),
    });
    expect(await states()).toEqual(['accepted']);
  });

  it('last no longer than an invitation may', async () => {
    await expect(createCode(references[0], 91)).rejects.toMatchObject({
      code: 'invalid_request',
      status: 400,
      message: expect.stringContaining('90'),
    });
  });

  it.each(['ada@example.org', 'Ada Lovelace', 'ada.l', 'short', 'x'.repeat(65)])(
    'refuse a reference that may name a person: %s',
    async (reference) => {
      expect(await inviting.createInvitationLinks([reference]).catch(errorCodeOf)).toBe(
        'invalid_request',
      );
    },
  );

  it('recognise a code that was changed or made up', async () => {
    const code = (await createCode()).reveal();
    const last = code.endsWith('A') ? 'B' : 'A';
    for (const wrong of [`${code.slice(0, -1)}${last}`, code.slice(0, -1), 'x']) {
      await expect(platform.session().openInvitation(new Secret(wrong))).rejects.toMatchObject({
        code: 'not_found',
        status: 404,
      });
    }
    const { apiKey } = await inviting.mintKey('disburse', 'x');
    expect(await platform.session().openInvitation(apiKey).catch(errorCodeOf)).toBe('not_found');
    const rows = JSON.stringify(
      await database.db.selectFrom('invitation_links').selectAll().execute(),
    );
    expect(rows).not.toContain(code.split('_')[3]);
  });

  it('are for wallets that can hold notes, and need a session to be accepted', async () => {
    const code = await createCode();
    expect(await platform.session().acceptInvitation(code).catch(errorCodeOf)).toBe('unauthorized');
  });

  it('keep a thousand ended ones', async () => {
    const [{ id }] = (await database.db.selectFrom('employers').select('id').execute()) as [
      { id: string },
    ];
    const ended = (index: number) => new Date(platform.clock.nowMs - index).toISOString();
    await database.db
      .insertInto('invitation_links')
      .values(
        Array.from({ length: 1_001 }, (_, index) => ({
          public_id: `p${index}`,
          code_hash: 'h',
          employer_id: id,
          reference: `ended-link-${index}`,
          created_at: ended(2_000 + index),
          expires_at: ended(index),
        })),
      )
      .execute();
    await createCode();
    const { links } = await inviting.listInvitationLinks();
    expect(links).toHaveLength(1_001);
    expect(links.map(({ reference }) => reference)).not.toContain('ended-link-1000');
  });
});
