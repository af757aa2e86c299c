/**
 * Concurrent requests. The embedded database runs one statement at a time, so these tests pass there trivially. On a
 * PostgreSQL server (Vitest's project `postgres`) each request has a connection.
 */
import type { Delivery, SettlementRequest } from '@pool/api';
import { assertField, type EvmAddress, parseEvmAddress } from '@pool/core';
import { createTestHolder } from '@pool/testkit';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { createLog } from '../../../../packages/http-server/src/service/log.ts';
import { wantWallet } from '../../../../packages/pool-gate/src/leaves.ts';
import { openTestGateDatabase } from '../../../../packages/pool-gate/test/test-gate-database.ts';
import { redeliverNotes } from '../../../../packages/relayer/src/accept/redeliver-notes.ts';
import { assertTotalLeft } from '../../../../packages/relayer/src/budget/relayer-total.ts';
import { insertCall } from '../../../../packages/relayer/src/send/sent-nonces.ts';
import {
  batchIdOf,
  describeNewSettlement,
} from '../../../../packages/relayer/src/store/settlement-store.ts';
import { insertSubmission } from '../../../../packages/relayer/src/store/submissions.ts';
import { fakeChecks } from '../../../../packages/relayer/test/fake-checks.ts';
import { testSettings } from '../../../../packages/relayer/test/test-settings.ts';
import {
  createTestSettlement,
  testEmployerId,
} from '../../../../packages/relayer/test/test-settlement.ts';
import { mintApiKey } from '../accounts/credentials.ts';
import { maxSessionsPerWallet } from '../auth/sessions.ts';
import {
  claimSignInNonce,
  createSignInNonce,
  maxLiveNoncesPerCaller,
} from '../auth/sign-in-nonces.ts';
import { openCredentialMint } from '../credentials/credential.ts';
import { registerEmployer } from '../employers/employers.ts';
import {
  acceptInvitation,
  createInvitationLinks,
  revokeInvitationLink,
} from '../employers/invitation-links.ts';
import { createTestPlatform } from '../fixtures/test-platform.ts';

const nowMs = Date.parse('2026-11-22T08:00:00Z');
function times<T>(count: number, work: (index: number) => Promise<T>) {
  return Promise.allSettled(Array.from({ length: count }, (_, index) => work(index)));
}
function isDone({ status }: { status: string }) {
  return status === 'fulfilled';
}

const employerAddress = parseEvmAddress('0x00000000000000000000000000000000000000e1');
const newcomer = parseEvmAddress('0x00000000000000000000000000000000000000a1');

describe('concurrent requests', () => {
  let database: TestDatabase;
  let request: SettlementRequest;
  beforeAll(async () => {
    database = await openTestDatabase();
    const target = {
      settings: testSettings,
      token: testSettings.tokens['USDC']?.address ?? '',
      funder: Wallet.createRandom(),
      timestamp: nowMs / 1000,
    };
    ({ request } = await createTestSettlement(target, { eligibilityRoot: assertField(1n) }));
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.reset();
    await database.db
      .insertInto('employers')
      .values({ id: testEmployerId, address: employerAddress, name: null, created_at: 'now' })
      .execute();
  });
  const noGas = () => Promise.resolve(0);
  const insert = () =>
    insertSubmission(
      database.db,
      describeNewSettlement({ employerId: testEmployerId, key: 'job-1' }, request, nowMs, noGas),
    );

  it('for sixty keys mint fifty', async () => {
    const mint = await openCredentialMint(database.db);
    const employer = { id: testEmployerId, address: employerAddress };
    const minted = await times(60, (index) =>
      mintApiKey(database.db, mint, employer, 'disburse', `key ${index}`, nowMs),
    );
    expect(minted.filter(isDone)).toHaveLength(50);
  });

  it('for twenty nonces get the five that are left', async () => {
    const ask = () => createSignInNonce(database.db, nowMs, 300, 'somebody');
    await ask();
    const [{ caller }] = (await database.db
      .selectFrom('sign_in_nonces')
      .select('caller')
      .execute()) as [{ caller: string }];
    await database.db
      .insertInto('sign_in_nonces')
      .values(
        Array.from({ length: maxLiveNoncesPerCaller - 6 }, (_, index) => ({
          nonce: `n${index}`,
          caller,
          expires_at: '2027-01-01T00:00:00.000Z',
        })),
      )
      .execute();
    expect((await times(20, ask)).filter(isDone)).toHaveLength(5);
  });

  it('with one nonce succeed once', async () => {
    const { nonce } = await createSignInNonce(database.db, nowMs, 300, 'somebody');
    const claims = await Promise.all(
      Array.from({ length: 10 }, () => claimSignInNonce(database.db, nonce, nowMs)),
    );
    expect(claims.filter(Boolean)).toHaveLength(1);
  });

  it('that sign in one wallet leave it the maximum number of sessions', async () => {
    const platform = createTestPlatform(database);
    const holder = await createTestHolder('a');
    await platform.signIn(holder);
    const [first] = await database.db.selectFrom('sessions').selectAll().execute();
    if (first === undefined) throw new Error('no session');
    await database.db
      .insertInto('sessions')
      .values(
        Array.from({ length: maxSessionsPerWallet - 2 }, (_, index) => ({
          ...first,
          id_hash: `h${index}`,
        })),
      )
      .execute();
    expect((await times(10, () => platform.signIn(holder))).filter(isDone)).toHaveLength(10);
    expect(await database.db.selectFrom('sessions').select('id_hash').execute()).toHaveLength(
      maxSessionsPerWallet,
    );
  });

  it('that register one wallet create one account', async () => {
    const registered = await Promise.all(
      Array.from({ length: 10 }, () =>
        registerEmployer(database.db, { address: newcomer }, undefined, nowMs),
      ),
    );
    expect(new Set(registered.map(({ employer }) => employer.id)).size).toBe(1);
    expect(registered.filter(({ created }) => created)).toHaveLength(1);
  });

  describe('about an invitation link', () => {
    const wallets = Array.from({ length: 8 }, (_, index) =>
      parseEvmAddress(`0x${(0xb1 + index).toString(16).padStart(40, '0')}`),
    );
    const config = { walletsPerEmployer: 10, invitationDays: 90 };
    const employer = { id: testEmployerId, address: employerAddress };
    async function createLink(reference: string) {
      await database.db.updateTable('employers').set({ wallet_limit: 10 }).execute();
      const credentials = await openCredentialMint(database.db);
      const asked = { references: [reference] };
      const { db } = database;
      const { links } = await createInvitationLinks(
        db,
        config,
        credentials,
        employer,
        asked,
        nowMs,
      );
      const code = links[0]?.code.reveal() ?? '';
      const deps = { db, admission: config, credentials, nowMs: () => nowMs };
      return (wallet: EvmAddress) => acceptInvitation(deps, wallet, code);
    }
    const invited = () => database.db.selectFrom('invitations').select('address').execute();

    it('bind it to one of the wallets that accept it', async () => {
      for (const round of [1, 2, 3, 4]) {
        const accept = await createLink(`reference-${round}`);
        const answers = await Promise.allSettled(wallets.map(accept));
        expect(answers.filter(isDone)).toHaveLength(1);
        expect(await invited()).toHaveLength(round);
      }
    });

    it('that accept and revoke it leave no invitation of a revoked link', async () => {
      for (const wallet of wallets) {
        const reference = 'reference-1';
        const accept = await createLink(reference);
        await Promise.allSettled([
          accept(wallet),
          revokeInvitationLink(database.db, employer, reference, nowMs),
        ]);
        const [link] = await database.db
          .selectFrom('invitation_links')
          .select('revoked_at')
          .execute();
        expect(link?.revoked_at).not.toBeNull();
        expect(await invited()).toEqual([]);
      }
    });
  });

  it('that post one settlement store it once, with its notes', async () => {
    const stored = await times(10, insert);
    expect(stored.filter(isDone)).toHaveLength(1);
    expect(stored.find((one) => !isDone(one))).toMatchObject({
      reason: { code: 'idempotency_conflict' },
    });
    expect(await database.db.selectFrom('sealed_notes').select('slot').execute()).toHaveLength(
      request.sealedNotes.length,
    );
  });

  it('store no fund() that is signed while its withdrawal is stored', async () => {
    const { id } = await insert();
    const withdrawing = await database.db.startTransaction().execute();
    await withdrawing
      .updateTable('submissions')
      .set({ void_signature: '0x' })
      .where('id', '=', id)
      .execute();
    const chain = { key: 'anvil' };
    const deps = { db: database.db, chain, log: createLog('silent', 'test'), nowMs: Date.now };
    const signed = {
      nonce: 0,
      sender: '0xR',
      txHash: '0x1',
      rawTransaction: '0x',
      gasLimit: 1n,
      maxFeePerGas: 1n,
    };
    const storing = insertCall(
      { ...deps, replaceAfterMs: 1 } as never,
      { kind: 'settlement', id },
      signed,
      true,
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    await withdrawing.commit().execute();
    expect(await storing).toBe(false);
    const sent = await database.db.selectFrom('relayer_transactions').selectAll().execute();
    expect(sent).toEqual([]);
  });

  it('that share the coin of the relayer stay within it', async () => {
    const [gas, gwei] = [100_000, 10n ** 9n];
    // For two, and not for three.
    const total = { dailyWei: BigInt(5 * gas) * gwei, feeWei: gwei };
    const made = { chain: 'anvil', created_at: new Date(nowMs).toISOString() };
    const accepted = await times(10, (index) =>
      database.db.transaction().execute(async (trx) => {
        const question = { chain: 'anvil', neededGas: gas, instead: undefined, isCustomer: false };
        await assertTotalLeft(trx, question, total, nowMs);
        await trx
          .insertInto('submissions')
          .values({
            ...{ ...made, kind: 'spend', owner: employerAddress, key: `k${index}`, token: '0xT' },
            ...{
              deadline: nowMs / 1_000 + 60,
              request: '{}',
              state: 'accepted',
              gas_reserved: gas,
            },
            ...{ root: `0x${index}`, first_nullifier: `0x${index}`, sealed_notes_hash: '0x' },
          })
          .execute();
      }),
    );
    expect(accepted.filter(isDone)).toHaveLength(2);
  });

  it('that deliver the same notes again get the same answer', async () => {
    const { chain, batch, sealedNotes } = request;
    await database.db
      .insertInto('batches')
      .values({
        chain,
        leaf_index: 0,
        batch_root: batch.batchRoot,
        new_root: batch.batchRoot,
        commitments: JSON.stringify(batch.commitments),
        batch_id: batchIdOf(batch),
        sealed_notes_hash: batch.sealedNotesHash,
        tx_hash: '0x1',
        block_number: 1,
        submission_id: null,
      })
      .execute();
    const deps = {
      db: database.db,
      chains: new Map([[chain, { settings: testSettings }]]) as never,
      checks: fakeChecks,
      nowMs: () => nowMs,
      refreshIndex: () => Promise.resolve(),
    };
    const delivery: Delivery = { chain, batch, sealedNotes };
    const delivered = await times(8, () => redeliverNotes(deps, testEmployerId, 'job-1', delivery));
    expect(delivered.filter((one) => !isDone(one))).toEqual([]);
    expect(await database.db.selectFrom('sealed_notes').select('slot').execute()).toHaveLength(
      sealedNotes.length,
    );
  });

  it('that enrol thirty wallets assign a different leaf to each', async () => {
    const gate = await openTestGateDatabase();
    const wanted = await times(30, (index) => wantWallet(gate.db, `w${index}`, 'pub', 1_000));
    expect(wanted.filter((one) => !isDone(one))).toEqual([]);
    const rows = await gate.db.selectFrom('wallets').select('leaf_index').execute();
    expect(rows.map((row) => row.leaf_index).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 30 }, (_, index) => index),
    );
    await gate.close();
  });
});
