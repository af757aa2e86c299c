// The real binary starts with a valid configuration and refuses every other: unusual files, and one credential in two
// places.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exitCodes } from '@pool/pay-run';
import { readData, startNodeProcess } from '@pool/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

type Env = Readonly<Record<string, string>>;

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'agent-start-'));
});
afterEach(() => {
  rmSync(home, { recursive: true });
});

const main = fileURLToPath(new URL('main.ts', import.meta.url));
const url = 'https://pool.example/agent-edge';
const edgeToken = 'pool_edge_canary#1';
const platform = { DISBURSE_PLATFORM_URL: url, DISBURSE_PLATFORM_TOKEN: edgeToken };

async function run(args: readonly string[], env: Env = {}) {
  const agent = startNodeProcess({
    name: 'agent',
    script: main,
    args,
    logPath: join(home, 'output.log'),
    env: { DISBURSE_HOME: home, ...env },
  });
  try {
    const { code } = await agent.exited;
    return { code, output: agent.output() };
  } finally {
    await agent.stop();
  }
}

type Report = {
  readonly ok: boolean;
  readonly variables: readonly {
    readonly variable: string;
    readonly state: string;
    readonly from: string;
    readonly value?: string;
  }[];
  readonly warnings: readonly { readonly variable: string }[];
};

async function check(env: Env = {}, ...args: readonly string[]) {
  const { code, output } = await run(['config', 'check', '--json', ...args], env);
  const report = readData(output) as Report;
  return {
    code,
    output,
    report,
    row: (name: string) => report.variables.find(({ variable }) => variable === name),
  };
}

function write(name: string, content: string, mode = 0o600): string {
  const path = join(home, name);
  writeFileSync(path, content, { mode });
  return path;
}

describe('one credential in two places', () => {
  it.each([
    ['DISBURSE_BALANCE_TOKEN', 'DISBURSE_TRANSFER_TOKEN'],
    ['DISBURSE_BALANCE_TOKEN', 'DISBURSE_SEND_TOKEN'],
    ['DISBURSE_BALANCE_TOKEN', 'DISBURSE_PLATFORM_TOKEN'],
    ['DISBURSE_TRANSFER_TOKEN', 'DISBURSE_PLATFORM_TOKEN'],
    ['DISBURSE_SEND_TOKEN', 'DISBURSE_PLATFORM_TOKEN'],
  ])(
    'ends the start: %s and %s, inline and through files [separation.balance, separation.spend, config.secret-file-forms, error.holder-credential]',
    async (left, right) => {
      // One form as a command printed it, the other as a person copied it.
      const field = right === 'DISBURSE_PLATFORM_TOKEN' ? 'token' : 'apiKey';
      const bare = write('bare', 'canary-shared\r\n');
      const printed = write('printed', JSON.stringify({ id: 1, [field]: 'canary-shared' }));
      for (const shared of [
        { [left]: 'canary-shared', [right]: 'canary-shared' },
        { [`${left}_FILE`]: bare, [`${right}_FILE`]: printed },
      ]) {
        const { code, output } = await run(['serve'], { ...platform, ...shared });
        expect(code).toBe(exitCodes.error);
        expect(output).toContain(`${left} must differ from ${right}`);
        expect(output).not.toContain('canary-shared');
      }
    },
  );
});

describe('the start', () => {
  it('reports every problem at once, of the file and of the environment [config.environment-and-file, variable.destinations-form, variable.ceilings-form, variable.viewing-key-required, signer.variables-required, viewing-key.missing-ends-start, error.missing-viewing-key]', async () => {
    write('agent.env', 'DISBURSE_SEND_MAX_AMOUNT: 5\nDISBURSE_CHAIN=canary CHAIN\n');
    const { code, output } = await run(['serve'], {
      DISBURSE_SIGNER: 'enclave',
      DISBURSE_SEND_DESTINATIONS: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      DISBURSE_TRANSFER_MAX_AMOUNT: '-1',
      DISBURSE_HOLDER_SIGNER: 'custodian_a',
      DISBURSE_BALANCE_TOKEN_FILE: join(home, 'canary-not-there'),
    });
    expect(code).toBe(exitCodes.error);
    for (const problem of [
      'line 1: is not NAME=value',
      'DISBURSE_PLATFORM_URL is required',
      'DISBURSE_PLATFORM_TOKEN is required',
      'DISBURSE_CHAIN must be a chain key',
      'DISBURSE_ENCLAVE_SOCKET is required by DISBURSE_SIGNER=enclave',
      'DISBURSE_SEND_DESTINATIONS entry 1 must be label=address',
      'DISBURSE_TRANSFER_MAX_AMOUNT must be a positive whole number',
      'DISBURSE_HOLDER_VIEWING_KEY is required by custodian_a',
      'DISBURSE_BALANCE_TOKEN_FILE names a file that cannot be read (ENOENT)',
    ]) {
      expect(output).toContain(problem);
    }
    expect(output).not.toMatch(/canary|5aAeb6053F/);
  });

  it('fails if a named file does not exist [config.which-file]', async () => {
    mkdirSync(join(home, 'folder'));
    for (const [path, cause] of [
      [join(home, 'gone.env'), 'ENOENT'],
      [join(home, 'folder'), 'EISDIR'],
    ] as const) {
      const { code, output } = await run(['serve'], { ...platform, AGENT_ENV: path });
      expect(code).toBe(exitCodes.error);
      expect(output).toContain(`${path} cannot be read (${cause})`);
    }
  });
});

describe('config check', () => {
  it('reads the file of --env-file, else of AGENT_ENV, else of the agent directory [config.environment-and-file, config.which-file]', async () => {
    write('agent.env', `DISBURSE_PLATFORM_URL=${url}\nDISBURSE_CHAIN=home\n`);
    const other = write('other.env', 'DISBURSE_CHAIN=other\n');
    const third = write('third.env', 'DISBURSE_CHAIN=third\n');
    expect((await check()).row('DISBURSE_CHAIN')).toMatchObject({ value: 'home' });
    expect((await check({ AGENT_ENV: other })).row('DISBURSE_CHAIN')).toMatchObject({
      value: 'other',
      from: `file ${other}`,
    });
    const { row } = await check({ AGENT_ENV: other }, '--env-file', third);
    expect(row('DISBURSE_CHAIN')).toMatchObject({ value: 'third' });
    expect(row('DISBURSE_PLATFORM_URL')).toMatchObject({ state: 'unset' });
    const outranked = await check({ DISBURSE_CHAIN: 'environment' }, '--env-file', third);
    expect(outranked.row('DISBURSE_CHAIN')).toMatchObject({
      value: 'environment',
      from: 'environment',
    });
  });

  it('reads unusual but valid files, and shows none of their secrets [config.flat-file]', async () => {
    const path = write(
      'agent.env',
      [
        `\uFEFFDISBURSE_PLATFORM_URL = "${url}" # ours`,
        '# DISBURSE_CHAIN=commented',
        'DISBURSE_CHAINS_FILE= ',
        `export DISBURSE_PLATFORM_TOKEN=${edgeToken}`,
        "DISBURSE_SEND_TOKEN='pool_live_canary'",
        'DISBURSE_SEND_MAX_AMOUNT=5',
        '',
      ].join('\r\n'),
      0o644,
    );
    const { code, output, report, row } = await check();
    expect(code).toBe(exitCodes.ok);
    expect(row('DISBURSE_PLATFORM_URL')).toMatchObject({ value: url, from: `file ${path}` });
    expect(row('DISBURSE_CHAINS_FILE')).toMatchObject({ state: 'default' });
    expect(row('DISBURSE_PLATFORM_TOKEN')).toMatchObject({ state: 'set' });
    expect(row('DISBURSE_CHAIN')).toMatchObject({ state: 'unset' });
    expect(output).not.toContain('canary');
    if (process.platform !== 'win32') {
      expect(report.warnings.map(({ variable }) => variable).sort()).toEqual([
        'DISBURSE_PLATFORM_TOKEN',
        'DISBURSE_SEND_TOKEN',
      ]);
    }
  });
});
