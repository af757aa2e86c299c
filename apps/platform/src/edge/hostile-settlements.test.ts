/** What a hostile tenant can try with settlements: batches of others, changed repetitions, too many requests. */
import type { SettlementRequest } from '@pool/api';
import {
  assertField,
  errorCodeOf,
  type Hex32,
  PoolError,
  parseEncryptionPublicKey,
  parseHex32,
  type Secret,
} from '@pool/core';
import { createEdgeClient, type EdgeClient } from '@pool/platform-client';
import { createTestHolder } from '@pool/testkit';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import type { PoolChain } from '../../../../packages/relayer/src/chain/pool-chain.ts';
import type { SettlementChecks } from '../../../../packages/relayer/src/checks/settlement-checks.ts';
import { fakeChecks } from '../../../../packages/relayer/test/fake-checks.ts';
import { testSettings } from '../../../../packages/relayer/test/test-settings.ts';
import { createTestSettlement } from '../../../../packages/relayer/test/test-settlement.ts';
import { createTestPlatform, type TestPlatform } from '../fixtures/test-platform.ts';

const token = testSettings.tokens['USDC']?.address ?? '';
const funder = new Wallet(`0x${'11'.repeat(32)}`);
const stranger = new Wallet(`0x${'12'.repeat(32)}`);
function word(digit: string) {
  return parseHex32(`0x${digit.repeat(64)}`);
}

describe('a settlement of a hostile tenant', () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let request: SettlementRequest;
  /** What the chain says; a test changes it. */
  let usedFor: () => Promise<Hex32 | undefined>;
  let verdict: () => Promise<'valid' | 'invalid' | 'no-contract'>;
  let asked: number;

  beforeAll(async () => {
    database = await openTestDatabase();
    const target = { settings: testSettings, token, funder, timestamp: 1_800_000_000 };
    ({ request } = await createTestSettlement(target, { eligibilityRoot: assertField(5n) }));
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.reset();
    usedFor = () => Promise.resolve(undefined);
    verdict = () => Promise.resolve('no-contract');
    asked = 0;
    open();
  });

  function open(settlementsPerMinute = 10_000, checks?: SettlementChecks): void {
    const chain: Partial<PoolChain> = {
      key: 'anvil',
      settings: testSettings,
      fetchBatchRootOf: () => usedFor(),
      checkFunderContract: () => {
        asked += 1;
        return verdict();
      },
    };
    platform = createTestPlatform(database, {
      poolChains: new Map([['anvil', chain as PoolChain]]),
      rateLimits: { settlementsPerMinute },
      ...(checks === undefined ? {} : { checks }),
    });
  }
  async function employer(name: string): Promise<{ edge: EdgeClient; credential: Secret }> {
    const { token: credential } = await platform.edgeToken((await createTestHolder(name)).address);
    const { url, fetch } = platform;
    const edge = createEdgeClient({ url: `${url}/agent-edge`, token: credential, fetch });
    return { edge, credential };
  }
  async function signedBy(signer: Wallet): Promise<string> {
    const target = { settings: testSettings, token, timestamp: 1_800_000_000 };
    const forged = {
      address: funder.address,
      signTypedData: signer.signTypedData.bind(signer),
    };
    const made = await createTestSettlement(
      { ...target, funder: forged },
      { eligibilityRoot: assertField(5n) },
    );
    return made.request.funderSignature;
  }
  const countStored = async (): Promise<number> =>
    (await database.db.selectFrom('submissions').selectAll().execute()).length;

  it('that its funder did not sign is not stored, and does not block the signed one [service.relayer-verifies]', async () => {
    const { edge: hostile } = await employer('b');
    const { edge: honest } = await employer('a');
    for (const funderSignature of [await signedBy(stranger), `0x${'00'.repeat(65)}`]) {
      await expect(
        hostile.postSettlement('mine', { ...request, funderSignature }),
      ).rejects.toMatchObject({ code: 'invalid_settlement', status: 400 });
    }
    expect(await countStored()).toBe(0);
    expect((await honest.postSettlement('job', request)).state).toBe('accepted');
  });

  it('of a funder that is a contract is stored when the contract consents, and only then', async () => {
    const { edge } = await employer('a');
    const foreign = { ...request, funderSignature: await signedBy(stranger) };
    verdict = () => Promise.resolve('invalid');
    await expect(edge.postSettlement('job', foreign)).rejects.toMatchObject({
      code: 'invalid_settlement',
    });
    verdict = () => Promise.reject(new Error('the node is down'));
    await expect(edge.postSettlement('job', foreign)).rejects.toMatchObject({ status: 500 });
    expect(await countStored()).toBe(0);
    verdict = () => Promise.resolve('valid');
    expect((await edge.postSettlement('job', foreign)).state).toBe('accepted');
  });

  it('causes no contract call if the funder’s own key signed it', async () => {
    const { edge } = await employer('a');
    await edge.postSettlement('job', request);
    expect(asked).toBe(0);
  });

  it('is refused if the chain has another batch under its nonce, and while the chain does not answer', async () => {
    const { edge } = await employer('a');
    usedFor = () => Promise.resolve(word('7'));
    await expect(edge.postSettlement('job', request)).rejects.toMatchObject({
      code: 'invalid_settlement',
      status: 400,
    });
    usedFor = () => Promise.reject(new Error('connection refused'));
    await expect(edge.postSettlement('job', request)).rejects.toMatchObject({
      code: 'chain_unreachable',
      status: 503,
      retryable: true,
    });
    expect(await countStored()).toBe(0);
    usedFor = () => Promise.resolve(request.batch.batchRoot);
    expect((await edge.postSettlement('job', request)).state).toBe('accepted');
  });

  it('that is repeated gets the stored record, without a check of its keys, its proof or its signature', async () => {
    const { edge } = await employer('a');
    const stored = await edge.postSettlement('job', request);
    usedFor = () => Promise.reject(new Error('not to be asked'));
    const altered: SettlementRequest = {
      ...request,
      funderSignature: `0x${'00'.repeat(65)}`,
      proof: { ...request.proof, a: [word('1'), word('2')] },
      sealedNotes: request.sealedNotes.map((note) => ({
        ...note,
        encryptionPublicKey: parseEncryptionPublicKey(word('f')),
      })),
    };
    expect(await edge.postSettlement('job', altered)).toEqual(stored);
    expect(await edge.getSettlement('job')).toEqual(stored);
  });

  it('that is repeated with other notes or commitments is refused, and changes nothing', async () => {
    const { edge } = await employer('a');
    const stored = await edge.postSettlement('job', request);
    const { batch, sealedNotes } = request;
    for (const altered of [
      { ...request, sealedNotes: sealedNotes.toReversed() },
      { ...request, sealedNotes: sealedNotes.slice(1) },
      { ...request, batch: { ...batch, commitments: batch.commitments.toReversed() } },
    ]) {
      await expect(edge.postSettlement('job', altered)).rejects.toMatchObject({
        code: 'invalid_settlement',
        status: 400,
      });
    }
    expect(await edge.getSettlement('job')).toEqual(stored);
  });

  describe('beyond its limit', () => {
    const post = async (credential: Secret, path = '/agent-edge/settlements') =>
      await platform.app.request(path, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'idempotency-key': 'job',
          authorization: `Bearer ${credential.reveal()}`,
        },
        body: JSON.stringify({ ...request, funderSignature: `0x${'00'.repeat(65)}` }),
      });

    it('is refused with 429 and the time to retry for every token of the employer, and others are served', async () => {
      open(3);
      const { credential } = await employer('b');
      const { credential: second } = await employer('b');
      const { edge: honest } = await employer('a');
      const statuses = [];
      for (const shown of [credential, second, credential, second]) {
        statuses.push((await post(shown)).status);
      }
      expect(statuses).toEqual([400, 400, 400, 429]);
      const refused = await post(credential);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
      expect(await refused.json()).toMatchObject({ code: 'rate_limited' });
      for (const path of ['notes', 'void']) {
        expect((await post(second, `/agent-edge/settlements/job/${path}`)).status).toBe(429);
      }
      expect((await honest.postSettlement('job', request)).state).toBe('accepted');
    });

    it('counts less if it is a repetition, and repetitions are limited too', async () => {
      open(2);
      const { edge } = await employer('a');
      await edge.postSettlement('job', request);
      for (let times = 0; times < 5; times += 1) {
        expect((await edge.postSettlement('job', request)).state).toBe('accepted');
      }
      await expect(edge.postSettlement('job', request)).rejects.toMatchObject({
        code: 'rate_limited',
        status: 429,
      });
    });
  });

  it('is not checked any more after ten proofs of its employer that did not verify, and others are', async () => {
    let verified = 0;
    open(10_000, {
      ...fakeChecks,
      assertProven: () => {
        verified += 1;
        return Promise.reject(new PoolError('proof_invalid', 'refused'));
      },
    });
    const { edge } = await employer('mallory');
    const post = (by: EdgeClient, index: number) =>
      by.postSettlement(`job-${index}`, request).then(() => 'accepted', errorCodeOf);
    for (let index = 0; index < 10; index += 1) {
      expect(await post(edge, index)).toBe('proof_invalid');
    }
    await expect(edge.postSettlement('job-10', request)).rejects.toMatchObject({
      code: 'rate_limited',
      status: 429,
      message: expect.stringContaining('proof that is not valid'),
    });
    expect(verified).toBe(10);
    expect(await post((await employer('honest')).edge, 0)).toBe('proof_invalid');
  });
});
