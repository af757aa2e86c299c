// A taken-over agent of a holder at custodian A asks for transfers inside the pool. Over HTTP, to the gate and to the simulator.
import type { SpendFile } from '@pool/core';
import { computeEncryptionPublicKey } from '@pool/notes';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hashBody, rebuildSpend } from './fixtures/bodies.ts';
import { createWorldA, funderWallet, holderWallet, type WorldA } from './fixtures/custodian-a.ts';
import { type ServedGate, serveTestGate } from './fixtures/gate-home.ts';
import { person, policyJson, recipient, signEvidence, spendFile } from './fixtures/payroll.ts';

const attackerP = computeEncryptionPublicKey(666n);

let world: WorldA;
let served: ServedGate;

beforeEach(async () => {
  world = await createWorldA();
  const { initiator } = world.organisation;
  const names = { funderWallet, holderWallet, initiator: initiator.userId };
  const policy = policyJson(names);
  // The holder may pay person 1.
  const holders = policy.holders.map(({ spend, ...holder }) => ({
    ...holder,
    spend: { ...spend, transferTo: [person(1).walletPub] },
  }));
  world.home.writePolicy({ ...policy, holders });
  served = await serveTestGate(world.home);
  await served.gate.examine();
  expect(served.gate.health().problems).toEqual([]);
});

afterEach(async () => {
  await served.close();
  await world.close();
});

type Output = SpendFile['manifest']['outputs'][number];

function payee(index: number, amount: string): Output {
  const { address: _, ...output } = recipient(index, amount);
  return output;
}

function transfer(output: Output): SpendFile {
  const { recipient: _, ...manifest } = spendFile().manifest;
  return spendFile({ ...manifest, recipient: undefined, outputs: [output], withdrawAmount: '0' });
}

/** @returns what became of the request, and the gate's reason */
async function ask(file: SpendFile): Promise<readonly [string, string]> {
  expect(await served.post(file)).toMatchObject({ status: 200 });
  const id = await world.ask(holderWallet, hashBody(rebuildSpend(file).digest));
  await served.gate.poll();
  return [world.statusOf(id), world.reasonOf(id)];
}

it('gets a transfer to a payee of the list, and none to another one or above the limit', async () => {
  expect(await ask(transfer(payee(1, '300')))).toEqual(['Signed', 'approved']);
  const refusals = [await ask(transfer(payee(2, '1'))), await ask(transfer(payee(1, '701')))];
  expect(refusals).toEqual([
    ['Rejected', expect.stringMatching(/does not list a wallet/) as string],
    ['Rejected', expect.stringMatching(/more than the policy allows/) as string],
  ]);
});

it("gets no transfer to the right W with the attacker's P", async () => {
  const stolen = { ...payee(1, '300'), encryptionPublicKey: attackerP };
  const signed = { ...stolen, evidence: signEvidence(person(9), attackerP) };
  for (const output of [stolen, signed]) {
    expect(await served.post(transfer(output))).toMatchObject({
      status: 422,
      body: { message: expect.stringMatching(/evidence-invalid/) as string },
    });
  }
});
