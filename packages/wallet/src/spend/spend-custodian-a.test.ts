// The adapter of custodian A beside its simulator, over real HTTP: a vote that comes late, another signature at each read, and a process that dies
// at every point. The simulator shares no code with the adapter.

import { parseWalletPub, Secret } from '@pool/core';
import { createMemoryStore } from '@pool/idempotency';
import { createCustodianAClient, createCustodianAHolder } from '@pool/signers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createSampleOrganisation,
  type ServedCustodianA,
  sampleOrigin,
  serveCustodianA,
} from '../../../../tooling/custodians/custodian-a/index.ts';
import { spendFaultPoints } from '../archive/spend-state.ts';
import { createSpendWorld } from '../fixtures/spend-world.ts';
import { createSpender } from './perform-spend.ts';
import type { SpendDeps } from './spend-deps.ts';

const walletId = 'wa-holder';
/** Pauses before somebody votes. */
const pausesBeforeVote = 3;
// Every world has the same holder.
const { privateKey } = createSpendWorld().holder.wallet;
const organisation = createSampleOrganisation({ [walletId]: privateKey });
const { initiator, approver } = organisation;
let custodian: ServedCustodianA;

beforeAll(async () => {
  custodian = await serveCustodianA({
    ...organisation.config,
    settings: { resignOnRead: true },
  });
});
beforeEach(() => custodian.control.reset());
afterAll(() => custodian.close());

/** A world whose holder is a wallet at the custodian. Nobody votes before the third pause. */
function createCustodyWorld() {
  const world = createSpendWorld();
  const account = {
    url: custodian.url,
    origin: sampleOrigin,
    token: new Secret(initiator.token),
    credentialId: initiator.credentialId,
    serviceKey: new Secret(initiator.privateKey),
  };
  const people = { pauses: 0, mayVote: true };
  async function sleep(milliseconds: number, signal = new AbortController().signal) {
    people.pauses += 1;
    await world.clock.sleep(milliseconds, signal);
    if (people.mayVote && people.pauses >= pausesBeforeVote) {
      vote();
    }
  }
  const boot = (changes: Parameters<typeof world.boot>[0] = {}) =>
    world.boot({
      signer: createCustodianAHolder({
        ...account,
        walletId,
        walletPub: parseWalletPub(world.holder.walletPub),
        funder: undefined,
        pollMs: 2_000,
        sleep,
      }),
      deadlineSeconds: 900 + 3_600,
      ...changes,
    });
  return { ...world, people, boot, client: createCustodianAClient(account) };
}

type World = ReturnType<typeof createCustodyWorld>;

function vote(): void {
  for (const { id, status } of custodian.control.state.approvals) {
    if (status === 'Pending') {
      custodian.control.vote(id, approver.userId, 'Approved');
    }
  }
}

function spendOf(deps: SpendDeps, world: World) {
  const [payee] = world.payees;
  return createSpender(deps).spend({
    operation: 'transfer',
    key: 'k',
    body: { token: 'USDC', recipients: [{ walletPub: payee.walletPub, amount: '250' }] },
  });
}

/** Two more reads of the request. @returns both values of r, as the custodian shows them */
async function readAgain(world: World): Promise<readonly bigint[]> {
  const [request] = custodian.control.state.signatures;
  const path = `/wallets/${walletId}/signatures/${request?.id}`;
  const answers = [await world.client.get(path), await world.client.get(path)];
  return answers.map(({ body }) => {
    const { signature } = body as { readonly signature: { readonly r: string } };
    return BigInt(`0x${signature.r.replace(/^0x/, '')}`);
  });
}

async function expectOneSignatureLeft(world: World): Promise<void> {
  expect(world.chain.landed).toHaveLength(1);
  const creates = custodian.control.requests({ method: 'POST', path: '/signatures$' });
  expect(creates).toHaveLength(1);
  const left = new Set(world.edge.posts.map(({ spend }) => BigInt(spend.rSig)));
  const proved = new Set(world.prover.rSigs);
  // The custodian made others over the same m.
  const others = await readAgain(world);
  expect(new Set([...left, ...others]).size).toBe(3);
  expect([left.size, [...proved]]).toEqual([1, [...left]]);
}

describe('A spend through the adapter of custodian A, whose every read shows another signature', () => {
  it.each(spendFaultPoints)('and a crash at %s lets one rSig out', async (point) => {
    const world = createCustodyWorld();
    const store = createMemoryStore();
    const { deps } = world.boot({
      store,
      crashAt(reached) {
        if (reached === point) throw new Error('crash');
      },
    });
    await expect(spendOf(deps, world)).rejects.toThrow(`stopped at ${point}`);
    const receipt = await spendOf(world.boot({ store }).deps, world);
    expect(receipt.status).toBe('success');
    expect(world.people.pauses).toBeGreaterThanOrEqual(pausesBeforeVote);
    await expectOneSignatureLeft(world);
  });

  it('and a vote that comes while no process runs lets one rSig out', async () => {
    const world = createCustodyWorld();
    const store = createMemoryStore();
    world.people.mayVote = false;
    const first = world.boot({ store });
    const sleep = world.clock.sleep;
    world.clock.sleep = async (...args) => {
      await sleep(...args);
      if (world.people.pauses >= 2) {
        first.stop();
      }
    };
    await expect(spendOf(first.deps, world)).rejects.toMatchObject({ code: 'stopping' });
    expect(world.edge.posts).toEqual([]);
    vote();
    world.clock.sleep = sleep;
    const receipt = await spendOf(world.boot({ store }).deps, world);
    expect(receipt.status).toBe('success');
    await expectOneSignatureLeft(world);
  });
});
