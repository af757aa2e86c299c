// A policy that asks its people about its own changes: root alone changes nothing, at a reload or at the start.
import { sign } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readData } from '@pool/testkit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makePerson, type Run, runCommand } from '../fixtures/command-line.ts';
import { createWorldA, funderWallet, type WorldA } from '../fixtures/custodian-a.ts';
import { type ServedGate, serveTestGate } from '../fixtures/gate-home.ts';
import { policyJson } from '../fixtures/payroll.ts';

const treasurer = makePerson('Treasurer');
const head = makePerson('Head of payroll');
const newcomer = makePerson('Newcomer');
const humanRelease = { people: [treasurer.entry, head.entry], required: 1, newPayee: true };
const policyChange = { people: 2 };

let world: WorldA;
let served: ServedGate;

function policyWith(changes: object): object {
  const { initiator } = world.organisation;
  return {
    ...policyJson({ funderWallet, initiator: initiator.userId }, { humanRelease, policyChange }),
    ...changes,
  };
}

/** What root wants: somebody else releases, and nobody signs the next change. */
function taken(): object {
  return policyWith({
    humanRelease: { ...humanRelease, people: [newcomer.entry] },
    policyChange: undefined,
  });
}

beforeEach(async () => {
  world = await createWorldA({ humanRelease, policyChange });
  world.home.writePolicy(policyWith({}));
  served = await serveTestGate(world.home);
  await served.gate.examine();
});

afterEach(async () => {
  await served.close();
  await world.close();
});

async function run(...argv: readonly string[]): Promise<Run> {
  return await runCommand({ home: world.home.path }, argv);
}

async function propose(policy: object): Promise<string> {
  const file = join(world.home.path, 'next.json');
  writeFileSync(file, JSON.stringify(policy));
  const { out } = await run('policy', 'propose', file, '--json');
  return (readData(out) as { readonly sha256: string }).sha256;
}

it('refuses a file that root edited alone, at a reload and at the start', async () => {
  world.home.writePolicy(taken());
  expect(served.gate.reloadPolicy()).toBe(false);
  await served.close();
  await expect(serveTestGate(world.home)).rejects.toMatchObject({
    code: 'policy_not_signed',
    message: expect.stringMatching(/changes only by signatures of its people/) as string,
  });
  world.home.writePolicy(policyWith({}));
  served = await serveTestGate(world.home);
});

it('takes a file that two people of the policy in effect signed, and no earlier', async () => {
  const next = policyWith({ humanRelease: { ...humanRelease, required: 2 } });
  const sha256 = await propose(next);
  expect(await run('policy', 'apply', sha256)).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^policy_not_signed: 0 of 2 people/) as string,
  });
  expect((await run('policy', 'sign', sha256, '--key-file', newcomer.keyFile)).err).toMatch(
    /^invalid_release: the key is not that of a person of the policy in effect/,
  );
  await run('policy', 'sign', sha256, '--key-file', treasurer.keyFile);
  expect((await run('policy', 'sign', sha256, '--key-file', treasurer.keyFile)).out).toMatch(
    /^Signed by Treasurer; 2 needed\./,
  );
  expect((await run('policy', 'apply', sha256)).err).toMatch(/1 of 2 people/);

  const { out } = await run('policy', 'statement', sha256);
  const statement = join(world.home.path, 'statement.json');
  writeFileSync(statement, `${out}\n`);
  const key = readFileSync(head.keyFile, 'utf8');
  const signature = sign(null, readFileSync(statement), key).toString('hex');
  const given = ['--statement', statement, '--signature', signature];
  expect((await run('policy', 'sign', sha256, ...given)).code).toBe(0);
  expect((await run('policy', 'apply', sha256)).out).toMatch(
    /signed by Treasurer, Head of payroll/,
  );

  // The file that was in effect before is not any more.
  expect(served.gate.reloadPolicy()).toBe(false);
  world.home.writePolicy(next);
  expect(served.gate.reloadPolicy()).toBe(true);
  expect((await run('audit', 'list')).out).toMatch(/"event":"policy.applied"/);
  expect((await run('audit', 'verify')).code).toBe(0);
});

it('counts no signature again for a later change to the same file', async () => {
  const [first, second] = [policyWith({ name: 'second' }), policyWith({ name: 'third' })];
  const change = async (policy: object) => {
    const sha256 = await propose(policy);
    for (const { keyFile } of [treasurer, head]) {
      await run('policy', 'sign', sha256, '--key-file', keyFile);
    }
    expect((await run('policy', 'apply', sha256)).code).toBe(0);
    return sha256;
  };
  const sha256 = await change(first);
  await change(second);
  expect((await run('policy', 'apply', sha256)).err).toMatch(/^policy_not_signed: 0 of 2/);
});

it('refuses the earlier file after the people signed a policy that asks nobody', async () => {
  const earlier = policyWith({});
  const next = policyWith({ policyChange: undefined });
  const sha256 = await propose(next);
  for (const { keyFile } of [treasurer, head]) {
    await run('policy', 'sign', sha256, '--key-file', keyFile);
  }
  expect((await run('policy', 'apply', sha256)).code).toBe(0);
  expect(served.gate.reloadPolicy()).toBe(false);
  await served.close();
  await expect(serveTestGate(world.home)).rejects.toMatchObject({
    code: 'policy_not_signed',
    message: expect.stringMatching(new RegExp(`sha256 ${sha256}.*install its file`)) as string,
  });
  world.home.writePolicy(next);
  served = await serveTestGate(world.home);
  // Nobody is asked now, but the earlier file returns only on purpose.
  world.home.writePolicy(earlier);
  expect(served.gate.reloadPolicy()).toBe(false);
  expect((await run('policy', 'apply', await propose(earlier))).code).toBe(0);
  expect(served.gate.reloadPolicy()).toBe(true);
});

it('takes the file of the newest policy only, where two were signed before one was installed', async () => {
  const second = policyWith({ name: 'second' });
  const third = policyWith({ name: 'third', policyChange: undefined });
  for (const policy of [second, third]) {
    const sha256 = await propose(policy);
    for (const { keyFile } of [treasurer, head]) {
      await run('policy', 'sign', sha256, '--key-file', keyFile);
    }
    expect((await run('policy', 'apply', sha256)).code).toBe(0);
  }
  await served.close();
  for (const file of [policyWith({}), second, taken()]) {
    world.home.writePolicy(file);
    await expect(serveTestGate(world.home)).rejects.toMatchObject({
      code: 'policy_not_signed',
      message: expect.stringMatching(/install its file/) as string,
    });
  }
  world.home.writePolicy(third);
  served = await serveTestGate(world.home);
  // Nobody is asked now. What people replaced returns only on purpose all the same.
  world.home.writePolicy(policyWith({}));
  expect(served.gate.reloadPolicy()).toBe(false);
  world.home.writePolicy(taken());
  expect(served.gate.reloadPolicy()).toBe(true);
});

it('lets root edit a file that asks nobody, and remembers when one asks', async () => {
  const open = await createWorldA();
  const gate = await serveTestGate(open.home);
  try {
    const { initiator } = open.organisation;
    const base = policyJson({ funderWallet, initiator: initiator.userId });
    open.home.writePolicy({ ...base, name: 'second' });
    expect(gate.gate.reloadPolicy()).toBe(true);
    open.home.writePolicy({ ...base, humanRelease, policyChange });
    expect(gate.gate.reloadPolicy()).toBe(true);
    open.home.writePolicy(base);
    expect(gate.gate.reloadPolicy()).toBe(false);
  } finally {
    await gate.close();
    await open.close();
  }
});

it('refuses a policy that could never change', async () => {
  const file = join(world.home.path, 'next.json');
  const lonely = { ...humanRelease, people: [treasurer.entry] };
  writeFileSync(file, JSON.stringify(policyWith({ humanRelease: lonely })));
  expect((await run('policy', 'propose', file)).err).toMatch(/policyChange\.people: /);
});
