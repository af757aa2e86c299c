import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  fundBody,
  hashBody,
  permitBody,
  rebuildSpend,
  textBody,
  voidBody,
} from '../fixtures/bodies.ts';
import { createWorldA, funderWallet, holderWallet, type WorldA } from '../fixtures/custodian-a.ts';
import { type ServedGate, serveTestGate } from '../fixtures/gate-home.ts';
import { fundFile, holder, holderP, signInText, spendFile } from '../fixtures/payroll.ts';

let world: WorldA;
let served: ServedGate;

beforeEach(async () => {
  world = await createWorldA();
  served = await serveTestGate(world.home);
  await served.gate.examine();
});

afterEach(async () => {
  await served.close();
  await world.close();
});

it('passes every check of the doctor beside the sample organisation', async () => {
  expect(served.gate.health().problems).toEqual([]);
});

it('approves the authorisation, the permit and the withdrawal of a stored batch', async () => {
  const file = fundFile();
  expect(await served.post(file)).toMatchObject({ status: 200, body: { state: 'pending' } });
  const ids = [
    await world.ask(funderWallet, fundBody(file)),
    await world.ask(funderWallet, permitBody(file)),
    await world.ask(funderWallet, voidBody(file)),
  ];
  await served.gate.poll();
  expect(ids.map((id) => world.statusOf(id))).toEqual(['Signed', 'Signed', 'Signed']);
  expect(await served.post(file)).toMatchObject({ status: 200, body: { state: 'approved' } });
});

it('approves a sign-in text of the holder and a spend whose manifest is stored', async () => {
  const file = spendFile();
  expect(await served.post(file)).toMatchObject({ status: 200 });
  const spend = await world.ask(holderWallet, hashBody(rebuildSpend(file).digest));
  const login = await world.ask(
    holderWallet,
    textBody(signInText(holder, { encryptionPublicKey: holderP })),
  );
  await served.gate.poll();
  expect([world.statusOf(spend), world.statusOf(login)]).toEqual(['Signed', 'Signed']);
});
