// The pipeline against fake ports: outcomes of protocol §8 and decision 7, one test per rule.
import { assertField, PoolError, parseEvmAddress, parseHex32 } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { createWorld, type FakeJob, viewOf, type World } from '../fixtures/fake-world.ts';
import { deliveryName } from './batch/batch.ts';
import { manifestName, releaseName } from './job/record.ts';
import type { RunEvent } from './job/run.ts';

describe('a disbursement', () => {
  it('pays three people in one batch and reports what was paid [service.headless-prove, result.completed, result.one-batch, result.notes, result.allowance, result.allowance-as-observed, state.done-means-attempted]', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    const events = await world.run(job);

    expect(viewOf(job)).toEqual({
      key: 'run-1',
      state: 'done',
      result: {
        status: 'completed',
        batches: [
          {
            index: 0,
            txHash: world.platform.rows.get('run-1')?.txHash,
            recipientCount: 3,
            status: 'success',
          },
        ],
        notes: world.holders.map((holder, index) => ({
          requestIndex: index,
          recipientAddress: holder.address,
          commitment: expect.stringMatching(/^0x[0-9a-f]{64}$/),
          amount: String(1_000 * (index + 1)),
          status: 'success',
        })),
        skipped: [],
        allowance: { state: 'insufficient' },
      },
    });
    const commitments = viewOf(job).result?.notes.map(({ commitment }) => commitment) ?? [];
    expect(new Set(commitments).size).toBe(3);
    expect(world.platform.rows.get('run-1')?.batch.commitments).toEqual(
      expect.arrayContaining(commitments),
    );
    expect(events.filter(({ kind }) => kind === 'stage')).toEqual(
      ['eligibility', 'allowance', 'proving', 'signing', 'approving-allowance', 'settling'].map(
        (stage) => ({ kind: 'stage', stage }),
      ),
    );
    expect(world.chain.funds).toBe(1);
    expect(world.chain.allowance).toBe(0n);
  });

  it('reports the allowance it saw before proving, and leaves a sufficient one alone [result.allowance, result.allowance-as-observed]', async () => {
    const world = await createWorld({ permit: true });
    world.chain.allowance = 10_000n;
    const job = await world.accept();
    await world.run(job);
    expect(viewOf(job).result?.allowance).toEqual({ state: 'sufficient' });
    expect(job.record().permit).toBeUndefined();
    expect(world.chain.allowance).toBe(4_000n);
  });

  it('reports unknown when the advisory read fails, and pays [result.allowance, result.allowance-unknown]', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    await world.run(job, (point) => {
      if (point === 'allowance.entered') {
        world.chain.failReads(1);
      }
    });
    expect(viewOf(job).result?.allowance).toEqual({ state: 'unknown' });
    expect(world.chain.funds).toBe(1);
  });

  it('approves exactly the total if the token has no permit [service.exact-allowance]', async () => {
    const world = await createWorld();
    world.chain.allowance = 5n;
    const job = await world.accept();
    await world.run(job);
    expect(world.chain.approvals).toEqual([6_000n]);
    expect(world.chain.allowance).toBe(0n);
  });

  it('sets the allowance to zero first if the token requires it [service.exact-allowance]', async () => {
    const world = await createWorld({ zeroFirst: true });
    world.chain.allowance = 5n;
    await world.run(await world.accept());
    expect(world.chain.approvals).toEqual([0n, 6_000n]);
  });

  it('signs only a stale permit again', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    await expect(
      world.run(job, (point) => {
        if (point === 'settling.entered') {
          throw new Error('crash');
        }
      }),
    ).rejects.toThrow('interrupted');
    const before = job.record();
    world.chain.permitNonce = 1n;
    await world.run(job);
    expect(before.permit?.nonce).toBe('0');
    expect(job.record().permit?.nonce).toBe('1');
    expect(job.record().signature).toBe(before.signature);
    expect(viewOf(job).state).toBe('done');
  });

  it('reports a batch as settled only after finality [result.completed]', async () => {
    const world = await createWorld({ permit: true, finalityBlocks: 30 });
    const startedAtMs = world.clock.nowMs();
    const job = await world.accept();
    await world.run(job);
    expect(viewOf(job).result?.status).toBe('completed');
    expect(world.clock.nowMs() - startedAtMs).toBeGreaterThanOrEqual(30_000);
  });

  it('fails under the mock prover before anything is signed or sent [state.mock-prover, variable.prover]', async () => {
    const world = await createWorld({ proverMode: 'mock' });
    const job = await world.accept();
    await world.run(job);
    expect(viewOf(job).error?.code).toBe('prover_mock');
    expect(job.record().signature).toBeUndefined();
    expect(world.platform.posts).toBe(0);
  });

  it('signs nothing when the proof is for other public inputs', async () => {
    const world = await createWorld({ permit: true });
    world.prover.isDishonest = true;
    const job = await world.accept();
    await world.run(job);
    expect(viewOf(job).error?.code).toBe('proof_invalid');
    expect(job.record().signature).toBeUndefined();
  });

  it('signs nothing when the proof does not verify', async () => {
    const world = await createWorld({ permit: true });
    world.prover.isVerifying = false;
    const job = await world.accept();
    await world.run(job);
    expect(viewOf(job).error?.code).toBe('proof_invalid');
    expect(world.platform.posts).toBe(0);
  });

  it('fails with unregistered-recipient when a wallet loses its place before the proof [service.gate-before-proof]', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    world.gate.expel(world.holders[1]!);
    await world.run(job);
    expect(viewOf(job).error).toMatchObject({
      code: 'unregistered-recipient',
      message: expect.stringContaining('recipients[1]'),
    });
    expect(world.platform.posts).toBe(0);
  });

  it('waits for a platform, a gate and an RPC that fail for a while', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    world.platform.failCalls(3);
    world.gate.failCalls(3);
    world.chain.failReads(3);
    await world.run(job);
    expect(viewOf(job).state).toBe('done');
  });

  it('fails with nothing signed when the gate does not answer for too long', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    world.gate.failCalls(1_000_000);
    await world.run(job);
    expect(viewOf(job).error?.code).toBe('gate_unreachable');
    expect(job.record().signature).toBeUndefined();
  });

  it('proves nothing for a root that the chain does not accept [service.gate-before-proof]', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    world.chain.refuseRoot(world.gate.root());
    await world.run(job);
    expect(viewOf(job).error?.code).toBe('eligibility_root_unknown');
    expect(world.prover.proofs).toBe(0);
  });

  it('proves nothing along a path that does not lead to the root of the gate [service.gate-before-proof]', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    const gate = {
      paths: async (ids: readonly string[]) => {
        const answer = await world.gate.paths(ids);
        return {
          ...answer,
          paths: answer.paths.map((path) => ({ ...path, index: path.index ^ 1 })),
        };
      },
    };
    await world.run(job, () => undefined, { gate });
    expect(viewOf(job).error?.code).toBe('gate_invalid_response');
    expect(world.prover.proofs).toBe(0);
  });

  it('signs nothing for a pool whose contracts are not the expected ones', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    const requirePool = () => Promise.reject(new PoolError('pool_code_differs', 'no verifier'));
    const context = { ...world.context, chain: { ...world.chain, requirePool } };
    await world.run(job, () => undefined, { findChain: () => context });
    expect(viewOf(job).error?.code).toBe('pool_code_differs');
    expect(job.record().signature).toBeUndefined();
    expect(world.platform.rows.size).toBe(0);
    expect(world.chain.funds).toBe(0);
  });

  it('leaves the job as it is when the job store does not answer', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    job.failWrites(1);
    await expect(world.run(job)).rejects.toMatchObject({ code: 'run_interrupted' });
    expect(job.state()).toBe('accepted');
    await world.run(job);
    expect(viewOf(job).state).toBe('done');
  });

  it('fails a job whose chain was taken out of the configuration before release', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    const events: RunEvent[] = [];
    await world.run(job, () => undefined, {
      findChain: () => undefined,
      onEvent: (event) => events.push(event),
    });
    expect(viewOf(job).error?.code).toBe('invalid-chain');
    expect(events).toEqual([{ kind: 'outcome', state: 'failed', code: 'invalid-chain' }]);
  });
});

describe('late landing', () => {
  async function hold(world: World): Promise<FakeJob> {
    world.platform.holdBack = true;
    return world.accept();
  }

  it('fails with settlement_expired only after a final block past the deadline [state.failed-means-no-effect]', async () => {
    const world = await createWorld({ permit: true, finalityBlocks: 10 });
    const job = await hold(world);
    await world.run(job);
    const deadline = world.platform.rows.get('run-1')?.batch.deadline ?? 0;
    expect(viewOf(job).error?.code).toBe('settlement_expired');
    expect(world.clock.nowMs() / 1000).toBeGreaterThan(deadline + 10);
    expect(world.chain.funds).toBe(0);
  });

  it('rounds the deadline up to a quarter of an hour, an hour ahead at least', async () => {
    const world = await createWorld({ permit: true });
    const job = await hold(world);
    const nowSeconds = world.clock.nowMs() / 1000;
    await world.run(job);
    const deadline = world.platform.rows.get('run-1')?.batch.deadline ?? 0;
    expect(deadline % 900).toBe(0);
    expect(deadline - nowSeconds).toBeGreaterThanOrEqual(3600);
    expect(deadline - nowSeconds).toBeLessThanOrEqual(3600 + 900);
  });

  it('ends done / partial when dead with a reverted transaction of ours [result.partial]', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    // The state changes between simulation and inclusion: the funder's tokens are gone.
    world.platform.beforeInclusion = () => {
      world.chain.balance = 0n;
    };
    await world.run(job);
    expect(viewOf(job)).toMatchObject({
      state: 'done',
      result: {
        status: 'partial',
        failedBatchIndex: 0,
        batches: [{ status: 'failed', error: { code: 'erc20-insufficient-balance' } }],
        notes: [{ status: 'failed' }, { status: 'failed' }, { status: 'failed' }],
      },
    });
    expect(world.chain.funds).toBe(0);
  });

  it('is not made partial by a reverted transaction that carried another batch', async () => {
    const world = await createWorld({ permit: true });
    world.platform.holdBack = true;
    const job = await world.accept();
    await world.run(job, (point) => {
      const row = world.platform.rows.get('run-1');
      if (point === 'settling.posted' && row !== undefined) {
        const batchNonce = parseHex32(`0x${'07'.repeat(32)}`);
        const other = world.chain.mineFund({ ...row.batch, batchNonce, total: '9' }, undefined);
        expect(other.error).toBeDefined();
        world.platform.rows.set('run-1', { ...row, state: 'reverted', txHash: other.txHash });
      }
    });
    expect(viewOf(job).error?.code).toBe('settlement_expired');
  });

  it('keeps a reverted job submitted, and resends the same authorisation when it can land [state.submitted]', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    const balance = world.chain.balance;
    world.platform.beforeInclusion = () => {
      world.chain.balance = world.platform.posts === 1 ? 0n : balance;
    };
    let revertSeen = false;
    await world.run(job, () => {
      if (world.chain.balance === 0n && job.record().revert !== undefined) {
        revertSeen = true;
        expect(job.state()).toBe('submitted');
        world.chain.balance = balance;
      }
    });
    expect(revertSeen).toBe(true);
    expect(viewOf(job).result?.status).toBe('completed');
    expect(world.chain.funds).toBe(1);
  });

  it('proves the same manifest again when the root goes stale, under the same signature', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    let before: string | undefined;
    await world.run(job, (point) => {
      if (point === 'settling.released' && before === undefined) {
        before = job.record().signature;
        world.chain.refuseRoot(world.gate.root());
        world.chain.acceptRoot(world.gate.root().replace(/^0x../, '0x01'));
        // The gate publishes a root with one more person; all others keep their places.
        world.gate.admit({ ...world.holders[0]!, walletId: assertField(77n) });
      }
    });
    expect(viewOf(job).result?.status).toBe('completed');
    expect(world.prover.proofs).toBe(2);
    expect(job.record().signature).toBe(before);
    expect([...job.values.keys()].sort()).toEqual([deliveryName, manifestName, releaseName].sort());
  });

  it('keeps a job submitted when a wallet loses its place after the release, until it is dead', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    let deadline = 0;
    await world.run(job, (point) => {
      if (point === 'settling.released') {
        deadline = JSON.parse(job.values.get(releaseName) ?? '{}').deadline;
        world.gate.expel(world.holders[2]!);
      }
    });
    expect(viewOf(job).error?.code).toBe('unregistered-recipient');
    expect(world.clock.nowMs() / 1000).toBeGreaterThan(deadline);
  });

  it('ends at once when the funder voided the batch', async () => {
    const world = await createWorld({ permit: true });
    const job = await hold(world);
    const startedAtMs = world.clock.nowMs();
    await world.run(job, (point) => {
      if (point === 'settling.posted') {
        const { batch } = world.platform.rows.get('run-1')!;
        world.chain.voidBatch(parseEvmAddress(batch.funder), batch.batchNonce);
      }
    });
    expect(viewOf(job).error).toMatchObject({
      code: 'cancelled',
      message: expect.stringContaining('withdrew'),
    });
    expect(world.clock.nowMs() - startedAtMs).toBeLessThan(60_000);
  });

  it('never releases an authorisation that can no longer settle in time', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    await expect(
      world.run(job, (point) => {
        if (point === 'signing.after-store') {
          throw new Error('crash');
        }
      }),
    ).rejects.toThrow('interrupted');
    world.clock.advanceSeconds(2 * 3600);
    await world.run(job);
    expect(viewOf(job).error?.code).toBe('settlement_expired');
    expect(world.platform.posts).toBe(0);
  });

  it('takes a mined approval back when the job fails', async () => {
    const world = await createWorld();
    const job = await hold(world);
    await world.run(job);
    expect(viewOf(job).error?.code).toBe('settlement_expired');
    expect(world.chain.approvals).toEqual([6_000n, 0n]);
    expect(world.chain.allowance).toBe(0n);
  });

  it('reports an approval that could not be taken back', async () => {
    const world = await createWorld();
    const job = await hold(world);
    await world.run(job, (point) => {
      if (point === 'settling.observed') {
        world.chain.failReads(1_000_000);
      }
    });
    expect(viewOf(job).error?.message).toContain('set the allowance of the pool to 0');
  });

  it('approves nothing more for a mined batch, even if the platform has lost it [result.allowance-advisory]', async () => {
    const world = await createWorld({ finalityBlocks: 20 });
    const job = await world.accept();
    await world.run(job, (point) => {
      if (point === 'settling.posted') {
        world.platform.rows.clear();
        world.platform.holdBack = true;
      }
    });
    expect(viewOf(job).result?.status).toBe('completed');
    expect(world.chain.approvals).toEqual([6_000n]);
    expect(world.platform.posts).toBe(1);
  });

  it('finds a settlement whose answer was lost', async () => {
    const world = await createWorld({ permit: true });
    world.platform.loseAnswers = 1;
    const job = await world.accept();
    await world.run(job);
    expect(viewOf(job).result?.status).toBe('completed');
    expect(world.chain.funds).toBe(1);
  });
});
