// What a person sees of a batch or spend before they release it.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readData } from '@pool/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fundBody } from '../fixtures/bodies.ts';
import { makePerson, runCommand } from '../fixtures/command-line.ts';
import { createWorldA, funderWallet, holderWallet, type WorldA } from '../fixtures/custodian-a.ts';
import { type ServedGate, serveTestGate } from '../fixtures/gate-home.ts';
import {
  funder,
  fundFile,
  holder,
  person,
  policyJson,
  pool,
  recipient,
  spendFile,
  token,
} from '../fixtures/payroll.ts';

const treasurer = makePerson('Treasurer');
const head = makePerson('Head of payroll');
const humanRelease = { people: [treasurer.entry, head.entry], required: 2, newPayee: true };

let world: WorldA;
let served: ServedGate;

beforeEach(async () => {
  world = await createWorldA();
  world.home.writePolicy(policyWith());
  served = await serveTestGate(world.home);
  await served.gate.examine();
});

afterEach(async () => {
  await served.close();
  await world.close();
});

function policyWith(changes: Readonly<Record<string, unknown>> = {}) {
  const { userId } = world.organisation.initiator;
  const { pools, ...policy } = policyJson(
    { funderWallet, holderWallet, initiator: userId },
    { humanRelease, ...changes },
  );
  return { ...policy, pools };
}

async function run(...argv: readonly string[]) {
  return await runCommand({ home: world.home.path }, argv);
}

async function post(file: unknown): Promise<string> {
  const { body } = await served.post(file);
  return (body as { readonly manifestDigest: string }).manifestDigest;
}

/** Lines of a text output without the rules. */
function factsOf(out: string): readonly string[] {
  return out.split('\n').filter((line) => !/^(?:ok|NO|WAIT) /.test(line));
}

function address(index: number): string {
  return person(index).wallet.address;
}

describe('approve check of a batch', () => {
  it('shows whom it pays, how much, and who was never paid', async () => {
    const known = fundFile({ recipients: [recipient(1, '100')] });
    await post(known);
    world.home.writePolicy(policyWith({ humanRelease: undefined }));
    served.gate.reloadPolicy();
    await served.gate.examine();
    await world.ask(funderWallet, fundBody(known));
    await served.gate.poll();
    world.home.writePolicy(policyWith());

    const file = fundFile({
      jobKey: 'pay "run"\u202e',
      recipients: [recipient(1, '100'), { ...recipient(2, '250'), memo: 'March "new"' }],
    });
    const digest = await post(file);
    const { code, out } = await run('check', digest);
    expect(code).toBe(6);
    expect(factsOf(out)).toEqual([
      `manifest       ${digest}`,
      expect.stringMatching(/^stored {9}since \d{4}-\d\d-\d\dT/),
      'chain          anvil (31337)',
      `pool           ${pool}`,
      `token          ${token} (USDC)`,
      `funder         ${funder}`,
      'employer       5b3f0c1e-6a7d-4c2b-9e8f-0a1b2c3d4e5f',
      'job            "pay \\"run\\"\\u{202e}", attempt 1',
      `deadline       ${new Date(file.deadline * 1000).toISOString()}`,
      'total          0.00035 USDC (350)',
      'recipients     2, of them new: 1',
      `recipient 1    ${address(1)}  0.0001 USDC (100)`,
      `recipient 2    ${address(2)}  0.00025 USDC (250)  NEW  "March \\"new\\""`,
      'people         nobody released it, 2 needed; may release: Treasurer, Head of payroll',
      expect.stringMatching(/^It would wait \(hold-new-payee\)/),
    ]);

    const json = readData((await run('check', digest, '--json')).out) as object;
    expect(json).toMatchObject({
      manifestDigest: digest,
      answer: 'later',
      payment: {
        kind: 'fund',
        chain: 'anvil',
        chainId: 31_337,
        pool,
        token,
        symbol: 'USDC',
        decimals: 6,
        funder,
        total: { amount: '350', amountText: '0.00035 USDC (350)' },
        recipients: [
          { address: address(1), amount: '100', amountText: '0.0001 USDC (100)', isNew: false },
          { address: address(2), amount: '250', isNew: true, memo: 'March "new"' },
        ],
      },
      people: { required: 2, releasedBy: [], mayRelease: ['Treasurer', 'Head of payroll'] },
      votes: [],
    });
  });

  it('says why it was denied, and when, after the policy changed', async () => {
    const file = fundFile({ recipients: [recipient(1, '100'), recipient(9, '100')] });
    const digest = await post(file);
    const id = await world.ask(funderWallet, fundBody(file));
    await served.gate.poll();
    expect(world.statusOf(id)).toBe('Rejected');
    world.home.writePolicy(policyWith({ recipients: undefined, humanRelease: undefined }));
    const { out } = await run('check', digest);
    expect(out).toMatch(
      /^voted {10}\d{4}-\d\d-\d\dT[^ ]+ {2}fund-authorization ap-[^ ]+: deny \(recipient-not-listed\)\. The policy does not list a recipient\.$/m,
    );
    expect(readData((await run('check', digest, '--json')).out)).toMatchObject({
      votes: [
        {
          kind: 'fund-authorization',
          value: 'deny',
          reason: 'recipient-not-listed',
          message: expect.stringMatching(/recipient/) as string,
        },
      ],
    });
  });

  it('names the people who released it, and who may', async () => {
    const digest = await post(fundFile());
    await run('release', digest, '--key-file', treasurer.keyFile);
    expect((await run('check', digest)).out).toMatch(
      /^people {9}released by Treasurer, 2 needed; may release: Head of payroll$/m,
    );
    await run('deny', digest, '--key-file', head.keyFile);
    expect((await run('check', digest)).out).toMatch(/^people {9}denied by Head of payroll$/m);
  });
});

describe('approve check of a spend', () => {
  it('shows where it goes, and what stays', async () => {
    const { encryptionPublicKey, walletPub } = person(3);
    const { evidence } = recipient(3, '20');
    const output = { walletPub, encryptionPublicKey, evidence, amount: '20', memo: 'rent' };
    const digest = await post(spendFile({ outputs: [output] }));
    const { out } = await run('check', digest);
    expect(factsOf(out)).toEqual(
      expect.arrayContaining([
        `holder         ${holder}`,
        'total          0.00007 USDC (70)',
        `withdrawal     ${holder}  0.00005 USDC (50)`,
        `recipient 1    ${address(3)}  0.00002 USDC (20)  "rent"`,
        'change         0.00001 USDC (10)',
      ]),
    );
    expect(readData((await run('check', digest, '--json')).out)).toMatchObject({
      payment: {
        kind: 'spend',
        holder,
        total: { amount: '70' },
        withdrawal: { address: holder, amount: '50' },
        recipients: [{ address: address(3), amount: '20', memo: 'rent' }],
        change: { amount: '10' },
      },
    });
  });

  it("takes the unit from the gate's chain settings when the policy has no batches of the token", async () => {
    const digest = await post(spendFile());
    world.home.writePolicy(policyWith({ pools: [], humanRelease: undefined }));
    expect((await run('check', digest)).out).toMatch(/^total {10}0\.00005 USDC \(50\)$/m);
  });
});

describe('approve check of a manifest that was not posted', () => {
  function write(content: string): string {
    const path = join(world.home.path, `${randomBytes(4).toString('hex')}.json`);
    writeFileSync(path, content);
    return path;
  }

  it('explains rule by rule what the answer would be, from a file or from standard input', async () => {
    const text = JSON.stringify(fundFile({ recipients: [recipient(9, '100')] }));
    const fromFile = await run('check', write(text));
    expect(fromFile.code).toBe(2);
    expect(fromFile.out).toMatch(/^stored {9}no: the agent did not post it/m);
    expect(fromFile.out).toMatch(/^NO {4}recipient-allowed: /m);
    expect(fromFile.out).toMatch(/^ok {4}limit-per-batch: ok$/m);
    const fromInput = await runCommand({ home: world.home.path, input: text }, ['check', '-']);
    expect(fromInput).toEqual(fromFile);
    expect(served.gate.ledger.listManifests()).toEqual([]);
  });

  it('refuses what is no manifest with a sentence that quotes none of it', async () => {
    const expectRefused = async (argument: string, err: RegExp): Promise<void> => {
      expect(await run('check', argument)).toEqual({
        code: 2,
        out: '',
        err: expect.stringMatching(err) as string,
      });
    };
    await expectRefused(
      write('{"seed": "secret'),
      /^invalid_request: [^ ]+\.json is not JSON; give/,
    );
    await expectRefused(write('{}'), /^invalid_request: [^ ]+\.json: .*; give the file/s);
    await expectRefused(world.home.path, /^invalid_request: [^ ]+ cannot be read \(EISDIR\); give/);
    await expectRefused('payroll.json', /^manifest_unknown: payroll\.json is not a file, and not/);
    await expectRefused('0x1234567890', /^manifest_unknown: no stored manifest/);
    await expectRefused('-', /^invalid_request: standard input is not JSON/);
  });
});
