// A spend that the platform refuses for its far deadline is not sent again: its caller is told at once, and its notes are free after the
// deadline.
import { PoolError } from '@pool/core';
import { createMemoryStore } from '@pool/idempotency';
import { describe, expect, it } from 'vitest';
import type { SpendFaultPoint } from '../archive/spend-state.ts';
import { createSpendWorld } from '../fixtures/spend-world.ts';
import { followOnce } from './follow-spends.ts';
import { createSpender } from './perform-spend.ts';
import type { SpendDeps } from './spend-deps.ts';
import type { SpendSubmission } from './spend-ports.ts';

/** The platform takes no deadline that is more than five minutes ahead. */
function createRefusing() {
  const world = createSpendWorld();
  const sent: SpendSubmission[] = [];
  const { postSpend } = world.edge;
  world.edge.postSpend = async (key, submission) => {
    sent.push(submission);
    if (submission.spend.deadline > world.clock.nowMs() / 1000 + 300) {
      throw new PoolError('deadline_too_far', 'spend refused: sign for less time');
    }
    return await postSpend(key, submission);
  };
  return { world, sent, store: createMemoryStore() };
}

function spend(deps: SpendDeps, { payees: [payee] }: ReturnType<typeof createSpendWorld>) {
  const recipients = [{ walletPub: payee.walletPub, amount: '250' }];
  const body = { token: 'USDC', recipients };
  return createSpender(deps).spend({ operation: 'transfer', key: 'k', body });
}

describe('a spend that is refused for its far deadline', () => {
  it('is sent once, and the answer names the time and the variables', async () => {
    const { world, sent, store } = createRefusing();
    const startedAtMs = world.clock.nowMs();
    const { deps, events } = world.boot({ store });
    const error = await spend(deps, world).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'spend_unfinished', status: 504, retryable: false });
    const [stored] = world.archive.all();
    const { message } = error as PoolError;
    for (const part of [
      new Date((stored?.deadline ?? 0) * 1000).toISOString(),
      'the agent does not send it again',
      'Lower DISBURSE_HOLDER_VOTE_LIMIT_SECONDS of this agent',
      'raise PLATFORM_VOTE_LIMIT_SECONDS',
      'under a new Idempotency-Key',
      'deadline_too_far: spend refused: sign for less time',
    ]) {
      expect(message).toContain(part);
    }
    expect(sent).toHaveLength(1);
    expect(world.clock.nowMs() - startedAtMs).toBeLessThan(60_000);
    expect(events).toContainEqual(
      expect.objectContaining({ kind: 'refused', code: 'deadline_too_far' }),
    );
  });

  it('keeps its notes until a final block is past its deadline, and then frees them', async () => {
    const { world, store } = createRefusing();
    const { deps } = world.boot({ store });
    await expect(spend(deps, world)).rejects.toMatchObject({ code: 'spend_unfinished' });
    await followOnce(deps);
    expect((await world.archive.listLocked()).size).toBe(1);
    world.clock.advanceSeconds(3_600);
    await followOnce(deps);
    expect(world.archive.all()[0]?.state).toMatchObject({
      kind: 'expired',
      lastRefusal: { code: 'deadline_too_far' },
    });
    expect((await world.archive.listLocked()).size).toBe(0);
  });

  it('is not sent by a call with its key, however near its deadline has come', async () => {
    const { world, sent, store } = createRefusing();
    await expect(spend(world.boot({ store }).deps, world)).rejects.toThrow();
    const [stored] = world.archive.all();
    world.clock.advanceSeconds((stored?.deadline ?? 0) - world.clock.nowMs() / 1000 - 60);
    await expect(spend(world.boot({ store }).deps, world)).rejects.toMatchObject({
      code: 'spend_unfinished',
      message: expect.stringContaining('DISBURSE_HOLDER_VOTE_LIMIT_SECONDS'),
    });
    world.clock.advanceSeconds(120);
    await expect(spend(world.boot({ store }).deps, world)).rejects.toMatchObject({
      code: 'settlement_expired',
      message: expect.stringContaining('last refusal: deadline_too_far'),
    });
    expect(sent).toHaveLength(1);
    expect(world.chain.landed).toEqual([]);
  });

  it('is a success if it lands all the same', async () => {
    const { world, sent, store } = createRefusing();
    await expect(spend(world.boot({ store }).deps, world)).rejects.toThrow();
    world.chain.mine(sent[0]!);
    const receipt = await spend(world.boot({ store }).deps, world);
    expect(receipt.status).toBe('success');
    expect(sent).toHaveLength(1);
  });

  it.each<SpendFaultPoint>(['release.after-store', 'spend.posted'])(
    'and whose agent dies at %s is given up after a restart',
    async (chosen) => {
      const { world, sent, store } = createRefusing();
      const crashed = world.boot({
        store,
        crashAt(point) {
          if (point === chosen) {
            throw new Error('crash');
          }
        },
      });
      await expect(spend(crashed.deps, world)).rejects.toThrow(`stopped at ${chosen}`);
      await expect(spend(world.boot({ store }).deps, world)).rejects.toMatchObject({
        code: 'spend_unfinished',
      });
      expect(sent).toHaveLength(1);
      expect(world.signer.signatures).toBe(1);
    },
  );
});
