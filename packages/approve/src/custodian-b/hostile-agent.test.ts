// Whoever has taken over the agent has its manifests and its user at custodian B. Each attempt goes over HTTP: to the gate, to the
// simulator of the custodian, and back through its co-signer. Nothing is signed. The same list at custodian A: ../hostile-agent.test.ts.
import type { FundFile } from '@pool/core';
import { computeEncryptionPublicKey } from '@pool/notes';
import { encodeApproveCall } from '@pool/policy';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fundBody, permitBody, voidBody } from '../fixtures/bodies.ts';
import { contractCall, createWorldB, typedMessage, type WorldB } from '../fixtures/custodian-b.ts';
import { type ServedGate, serveTestGate } from '../fixtures/gate-home.ts';
import {
  employerId,
  fundFile,
  otherAddress,
  person,
  pool,
  recipient,
  signEvidence,
  token,
} from '../fixtures/payroll.ts';

const attackerP = computeEncryptionPublicKey(666n);
const otherWord = `0x${'07'.repeat(32)}`;

let world: WorldB;
let served: ServedGate;

beforeAll(async () => {
  // A co-signer that asks again asks at once.
  world = await createWorldB({ timeScale: 1e9 });
  served = await serveTestGate(world.home, { port: world.port });
  await served.gate.examine();
  expect(served.gate.health().problems).toEqual([]);
});

afterAll(async () => {
  await served.close();
  await world.close();
});

/** @returns the end of the transaction; its answers are in the custodian's records */
async function endOf(transaction: object): Promise<readonly [string, readonly string[]]> {
  const id = await world.create(transaction);
  await expect
    .poll(() => world.statusOf(id), { interval: 2 })
    .toMatch(/COMPLETED|REJECTED|FAILED|CANCELLED/);
  return [world.statusOf(id), [...new Set(world.answersOf(id))]];
}

const rejected = ['REJECTED', ['REJECT']];
/** Asked again until the provider gives up: no manifest came. */
const unsigned = ['FAILED', ['RETRY']];

const refused: readonly (readonly [string, () => FundFile])[] = [
  ['in another pool', () => fundFile({ pool: otherAddress })],
  ['on another chain', () => fundFile({ chainId: 1 })],
  ['of another token', () => fundFile({ token: otherAddress })],
  ['of another funder', () => fundFile({ funder: otherAddress })],
  ['of another employer', () => fundFile({ employerId: employerId.replace('5', '6') })],
  [
    "with the right W and the attacker's P",
    () => fundFile({ recipients: [{ ...recipient(1, '100'), encryptionPublicKey: attackerP }] }),
  ],
  [
    "with the right W and evidence that the attacker's wallet signed",
    () => {
      const evidence = signEvidence(person(9), attackerP);
      const stolen = { ...recipient(1, '100'), encryptionPublicKey: attackerP, evidence };
      return fundFile({ recipients: [stolen] });
    },
  ],
];

const denied: readonly (readonly [string, () => FundFile])[] = [
  [
    'with a total above the batch limit',
    () => fundFile({ recipients: [1, 2, 3].map((index) => recipient(index, '400')) }),
  ],
  [
    'with an amount above the limit of one recipient',
    () => fundFile({ recipients: [recipient(1, '501')] }),
  ],
  [
    'with a recipient off the list',
    () => fundFile({ recipients: [recipient(1, '100'), recipient(9, '100')] }),
  ],
];

describe('a batch of a taken-over agent is refused at custodian B', () => {
  it.each(refused)('%s', async (_what, makeFile) => {
    const file = makeFile();
    expect(await served.post(file)).toMatchObject({ body: { code: 'manifest_refused' } });
    expect([rejected, unsigned]).toContainEqual(await endOf(typedMessage(fundBody(file))));
  });

  it.each(denied)('%s', async (_what, makeFile) => {
    const file = makeFile();
    expect(await served.post(file)).toMatchObject({ status: 200 });
    expect(await endOf(typedMessage(fundBody(file)))).toEqual(rejected);
  });

  it.each([
    ['other commitments', { batchRoot: otherWord }],
    ['other sealed notes', { sealedNotesHash: otherWord }],
    ['another total', { total: '301' }],
    ['another token', { token: otherAddress }],
    ['another funder', { funder: otherAddress }],
  ])('with %s than its manifest has', async (_what, changes) => {
    const file = fundFile();
    expect(await served.post(file)).toMatchObject({ status: 200 });
    expect(await endOf(typedMessage(fundBody(file, changes)))).toEqual(rejected);
  });

  it('without a manifest', async () => {
    expect(await endOf(typedMessage(fundBody(fundFile())))).toEqual(unsigned);
    expect(await endOf(typedMessage(voidBody(fundFile())))).toEqual(unsigned);
  });
});

describe('an allowance of a taken-over agent is refused at custodian B', () => {
  it('as a permit for another spender, or of another value', async () => {
    const file = fundFile();
    await served.post(file);
    const ends = [
      await endOf(typedMessage(permitBody(file, { spender: otherAddress }))),
      await endOf(typedMessage(permitBody(file, { value: 301n }))),
    ];
    expect(ends).toEqual([rejected, unsigned]);
  });

  it('as an approval without a manifest of that total', async () => {
    const call = contractCall(token, encodeApproveCall(pool, 2n ** 255n));
    const [status, answers] = await endOf(call);
    expect(status).toMatch(/REJECTED|FAILED/);
    expect(answers).not.toContain('APPROVE');
  });
});

it('any other document of a taken-over agent is refused at custodian B', async () => {
  const body = fundBody(fundFile());
  const order = { ...body, types: { Order: [{ name: 'amount', type: 'uint256' }] } };
  expect(await endOf(typedMessage({ ...order, message: { amount: '1' } }))).toEqual(rejected);
});

it('an approved authorisation is not approved with another content, nor above the limit of a day', async () => {
  const recipients = [recipient(1, '400'), recipient(2, '300')];
  const files = [1, 2, 3].map(() => fundFile({ recipients }));
  const ends: unknown[] = [];
  for (const file of files) {
    await served.post(file);
    ends.push(await endOf(typedMessage(fundBody(file))));
  }
  const approved = ['COMPLETED', ['APPROVE']];
  expect(ends).toEqual([approved, approved, rejected]);
  const [first] = files;
  const other = { ...first, manifest: { ...first?.manifest, recipients: [recipient(3, '300')] } };
  expect(await served.post(other)).toMatchObject({ status: 409 });
  expect(await endOf(typedMessage(fundBody(other as FundFile)))).toEqual(rejected);
  const { control } = world.custodian;
  const signed = control.transactions().filter(({ status }) => status === 'COMPLETED');
  expect(signed).toHaveLength(2);
  expect(control.violations()).toEqual([]);
});
