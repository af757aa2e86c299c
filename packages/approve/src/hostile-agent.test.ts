// Whoever has taken over the agent has its configuration, its tokens and its manifests: it posts any manifest to the gate, and asks the
// custodian for any signature. Each attempt goes over HTTP, to the gate and to the simulator of custodian A, and nothing is signed.
import { type FundFile, parseEncryptionPublicKey, parseHex32, type SpendFile } from '@pool/core';
import {
  buildFundBatch,
  computeBatchRoot,
  computeCommitment,
  computeEncryptionPublicKey,
} from '@pool/notes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  approvalBody,
  fundBody,
  hashBody,
  permitBody,
  rebuildFund,
  rebuildSpend,
  textBody,
} from './fixtures/bodies.ts';
import { createWorldA, funderWallet, holderWallet, type WorldA } from './fixtures/custodian-a.ts';
import { type ServedGate, serveTestGate } from './fixtures/gate-home.ts';
import {
  employerId,
  funder,
  fundFile,
  holder,
  holderP,
  otherAddress,
  person,
  pool,
  recipient,
  signEvidence,
  signInText,
  spendFile,
  token,
} from './fixtures/payroll.ts';

const attackerP = computeEncryptionPublicKey(666n);
const otherWord = `0x${'07'.repeat(32)}`;

let world: WorldA;
let served: ServedGate;

beforeAll(async () => {
  world = await createWorldA();
  served = await serveTestGate(world.home);
  await served.gate.examine();
  expect(served.gate.health().problems).toEqual([]);
});

afterAll(async () => {
  await served.close();
  await world.close();
});

/** Asks, lets the gate look, and expects a denial. @returns the gate's reason, as the custodian stores it */
async function expectDenied(wallet: string, body: unknown): Promise<string> {
  const id = await world.ask(wallet, body);
  await served.gate.poll();
  expect({ votes: world.votesOf(id), status: world.statusOf(id) }).toEqual({
    votes: ['Denied'],
    status: 'Rejected',
  });
  return world.reasonOf(id);
}

/** Asks, and expects no vote: no manifest is there yet. The request ends unsigned when its time is over. */
async function expectUnsigned(wallet: string, body: unknown): Promise<void> {
  const id = await world.ask(wallet, body);
  await served.gate.poll();
  await served.gate.poll();
  expect({ votes: world.votesOf(id), status: world.statusOf(id) }).toEqual({
    votes: [],
    status: 'Pending',
  });
  world.expire(id);
  await served.gate.poll();
  expect(world.statusOf(id)).toBe('Rejected');
}

/** The gate takes the manifest, and denies what belongs to it. */
async function expectBatchDenied(file: FundFile, reason: RegExp): Promise<void> {
  expect(await served.post(file)).toMatchObject({ status: 200 });
  expect(await expectDenied(funderWallet, fundBody(file))).toMatch(reason);
}

/** The gate does not even take the manifest, and approves nothing that belongs to it. */
async function expectBatchRefused(file: FundFile, reason: RegExp): Promise<void> {
  expect(await served.post(file)).toMatchObject({
    status: 422,
    body: { code: 'manifest_refused', message: expect.stringMatching(reason) as string },
  });
  const id = await world.ask(funderWallet, fundBody(file));
  await served.gate.poll();
  expect(world.votesOf(id)).not.toContain('Approved');
  expect(world.statusOf(id)).not.toBe('Signed');
  world.expire(id);
}

describe('a batch of a taken-over agent is refused', () => {
  it('in another pool [signer.second-process]', () =>
    expectBatchRefused(fundFile({ pool: otherAddress }), /token-not-listed/));

  it('on another chain', () => expectBatchRefused(fundFile({ chainId: 1 }), /token-not-listed/));

  it('of another token', () =>
    expectBatchRefused(fundFile({ token: otherAddress }), /token-not-listed/));

  it('of another funder', () =>
    expectBatchRefused(fundFile({ funder: otherAddress }), /funder-not-listed/));

  it('of another employer', () =>
    expectBatchRefused(
      fundFile({ employerId: employerId.replace('5', '6') }),
      /employer-not-listed/,
    ));

  it('with a total above the batch limit [signer.second-process]', () =>
    expectBatchDenied(
      fundFile({ recipients: [recipient(1, '400'), recipient(2, '400'), recipient(3, '400')] }),
      /total of the batch is larger/,
    ));

  it('with an amount above the limit of one recipient', () =>
    expectBatchDenied(fundFile({ recipients: [recipient(1, '501')] }), /would get more/));

  it('with a recipient off the list', () =>
    expectBatchDenied(
      fundFile({ recipients: [recipient(1, '100'), recipient(9, '100')] }),
      /does not list a recipient/,
    ));

  it("with the right W and the attacker's P [signer.second-process]", async () => {
    const stolen = { ...recipient(1, '100'), encryptionPublicKey: attackerP };
    await expectBatchRefused(fundFile({ recipients: [stolen] }), /evidence-invalid/);
  });

  it("with the right W and evidence that the attacker's wallet signed", async () => {
    const evidence = signEvidence(person(9), attackerP);
    const stolen = { ...recipient(1, '100'), encryptionPublicKey: attackerP, evidence };
    await expectBatchRefused(fundFile({ recipients: [stolen] }), /evidence-invalid/);
  });
});

describe('a request that its manifest does not reproduce is refused', () => {
  async function expectMismatch(posted: FundFile, body: unknown): Promise<void> {
    expect(await served.post(posted)).toMatchObject({ status: 200 });
    expect(await expectDenied(funderWallet, body)).toMatch(/does not follow from/);
  }

  it('with other commitments [signer.second-process]', async () => {
    const file = fundFile();
    await expectMismatch(file, fundBody(file, { batchRoot: otherWord }));
  });

  it('with another seed', async () => {
    const file = fundFile();
    const other = { ...file, seed: parseHex32(otherWord) };
    await expectMismatch(file, fundBody(other));
  });

  it('with other sealed notes', async () => {
    const file = fundFile();
    await expectMismatch(file, fundBody(file, { sealedNotesHash: otherWord }));
  });

  it('with another memo', async () => {
    const file = fundFile();
    const [first, ...rest] = file.manifest.recipients;
    const recipients = [{ ...(first as (typeof rest)[number]), memo: 'changed' }, ...rest];
    await expectMismatch(file, fundBody({ ...file, manifest: { ...file.manifest, recipients } }));
  });

  it('with a dummy that has a value [signer.second-process]', async () => {
    const file = fundFile();
    const plan = buildFundBatch(file.manifest, Buffer.from(file.seed.slice(2), 'hex'));
    const dummy = plan.slots.findIndex(({ amount }) => amount === 0n);
    const slot = plan.slots[dummy];
    const commitments = plan.commitments.map((commitment, index) =>
      index === dummy && slot !== undefined
        ? computeCommitment({ ...slot, assetId: plan.assetId, amount: 50n })
        : commitment,
    );
    const batchRoot = `0x${computeBatchRoot(commitments).toString(16).padStart(64, '0')}`;
    await expectMismatch(file, fundBody(file, { batchRoot }));
  });

  it('with another total', async () => {
    const file = fundFile();
    await expectMismatch(file, fundBody(file, { total: '301' }));
  });

  it('with another deadline', async () => {
    const file = fundFile();
    await expectMismatch(file, fundBody(file, { deadline: String(file.deadline + 1) }));
  });

  it('with a manifest that is not there', () => expectUnsigned(funderWallet, fundBody(fundFile())));
});

describe('an authorisation that was approved', () => {
  it('is not approved with another content, and no second manifest replaces its first', async () => {
    const file = fundFile();
    await served.post(file);
    const first = await world.ask(funderWallet, fundBody(file));
    await served.gate.poll();
    expect(world.statusOf(first)).toBe('Signed');

    await expectDenied(funderWallet, fundBody(file, { batchRoot: otherWord }));
    const second = { ...file, manifest: { ...file.manifest, recipients: [recipient(3, '300')] } };
    expect(await served.post(second)).toMatchObject({
      status: 409,
      body: { code: 'manifest_conflict' },
    });
    expect(await served.post({ ...file, seed: otherWord })).toMatchObject({ status: 409 });
    await expectDenied(funderWallet, fundBody(second));
  });
});

describe('an allowance of a taken-over agent is refused', () => {
  const file = fundFile();

  beforeAll(async () => {
    expect(await served.post(file)).toMatchObject({ status: 200 });
  });

  it('as a permit for another spender', () =>
    expectDenied(funderWallet, permitBody(file, { spender: otherAddress })));

  it('as a permit of another value', () =>
    expectUnsigned(funderWallet, permitBody(file, { value: 301n })));

  it('as an approval of another spender', () =>
    expectDenied(funderWallet, approvalBody(otherAddress, 300n)));

  it('as an approval of another value', () =>
    expectUnsigned(funderWallet, approvalBody(pool, 2n ** 255n)));

  it('as an approval that carries coins', () =>
    expectDenied(funderWallet, approvalBody(pool, 300n, { value: 1 })));

  it('as a transfer of the token', () =>
    expectDenied(
      funderWallet,
      approvalBody(pool, 300n, {
        data: `0xa9059cbb${otherAddress.slice(2).toLowerCase().padStart(64, '0')}${'01'.padStart(64, '0')}`,
      }),
    ));

  it('as a transaction to another contract', () =>
    expectDenied(funderWallet, approvalBody(pool, 300n, { to: otherAddress })));
});

describe('a sign-in of a taken-over agent is refused', () => {
  it('for another domain', () =>
    expectDenied(holderWallet, textBody(signInText(holder, { domain: 'evil.example' }))));

  it('for another URI', () =>
    expectDenied(holderWallet, textBody(signInText(holder, { uri: 'https://evil.example' }))));

  it('that lists another P', () =>
    expectDenied(holderWallet, textBody(signInText(holder, { encryptionPublicKey: attackerP }))));

  it('that was dated an hour ago', () =>
    expectDenied(
      holderWallet,
      textBody(
        signInText(holder, {
          issuedAtMs: Date.now() - 3_600_000,
          expirationTimeMs: Date.now() + 60_000,
        }),
      ),
    ));

  it('that is valid for a day', () =>
    expectDenied(
      holderWallet,
      textBody(
        signInText(holder, {
          encryptionPublicKey: holderP,
          expirationTimeMs: Date.now() + 86_400_000,
        }),
      ),
    ));

  it('that is another text', () => expectDenied(holderWallet, textBody('I agree to anything.')));

  it("of the funder's wallet", () => expectDenied(funderWallet, textBody(signInText(funder))));
});

describe('a spend of a taken-over agent is refused', () => {
  async function expectSpendDenied(file: SpendFile, reason: RegExp): Promise<void> {
    expect(await served.post(file)).toMatchObject({ status: 200 });
    expect(await expectDenied(holderWallet, hashBody(rebuildSpend(file).digest))).toMatch(reason);
  }

  it("with change that is not the holder's", () =>
    expectSpendDenied(spendFile({ changeEncryptionPublicKey: attackerP }), /change/));

  it('to another address', () =>
    expectSpendDenied(spendFile({ recipient: otherAddress }), /address that the withdrawal/));

  it('above the limit of one call', () =>
    expectSpendDenied(spendFile({ withdrawAmount: '701' }), /more than the policy allows/));

  it('with a digest that no manifest has', async () => {
    const message = await expectDenied(holderWallet, hashBody(otherWord));
    expect(message).toMatch(/posted no manifest/);
  });

  it("as the digest of a batch, on the holder's wallet", async () => {
    const file = fundFile();
    await served.post(file);
    await expectDenied(holderWallet, hashBody(rebuildFund(file).fundDigest));
  });

  it("on the funder's wallet", async () => {
    const file = spendFile();
    await served.post(file);
    await expectDenied(funderWallet, hashBody(rebuildSpend(file).digest));
  });

  it('a second time, because two signatures of one digest show the wallet', async () => {
    const file = spendFile();
    await served.post(file);
    const body = hashBody(rebuildSpend(file).digest);
    const first = await world.ask(holderWallet, body);
    await served.gate.poll();
    expect(world.statusOf(first)).toBe('Signed');
    expect(await expectDenied(holderWallet, body)).toMatch(/signed once/);
  });
});

describe('typed data of a taken-over agent is refused', () => {
  const file = fundFile();

  beforeAll(async () => {
    expect(await served.post(file)).toMatchObject({ status: 200 });
  });

  it('with a field that nobody knows', async () => {
    const body = fundBody(file);
    const types = {
      FundAuthorization: [
        ...(body.types['FundAuthorization'] ?? []),
        { name: 'extra', type: 'uint256' },
      ],
    };
    const message = { ...body.message, extra: '1' };
    expect(await expectDenied(funderWallet, { ...body, types, message })).toMatch(/types/);
  });

  it('of a document that nobody knows', async () => {
    const body = {
      kind: 'Eip712',
      types: { Order: [{ name: 'amount', type: 'uint256' }] },
      domain: fundBody(file).domain,
      message: { amount: '1' },
    };
    expect(await expectDenied(funderWallet, body)).toMatch(/types/);
  });

  it("on the holder's wallet", () => expectDenied(holderWallet, fundBody(file)));
});

describe('a request that is not for a signature is refused', () => {
  it.each(['Policies:Modify', 'Permissions:Assign', 'Permissions:Modify'] as const)(
    'a change of the kind %s',
    async (kind) => {
      const { initiator, approver } = world.organisation;
      const { id } = world.custodian.control.addApproval(initiator.userId, {
        kind,
        changeRequest: { id: 'cr-1', operationKind: 'Update' },
      });
      await served.gate.poll();
      const { decisions } = world.custodian.control.state.approvals.find(
        (approval) => approval.id === id,
      ) ?? { decisions: [] };
      const own = decisions.filter(({ userId }) => userId === approver.userId);
      expect(own.map(({ value }) => value)).not.toContain('Approved');
    },
  );
});

it('posts nothing to the gate without its token', async () => {
  expect(await served.post(fundFile(), 'another-token-of-20-characters')).toMatchObject({
    status: 401,
  });
});

it('has nothing approved but what the tests say', () => {
  const { approver } = world.organisation;
  const approved = world.custodian.control.state.approvals.filter(({ decisions }) =>
    decisions.some(({ userId, value }) => userId === approver.userId && value === 'Approved'),
  );
  expect(approved).toHaveLength(2);
  expect(parseEncryptionPublicKey(attackerP)).toBe(attackerP);
  expect(token).not.toBe(otherAddress);
});
