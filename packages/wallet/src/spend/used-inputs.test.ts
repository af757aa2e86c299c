// Notes that the node's events show as unspent and the contract has as used: nothing is signed over them (docs/decisions/0012).
import { fieldToHex, PoolError } from '@pool/core';
import { createMemoryStore } from '@pool/idempotency';
import { describe, expect, it } from 'vitest';
import { createSpendWorld } from '../fixtures/spend-world.ts';
import { createSpender } from './perform-spend.ts';
import type { SpendDeps } from './spend-deps.ts';

type World = ReturnType<typeof createSpendWorld>;

const lie = new PoolError('note_history_incomplete', 'the node rpc.example served changed events');

function send(deps: SpendDeps, key = 'k', amount = '250') {
  return createSpender(deps).spend({
    operation: 'send',
    key,
    body: { token: 'USDC', amount },
  });
}

/** The notes as events show them in which a node changed the nullifiers: nothing is spent. Healed by `heal`. */
function createLyingNotes(world: World) {
  const { notes } = world.boot().deps;
  const state = { isLying: true, compared: 0 };
  const shown = notes.listSpendable(world.assetId);
  const lying: SpendDeps['notes'] = {
    ...notes,
    listSpendable: async (assetId) =>
      state.isLying ? await shown : await notes.listSpendable(assetId),
    async compareUses() {
      state.compared += 1;
      if (state.isLying) {
        throw lie;
      }
    },
  };
  return { state, lying };
}

describe('a spend of a note that the contract has as used', () => {
  it('is refused with 503 that names the node, before anything is archived or signed', async () => {
    const world = createSpendWorld({ amounts: [1_000_000n] });
    const { lying } = createLyingNotes(world);
    await useFirstNote(world);
    const { deps } = world.boot({ notes: lying });
    await expect(send(deps)).rejects.toMatchObject({
      code: 'note_history_incomplete',
      status: 503,
      message: expect.stringContaining('rpc.example'),
    });
    expect([world.archive.all(), world.signer.signatures]).toEqual([[], 0]);
  });

  it('goes on with other notes once the node is honest', async () => {
    const world = createSpendWorld({ amounts: [600, 300].map(BigInt) });
    const { lying, state } = createLyingNotes(world);
    await useFirstNote(world);
    const { deps } = world.boot({
      notes: {
        ...lying,
        async compareUses(...args) {
          try {
            await lying.compareUses(...args);
          } finally {
            state.isLying = false;
          }
        },
      },
    });
    expect(await send(deps, 'k', '280')).toMatchObject({ status: 'success', changeAmount: '20' });
  });

  it('that was used meanwhile answers 409 if the node lags and cannot explain it', async () => {
    const world = createSpendWorld({ amounts: [1_000_000n] });
    const { lying } = createLyingNotes(world);
    const { deps } = world.boot({
      notes: {
        ...lying,
        compareUses: async () => {
          throw new PoolError('chain_unreachable', 'the node rpc.example lags');
        },
      },
    });
    world.edge.holdBack = true;
    world.edge.postSpend = async (_key, { spend }) => {
      for (const nullifier of spend.nullifiers.slice(0, 1)) {
        world.chain.useNullifier(nullifier);
      }
      throw new PoolError('platform_unreachable', 'the platform is down');
    };
    const platform = { transfer: world.edge, send: world.edge };
    await expect(send({ ...deps, platform })).rejects.toMatchObject({ code: 'note_already_spent' });
  });

  it('that was used meanwhile answers 503 in place of the advice to send again, and 409 once the node is honest', async () => {
    const world = createSpendWorld({ amounts: [1_000_000n] });
    const { lying, state } = createLyingNotes(world);
    const store = createMemoryStore();
    const { deps } = world.boot({ notes: lying, store });
    world.edge.holdBack = true;
    world.edge.postSpend = async (_key, { spend }) => {
      for (const nullifier of spend.nullifiers.slice(0, 1)) {
        world.chain.useNullifier(nullifier);
      }
      throw new PoolError('platform_unreachable', 'the platform is down');
    };
    const platform = { transfer: world.edge, send: world.edge };
    await expect(send({ ...deps, platform })).rejects.toMatchObject({
      code: 'note_history_incomplete',
      status: 503,
      retryable: false,
      message: expect.stringMatching(
        /nothing of the spend moved.*rpc\.example.*new Idempotency-Key/,
      ),
    });
    state.isLying = false;
    await expect(send({ ...deps, platform })).rejects.toMatchObject({
      code: 'note_already_spent',
      status: 409,
    });
    expect(state.compared).toBe(2);
  });
});

/** Another agent of the holder spends it, in a final block. */
async function useFirstNote(world: World): Promise<void> {
  const [note] = await world.boot().deps.notes.listSpendable(world.assetId);
  if (note === undefined) {
    throw new Error('the world has no note');
  }
  world.chain.useNullifier(fieldToHex(note.nullifier));
  world.clock.advanceSeconds(60);
}
