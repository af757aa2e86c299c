// The command `disburse-agent config check`, by its exit codes and what it prints.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodes } from '@pool/pay-run';
import { readData } from '@pool/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../cli.ts';
import { openCustodyWorld } from '../../fixtures/custody-world.ts';
import { writeAgentFiles } from '../../fixtures/stub-platform.ts';

/** Ada prepares, and Ben releases. */
function writePolicy(rule: object): string {
  const path = join(directory, 'policy.json');
  const people = [
    { name: 'Ada', prepares: ['loopback'] },
    { name: 'Ben', publicKey: `0x${'11'.repeat(32)}` },
  ];
  const rules = [
    { chain: 'anvil', token: 'USDC', from: '0', required: 1, people: ['Ben'], ...rule },
  ];
  writeFileSync(path, JSON.stringify({ version: 1, name: 'p', waitHours: 72, people, rules }));
  return path;
}

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'config-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

async function check(lines: readonly string[], ...options: readonly string[]) {
  const path = join(directory, 'agent.env');
  writeFileSync(path, lines.join('\n'));
  let printed = '';
  const code = await runCli(['config', 'check', '--env-file', path, ...options], {
    out: (text) => {
      printed += text;
    },
    err: (text) => {
      printed += text;
    },
    terminal: { isTty: false, write: () => undefined },
  });
  return { code, printed };
}

const good = [
  'DISBURSE_PLATFORM_URL=https://pool.example/agent-edge',
  'DISBURSE_PLATFORM_TOKEN=pool_edge_canary',
];

describe('config check', () => {
  it('exits with 0 when the agent can start', async () => {
    const { code, printed } = await check(good);
    expect(code).toBe(exitCodes.ok);
    expect(printed).toContain('the agent can start');
    expect(printed).not.toContain('canary');
  });

  it('prints the rules of the release policy, and the place of what is wrong in its file', async () => {
    const run = async (rule: object, command: readonly string[]) => {
      const envFile = writeAgentFiles(directory, 'http://127.0.0.1:1', [
        'DISBURSE_PROVER=mock',
        `DISBURSE_RELEASE_POLICY=${writePolicy(rule)}`,
      ]);
      let printed = '';
      const note = (text: string) => {
        printed += text;
      };
      const output = { out: note, err: note, terminal: { isTty: false, write: note } };
      return [await runCli([...command, '--env-file', envFile], output), printed] as const;
    };
    const rule = 'USDC on anvil from 0: 1 of Ben must release';
    const [code, printed] = await run({}, ['config', 'check']);
    expect([code, printed]).toEqual([exitCodes.ok, expect.stringContaining(`- ${rule}\n`)]);
    const [, doctor] = await run({}, ['doctor']);
    expect(doctor).toContain(
      `ok       release-policy: ${rule}; 0 USDC on anvil was prepared in the last 24 hours`,
    );

    const place = /DISBURSE_RELEASE_POLICY=.*policy\.json: the release policy: rules\[0\]/;
    for (const command of [['config', 'check'], ['doctor']]) {
      const [refused, problem] = await run({ token: 'EURX' }, command);
      expect([refused, problem]).toEqual([exitCodes.error, expect.stringMatching(place)]);
    }
  });

  it('exits with 1 and the problems when the agent cannot start, also as JSON', async () => {
    const { code, printed } = await check([...good, 'DISBURSE_SEND_MAX_AMOUNT=0'], '--json');
    expect(code).toBe(exitCodes.error);
    const report = readData(printed) as {
      ok: boolean;
      problems: readonly { variable: string }[];
    };
    expect(report.ok).toBe(false);
    expect(report.problems.map(({ variable }) => variable)).toEqual(['DISBURSE_SEND_MAX_AMOUNT']);
    expect(printed).not.toContain('canary');
  });
});

describe('config check of an agent with a custodian', () => {
  async function checkCustody(changes: Readonly<Record<string, string>>, ...options: string[]) {
    const world = await openCustodyWorld();
    writeAgentFiles(directory, 'https://pool.example');
    const variables = { DISBURSE_HOME: directory, ...world.variables, ...changes };
    try {
      return await check(
        [...good, ...Object.entries(variables).map(([name, value]) => `${name}=${value}`)],
        ...options,
      );
    } finally {
      await world.close();
    }
  }

  it('prints what signers and approve process answer', async () => {
    const { code, printed } = await checkCustody({});
    expect(code).toBe(exitCodes.ok);
    expect(printed).toMatch(/^signer custodian_a: the custodian answers/m);
    expect(printed).toMatch(/^holder signer custodian_a: the custodian answers/m);
    expect(printed).toMatch(/^approve process reachable: the approve process accepts/m);
    expect(printed).toContain('the agent can start');
    expect(printed).not.toContain('canary');
  });

  it('exits with 1 and names the variable of a token that the approve process refuses', async () => {
    const wrong = { DISBURSE_APPROVE_TOKEN: 'another-token-canary-of-a-gate' };
    const { code, printed } = await checkCustody(wrong, '--json');
    expect(code).toBe(exitCodes.error);
    expect(readData(printed)).toMatchObject({
      ok: false,
      signer: { ok: true },
      holderSigner: { ok: true },
      approve: { ok: false, detail: { kind: 'approver_refused' } },
      problems: [{ variable: 'DISBURSE_APPROVE_TOKEN' }],
    });
    expect(printed).not.toContain('canary');
  });
});
