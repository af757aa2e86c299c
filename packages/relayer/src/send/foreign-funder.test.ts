/** A batch nonce that was used before under another funder, on a real chain (protocol §3). */
import { connectErc20, connectShieldedPool, mintTestToken, noPermit } from '@pool/contracts';
import {
  assertField,
  bigintToHex32,
  computeFundAuthorizationData,
  fieldToHex,
  parseEvmAddress,
} from '@pool/core';
import { computeBatchRoot } from '@pool/notes';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../database/test/test-database.ts';
import { createLog } from '../../../http-server/src/service/log.ts';
import { fakeChecks } from '../../test/fake-checks.ts';
import { startTestChain, type TestChain } from '../../test/test-chain.ts';
import {
  createTestSettlement,
  insertTestEmployer,
  type TestSettlement,
  testEmployerId,
} from '../../test/test-settlement.ts';
import { acceptSettlement } from '../accept/accept-settlement.ts';
import { createEvmPoolChain, type PoolChain } from '../chain/pool-chain.ts';
import { createIndexer } from '../indexer/indexer.ts';
import { findSubmission } from '../store/submissions.ts';
import { runRelayerPass } from './relayer.ts';

const log = createLog('silent', 'test');
const eligibilityRoot = assertField(12345n);
const foreignCommitments = Array.from({ length: 16 }, () => assertField(77n));
const foreignRoot = computeBatchRoot(foreignCommitments);

let chain: TestChain;
let poolChain: PoolChain;
let database: TestDatabase;

beforeAll(async () => {
  [chain, database] = await Promise.all([startTestChain(), openTestDatabase()]);
  await (await chain.registry('gate').publish(fieldToHex(eligibilityRoot))).wait();
  await chain.fundFunder(1_000_000n);
  poolChain = createEvmPoolChain('anvil', chain.settings, chain.key('relayer'));
  await insertTestEmployer(database.db);
});
afterAll(async () => {
  poolChain.close();
  await Promise.all([chain.stop(), database.close()]);
});

/** An attacker learns the batch nonce of a settlement and uses it first, with its own tokens. */
async function burnNonceOf({ request, plan }: TestSettlement): Promise<void> {
  const stranger = chain.wallet('stranger');
  await mintTestToken(chain.token, chain.wallet('deployer'), stranger.address, 1n);
  await (await connectErc20(chain.token, stranger).approve(chain.settings.pool, 1n)).wait();
  const { chainId, pool } = chain.settings;
  const { domain, types, message } = computeFundAuthorizationData(chainId, pool, {
    funder: parseEvmAddress(stranger.address),
    token: chain.token,
    total: 1n,
    batchRoot: foreignRoot,
    batchNonce: plan.batchNonce,
    sealedNotesHash: bigintToHex32(1n),
    deadline: 2n ** 40n,
  });
  const batch = {
    ...request.batch,
    funder: stranger.address,
    total: 1n,
    batchRoot: fieldToHex(foreignRoot),
    commitments: foreignCommitments.map(fieldToHex),
    sealedNotesHash: bigintToHex32(1n),
    deadline: 2n ** 40n,
  };
  const signature = await stranger.signTypedData(domain, types, message);
  const byRelayer = connectShieldedPool(pool, chain.wallet('relayer'));
  await (await byRelayer.fund(batch, request.proof, signature, noPermit)).wait();
}

it('settles a batch whose nonce was used before under another funder', async () => {
  const { db } = database;
  const settlement = await createTestSettlement(await chain.settlementTarget(), {
    eligibilityRoot,
  });
  await burnNonceOf(settlement);
  await chain.mine(2);
  const deps = {
    db,
    chains: new Map([['anvil', poolChain]]),
    checks: fakeChecks,
    nowMs: Date.now,
  };
  await acceptSettlement(deps, testEmployerId, 'job-1', settlement.request);
  const relay = () =>
    runRelayerPass({ db, chain: poolChain, log, nowMs: Date.now, replaceAfterMs: 120_000 });
  await relay();
  await chain.mine(2);
  await relay();
  await createIndexer({ db, chain: poolChain, log, nowMs: Date.now }).pass();

  expect((await findSubmission(db, testEmployerId, 'job-1'))?.state).toBe('settled');
  expect(await chain.poolBalance()).toBe(settlement.plan.total + 1n);
  const indexed = await db
    .selectFrom('batches')
    .select(['batch_root', 'submission_id'])
    .orderBy('leaf_index')
    .execute();
  expect(indexed).toEqual([
    { batch_root: fieldToHex(foreignRoot), submission_id: null },
    { batch_root: settlement.request.batch.batchRoot, submission_id: expect.any(Number) },
  ]);
});
