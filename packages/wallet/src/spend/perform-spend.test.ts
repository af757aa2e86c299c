// One spend from request to receipt, against fakes that keep real notes, paths and signatures (protocol §6 to §8).
import {
  bigintToHex32,
  fieldToHex,
  PoolError,
  parseField,
  parseHex32,
  Secret,
  zeroWord,
} from '@pool/core';
import { createEligibilityTree } from '@pool/notes';
import { createEdgeClient, createEdgeGate } from '@pool/platform-client';
import { describe, expect, it } from 'vitest';
import { type ArchivedSpend, changeSpendState } from '../archive/spend-archive.ts';
import { createSpendWorld, vault } from '../fixtures/spend-world.ts';
import { createSpender } from './perform-spend.ts';

type World = ReturnType<typeof createSpendWorld>;

function transferBody(world: World, ...amounts: string[]) {
  return {
    token: 'USDC',
    recipients: amounts.map((amount, index) => ({
      walletPub: world.payees[index]?.walletPub ?? '',
      amount,
    })),
  };
}

function transfer(world: World, deps: Parameters<typeof createSpender>[0], key = 'one') {
  const body = transferBody(world, '250', '40');
  return createSpender(deps).spend({ operation: 'transfer', key, body });
}

describe('a transfer', () => {
  it('pays each payee, returns the change, and answers the receipt [transfer.route, receipt.fields]', async () => {
    const world = createSpendWorld();
    const { deps } = world.boot();
    const receipt = await transfer(world, deps);
    expect(receipt).toEqual({
      operation: 'transfer',
      status: 'success',
      txHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      nullifiers: [expect.stringMatching(/^0x[0-9a-f]{64}$/)],
      changeAmount: '10',
    });
    expect(world.payees.map((payee) => world.receivedBy(payee))).toEqual([250n, 40n]);
    expect(world.balance()).toBe(600n + 200n + 10n);
    expect(world.archive.all().map(({ state }) => state.kind)).toEqual(['settled']);
  });

  it('proves under the newest final note root and the current eligibility root [transfer.listed-only]', async () => {
    const world = createSpendWorld();
    await transfer(world, world.boot().deps);
    const [sent] = world.edge.posts;
    expect(sent?.spend.eligibilityRoot).toBe(fieldToHex(world.tree.root));
    expect(sent?.spend.withdrawAmount).toBe('0');
    expect(sent?.spend).not.toHaveProperty('recipient');
  });

  it('sends its manifest to nobody, and no key of the caller to the platform', async () => {
    const world = createSpendWorld();
    await transfer(world, world.boot().deps, 'pay-alice');
    const [key] = [...world.edge.rows.keys()];
    expect(key).toBe(`spend-${world.archive.all()[0]?.outRoot}`);
    expect(JSON.stringify(world.edge.posts)).not.toContain('pay-alice');
  });
});

describe('the eligibility root of a transfer', () => {
  it('is not a root that the gate made for one holder, although it is published and its paths lead to it', async () => {
    const world = createSpendWorld();
    const own = createEligibilityTree([...world.payees].reverse().map(({ walletId }) => walletId));
    const ownRoot = parseHex32(fieldToHex(own.root));
    world.chain.publishRoot(ownRoot);
    world.chain.publishRoot(parseHex32(fieldToHex(world.tree.root)));
    expect(await world.context.chain.isEligibilityRootAccepted(ownRoot)).toBe(true);
    const gate = {
      paths: async (walletIds: readonly string[]) => ({
        root: ownRoot,
        paths: walletIds.map((id) => own.path(parseField(id))),
        missing: [],
      }),
    };
    await expect(transfer(world, world.boot({ gate }).deps)).rejects.toMatchObject({
      code: 'gate_invalid_response',
    });
    expect(world.edge.posts).toEqual([]);
    expect(world.prover.proofs).toBe(0);
  });

  it('is asked for at the head before anything is proved: a revoked one costs no proof', async () => {
    const world = createSpendWorld();
    const { deps } = world.boot();
    const chain = { ...world.context.chain, isEligibilityRootAccepted: async () => false };
    const context = { ...world.context, chain };
    const changed = { ...deps, route: () => context, findChain: () => context };
    await expect(transfer(world, changed)).rejects.toMatchObject({
      code: 'eligibility_root_unknown',
    });
    expect(world.prover.proofs).toBe(0);
    expect(world.edge.posts).toEqual([]);
  });
});

describe('the eligibility of payees, read through a platform', () => {
  type Answer = { root: string; paths: { walletId: string }[]; missing: string[] };

  /** The world's gate behind `/agent-edge/eligibility-paths`. @param change - what the platform makes of its answers */
  function gateOf(world: World, change: (answer: Answer) => unknown = (answer) => answer) {
    const { gate } = world.boot().deps;
    const edge = createEdgeClient({
      url: 'http://127.0.0.1/agent-edge',
      token: new Secret('pool_live_x'),
      async fetch(_url, init) {
        const { walletIds, root } = JSON.parse(init.body as string) as {
          walletIds: string[];
          root: string;
        };
        const answer = await gate?.paths(walletIds, root);
        return Response.json(change(JSON.parse(JSON.stringify(answer)) as Answer));
      },
    });
    return createEdgeGate('anvil', edge);
  }

  it('pays as with a gate of its own', async () => {
    const world = createSpendWorld();
    await transfer(world, world.boot({ gate: gateOf(world) }).deps);
    expect(world.payees.map((payee) => world.receivedBy(payee))).toEqual([250n, 40n]);
    expect(world.edge.posts[0]?.spend.eligibilityRoot).toBe(fieldToHex(world.tree.root));
  });

  it.each<[string, (answer: Answer) => unknown, string]>([
    [
      'the path of one payee for another',
      ({ paths: [first, second], ...rest }) => ({
        ...rest,
        paths: [
          { ...first, walletId: second?.walletId },
          { ...second, walletId: first?.walletId },
        ],
      }),
      'gate_invalid_response',
    ],
    ['no path and no word of it', (answer) => ({ ...answer, paths: [] }), 'gate_invalid_response'],
    [
      'another root',
      (answer) => ({ ...answer, root: bigintToHex32(9n) }),
      'platform_invalid_response',
    ],
    [
      'that a payee is not on the list',
      ({ root, paths }) => ({ root, paths: [], missing: paths.map(({ walletId }) => walletId) }),
      'unregistered-recipient',
    ],
  ])('proves and sends nothing if the platform answers %s', async (_name, change, code) => {
    const world = createSpendWorld();
    const { deps } = world.boot({ gate: gateOf(world, change) });
    await expect(transfer(world, deps)).rejects.toMatchObject({ code });
    expect(world.prover.proofs).toBe(0);
    expect(world.edge.posts).toEqual([]);
  });
});

describe('a send', () => {
  it.each([
    ['the holder’s own wallet', undefined],
    ['a pinned destination', 'vault'],
  ])(
    'withdraws to %s with eligibility root 0, without asking the gate [send.body, send.own-wallet]',
    async (_, to) => {
      const world = createSpendWorld();
      const { deps } = world.boot({ gate: undefined, hasGate: false });
      const body = { token: 'USDC', amount: '700', ...(to === undefined ? {} : { to }) };
      const receipt = await createSpender(deps).spend({ operation: 'send', key: 'k', body });
      expect(receipt).toMatchObject({ operation: 'send', status: 'success', changeAmount: '100' });
      expect(receipt.nullifiers).toHaveLength(2);
      const [sent] = world.edge.posts;
      expect(sent?.spend).toMatchObject({
        withdrawAmount: '700',
        recipient: to === undefined ? world.holder.address : vault,
        eligibilityRoot: zeroWord,
      });
      expect(world.balance()).toBe(400n);
    },
  );
});

describe('a dry run', () => {
  it('proves everything, never asks the signer, and leaves nothing behind [spend.dry-run, command.dry-run]', async () => {
    const world = createSpendWorld();
    const { deps } = world.boot();
    const spender = createSpender(deps);
    const body = { ...transferBody(world, '250', '40'), dryRun: true };
    const receipt = await spender.spend({ operation: 'transfer', key: 'k', body });
    expect(receipt).toEqual({
      operation: 'transfer',
      status: 'dry-run',
      nullifiers: [expect.any(String)],
      changeAmount: '10',
    });
    expect(world.prover.proofs).toBe(1);
    expect(world.signer.signatures).toBe(0);
    expect(world.edge.posts).toEqual([]);
    expect(world.archive.all()).toEqual([]);
    // The key is not used up.
    const real = await spender.spend({
      operation: 'transfer',
      key: 'k',
      body: transferBody(world, '250', '40'),
    });
    expect(real.status).toBe('success');
    // The proof of the dry run has another r, because it has another manifest and a random number.
    expect(new Set(world.prover.rSigs).size).toBe(2);
  });

  it('works with a mock prover, with which nothing is spent', async () => {
    const world = createSpendWorld({ proverMode: 'mock' });
    const spender = createSpender(world.boot().deps);
    const body = transferBody(world, '250');
    const call = { operation: 'transfer', key: 'k' } as const;
    await expect(
      spender.spend({ ...call, body: { ...body, dryRun: true } }),
    ).resolves.toMatchObject({ status: 'dry-run' });
    await expect(spender.spend({ ...call, body })).rejects.toMatchObject({ code: 'prover_mock' });
    expect(world.archive.all()).toEqual([]);
  });

  it('reports a shortage like the real spend', async () => {
    const world = createSpendWorld();
    const spender = createSpender(world.boot().deps);
    const body = { ...transferBody(world, '2000'), dryRun: true };
    await expect(spender.spend({ operation: 'transfer', key: 'k', body })).rejects.toMatchObject({
      code: 'insufficient_funds',
      message: 'the notes that are free to spend hold 0.0011 USDC (1100 base units)',
      details: { spendable: '1100' },
    });
  });
});

describe('the notes of a spend', () => {
  it('are locked for every other spend, also of another process, until it is decided', async () => {
    const world = createSpendWorld({ amounts: [600n] });
    world.edge.holdBack = true;
    const first = world.boot();
    const running = transfer(world, first.deps);
    await until(() => world.edge.posts.length === 1);
    const second = world.boot();
    await expect(transfer(world, second.deps, 'two')).rejects.toMatchObject({
      code: 'insufficient_funds',
      details: { spendable: '0' },
    });
    await expect(running).rejects.toMatchObject({ code: 'settlement_expired', status: 504 });
    world.edge.holdBack = false;
    expect((await transfer(world, second.deps, 'two')).status).toBe('success');
  });

  it('are different ones for two spends at the same time', async () => {
    const world = createSpendWorld({ amounts: [300n, 300n] });
    const { deps } = world.boot();
    const spender = createSpender(deps);
    const body = transferBody(world, '100');
    const receipts = await Promise.all(
      ['a', 'b'].map((key) => spender.spend({ operation: 'transfer', key, body })),
    );
    expect(new Set(receipts.flatMap(({ nullifiers }) => nullifiers)).size).toBe(2);
    expect(world.receivedBy(world.payees[0] ?? world.holder)).toBe(200n);
  });

  it('are chosen again if another process locks them in between', async () => {
    const world = createSpendWorld({ amounts: [300n, 301n] });
    const { deps } = world.boot();
    const chosen: string[][] = [];
    const add: typeof world.archive.add = async (spend) => {
      chosen.push([...spend.inputNullifiers]);
      if (chosen.length === 1) {
        // The other process archives a spend of the same notes first.
        await world.archive.add({ ...spend, outRoot: bigintToHex32(7n) });
      }
      return world.archive.add(spend);
    };
    const receipt = await transfer(world, { ...deps, archive: { ...world.archive, add } });
    expect(chosen).toHaveLength(2);
    expect(chosen[1]).not.toEqual(chosen[0]);
    expect(receipt.nullifiers).toEqual(chosen[1]);
  });

  it('stay free if a check of the archive refuses the spend, and its reason is answered', async () => {
    const world = createSpendWorld({ amounts: [600n] });
    const { deps } = world.boot();
    const seen: number[] = [];
    const refusing = {
      ...world.archive,
      add: (spend: ArchivedSpend) =>
        world.archive.add(spend, (listRecent) => {
          seen.push(listRecent(0).length);
          throw new PoolError('equal_withdrawal', 'one is open');
        }),
    };
    await expect(transfer(world, { ...deps, archive: refusing })).rejects.toMatchObject({
      code: 'equal_withdrawal',
      message: 'one is open',
    });
    expect([seen, world.archive.all(), world.edge.posts]).toEqual([[0], [], []]);
    expect((await transfer(world, deps, 'two')).status).toBe('success');
  });

  it('are free again if the spend fails before anything left', async () => {
    const world = createSpendWorld({ amounts: [600n] });
    const { deps } = world.boot();
    world.prover.failures = 1;
    await expect(transfer(world, deps)).rejects.toMatchObject({ code: 'internal_error' });
    expect(world.archive.all().map(({ state }) => state)).toEqual([
      { kind: 'abandoned', code: 'internal_error' },
    ]);
    expect(world.edge.posts).toEqual([]);
    expect((await transfer(world, deps, 'two')).status).toBe('success');
  });

  it('under another P are not spent without its viewing key [viewing-key.previous-p]', async () => {
    const world = createSpendWorld();
    const { deps } = world.boot();
    const [other] = world.payees;
    // The largest note is sealed to an earlier P.
    const notes = {
      ...deps.notes,
      listSpendable: async () =>
        (await deps.notes.listSpendable(world.assetId)).map((note) =>
          note.amount === 600n ? { ...note, encryptionPublicKey: other.encryptionPublicKey } : note,
        ),
    };
    const spender = createSpender({ ...deps, notes });
    await expect(
      spender.spend({ operation: 'transfer', key: 'k', body: transferBody(world, '550') }),
    ).rejects.toMatchObject({ code: 'insufficient_funds', details: { spendable: '500' } });
    const body = transferBody(world, '500');
    expect((await spender.spend({ operation: 'transfer', key: 'k', body })).status).toBe('success');
  });

  it('require consolidation if one proof cannot take so many', async () => {
    const world = createSpendWorld({ amounts: Array.from({ length: 20 }, () => 10n) });
    const { deps } = world.boot();
    const body = transferBody(world, '170');
    await expect(
      createSpender(deps).spend({ operation: 'transfer', key: 'k', body }),
    ).rejects.toMatchObject({
      code: 'consolidation_required',
      message: expect.stringContaining('at most 0.00016 USDC (160 base units)'),
      details: { spendable: '200', largestSpend: '160' },
    });
  });
});

describe('the archive', () => {
  it('is written before anything leaves: if that fails, nothing is signed, asked or sent', async () => {
    const world = createSpendWorld();
    const { deps } = world.boot();
    world.archive.failWrites(1);
    await expect(transfer(world, deps)).rejects.toMatchObject({ code: 'spend_not_archived' });
    expect(world.signer.signatures).toBe(0);
    expect(world.edge.posts).toEqual([]);
  });

  it('has the signature before a proof is made', async () => {
    const world = createSpendWorld();
    const states: (string | undefined)[] = [];
    const prove: typeof world.prover.prove = async (...args) => {
      states.push(world.archive.all()[0]?.state.kind);
      return world.prover.prove(...args);
    };
    await transfer(world, world.boot({ prover: { ...world.prover, prove } }).deps);
    expect(states).toEqual(['signed']);
  });
});

describe('a signature', () => {
  it('of another wallet is refused and not stored [service.viewing-key-moves-nothing]', async () => {
    const world = createSpendWorld();
    const signSpend = async () => ({ rSig: 5n, s: 7n, parity: 0 as const });
    await expect(transfer(world, world.boot({ signer: { signSpend } }).deps)).rejects.toMatchObject(
      { code: 'signature_rejected' },
    );
    expect(world.archive.all().map(({ state }) => state.kind)).toEqual(['abandoned']);
    expect(world.prover.proofs).toBe(0);
  });

  it('that came second over the same m is discarded', async () => {
    const world = createSpendWorld();
    const { deps } = world.boot();
    const rSigs: bigint[] = [];
    const signSpend: typeof world.signer.signSpend = async (...args) => {
      // Another process signs the same manifest and stores its signature first.
      const first = await world.signer.signSpend(...args);
      const [spend] = world.archive.all();
      const signature = {
        rSig: bigintToHex32(first.rSig),
        s: bigintToHex32(first.s),
        parity: first.parity,
      };
      await changeSpendState(world.archive, spend?.outRoot ?? zeroWord, () => ({
        kind: 'signed',
        signature,
      }));
      const second = await world.signer.signSpend(...args);
      rSigs.push(first.rSig, second.rSig);
      return second;
    };
    await transfer(world, { ...deps, signer: { signSpend } });
    expect(new Set(rSigs).size).toBe(2);
    expect(world.prover.rSigs).toEqual([rSigs[0]]);
    expect(world.edge.posts.map(({ spend }) => BigInt(spend.rSig))).toEqual([rSigs[0]]);
  });
});

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
