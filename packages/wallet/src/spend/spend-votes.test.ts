// A holder whose signer needs a vote (docs/decisions/0015): fresh nonces, late votes, crashes and outages.

import { parseHex } from '@pool/core';
import { createMemoryStore } from '@pool/idempotency';
import { createRemoteHolder } from '@pool/signers';
import { describe, expect, it } from 'vitest';
import { spendFaultPoints } from '../archive/spend-state.ts';
import { createSpendWorld } from '../fixtures/spend-world.ts';
import { createVotingSigner } from '../fixtures/voting-signer.ts';
import { followOnce } from './follow-spends.ts';
import { withdrawSpendRequest } from './give-up-spend.ts';
import { createSpender } from './perform-spend.ts';
import type { SpendDeps } from './spend-deps.ts';

const voteLimitSeconds = 3_600;

/** A world whose holder is a wallet at a custodian. */
function createVotingWorld() {
  const world = createSpendWorld();
  const voting = createVotingSigner(parseHex(world.holder.wallet.privateKey));
  const boot = (changes: Parameters<typeof world.boot>[0] = {}) =>
    world.boot({
      signer: createRemoteHolder({
        name: 'custodian_a',
        signer: voting,
        walletPub: world.holder.walletPub,
        pollMs: 2_000,
        sleep: (milliseconds, signal) =>
          world.clock.sleep(milliseconds, signal ?? new AbortController().signal),
      }),
      deadlineSeconds: 900 + voteLimitSeconds,
      ...changes,
    });
  return { ...world, voting, boot };
}

type World = ReturnType<typeof createVotingWorld>;

function callOf(world: World, key = 'k') {
  const [payee] = world.payees;
  return {
    operation: 'transfer',
    key,
    body: { token: 'USDC', recipients: [{ walletPub: payee.walletPub, amount: '250' }] },
  } as const;
}

function spendOf(deps: SpendDeps, world: World, key?: string) {
  return createSpender(deps).spend(callOf(world, key));
}

describe('A spend through custodian A with fresh nonces, a late vote and a crash at every point', () => {
  it.each(spendFaultPoints)(
    '(%s) lets one rSig per manifest out [signer.one-rsig]',
    async (point) => {
      const world = createVotingWorld();
      world.voting.isRestless = true;
      let votes = 0;
      // Nobody votes in the first life.
      world.voting.policy = () => (votes > 0 ? 'approve' : 'wait');
      const store = createMemoryStore();
      const afterVote = spendFaultPoints.indexOf('signature.before-store');
      if (spendFaultPoints.indexOf(point) >= afterVote) {
        votes = 1;
      }
      const { deps } = world.boot({
        store,
        crashAt(reached) {
          if (reached === point) throw new Error('crash');
        },
      });
      await expect(spendOf(deps, world)).rejects.toThrow(`stopped at ${point}`);
      votes = 1;
      const receipt = await spendOf(world.boot({ store }).deps, world);
      expect(receipt.status).toBe('success');
      expect(world.chain.landed).toHaveLength(1);
      expect(world.voting.requests.size).toBe(1);
      expect(new Set(world.edge.posts.map(({ spend }) => spend.rSig)).size).toBe(1);
    },
  );
});

describe('a spend that is voted on', () => {
  it('passes manifest, seed and dummies, and names the wait', async () => {
    const world = createVotingWorld();
    const { deps, events } = world.boot();
    await spendOf(deps, world);
    expect(world.voting.files).toEqual([
      {
        version: 1,
        manifest: expect.objectContaining({ kind: 'spend' }),
        seed: expect.stringMatching(/^0x/),
        dummyNullifiers: [expect.stringMatching(/^0x/)],
      },
    ]);
    expect(events.flatMap((event) => (event.kind === 'stage' ? [event.stage] : []))).toEqual([
      'checking',
      'signing',
      'awaiting-approval',
      'proving',
      'settling',
    ]);
  });

  it('has a deadline that includes the vote', async () => {
    const world = createVotingWorld();
    const nowSeconds = world.clock.nowMs() / 1000;
    await spendOf(world.boot().deps, world);
    const [spend] = world.archive.all();
    expect((spend?.deadline ?? 0) - nowSeconds).toBeGreaterThanOrEqual(900 + voteLimitSeconds);
  });

  it('goes on after an outage of the custodian', async () => {
    const world = createVotingWorld();
    world.voting.isDown = true;
    const { deps, events } = world.boot();
    const clock = {
      ...world.clock,
      async sleep(milliseconds: number, signal: AbortSignal) {
        await world.clock.sleep(milliseconds, signal);
        world.voting.isDown = world.clock.nowMs() < startMs + 600_000;
      },
    };
    const startMs = world.clock.nowMs();
    const receipt = await spendOf({ ...deps, clock }, world);
    expect(receipt.status).toBe('success');
    expect(events.filter(({ kind }) => kind === 'retry')).toEqual([
      { kind: 'retry', code: 'timed_out' },
    ]);
  });

  it('that expires during an outage names the outage', async () => {
    const world = createVotingWorld();
    world.voting.isDown = true;
    await expect(spendOf(world.boot().deps, world)).rejects.toMatchObject({
      code: 'signer_expired',
      message: expect.stringContaining('timed_out: the custodian does not answer'),
    });
  });

  it.each([
    ['at the first question frees its notes', 0, 'manifest_refused', 0],
    ['after an outage keeps its notes', 1, 'holder_unavailable', 1],
  ])('that the approve process refuses %s', async (_what, outages, code, locked) => {
    const world = createVotingWorld();
    let asked = 0;
    world.voting.submit = async () => {
      asked += 1;
      return asked <= outages
        ? { state: 'failed', retryable: true, code: 'approver_unreachable', message: 'down' }
        : {
            state: 'failed',
            retryable: false,
            code: 'manifest_refused',
            message: 'no (holder-not-listed)',
          };
    };
    const startMs = world.clock.nowMs();
    await expect(spendOf(world.boot().deps, world)).rejects.toMatchObject({
      code,
      message: expect.stringContaining('(holder-not-listed)'),
    });
    expect(world.clock.nowMs() - startMs).toBeLessThan(60_000);
    expect(Math.min((await world.archive.listLocked()).size, 1)).toBe(locked);
  });

  it('that is refused says why, and frees its notes', async () => {
    const world = createVotingWorld();
    world.voting.policy = () => 'deny';
    await expect(spendOf(world.boot().deps, world)).rejects.toMatchObject({
      code: 'signer_refused',
      message: expect.stringContaining('it was denied'),
    });
    expect((await world.archive.listLocked()).size).toBe(0);
  });

  it('that expires at its custodian frees its notes, and the same key sends it', async () => {
    const world = createVotingWorld();
    const store = createMemoryStore();
    world.voting.policy = () => 'expire';
    await expect(spendOf(world.boot({ store }).deps, world)).rejects.toMatchObject({
      code: 'signer_expired',
      status: 504,
      message: expect.stringContaining('send it again'),
    });
    expect((await world.archive.listLocked()).size).toBe(0);
    world.voting.policy = () => 'approve';
    const receipt = await spendOf(world.boot({ store }).deps, world);
    expect(receipt.status).toBe('success');
    expect(world.voting.requests.size).toBe(2);
  });

  it.each([
    ['at the first question frees its notes', 0, 'signer_refused', 0],
    ['later keeps its notes: the request may still be signed', 60_000, 'signer_expired', 1],
  ])('that this side refuses %s', async (_what, afterMs, code, locked) => {
    const world = createVotingWorld();
    world.voting.policy = () => 'wait';
    const endMs = world.clock.nowMs() + afterMs;
    const sleep = world.clock.sleep;
    world.clock.sleep = async (...args) => {
      await sleep(...args);
      world.voting.isMisconfigured = world.clock.nowMs() >= endMs;
    };
    world.voting.isMisconfigured = afterMs === 0;
    await expect(spendOf(world.boot().deps, world)).rejects.toMatchObject({ code });
    expect(Math.min((await world.archive.listLocked()).size, 1)).toBe(locked);
  });

  it('that nobody votes on keeps its notes locked until it is dead on chain', async () => {
    const world = createVotingWorld();
    world.voting.policy = () => 'wait';
    const { deps } = world.boot();
    await expect(spendOf(deps, world)).rejects.toMatchObject({ code: 'signer_expired' });
    expect((await world.archive.listLocked()).size).toBeGreaterThan(0);
    expect(world.edge.posts).toHaveLength(0);
    world.clock.advanceSeconds(900);
    expect(await followOnce(deps)).toEqual({ open: 0, unroutable: 0 });
    expect((await world.archive.listLocked()).size).toBe(0);
    // The vote that comes now has no effect.
    world.voting.decide('spend', 'approve');
    await expect(spendOf(world.boot().deps, world, 'other')).rejects.toMatchObject({
      code: 'signer_expired',
    });
    expect(world.chain.landed).toHaveLength(0);
  });

  it('that was signed and cannot be proved keeps its notes, and the same key sends it', async () => {
    const world = createVotingWorld();
    const store = createMemoryStore();
    const { deps } = world.boot({ store });
    const prover: typeof deps.prover = {
      ...deps.prover,
      prove: () => Promise.reject(new Error('no memory')),
    };
    await expect(spendOf({ ...deps, prover }, world)).rejects.toThrow('no memory');
    expect((await world.archive.listLocked()).size).toBeGreaterThan(0);
    const receipt = await spendOf(world.boot({ store }).deps, world);
    expect(receipt.status).toBe('success');
    expect(world.voting.requests.size).toBe(1);
  });
});

describe('the request of a spend that is given up', () => {
  /** A world in which nobody votes. */
  function createSilentWorld() {
    const world = createVotingWorld();
    world.voting.policy = () => 'wait';
    const listOutcomes = () => [...world.voting.requests.values()].map(({ outcome }) => outcome);
    return { ...world, listOutcomes };
  }

  /** The agent stops while people could vote. */
  async function stopWhileWaiting(world: World, store = createMemoryStore()) {
    const { deps, stop } = world.boot({ store });
    world.voting.policy = () => {
      stop();
      return 'wait';
    };
    await expect(spendOf(deps, world)).rejects.toMatchObject({ code: 'stopping' });
    world.voting.policy = () => 'wait';
  }

  const denied = expect.objectContaining({ state: 'refused', reason: 'denied' });

  it('is withdrawn when the vote did not end in time', async () => {
    const world = createSilentWorld();
    const { deps, events } = world.boot();
    await expect(spendOf(deps, world)).rejects.toMatchObject({ code: 'signer_expired' });
    expect(world.listOutcomes()).toEqual([denied]);
    expect(events).toContainEqual({ kind: 'withdrawn' });
    // The signer may have signed before. Only a final block shows that the spend is dead.
    expect((await world.archive.listLocked()).size).toBeGreaterThan(0);
  });

  it('stays while the agent is stopped, and is withdrawn when the key comes back too late', async () => {
    const world = createSilentWorld();
    const store = createMemoryStore();
    await stopWhileWaiting(world, store);
    expect(world.listOutcomes()).toEqual([undefined]);
    const [spend] = world.archive.all();
    const nowSeconds = Math.floor(world.clock.nowMs() / 1000);
    world.clock.advanceSeconds((spend?.deadline ?? 0) - nowSeconds - 1);
    await expect(spendOf(world.boot({ store }).deps, world)).rejects.toMatchObject({
      code: 'settlement_expired',
    });
    expect(world.listOutcomes()).toEqual([denied]);
  });

  it('is withdrawn when a final block ends a spend whose key never comes back', async () => {
    const world = createSilentWorld();
    await stopWhileWaiting(world);
    world.clock.advanceSeconds(3 * voteLimitSeconds);
    const { deps } = world.boot();
    await followOnce({ ...deps, withdraw: (spend) => withdrawSpendRequest(spend, deps) });
    expect(world.listOutcomes()).toEqual([denied]);
    expect((await world.archive.listLocked()).size).toBe(0);
  });

  it('is withdrawn when the key comes back after the last block that could take the spend', async () => {
    const world = createSilentWorld();
    const store = createMemoryStore();
    await stopWhileWaiting(world, store);
    world.clock.advanceSeconds(3 * voteLimitSeconds);
    await expect(spendOf(world.boot({ store }).deps, world)).rejects.toMatchObject({
      code: 'settlement_expired',
    });
    expect(world.listOutcomes()).toEqual([denied]);
  });

  it('that cannot be withdrawn is named in the log, and the answer stays', async () => {
    const world = createSilentWorld();
    const { deps, events } = world.boot();
    const endMs = world.clock.nowMs() + 600_000;
    const sleep = world.clock.sleep;
    world.clock.sleep = async (...args) => {
      await sleep(...args);
      world.voting.isDown = world.clock.nowMs() >= endMs;
    };
    await expect(spendOf(deps, world)).rejects.toMatchObject({ code: 'signer_expired' });
    expect(world.listOutcomes()).toEqual([undefined]);
    expect(events).toContainEqual({ kind: 'not-withdrawn', code: 'timed_out' });
  });

  it('that was signed meanwhile stays signed, and its signature is not sent', async () => {
    const world = createSilentWorld();
    await stopWhileWaiting(world);
    world.voting.decide('spend', 'approve');
    world.clock.advanceSeconds(3 * voteLimitSeconds);
    const { deps } = world.boot();
    await followOnce({ ...deps, withdraw: (spend) => withdrawSpendRequest(spend, deps) });
    expect(world.listOutcomes()).toEqual([expect.objectContaining({ state: 'signed' })]);
    expect(world.edge.posts).toHaveLength(0);
  });
});
