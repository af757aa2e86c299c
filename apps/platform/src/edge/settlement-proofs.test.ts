/** What the edge does with the proof of a settlement, with the real verifier in its real thread. */
import { Writable } from 'node:stream';
import type { SettlementRequest } from '@pool/api';
import { createEdgeClient } from '@pool/platform-client';
import { createProofVerifier, type ProofVerifier, ProverError } from '@pool/prover';
import { createTestHolder } from '@pool/testkit';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { listen } from '../../../../packages/http-server/src/service/listen.ts';
import { createLog } from '../../../../packages/http-server/src/service/log.ts';
import {
  type BatchChecker,
  createBatchChecker,
} from '../../../../packages/relayer/src/checks/batch-checker.ts';
import {
  createProofCheck,
  loadVerificationKeys,
  type ProofCheck,
} from '../../../../packages/relayer/src/checks/check-proof.ts';
import { createSettlementChecks } from '../../../../packages/relayer/src/checks/settlement-checks.ts';
import {
  changeProof,
  createProvenSettlement,
  provenSettings,
} from '../../../../packages/relayer/test/proven-settlement.ts';
import { createSettingsOnlyChain } from '../../../../packages/relayer/test/settings-only-chain.ts';
import { listCredentials } from '../accounts/credentials.ts';
import { createTestPlatform } from '../fixtures/test-platform.ts';

describe('the proof of a settlement', () => {
  let database: TestDatabase;
  let verifier: ProofVerifier;
  let batches: BatchChecker;
  let proofs: ProofCheck;
  let good: SettlementRequest;
  let lines: Record<string, unknown>[];

  beforeAll(async () => {
    database = await openTestDatabase();
    good = await createProvenSettlement();
    verifier = createProofVerifier();
    batches = createBatchChecker();
    proofs = createProofCheck(verifier, await loadVerificationKeys(undefined));
  });
  afterAll(async () => {
    await Promise.all([database.close(), verifier.close(), batches.close()]);
  });
  beforeEach(async () => {
    await database.reset();
    lines = [];
  });

  async function openPlatform(check = proofs) {
    // The chain has only its settings: a simulation would fail the test.
    const settingsOnly = createSettingsOnlyChain(provenSettings, 'valid');
    const sink = new Writable({
      write(chunk, _encoding, done) {
        lines.push(JSON.parse(String(chunk)) as Record<string, unknown>);
        done();
      },
    });
    const platform = createTestPlatform(database, {
      checks: createSettlementChecks({ batches, proofs: check }),
      poolChains: new Map([['anvil', settingsOnly]]),
      log: pino({ level: 'info' }, sink),
    });
    const { token, employerId, id } = await platform.edgeToken(
      (await createTestHolder('a')).address,
    );
    return { platform, token, employerId, id };
  }
  async function open(check = proofs) {
    const { platform, token } = await openPlatform(check);
    const { url, fetch } = platform;
    return createEdgeClient({ url: `${url}/agent-edge`, token, fetch });
  }
  async function countStored(): Promise<number> {
    const settlements = await database.db.selectFrom('submissions').selectAll().execute();
    const notes = await database.db.selectFrom('sealed_notes').selectAll().execute();
    return settlements.length + notes.length;
  }

  it.each(['fund-16', 'fund-64', 'fund-256'] as const)('of %s is accepted', async (circuit) => {
    const client = await open();
    const record = await client.postSettlement('job', await createProvenSettlement(circuit));
    expect(record.state).toBe('accepted');
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7])(
    'is refused when its number %i is changed, and nothing is stored or simulated [service.relayer-verifies]',
    async (index) => {
      const client = await open();
      const bad = { ...good, proof: changeProof(good.proof, index) };
      await expect(client.postSettlement('job', bad)).rejects.toMatchObject({
        code: 'proof_invalid',
        status: 400,
      });
      expect(await countStored()).toBe(0);
      expect(await client.getSettlement('job')).toBeUndefined();
      // The key and the nonce are still free for a valid proof.
      expect((await client.postSettlement('job', good)).state).toBe('accepted');
    },
  );

  it('is verified for a request that came through HTTP [service.relayer-verifies]', async () => {
    const { platform, token } = await openPlatform();
    const server = await listen(
      (request, from) => platform.app.fetch(request, from),
      { host: '127.0.0.1', port: 0 },
      createLog('silent', 'test'),
    );
    try {
      const client = createEdgeClient({ url: `${server.url}/agent-edge`, token });
      const bad = { ...good, proof: changeProof(good.proof, 0) };
      await expect(client.postSettlement('job', bad)).rejects.toMatchObject({
        code: 'proof_invalid',
        status: 400,
      });
      expect(await countStored()).toBe(0);
      expect((await client.postSettlement('job', good)).state).toBe('accepted');
    } finally {
      await server.close();
    }
  });

  it('of another batch is refused', async () => {
    const client = await open();
    const other = await createProvenSettlement('fund-64');
    await expect(
      client.postSettlement('job', { ...good, proof: other.proof }),
    ).rejects.toMatchObject({ code: 'proof_invalid' });
  });

  it('that is refused is counted for its edge token, and logged with its employer', async () => {
    const { platform, token, employerId, id } = await openPlatform();
    const client = createEdgeClient({
      url: `${platform.url}/agent-edge`,
      token,
      fetch: platform.fetch,
    });
    const bad = { ...good, proof: changeProof(good.proof, 7) };
    for (const key of ['one', 'two']) {
      await client.postSettlement(key, bad).catch(() => undefined);
    }
    await client.postSettlement('three', good);
    expect(await listCredentials(database.db, 'edge token')).toMatchObject([
      { id, refusedProofs: 2 },
    ]);
    const told = lines.filter(({ msg }) => msg === 'a proof was refused');
    expect(told).toMatchObject([
      { employer: employerId, edgeToken: id, refused: 1 },
      { employer: employerId, edgeToken: id, refused: 2 },
    ]);
  });

  it('is not verified again for a replay, and is for a settlement that was reverted', async () => {
    const client = await open();
    const bad = { ...good, proof: changeProof(good.proof, 3) };
    await client.postSettlement('job', good);
    // It stores nothing, so the answer is the stored record.
    expect((await client.postSettlement('job', bad)).state).toBe('accepted');
    const reverted = { state: 'reverted', error_code: 'x', error_message: 'x' } as const;
    await database.db.updateTable('submissions').set(reverted).execute();
    await expect(client.postSettlement('job', bad)).rejects.toMatchObject({
      code: 'proof_invalid',
    });
    expect((await client.getSettlement('job'))?.state).toBe('reverted');
    expect((await client.postSettlement('job', good)).state).toBe('accepted');
    const { request } = await database.db
      .selectFrom('submissions')
      .select('request')
      .executeTakeFirstOrThrow();
    expect(JSON.parse(request)).toMatchObject({ proof: good.proof });
  });

  it.each<[string, string, number, () => ProofCheck | Promise<ProofCheck>]>([
    [
      'the verifier fails',
      'verifier_unavailable',
      503,
      async () =>
        createProofCheck(
          {
            verify: () =>
              Promise.reject(
                new ProverError('verifier_unavailable', 'The thread ended.', { retryable: true }),
              ),
          },
          await loadVerificationKeys(undefined),
        ),
    ],
    [
      'there is no key for its size',
      'size_unsupported',
      400,
      () => createProofCheck(verifier, new Map()),
    ],
  ])('is not accepted when %s: %s, and nothing is stored', async (_name, code, status, check) => {
    const client = await open(await check());
    await expect(client.postSettlement('job', good)).rejects.toMatchObject({
      code,
      status,
      retryable: status === 503,
    });
    expect(await countStored()).toBe(0);
  });
});
