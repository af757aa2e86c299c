/** Spends against a real chain with the real contracts (the verifiers alone are fakes): from the post to the served notes. */
import type { SpendRequest } from '@pool/api';
import { mintTestToken } from '@pool/contracts';
import { assertField, errorCodeOf } from '@pool/core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fakeChecks } from '../../test/fake-checks.ts';
import { createSpendScene, sceneEligibilityRoot } from '../../test/spend-scene.ts';
import { createTestSettlement, testEmployerId } from '../../test/test-settlement.ts';
import { acceptSettlement } from '../accept/accept-settlement.ts';
import { createEvmPoolChain } from '../chain/pool-chain.ts';
import { readPage } from '../served/served-batches.ts';
import { runRelayerPass } from './relayer.ts';

const scene = createSpendScene();
beforeAll(scene.open);
afterAll(scene.close);
beforeEach(scene.begin);
afterEach(scene.end);

const {
  accept,
  chains,
  deps,
  makeSpend,
  notesOf,
  passDeadline,
  recordOf,
  relay,
  settleDown,
  transactions,
  withdraw,
} = scene;

describe('spend flow', () => {
  it('settles a transfer, and serves its note to the payee and the change to the holder', async () => {
    const request = await makeSpend();
    expect(await accept(request)).toBe('accepted');
    await relay();
    expect((await recordOf()).state).toBe('submitted');
    expect([await notesOf(scene.a), await notesOf(scene.b)]).toEqual([[], []]);
    await settleDown();
    const record = await recordOf();
    const receipt = await scene.chain.provider.getTransactionReceipt(record.txHash ?? '');
    expect(record).toEqual({
      key: 'k',
      state: 'settled',
      chain: 'anvil',
      outRoot: request.spend.outRoot,
      deadline: request.spend.deadline,
      txHash: receipt?.hash,
      blockNumber: receipt?.blockNumber,
      gasUsed: receipt?.gasUsed.toString(),
    });
    for (const holder of [scene.a, scene.b]) {
      const slot = request.sealedNotes.findIndex(
        ({ encryptionPublicKey }) => encryptionPublicKey === holder.encryptionPublicKey,
      );
      expect(await notesOf(holder)).toEqual([
        {
          commitment: request.spend.commitments[slot],
          sealed: request.sealedNotes[slot]?.sealed,
          chain: 'anvil',
          token: 'USDC',
          batchIndex: 1,
          slot,
          txHash: receipt?.hash,
        },
      ]);
    }
    const { batches } = await readPage(scene.database.db, 'anvil', 0);
    expect(batches.map(({ kind }) => kind)).toEqual(['fund', 'spend']);
    expect(batches[1]).toMatchObject({
      root: request.spend.outRoot,
      commitments: request.spend.commitments,
      nullifiers: request.spend.nullifiers,
      noteRoot: await scene.chain.pool().currentRoot(),
    });
  });

  it.each(['spend-2x4', 'spend-16x8'] as const)('pays a withdrawal of %s', async (circuit) => {
    const before = await scene.chain.poolBalance();
    await accept(await withdraw({ circuit }));
    await relay();
    await settleDown();
    const record = await recordOf();
    expect([record.state, before - (await scene.chain.poolBalance())]).toEqual(['settled', 700n]);
    const [sent] = await transactions();
    expect(sent).toMatchObject({ purpose: 'spend', state: 'succeeded' });
    // A limit far above the use would let a costly token burn the relayer's coin.
    expect(Number(sent?.gas_limit)).toBeLessThan(2 * Number(record.gasUsed));
  });

  it('answers a replay with the stored spend, and sends once', async () => {
    const request = await withdraw();
    await accept(request);
    await relay();
    expect(await accept(request)).toBe('submitted');
    await relay();
    await settleDown();
    expect(await accept(request)).toBe('settled');
    await relay();
    expect(await transactions()).toHaveLength(1);
  });

  it('refuses under a used key another spend, another signature, and the same spend under another key', async () => {
    const request = await withdraw();
    await accept(request);
    const other = await withdraw({ note: 'other' });
    const sealed = request.sealedNotes.toReversed();
    for (const [changed, key] of [
      [other, 'k'],
      [{ ...request, spend: { ...request.spend, s: other.spend.s } }, 'k'],
      [{ ...request, sealedNotes: sealed }, 'k'],
      [request, 'k2'],
    ] as const) {
      await expect(accept(changed, key)).rejects.toMatchObject({
        code: 'idempotency_conflict',
        status: 409,
      });
    }
    expect(await scene.database.db.selectFrom('sealed_notes').selectAll().execute()).toHaveLength(
      4,
    );
  });

  it('sends nothing that the simulation refuses, and takes a fresh proof of the same spend', async () => {
    await accept(await makeSpend({ eligibilityRoot: assertField(777n) }));
    await relay();
    const refused = await recordOf();
    expect([refused.state, refused.txHash, refused.error?.code]).toEqual([
      'reverted',
      undefined,
      'eligibility-root-not-accepted',
    ]);
    expect(await transactions()).toEqual([]);
    expect(await accept(await makeSpend())).toBe('accepted');
    await relay();
    await settleDown();
    expect((await recordOf()).state).toBe('settled');
  });

  it('refuses a spend of a note that is spent', async () => {
    await accept(await withdraw());
    await relay();
    await settleDown();
    await expect(accept(await withdraw({ seed: '2' }), 'k2')).rejects.toMatchObject({
      code: 'note_already_spent',
      status: 409,
    });
  });

  it('ends a waiting spend once a final block has another spend of its note', async () => {
    const [first, second] = [await withdraw(), await withdraw({ seed: '2' })];
    await accept(first, 'k1');
    await accept(second, 'k2');
    await relay();
    await settleDown();
    await settleDown();
    // They are sent side by side, so either may be first.
    const records = [await recordOf('k1'), await recordOf('k2')];
    const [settled, refused] = records.toSorted((one) => (one.state === 'settled' ? -1 : 1));
    expect([settled?.state, refused?.state]).toEqual(['settled', 'reverted']);
    expect(['note_already_spent', 'nullifier-used']).toContain(refused?.error?.code);
  });

  it('settles a spend that somebody else sent', async () => {
    const request = await withdraw();
    await accept(request);
    const txHash = await scene.sendAsStranger(request);
    await settleDown();
    await settleDown();
    expect(await recordOf()).toMatchObject({ state: 'settled', txHash });
    expect(await transactions()).toEqual([]);
  });

  it('ends a spend at its deadline, and gives its key to another one then', async () => {
    await scene.chain.provider.send('evm_setAutomine', [false]);
    await accept(await withdraw());
    await expect(accept(await withdraw({ note: 'other' }))).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    await scene.chain.provider.send('evm_setAutomine', [true]);
    await passDeadline();
    await relay();
    expect(await recordOf()).toMatchObject({
      state: 'reverted',
      error: { code: 'authorization-expired' },
    });
    expect(await accept(await withdraw({ note: 'other' }))).toBe('accepted');
    await relay();
    await settleDown();
    expect((await recordOf()).state).toBe('settled');
  });

  it('frees the nonce of a spend that was not mined before its deadline', async () => {
    await scene.chain.provider.send('evm_setAutomine', [false]);
    await accept(await withdraw());
    await relay();
    await scene.chain.provider.send('anvil_dropAllTransactions', []);
    await passDeadline();
    await runRelayerPass({ ...deps(), nowMs: () => Date.now() + 121_000 });
    await scene.chain.mine(1);
    await scene.chain.mine(3);
    await relay();
    await relay();
    expect((await transactions()).map(({ purpose, state }) => [purpose, state])).toEqual([
      ['spend', 'dropped'],
      ['cancel', 'cancelled'],
    ]);
    expect((await recordOf()).error?.code).toBe('authorization-expired');
  });

  it('reports a revert on chain with its transaction and reason', async () => {
    const request = await withdraw();
    await scene.chain.provider.send('evm_setAutomine', [false]);
    await accept(request);
    await relay();
    // Another spend of the same note is mined first.
    const rival = await withdraw({ seed: '2' });
    const stranger = createEvmPoolChain(
      'anvil',
      scene.chain.settings,
      scene.chain.key('stranger'),
      {},
    );
    const call = { ...rival, sealedNotes: rival.sealedNotes.map(({ sealed }) => sealed) };
    await scene.chain.provider.send('anvil_dropAllTransactions', []);
    const signed = await stranger.sign(
      { kind: 'spend', call },
      await stranger.fetchNonce(),
      2_000_000n,
    );
    await stranger.broadcast(signed.rawTransaction);
    await scene.chain.mine(1);
    stranger.close();
    const [sent] = await transactions();
    await scene.poolChain.broadcast(sent?.raw_transaction ?? '');
    await scene.chain.mine(3);
    await relay();
    expect(await recordOf()).toMatchObject({
      state: 'reverted',
      txHash: sent?.tx_hash,
      error: { code: 'nullifier-used' },
    });
  });

  describe('limits', () => {
    it('refuses a holder whose gas of the day is used, with the time to wait, and answers replays', async () => {
      const limits = { dailyGas: 2_000_000 };
      const request = await withdraw();
      await accept(request, 'k1', limits);
      await accept(await withdraw({ note: '2' }), 'k2', limits);
      const third = await withdraw({ note: '3' });
      const refusal = await accept(third, 'k3', limits).catch((error: unknown) => error);
      expect(refusal).toMatchObject({
        code: 'gas_budget_exceeded',
        status: 429,
        details: { retryAfterSeconds: expect.any(Number) as number },
      });
      expect(await accept(request, 'k1', limits)).toBe('accepted');
      // What is used counts, not what could have been.
      await relay();
      await settleDown();
      expect(await accept(third, 'k3', { dailyGas: 2_500_000 })).toBe('accepted');
    });

    it('refuses a deadline too far ahead', async () => {
      const request = await withdraw({ deadline: 4_000_000_000 });
      expect(await accept(request).catch(errorCodeOf)).toBe('deadline_too_far');
    });

    it('stores nothing of a spend whose signature the contract would refuse', async () => {
      const request = await withdraw();
      const { spend } = request;
      const changed = { ...request, spend: { ...spend, parity: spend.parity === 0 ? 1 : 0 } };
      expect(await accept(changed as SpendRequest).catch(errorCodeOf)).toBe('invalid_spend');
      expect(await scene.database.db.selectFrom('submissions').selectAll().execute()).toEqual([]);
    });
  });

  it('lets spends and settlements share the nonces of one relayer', async () => {
    await mintTestToken(
      scene.chain.token,
      scene.chain.wallet('deployer'),
      scene.chain.wallet('funder').address,
      9n,
    );
    const { request: batch } = await createTestSettlement(await scene.chain.settlementTarget(), {
      eligibilityRoot: sceneEligibilityRoot,
      jobKey: 'job-2',
    });
    await acceptSettlement(
      { ...deps(), chains: chains(), checks: fakeChecks },
      testEmployerId,
      'job-2',
      batch,
    );
    await accept(await withdraw(), 'k1');
    await accept(await withdraw({ note: '2' }), 'k2');
    await relay();
    const sent = await transactions();
    expect(sent.map(({ purpose }) => purpose).sort()).toEqual(['fund', 'spend', 'spend']);
    const nonces = sent.map(({ nonce }) => nonce);
    expect(new Set(nonces).size).toBe(3);
    await settleDown();
    const settled = await scene.database.db
      .selectFrom('submissions')
      .select('state')
      .where('kind', '=', 'settlement')
      .execute();
    expect(settled).toEqual([{ state: 'settled' }]);
    expect([(await recordOf('k1')).state, (await recordOf('k2')).state]).toEqual([
      'settled',
      'settled',
    ]);
  });
});
