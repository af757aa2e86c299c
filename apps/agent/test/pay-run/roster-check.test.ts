// Every problem of a roster in one list by line, registration included, before anything is sent (docs/decisions/0008).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PoolError, Secret } from '@pool/core';
import { createFakeHolder } from '@pool/testkit';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { explainMistakes } from '../../../../packages/pay-run/src/check/check-parts.ts';
import { describeProblem } from '../../../../packages/pay-run/src/check/roster-problems.ts';
import { withPortProof } from '../../../../packages/pay-run/src/fixtures/port-proofs.ts';
import { parseRoster } from '../../../../packages/pay-run/src/roster/roster-csv.ts';
import { runCli } from '../../src/cli.ts';
import { bootstrap, loopbackToken, pool } from '../../src/fixtures/test-app.ts';
import { createTestPayRun, type TestPayRun } from './test-pay-run.ts';

const name = { chain: 'anvil', token: 'USDC', payRun: '2026-11' };
const strangers = [90, 91, 92].map((index) => createFakeHolder(index).address);

/** Lines from 2: stranger, good, a bad amount of a stranger, a bad memo, a duplicate, a stranger. */
function writeRoster({ entries }: TestPayRun): string {
  const [first, second] = entries.map(({ recipientAddress }) => recipientAddress);
  return [
    'address;amount;memo',
    `${strangers[0]};100;`,
    `${first};100;November`,
    `${strangers[1]};1,500.00;`,
    `${second};100;a\u202eb`,
    `${first};7;`,
    `${strangers[2]};100;`,
  ].join('\r\n');
}

const expected = [
  'address;the recipient has not signed in and enrolled',
  'amount;"1,500.00" is not a whole number of base units',
  'address;the recipient has not signed in and enrolled',
  'memo;"a\\u{202e}b" contains the character U+202E, which changes the direction of text; remove it',
  'address;the same address is on line 3; list each recipient once per roster',
  'address;the recipient has not signed in and enrolled',
];
const expectedLines = [2, 4, 4, 5, 6, 7];

describe('explainMistakes', () => {
  it('lists unregistered recipients and the mistakes of the file in the order of lines', async () => {
    const test = createTestPayRun({ maxRecipients: 2 });
    const problems = await explainMistakes(
      parseRoster(writeRoster(test)),
      { ...name, isSplit: true },
      (request) => test.plain.validate(request),
    );
    const found = problems.filter(({ line }) => line !== undefined);
    expect(found.map(({ line }) => line)).toEqual(expectedLines);
    expect(found.map(({ column, message }) => `${column};${message}`)).toEqual(expected);
    expect(found.map(({ address }) => address)).toEqual([
      strangers[0],
      strangers[1],
      strangers[1],
      test.entries[1]?.recipientAddress,
      test.entries[0]?.recipientAddress,
      strangers[2],
    ]);
    expect(problems.map(({ code }) => code)).not.toContain('batch-too-large');
  });

  it('reports that a roster is above the ceiling, with all other problems', async () => {
    const test = createTestPayRun({ maxRecipients: 2 });
    const roster = parseRoster(writeRoster(test));
    const problems = await explainMistakes(roster, { ...name, isSplit: false }, (request) =>
      test.plain.validate(request),
    );
    expect(problems[0]).toMatchObject({
      code: 'batch-too-large',
      message: expect.stringContaining('at most 2 recipients on chain anvil; run it with --split'),
    });
    expect(problems.filter(({ line }) => line !== undefined)).toHaveLength(6);
  });

  it('shows the mistakes of the file when no agent answers, and says so', async () => {
    const roster = parseRoster('address,amount\nme,0\n');
    const mistakes = [
      'line 2, address: "me" is not an address: an address is 0x and 40 hex digits (invalid-address)',
      'line 2, amount: "0" is zero; write an amount above zero, or remove the line (invalid-amount)',
    ];
    const away = new PoolError('agent_unreachable', 'no agent answers');
    const place = { ...name, isSplit: false };
    const alone = await explainMistakes(roster, place, () => Promise.reject(away));
    expect(alone.map(describeProblem)).toEqual([
      ...mistakes,
      'agent_unreachable: registration was not checked: no agent answers',
    ]);

    const test = createTestPayRun({ bootstrap: undefined });
    const early = await explainMistakes(roster, place, (body) => test.plain.validate(body));
    expect(early.slice(0, 2).map(describeProblem)).toEqual(mistakes);
    expect(early.slice(2).map(({ code }) => code)).toEqual(['platform_unreachable']);
  });
});

describe('a roster that is paid whole', () => {
  it('is refused with all its unregistered people, by line, and its label stays free', async () => {
    const test = createTestPayRun();
    const bad = strangers.slice(0, 2).map((recipientAddress, index) => ({
      recipientAddress,
      amount: '1',
      line: index + 2,
    }));
    await expect(test.whole({ entries: bad })).rejects.toMatchObject({
      code: 'invalid_roster',
      problems: [{ line: 2 }, { line: 3 }],
      message: [
        'nothing was sent: the roster has 2 problems',
        `line 2, address: the recipient has not signed in and enrolled (${strangers[0]}, unregistered-recipient)`,
        `line 3, address: the recipient has not signed in and enrolled (${strangers[1]}, unregistered-recipient)`,
      ].join('\n'),
    });
    expect(test.state.submitted).toEqual([]);
    await test.whole({ entries: test.entries.slice(0, 2) });
    expect(test.state.submitted).toHaveLength(1);
  });

  it('shows its job later, even if a recipient is no longer registered', async () => {
    const test = createTestPayRun();
    const entries = test.entries.slice(0, 2);
    await test.whole({ entries });
    test.platform.enroll(createFakeHolder(1), { readiness: 'eligibility_pending' });
    expect(await test.whole({ entries })).toMatchObject({ state: 'done' });
    expect(test.state.submitted).toHaveLength(1);
  });
});

describe('disburse', () => {
  const folder = mkdtempSync(join(tmpdir(), 'roster-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  let test: TestPayRun;
  let server: ReturnType<typeof createServer>;

  beforeEach(async () => {
    test = createTestPayRun({ maxRecipients: 2 });
    const listener: RequestListener = (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        void answer(Buffer.concat(chunks)).then((text) => response.end(text));
      });
      const answer = async (body: Buffer): Promise<string> => {
        const reply = await test.app.request(`http://127.0.0.1${request.url ?? ''}`, {
          method: request.method ?? 'GET',
          headers: {
            host: '127.0.0.1:8787',
            authorization: request.headers.authorization ?? '',
            'content-type': request.headers['content-type'] ?? '',
          },
          ...(body.length === 0 ? {} : { body }),
        });
        response.writeHead(reply.status, { 'content-type': 'application/json' });
        return reply.text();
      };
    };
    server = createServer(withPortProof(new Secret(loopbackToken), listener));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const evmChain = {
      family: 'evm',
      chainId: 31337,
      rpcUrl: 'http://127.0.0.1:1',
      pool,
      registry: bootstrap.chains['anvil']?.registry,
      deployedAtBlock: 0,
      finality: { kind: 'depth', blocks: 1 },
      maxRecipients: 2,
      tokens: { USDC: { address: bootstrap.chains['anvil']?.tokens['USDC'], decimals: 6 } },
    };
    const evidence = { domain: 'pool.test', uri: 'https://pool.test' };
    const chains = JSON.stringify({ evidence, chains: { anvil: evmChain } });
    writeFileSync(join(folder, 'chains.json'), chains);
    writeFileSync(join(folder, 'loopback.token'), `${loopbackToken}\n`);
    const { port } = server.address() as AddressInfo;
    writeFileSync(
      join(folder, 'agent.env'),
      [
        'DISBURSE_PLATFORM_URL=http://127.0.0.1:1/agent-edge',
        'DISBURSE_PLATFORM_TOKEN=pool_edge_canary',
        `DISBURSE_HOME=${folder}`,
        `DISBURSE_PORT=${port}`,
      ].join('\n'),
    );
  });
  afterEach(() => {
    server.close();
  });

  async function disburse(text: string, ...options: readonly string[]) {
    const file = join(folder, 'pay.csv');
    writeFileSync(file, text);
    const said = { out: '', err: '', terminal: '' };
    const argv = ['disburse', '--file', file, '--pay-run', 'p', ...options];
    const code = await runCli([...argv, '--env-file', join(folder, 'agent.env')], {
      out: (line) => {
        said.out += line;
      },
      err: (line) => {
        said.err += line;
      },
      terminal: {
        isTty: false,
        write: (line) => {
          said.terminal += line;
        },
      },
    });
    return { code, ...said };
  }

  it('reports all problems of a roster at once, before anything is sent', async () => {
    const { code, err } = await disburse(writeRoster(test));
    expect(code).toBe(2);
    const lines = err.split('\n').filter((line) => line.startsWith('line '));
    expect(lines.map((line) => Number(/^line ([0-9]+),/.exec(line)?.[1]))).toEqual(expectedLines);
    expect(err).toContain('batch-too-large');
    expect(test.state.submitted).toEqual([]);
  });

  it('reports them as JSON with --json', async () => {
    const { code, out } = await disburse(writeRoster(test), '--json', '--split');
    expect(code).toBe(2);
    const { ok, error } = JSON.parse(out) as {
      ok: boolean;
      error: { code: string; problems: readonly { line?: number }[] };
    };
    expect([ok, error.code]).toEqual([false, 'invalid_roster']);
    expect(error.problems.flatMap(({ line }) => line ?? [])).toEqual(expectedLines);
  });

  it('warns of amounts that look like token units, and continues', async () => {
    const [first] = test.entries;
    const { terminal, code } = await disburse(
      `address,amount\n${first?.recipientAddress},1500\n${strangers[0]},20\n`,
    );
    expect(terminal).toContain('use --decimal if the amounts are in USDC');
    // The command continued to the agent, which refuses the stranger.
    expect(code).toBe(2);
  });
});
