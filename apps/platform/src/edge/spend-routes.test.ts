/** The routes of spends, through the typed client and raw: who may post and read what, and how often. */
import type { Capability, SpendRequest } from '@pool/api';
import { assertField, errorCodeOf, fieldToHex, type Secret } from '@pool/core';
import { createEdgeClient } from '@pool/platform-client';
import { createTestHolder, type TestHolder } from '@pool/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { defaultSpendLimits } from '../../../../packages/relayer/src/budget/limits.ts';
import { createProofCheck } from '../../../../packages/relayer/src/checks/check-proof.ts';
import { createSettlementChecks } from '../../../../packages/relayer/src/checks/settlement-checks.ts';
import { fakeChecks, plainBatchChecker } from '../../../../packages/relayer/test/fake-checks.ts';
import { createSettingsOnlyChain } from '../../../../packages/relayer/test/settings-only-chain.ts';
import { testSettings } from '../../../../packages/relayer/test/test-settings.ts';
import { createTestSpend } from '../../../../packages/relayer/test/test-spend.ts';
import { createTestPlatform, type TestPlatform } from '../fixtures/test-platform.ts';

const token = testSettings.tokens['USDC']?.address ?? '';
const place = { ...testSettings, token };
const deadline = 1_800_000_000;

/** An admitted wallet, as the enrolment stores it. */
function createSubject({ address, walletPub, encryptionPublicKey }: TestHolder) {
  return {
    address,
    wallet_pub: walletPub,
    wallet_id: 'id',
    encryption_public_key: encryptionPublicKey,
    evidence_message: 'm',
    evidence_signature: 's',
    readiness: 'ready' as const,
    whitelisted_at: null,
    created_at: 'now',
    admitted_at: 'now',
  };
}

describe('spends at the edge', () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let a: TestHolder;
  let transfer: SpendRequest;
  let withdrawal: SpendRequest;

  beforeAll(async () => {
    database = await openTestDatabase();
    a = await createTestHolder('a');
    const noteRoot = assertField(7n);
    ({ request: transfer } = await createTestSpend(place, a, { noteRoot, deadline }));
    ({ request: withdrawal } = await createTestSpend(place, a, {
      noteRoot,
      deadline,
      note: 'another',
      withdrawAmount: '5',
      recipient: a.address,
    }));
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.reset();
    platform = open();
  });

  function open(options: Partial<Parameters<typeof createTestPlatform>[1]> = {}): TestPlatform {
    const poolChains = new Map([['anvil', createSettingsOnlyChain(testSettings)]]);
    return createTestPlatform(database, { poolChains, ...options });
  }
  const clientOf = (key: Secret) =>
    createEdgeClient({ url: `${platform.url}/agent-edge`, token: key, fetch: platform.fetch });

  async function keyOf(capability: Capability, holder = a): Promise<Secret> {
    const session = await platform.signIn(holder);
    await session.register();
    return (await session.mintKey(capability, 'x')).apiKey;
  }
  const edgeOf = async (capability: Capability, holder = a) =>
    clientOf(await keyOf(capability, holder));

  it('stores a spend, and answers it by its key', async () => {
    const edge = await edgeOf('holder.transfer');
    const record = {
      key: 'k',
      state: 'accepted',
      chain: 'anvil',
      outRoot: transfer.spend.outRoot,
      deadline,
    };
    expect(await edge.postSpend('k', transfer)).toEqual(record);
    expect(await edge.postSpend('k', transfer)).toEqual(record);
    expect(await edge.getSpend('k')).toEqual(record);
    expect(await edge.getSpend('other')).toBeUndefined();
    const [row] = await database.db.selectFrom('submissions').selectAll().execute();
    // The proof and the call, and no sealed note twice.
    expect(row?.request).not.toContain(transfer.sealedNotes[0]?.sealed);
  });

  it('lets a key that transfers not withdraw, and the reverse [capability.transfer-not-send]', async () => {
    const [transfers, sends] = [await edgeOf('holder.transfer'), await edgeOf('holder.send')];
    for (const [edge, request] of [
      [transfers, withdrawal],
      [sends, transfer],
    ] as const) {
      await expect(edge.postSpend('k', request)).rejects.toMatchObject({
        code: 'forbidden',
        status: 403,
      });
    }
    await sends.postSpend('w', withdrawal);
    await transfers.postSpend('t', transfer);
    expect([await sends.getSpend('t'), await transfers.getSpend('w')]).toEqual([
      undefined,
      undefined,
    ]);
    expect((await sends.getSpend('w'))?.outRoot).toBe(withdrawal.spend.outRoot);
  });

  it('takes one key of a holder for one spend, whichever API key posted it', async () => {
    const final = { number: 1, hash: fieldToHex(assertField(1n)), timestampSeconds: deadline - 1 };
    const chain = {
      ...createSettingsOnlyChain(testSettings),
      fetchFinalBlock: () => Promise.resolve(final),
    };
    platform = open({ poolChains: new Map([['anvil', chain]]) });
    await (await edgeOf('holder.transfer')).postSpend('k', transfer);
    const sends = await edgeOf('holder.send');
    expect(await sends.postSpend('k', withdrawal).catch(errorCodeOf)).toBe('idempotency_conflict');
    // Another holder has keys of its own.
    const b = await edgeOf('holder.send', await createTestHolder('b'));
    expect((await b.postSpend('k', withdrawal)).state).toBe('accepted');
    expect(await sends.getSpend('k')).toBeUndefined();
  });

  it.each(['holder.read', 'disburse'] as const)('refuses a %s key', async (capability) => {
    const edge = await edgeOf(capability);
    await expect(edge.postSpend('k', transfer)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(edge.getSpend('k')).rejects.toMatchObject({ code: 'forbidden', status: 403 });
  });

  it('refuses an edge token and a caller without a credential', async () => {
    const { token: edgeToken } = await platform.edgeToken(a.address);
    await expect(clientOf(edgeToken).postSpend('k', transfer)).rejects.toMatchObject({
      status: 401,
    });
    expect((await platform.app.request('/agent-edge/spends/k')).status).toBe(401);
  });

  it('counts posts of a holder through all of its keys, and answers Retry-After', async () => {
    platform = open({ rateLimits: { spendsPerMinute: 1 } });
    const [first, second] = [await keyOf('holder.transfer'), await keyOf('holder.transfer')];
    await clientOf(first).postSpend('k', transfer);
    const answer = await post(second, 'k', transfer);
    expect([answer.status, answer.retryAfter]).toEqual([429, '12']);
    platform.clock.nowMs += 12_000;
    expect((await clientOf(second).postSpend('k', transfer)).state).toBe('accepted');
  });

  it('answers a holder without gas with the seconds to wait', async () => {
    platform = open({
      spendLimits: {
        ...defaultSpendLimits,
        dailyGas: 1_000_000,
        deadlineSeconds: Number.MAX_SAFE_INTEGER,
      },
    });
    const key = await keyOf('holder.send');
    await clientOf(key).postSpend('k1', withdrawal);
    const { request } = await createTestSpend(place, a, {
      noteRoot: assertField(7n),
      deadline,
      note: 'third',
      withdrawAmount: '1',
      recipient: a.address,
    });
    const answer = await post(key, 'k2', request);
    expect([answer.status, answer.retryAfter]).toEqual([429, '60']);
    expect(answer.body.code).toBe('gas_budget_exceeded');
  });

  async function post(key: Secret, idempotencyKey: string, request: SpendRequest) {
    const answer = await platform.app.request('/agent-edge/spends', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key.reveal()}`,
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey,
      },
      body: JSON.stringify(request),
    });
    return {
      status: answer.status,
      retryAfter: answer.headers.get('retry-after'),
      body: (await answer.json()) as { readonly code?: string; readonly message?: string },
    };
  }

  it('answers all holders together when the relayer has no gas for spends left', async () => {
    const spendLimits = {
      ...defaultSpendLimits,
      dailyGasOfAll: 1_000_000,
      deadlineSeconds: Number.MAX_SAFE_INTEGER,
    };
    platform = open({ spendLimits });
    await (await edgeOf('holder.send')).postSpend('k1', withdrawal);
    const b = await createTestHolder('b');
    const { request } = await createTestSpend(place, b, { noteRoot: assertField(7n), deadline });
    const refused = await post(await keyOf('holder.transfer', b), 'k1', request);
    expect([refused.status, refused.body.code, refused.retryAfter]).toEqual([
      429,
      'gas_budget_exceeded',
      '60',
    ]);
    expect(refused.body.message).toContain('PLATFORM_SPENDS_DAILY_GAS');
    expect(refused.body.message).toContain('send --self-submit');
  });

  it.each(['required', 'screened'] as const)(
    'takes spends of admitted wallets only where invitations are %s, and answers what it has',
    async (invitations) => {
      const asked: string[] = [];
      const checks = {
        ...fakeChecks,
        assertSpendProven: (holder: string) => {
          asked.push(holder);
          return Promise.resolve();
        },
      };
      platform = open({ admission: { invitations }, checks });
      const key = await keyOf('holder.transfer');
      const stranger = await post(key, 'k', transfer);
      expect([stranger.status, stranger.body.code]).toEqual([403, 'spender_not_admitted']);
      expect(stranger.body.message).toContain('send --self-submit');
      expect(asked).toEqual([]);
      await database.db.insertInto('subjects').values(createSubject(a)).execute();
      expect((await post(key, 'k', transfer)).status).toBe(202);
      await database.db.updateTable('subjects').set({ admitted_at: null }).execute();
      expect((await post(key, 'k', transfer)).status).toBe(202);
      expect((await clientOf(key).getSpend('k'))?.state).toBe('accepted');
      await database.db.updateTable('submissions').set({ state: 'reverted' }).execute();
      expect((await post(key, 'k', transfer)).body.code).toBe('spender_not_admitted');
      expect(asked).toEqual([a.address]);
    },
  );

  it('stops checking the proofs of a holder after ten that did not verify', async () => {
    let verified = 0;
    const proofs = createProofCheck(
      {
        verify: () => {
          verified += 1;
          return Promise.resolve(false);
        },
      },
      new Map([['spend-2x4', {} as never]]),
    );
    platform = open({ checks: createSettlementChecks({ batches: plainBatchChecker, proofs }) });
    const key = await keyOf('holder.transfer');
    for (let count = 0; count < 10; count += 1) {
      expect((await post(key, 'k', transfer)).body.code).toBe('proof_invalid');
    }
    // Another key of the same holder is no way around it.
    const refused = await post(await keyOf('holder.send'), 'w', withdrawal);
    expect([refused.status, refused.retryAfter]).toEqual([429, '3600']);
    expect(refused.body.message).toContain('proof that is not valid');
    expect(verified).toBe(10);
    const other = await createTestHolder('b');
    const { request } = await createTestSpend(place, other, {
      noteRoot: assertField(7n),
      deadline,
    });
    const judged = await post(await keyOf('holder.transfer', other), 'k', request);
    expect(judged.body.code).toBe('proof_invalid');
    const counts = await database.db
      .selectFrom('credentials')
      .select('refused_proofs')
      .orderBy('id')
      .execute();
    expect(counts.map(({ refused_proofs }) => refused_proofs)).toEqual([10, 0, 1]);
  });

  it.each([
    [
      'proof_invalid',
      createProofCheck(
        { verify: () => Promise.resolve(false) },
        new Map([['spend-2x4', {} as never]]),
      ),
    ],
    ['size_unsupported', createProofCheck({ verify: () => Promise.resolve(true) }, new Map())],
    [
      'verifier_unavailable',
      createProofCheck(
        { verify: () => Promise.reject(new Error('dead')) },
        new Map([['spend-2x4', {} as never]]),
      ),
    ],
  ])('stores nothing when the proof is %s', async (code, proofs) => {
    platform = open({ checks: createSettlementChecks({ batches: plainBatchChecker, proofs }) });
    const edge = await edgeOf('holder.transfer');
    expect(await edge.postSpend('k', transfer).catch(errorCodeOf)).toBe(code);
    expect(await database.db.selectFrom('submissions').selectAll().execute()).toEqual([]);
    expect(await database.db.selectFrom('sealed_notes').selectAll().execute()).toEqual([]);
  });

  it('stores nothing while the chain does not answer, and nothing for an unknown chain', async () => {
    const chain = createSettingsOnlyChain(testSettings);
    const deaf = { ...chain, fetchOutRootOf: () => Promise.reject(new Error('deaf')) };
    platform = open({ poolChains: new Map([['anvil', deaf]]), checks: fakeChecks });
    const edge = await edgeOf('holder.transfer');
    expect(await edge.postSpend('k', transfer).catch(errorCodeOf)).toBe('chain_unreachable');
    const elsewhere = { ...transfer, chain: 'nowhere' };
    expect(await edge.postSpend('k', elsewhere).catch(errorCodeOf)).toBe('invalid-chain');
    expect(await database.db.selectFrom('submissions').selectAll().execute()).toEqual([]);
  });
});
