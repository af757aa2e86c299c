import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  disclosureBody,
  fundBody,
  hashBody,
  permitBody,
  rebuildSpend,
  textBody,
  voidBody,
} from '../fixtures/bodies.ts';
import {
  createWorldA,
  funderWallet,
  holderWallet,
  spareWallet,
  type WorldA,
} from '../fixtures/custodian-a.ts';
import { createRecordedLog, type ServedGate, serveTestGate } from '../fixtures/gate-home.ts';
import {
  fundFile,
  holder,
  holderP,
  otherAddress,
  policyJson,
  signInText,
  spendFile,
} from '../fixtures/payroll.ts';
import { readTypedData } from '../preimage/typed-data.ts';

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

it('approves the authorisation, the permit and the withdrawal of a stored batch [command.approve]', async () => {
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

describe('a disclosure of the holder', () => {
  /** Asks, lets the gate look. @returns what became of it */
  async function ask(body: unknown, wallet = holderWallet): Promise<string> {
    const id = await world.ask(wallet, body);
    await served.gate.poll();
    return world.statusOf(id);
  }

  /** The holder's rule with this word on disclosures. */
  async function allow(disclosures: boolean): Promise<void> {
    const names = { funderWallet, holderWallet, initiator: world.organisation.initiator.userId };
    const policy = policyJson(names);
    const holders = policy.holders.map((rule) => ({ ...rule, disclosures }));
    world.home.writePolicy({ ...policy, holders });
    expect(served.gate.reloadPolicy()).toBe(true);
    await served.gate.examine();
  }

  it('is approved where the policy allows it, with and without a challenge', async () => {
    await allow(true);
    expect(await ask(disclosureBody())).toBe('Signed');
    expect(await ask(disclosureBody({}, { challenge: 'a-verifier-of-2026' }))).toBe('Signed');
    await allow(false);
    expect(await ask(disclosureBody({}, { purpose: 'Another one' }))).toBe('Rejected');
  });

  it('is denied on another wallet, and in any other form', async () => {
    await allow(true);
    const body = disclosureBody();
    const seconds = Math.floor(Date.now() / 1000);
    const forms = {
      'of another discloser': disclosureBody({ discloser: otherAddress }),
      'of another role': disclosureBody({ role: 'auditor' }),
      'with two lines': disclosureBody({ purpose: 'one\ntwo' }),
      'without a purpose': disclosureBody({ purpose: '' }),
      'with a short challenge': disclosureBody({ challenge: 'short' }),
      'that has expired': disclosureBody({}, { issuedAt: seconds - 90, expiresAt: seconds - 1 }),
      'dated ahead': disclosureBody({}, { issuedAt: seconds + 400 }),
      'that ends before it begins': disclosureBody(
        {},
        { issuedAt: seconds + 200, expiresAt: seconds + 100 },
      ),
      "in the pool's own domain": { ...body, domain: { ...body.domain, name: 'ShieldedPool' } },
    };
    const found = await Promise.all(
      Object.entries(forms).map(async ([form, one]) => [form, await world.ask(holderWallet, one)]),
    );
    await served.gate.poll();
    expect(found.map(([form, id = '']) => [form, world.statusOf(id)])).toEqual(
      Object.keys(forms).map((form) => [form, 'Rejected']),
    );
    expect(await ask(body, funderWallet)).toBe('Rejected');
    // The simulator does not even take these.
    const unread = [{ issuedAt: '0x1' }, { document: '0x01' }, { note: 'x' }];
    expect(unread.map((changes) => readTypedData(disclosureBody(changes)).kind)).toEqual(
      unread.map(() => 'foreign'),
    );
  });
});

it('logs why a vote was refused', async () => {
  const { log, lines } = createRecordedLog();
  await served.close();
  served = await serveTestGate(world.home, { log });
  await served.gate.examine();
  const file = fundFile();
  await served.post(file);
  await world.ask(funderWallet, fundBody(file));
  const { control } = world.custodian;
  control.addFault({ method: 'POST', path: '/decisions$', kind: 'error-before', status: 403 });
  await served.gate.poll();
  expect(lines).toContainEqual(
    expect.objectContaining({
      error: 'custodian_refused',
      reason: expect.stringMatching(/did not accept the vote: HTTP 403/) as string,
    }),
  );
});

it('denies nothing that the audit log does not have', async () => {
  const { ledger } = served.gate;
  const { writeAudit } = ledger;
  const id = await world.ask(spareWallet, textBody('a text of a wallet that is not listed'));
  let failures = 2;
  Object.assign(ledger, {
    writeAudit: (...entry: Parameters<typeof writeAudit>) => {
      if (entry[0] === 'denied-foreign' && failures > 0) {
        failures -= 1;
        throw new Error('database or disk is full');
      }
      writeAudit(...entry);
    },
  });
  const isWritten = () => ledger.listAudit(0, -1).some(({ event }) => event === 'denied-foreign');
  for (const _ of [1, 2]) {
    await served.gate.poll();
    expect([world.statusOf(id), isWritten()]).toEqual(['Pending', false]);
  }
  await served.gate.poll();
  expect([world.statusOf(id), isWritten()]).toEqual(['Rejected', true]);
});

it('approves a sign-in of a holder in a policy that names no pool', async () => {
  const names = { funderWallet, holderWallet, initiator: world.organisation.initiator.userId };
  const policy = policyJson(names);
  const holders = policy.holders.map(({ spend: _, ...rule }) => rule);
  world.home.writePolicy({ ...policy, pools: [], funders: [], holders });
  expect(served.gate.reloadPolicy()).toBe(true);
  await served.gate.examine();
  const text = signInText(holder, { encryptionPublicKey: holderP });
  const id = await world.ask(holderWallet, textBody(text));
  served.chain.headTimestamp = Math.floor(Date.now() / 1000) - 600;
  await served.gate.poll();
  expect(world.statusOf(id)).toBe('Pending');
  served.chain.headTimestamp = undefined;
  await served.gate.poll();
  expect(world.statusOf(id)).toBe('Signed');
});
