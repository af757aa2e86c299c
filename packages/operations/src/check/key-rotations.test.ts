// A recipient whose encryption key changed since its last payment: the operator is warned, and the recipient is paid.
import { createFakeHolder, signFakeEvidence } from '@pool/testkit';
import { expect, it } from 'vitest';
import { createWorld } from '../fixtures/fake-world.ts';
import { validateDisbursement } from './validate-disbursement.ts';

async function settle() {
  const world = await createWorld();
  world.chain.allowance = 1_000_000n;
  const validate = () =>
    validateDisbursement(world.createRequest(), {
      checks: world.checks,
      funder: world.funder.address,
      findOutages: async () => [],
    });
  const job = await world.accept('run-1');
  await world.run(job);
  expect(job.state()).toBe('done');
  return { world, validate };
}

it('warns of a key that changed since the last payment, until the new key is paid', async () => {
  const { world, validate } = await settle();
  const [, second] = world.holders;
  if (second === undefined) {
    throw new Error('no second holder');
  }
  expect((await validate()).preflight).toBeUndefined();

  const { encryptionPublicKey } = createFakeHolder(77);
  const issuedAtMs = Date.UTC(2026, 10, 15);
  world.platform.enroll(second, {
    encryptionPublicKey,
    evidence: { ...signFakeEvidence(second.wallet, { encryptionPublicKey, issuedAtMs }) },
  });
  for (const _again of [1, 2]) {
    const report = await validate();
    expect(report).toMatchObject({
      ok: true,
      issues: [],
      preflight: [{ code: 'recipient_key_rotated', severity: 'warning' }],
    });
    expect(report.preflight?.[0]?.message).toMatch(/^recipients\[1\]: .* on 2026-11-15/);
    // The position identifies the recipient for the payer. A report may be logged, so it has no address.
    expect(report.preflight?.[0]?.message).not.toContain(second.address);
  }

  const job = await world.accept('run-2');
  await world.run(job);
  expect(job.state()).toBe('done');
  expect((await validate()).preflight).toBeUndefined();
});

it('does not warn of new evidence for the same key, or of a payee without an earlier payment', async () => {
  const { world, validate } = await settle();
  const [first] = world.holders;
  if (first === undefined) {
    throw new Error('no holder');
  }
  const { encryptionPublicKey } = first;
  const issuedAtMs = Date.UTC(2026, 10, 15);
  world.platform.enroll(first, {
    evidence: { ...signFakeEvidence(first.wallet, { encryptionPublicKey, issuedAtMs }) },
  });
  expect((await validate()).preflight).toBeUndefined();
});

it('ends a paid job although the keys cannot be recorded', async () => {
  const world = await createWorld();
  world.chain.allowance = 1_000_000n;
  const job = await world.accept('run-1');
  const paidKeys = {
    ...world.paidKeys,
    record: async () => {
      throw new Error('disk full');
    },
  };
  const events = await world.run(job, undefined, { paidKeys });
  expect(job.state()).toBe('done');
  expect(events).toContainEqual(expect.objectContaining({ code: 'paid_keys_not_recorded' }));
});
