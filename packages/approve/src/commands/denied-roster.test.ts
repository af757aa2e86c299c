// A person denied a batch. Whoever has the agent sends the same people and amounts again, under another job key.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fundBody } from '../fixtures/bodies.ts';
import { makePerson, type Run, runCommand } from '../fixtures/command-line.ts';
import { createWorldA, funderWallet, type WorldA } from '../fixtures/custodian-a.ts';
import { type ServedGate, serveTestGate } from '../fixtures/gate-home.ts';
import { fundFile, recipient } from '../fixtures/payroll.ts';

const treasurer = makePerson('Treasurer');
const head = makePerson('Head of payroll');
const third = makePerson('Auditor');
const people = [treasurer.entry, head.entry, third.entry];

let world: WorldA;
let served: ServedGate;

beforeEach(async () => {
  world = await createWorldA({ humanRelease: { people, required: 1, newPayee: true } });
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

async function askFor(...recipients: readonly ReturnType<typeof recipient>[]) {
  const file = fundFile({ recipients: [...recipients] });
  const { body } = await served.post(file);
  const { manifestDigest } = body as { readonly manifestDigest: string };
  const id = await world.ask(funderWallet, fundBody(file));
  await served.gate.poll();
  return { manifestDigest, id };
}

it('a denied roster under a new job key is not released by somebody else, and every list shows it', async () => {
  const first = await askFor(recipient(1, '100'), recipient(2, '200'));
  await run('deny', first.manifestDigest, '--key-file', treasurer.keyFile);
  await served.gate.poll();
  expect(world.statusOf(first.id)).toBe('Rejected');

  const again = await askFor(recipient(2, '200'), { ...recipient(1, '100'), memo: 'corrected' });
  await run('release', again.manifestDigest, '--key-file', head.keyFile);
  await served.gate.poll();
  expect(world.votesOf(again.id)).toEqual([]);

  const check = await run('check', again.manifestDigest);
  expect(check.code).toBe(6);
  expect(check.out).toMatch(
    /people +DENIED BEFORE: Treasurer denied the same people and amounts at 20.*released by Head of payroll/,
  );
  expect(check.out).toMatch(
    /WAIT {2}not-denied: A person denied a batch that pays the same people/,
  );
  const pending = await run('pending');
  expect(pending.out).toContain('(hold-denied-roster)');
  expect(pending.out).toMatch(/\n {4}DENIED BEFORE: Treasurer /);
  expect((await run('manifests')).out).toMatch(/held \(hold-denied-roster\)/);

  await run('release', again.manifestDigest, '--key-file', third.keyFile);
  await served.gate.poll();
  expect(world.statusOf(again.id)).toBe('Signed');
});

it('a denied roster is released by who denied it, also after the gate was started again', async () => {
  const first = await askFor(recipient(1, '100'));
  await run('deny', first.manifestDigest, '--key-file', treasurer.keyFile);
  await served.gate.poll();
  await served.close();
  served = await serveTestGate(world.home);
  await served.gate.examine();
  const again = await askFor(recipient(1, '100'));
  expect(world.votesOf(again.id)).toEqual([]);
  await run('release', again.manifestDigest, '--key-file', treasurer.keyFile);
  await served.gate.poll();
  expect(world.statusOf(again.id)).toBe('Signed');
});
