// What waits, for whom, and what is stored.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parsePolicy } from '@pool/policy';
import { readData } from '@pool/testkit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fundBody } from '../fixtures/bodies.ts';
import { makePerson, runCommand } from '../fixtures/command-line.ts';
import { createWorldA, funderWallet, type WorldA } from '../fixtures/custodian-a.ts';
import { type ServedGate, serveTestGate } from '../fixtures/gate-home.ts';
import { fundFile, policyJson } from '../fixtures/payroll.ts';
import { describeManifests } from './list-commands.ts';

const treasurer = makePerson('Treasurer');
const head = makePerson('Head of payroll');
const people = [treasurer.entry, head.entry, { ...treasurer.entry, name: 'Treasurer, again' }];

let world: WorldA;
let served: ServedGate;

beforeEach(async () => {
  world = await createWorldA({ humanRelease: { people, required: 2, newPayee: true } });
  served = await serveTestGate(world.home);
  await served.gate.examine();
});

afterEach(async () => {
  await served.close();
  await world.close();
});

async function run(...argv: readonly string[]) {
  return await runCommand({ home: world.home.path }, argv);
}

async function hold(): Promise<string> {
  const file = fundFile();
  const { body } = await served.post(file);
  await world.ask(funderWallet, fundBody(file));
  await served.gate.poll();
  return (body as { readonly manifestDigest: string }).manifestDigest;
}

it('pending names the total, who released the batch, and who may', async () => {
  const digest = await hold();
  await run('release', digest, '--key-file', treasurer.keyFile);
  await served.gate.poll();
  const [first, second, ...rest] = (await run('pending')).out.split('\n');
  expect(first).toMatch(
    /fund-authorization {2}0x[0-9a-f]{64} {2}total 0\.0003 USDC \(300\): .* 1 of 2 released it\. \(hold-new-payee\)$/,
  );
  expect(second).toBe('    released by Treasurer, 2 needed; may release: Head of payroll');
  expect(rest).toEqual([]);
  expect(readData((await run('pending', '--json')).out)).toMatchObject({
    waiting: [
      {
        manifestDigest: digest,
        total: '300',
        totalText: '0.0003 USDC (300)',
        message: expect.stringMatching(/1 of 2 released it/) as string,
        people: { required: 2, releasedBy: ['Treasurer'], mayRelease: ['Head of payroll'] },
      },
    ],
  });
  expect((await run('manifests')).out).toMatch(
    / total 0\.0003 USDC \(300\) {2}held \(hold-new-payee\)$/,
  );
});

it('pending names people also for a batch whose roster may be one that a restored ledger forgot', async () => {
  await hold();
  const database = new DatabaseSync(join(world.home.path, 'ledger.sqlite'));
  database.exec("UPDATE waiting SET reason = 'hold-unknown-roster'");
  database.close();
  expect((await run('pending')).out).toMatch(/\n {4}nobody released it, 2 needed; may release: /);
});

it('the lists need no policy', async () => {
  await hold();
  writeFileSync(join(world.home.path, 'policy.json'), '{');
  const { code, out, err } = await run('pending');
  expect(code).toBe(0);
  expect(out).toMatch(/ total 300 base units: .*\(hold-new-payee\)$/);
  expect(err).toMatch(/^invalid_policy: .*\nWithout the policy, amounts are base units/);
});

it('release says how much it releases', async () => {
  const digest = await hold();
  expect((await run('release', digest, '--key-file', head.keyFile)).out).toMatch(
    /^Head of payroll released 0x[0-9a-f]{64}, total 0\.0003 USDC \(300\)\. /,
  );
});

it('manifests reads each list once', async () => {
  await hold();
  await hold();
  const { ledger } = served.gate;
  const calls: string[] = [];
  const counted = {
    listManifests() {
      calls.push('manifests');
      return ledger.listManifests();
    },
    listWaiting() {
      calls.push('waiting');
      return ledger.listWaiting();
    },
    listVotes: ledger.listVotes,
  };
  const policy = parsePolicy(policyJson({ funderWallet, initiator: 'us-agent' }));
  expect(describeManifests(counted, policy)).toMatchObject([
    { state: 'held', totalText: '0.0003 USDC (300)' },
    { state: 'held' },
  ]);
  expect(calls.toSorted()).toEqual(['manifests', 'waiting']);
});
