// `transfer` and `send` against the routes of the agent on a real socket, with fake ports behind them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bigintToHex32, PoolError, Secret, type SpendReceipt } from '@pool/core';
import { serveHttp } from '@pool/http-server';
import { createSpendClient, type Output, type SpendOrder } from '@pool/pay-run';
import { describe, expect, it, onTestFinished } from 'vitest';
import { withPortProof } from '../../../../../packages/pay-run/src/fixtures/port-proofs.ts';
import { runCli } from '../../cli.ts';
import { apiKey, createTestApp, loopbackToken, token } from '../../fixtures/test-app.ts';
import { performSpend } from './spend-command.ts';

const w = `0x02${'79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'}`;
const receipt: SpendReceipt = {
  operation: 'transfer',
  status: 'success',
  txHash: bigintToHex32(1n),
  nullifiers: [bigintToHex32(2n)],
  changeAmount: '0',
};
const order: SpendOrder = {
  operation: 'transfer',
  key: 'k-1',
  body: { token: 'USDC', recipients: [{ walletPub: w, amount: '5' }] },
  chain: undefined,
  isAttached: false,
};

function createOutput(isTty = false, answer?: string) {
  const printed: string[] = [];
  const shown: string[] = [];
  const asked: string[] = [];
  const ask = async (question: string) => {
    asked.push(question);
    return answer;
  };
  const output: Output = {
    out: (text: string) => void printed.push(text),
    terminal: { isTty, write: (text) => void shown.push(text) },
    ...(answer === undefined ? {} : { ask }),
  };
  return { output, printed, shown, asked };
}

async function serve() {
  const world = createTestApp();
  const server = await serveHttp((request, from) => world.app.fetch(request, from), {
    host: '127.0.0.1',
    port: 0,
    onRefused: () => undefined,
  });
  onTestFinished(() => server.close());
  return { ...world, client: clientOf(server.url), url: server.url };
}

function clientOf(baseUrl: string, role = 'transfer') {
  return createSpendClient({
    baseUrl,
    token: new Secret(apiKey(role)),
    readLoopbackToken: () => new Secret(loopbackToken),
    reattachMs: 3_000,
  });
}

/** An agent that answers each request in turn; undefined cuts the connection. */
async function serveAnswers(...answers: ([number, unknown] | undefined)[]) {
  const seen: { readonly attach: string | undefined }[] = [];
  const listener: RequestListener = (request, response) => {
    request.resume().on('end', () => {
      seen.push({ attach: request.headers['x-disburse-attach']?.toString() });
      const answer = answers.shift();
      if (answer === undefined) {
        response.destroy();
        return;
      }
      response.writeHead(answer[0], { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer[1]));
    });
  };
  const server: Server = createServer(withPortProof(new Secret(loopbackToken), listener));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { client: clientOf(`http://127.0.0.1:${port}`), seen, server };
}

describe('a spend command', () => {
  it('prints the receipt as JSON, and only that, on standard output [command.prints-receipt]', async () => {
    const { client, state } = await serve();
    const { output, printed, shown } = createOutput();
    expect(await performSpend(client, order, output)).toBe(0);
    expect(printed.map((text) => JSON.parse(text))).toEqual([state.spendAnswer]);
    expect(state.spends).toMatchObject([
      { operation: 'transfer', key: 'k-1', body: order.body, isAttached: false },
    ]);
    expect(shown.join('')).toContain('--key k-1');
  });

  it('does not say that a run without the key pays again when the agent refuses', async () => {
    const refused = { code: 'insufficient_funds', message: 'the notes hold 200' };
    const { client } = await serveAnswers([409, refused]);
    const { output, shown } = createOutput();
    await expect(performSpend(client, order, output)).rejects.toMatchObject(refused);
    expect(shown.join('')).toContain('key k-1');
    expect(shown.join('')).not.toContain('pay again');
  });

  it('says it on a terminal once the agent is past its checks', async () => {
    const { client } = await serve();
    const { output, shown } = createOutput(true);
    const { promise, resolve } = Promise.withResolvers<void>();
    await performSpend(
      {
        ...client,
        async spend(sent, signal) {
          await promise;
          return await client.spend(sent, signal);
        },
        async progress() {
          // The next question comes after this one was shown.
          setTimeout(resolve, 50);
          return { isRunning: true, stage: 'signing' };
        },
      },
      order,
      output,
    );
    expect(shown.join('').match(/pay again/g)).toHaveLength(1);
  });

  it('ends with 4 and the whole receipt if the spend reverted [command.prints-receipt]', async () => {
    const { client, state } = await serve();
    const revertReason = { code: 'nullifier-used', message: 'it was used' };
    state.spendAnswer = { ...receipt, status: 'reverted', revertReason };
    const { output, printed } = createOutput();
    expect(await performSpend(client, order, output)).toBe(4);
    expect(JSON.parse(printed.join(''))).toEqual(state.spendAnswer);
  });

  it('ends a dry run with 0 and the receipt of it, and prints no key [command.dry-run]', async () => {
    const { client, state } = await serve();
    state.spendAnswer = { ...receipt, status: 'dry-run' };
    const { output, printed, shown } = createOutput();
    const dryRun = { ...order, body: { ...order.body, dryRun: true } };
    expect(await performSpend(client, dryRun, output)).toBe(0);
    expect(JSON.parse(printed.join(''))).toMatchObject({ status: 'dry-run' });
    expect(shown).toEqual([]);
  });

  it('chooses a chain of the agent, and shows that it is a command of this machine [command.chain]', async () => {
    const { client, state } = await serve();
    await performSpend(client, { ...order, chain: 'base' }, createOutput().output);
    expect(state.spends).toMatchObject([{ chain: 'base' }]);
  });

  it('shows stage, time and the share of the proof on a terminal, and nothing in a pipe', async () => {
    const { client, state } = await serve();
    state.spendDelayMs = 700;
    const tty = createOutput(true);
    await performSpend(client, order, tty.output);
    expect(tty.shown.join('')).toMatch(/proving {4}2\.0 s \[#{12}\.{12}\] 50 %/);
    expect(tty.shown.at(-1)).toBe('\r\u001b[K');
    const pipe = createOutput();
    await performSpend(client, order, pipe.output);
    expect(pipe.shown).toHaveLength(1);
  });

  it('says how to start the agent when it does not run, and that nothing was sent', async () => {
    await expect(
      performSpend(clientOf('http://127.0.0.1:9'), order, createOutput().output),
    ).rejects.toMatchObject({
      code: 'agent_unreachable',
      message: expect.stringMatching(/sent nothing.*disburse-agent serve/),
    });
  });

  it.each([
    ['insufficient_funds', 409, 'the notes hold 7 base units'],
    ['consolidation_required', 409, 'at most 4 base units; use "disburse-agent consolidate"'],
    ['ceiling_exceeded', 403, 'raise DISBURSE_TRANSFER_MAX_AMOUNT'],
    ['settlement_expired', 504, 'nothing moved'],
  ] as const)('reports %s as the agent does', async (code, status, message) => {
    const { client, state } = await serve();
    state.spendAnswer = new PoolError(code, message, { status });
    await expect(performSpend(client, order, createOutput().output)).rejects.toMatchObject({
      code,
      message,
    });
  });
});

describe('an outcome that is not known', () => {
  it.each(['spend_unfinished', 'spend_unreadable', 'configuration_changed'] as const)(
    'says to read the chain and not to pay again: %s [command.unknown-outcome]',
    async (code) => {
      const { client, state } = await serve();
      state.spendAnswer = new PoolError(code, 'it can land until 12:00');
      await expect(performSpend(client, order, createOutput().output)).rejects.toMatchObject({
        code: 'spend_unfinished',
        message: expect.stringMatching(
          /it can land until 12:00\ndo not pay again.*disburse-agent balance.*\n.*--key k-1/,
        ),
      });
    },
  );

  it('attaches again after a broken connection, and begins nothing new [command.unknown-outcome]', async () => {
    const { client, seen } = await serveAnswers(undefined, undefined, [200, receipt]);
    const { output, printed } = createOutput();
    expect(await performSpend(client, order, output)).toBe(0);
    expect(JSON.parse(printed.join(''))).toEqual(receipt);
    expect(seen.map(({ attach }) => attach)).toEqual([undefined, 'only', 'only']);
  });

  it('waits for an agent that is not ready after a broken connection', async () => {
    const unready = { code: 'holder_unavailable', message: 'not yet' };
    const { client } = await serveAnswers(undefined, [503, unready], [200, receipt]);
    expect(await performSpend(client, order, createOutput().output)).toBe(0);
  });

  it('is reported if the agent forgot the key in a restart [command.unknown-outcome]', async () => {
    const forgotten = { code: 'spend_unknown', message: 'no spend of this key' };
    const { client } = await serveAnswers(undefined, [404, forgotten]);
    await expect(performSpend(client, order, createOutput().output)).rejects.toMatchObject({
      code: 'spend_unfinished',
      message: expect.stringContaining('spend_unknown: no spend of this key'),
    });
  });

  it('is reported if the agent does not come back', async () => {
    const { client, server } = await serveAnswers();
    const failing = performSpend(client, order, createOutput().output);
    setTimeout(() => server.close(), 500);
    await expect(failing).rejects.toMatchObject({ code: 'spend_unfinished' });
  });

  it('is not reported for a dry run, which sends nothing', async () => {
    const { client, seen } = await serveAnswers(undefined);
    const dryRun = { ...order, body: { ...order.body, dryRun: true } };
    await expect(performSpend(client, dryRun, createOutput().output)).rejects.toMatchObject({
      code: 'agent_unreachable',
    });
    expect(seen).toHaveLength(1);
  });
});

describe('Ctrl-C', () => {
  it('ends the command with 130, and the agent continues', async () => {
    const { client, state } = await serve();
    state.spendDelayMs = 2_000;
    const { output, printed, shown } = createOutput();
    setTimeout(() => process.emit('SIGINT'), 300);
    expect(await performSpend(client, order, output)).toBe(130);
    expect(printed).toEqual([]);
    expect(shown.join('')).toContain('the agent continues the spend');
  });
});

describe('the command line', () => {
  async function run(argv: readonly string[], answer?: string) {
    const { output, printed, shown, asked } = createOutput(answer !== undefined, answer);
    let errors = '';
    const err = (text: string): void => {
      errors += text;
    };
    const code = await runCli(argv, { ...output, err });
    return { code, errors, printed, shown: shown.join(''), asked };
  }

  /** A configuration file that names a served agent. */
  async function configure(changes: Readonly<Record<string, string>> = {}) {
    const world = await serve();
    const home = mkdtempSync(join(tmpdir(), 'pool-spend-'));
    onTestFinished(() => rmSync(home, { recursive: true }));
    writeFileSync(join(home, 'loopback.token'), `${loopbackToken}\n`);
    const six = { address: token, decimals: 6 };
    const chain = {
      ...{ family: 'evm', chainId: 31337, rpcUrl: 'http://127.0.0.1:8545', deployedAtBlock: 0 },
      ...{ pool: token, registry: token, finality: { kind: 'depth', blocks: 1 }, maxRecipients: 3 },
      tokens: { USDC: six, EURC: six, USDT: six },
    };
    const evidence = { domain: 'pool.test', uri: 'https://pool.test' };
    writeFileSync(join(home, 'chains.json'), JSON.stringify({ evidence, chains: { base: chain } }));
    const file = join(home, 'agent.env');
    const variables = {
      DISBURSE_PLATFORM_URL: 'https://pool.example/agent-edge',
      DISBURSE_PLATFORM_TOKEN: 'pool_edge_x',
      DISBURSE_HOME: home,
      DISBURSE_PORT: new URL(world.url).port,
      DISBURSE_TRANSFER_TOKEN: apiKey('transfer'),
      DISBURSE_SEND_TOKEN: apiKey('send'),
      ...changes,
    };
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
    writeFileSync(file, lines.join('\n'), { mode: 0o600 });
    const env = ['--env-file', file];
    return {
      world,
      run: (argv: string[], answer?: string) => run([...argv, ...env], answer),
    };
  }

  it('reads each operation’s key from its own variable, and the default token [command.transfer, command.send, command.default-token, command.role-credentials]', async () => {
    const { world, run: runHere } = await configure();
    expect((await runHere(['transfer', '--to', w, '--amount', '5'])).code).toBe(0);
    expect((await runHere(['transfer', '--to', `${w}:7`, '--chain', 'base'])).code).toBe(0);
    expect((await runHere(['send', '--amount', '6', '--to', 'bank', '--dry-run'])).code).toBe(0);
    expect(world.state.spends).toMatchObject([
      { operation: 'transfer', body: { token: 'USDC', recipients: [{ amount: '5' }] } },
      { operation: 'transfer', body: { recipients: [{ amount: '7' }] }, chain: 'base' },
      { operation: 'send', body: { token: 'USDC', amount: '6', to: 'bank', dryRun: true } },
    ]);
    expect(new Set(world.state.spends.map(({ key }) => key)).size).toBe(3);
    expect(world.state.verifiedKeys).toEqual(new Set([apiKey('transfer'), apiKey('send')]));
  });

  it('takes the token of DISBURSE_TOKEN_SYMBOL, and --token before it [command.default-token, variable.token-symbol]', async () => {
    const { world, run: runHere } = await configure({ DISBURSE_TOKEN_SYMBOL: 'EURC' });
    await runHere(['send', '--amount', '6']);
    await runHere(['send', '--amount', '6', '--token', 'USDT']);
    expect(world.state.spends).toMatchObject([
      { body: { token: 'EURC' } },
      { body: { token: 'USDT' } },
    ]);
  });

  it('names the variable of a missing key [command.role-credentials, variable.transfer-token, variable.send-token]', async () => {
    const { world, run: runHere } = await configure({ DISBURSE_SEND_TOKEN: '' });
    const { code, errors } = await runHere(['send', '--amount', '6']);
    expect([code, errors]).toEqual([
      1,
      expect.stringMatching(/^holder_unavailable: DISBURSE_SEND/),
    ]);
    expect(world.state.spends).toEqual([]);
  });

  it('asks on a terminal, and sends nothing without a yes', async () => {
    const { world, run: runHere } = await configure();
    const spend = ['transfer', '--to', w, '--amount', '1.5USDC'];
    const declined = await runHere(spend, 'no');
    expect(declined.code).toBe(2);
    expect(declined.errors).toContain('payment_declined');
    expect(declined.shown).toContain('transfer on base: 1.5 USDC in total');
    expect(world.state.spends).toEqual([]);
    expect((await runHere(spend, 'y')).code).toBe(0);
    expect((await runHere([...spend, '--yes'], 'no')).code).toBe(0);
    const attached = await runHere([...spend, '--key', 'k-9'], 'no');
    expect(attached.code).toBe(0);
    expect(world.state.spends.map(({ key, isAttached }) => [key, isAttached])).toEqual([
      [expect.stringMatching(/^transfer-/), false],
      [expect.stringMatching(/^transfer-/), false],
      ['k-9', true],
    ]);
  });

  it('takes tokens with their symbol or with --decimal, and base units [command.amounts]', async () => {
    const { world, run: runHere } = await configure();
    await runHere(['send', '--amount', '1000.50USDC']);
    await runHere(['send', '--amount', '1000.50 USDC', '--yes']);
    await runHere(['send', '--amount', '1000.50', '--decimal', '--yes']);
    await runHere(['send', '--amount', '1000500000', '--yes']);
    await runHere(['send', '--amount', '1.000,50', '--number-format', 'point-comma', '--yes']);
    await runHere(['transfer', '--to', `${w}:1000.50USDC`]);
    const merges = await runHere(['consolidate', '--until', '1000.50USDC', '--dry-run']);
    expect(merges.printed.join('\n')).toContain('1000.5 USDC');
    const payees = [{ walletPub: w, amount: '1000500000' }];
    expect(world.state.spends.map(({ body }) => body)).toEqual([
      ...Array.from({ length: 5 }, () => ({ token: 'USDC', amount: '1000500000' })),
      { token: 'USDC', recipients: payees },
    ]);
  });

  it.each([
    [['--amount', '1000USDT'], '--amount: "1000USDT" is in USDT, but the token is USDC'],
    [['--amount', '1.5'], '"1.5" is not a whole number of base units; write 1.5USDC'],
    [['--amount', '1,200.50'], '"1,200.50" is not a whole number of base units; write 1200.5USDC'],
    [['--amount', '1.500,5USDC'], 'write 1500.5USDC'],
    [['--amount', '0.0000001USDC'], 'has 7 decimals, but USDC has 6'],
    // The audit's case: it withdrew 0.001 USDC without a summary.
    [
      ['--amount', '1000', '--yes'],
      '1000 is in base units, which is 0.001 USDC; --yes takes less than one USDC only if it is written in tokens: 0.001USDC for this amount, or 1000USDC',
    ],
    [['--amount', '5', '--yes', '--token', 'DAI'], 'how many decimals DAI has'],
  ])('refuses %j and sends nothing', async (argv, message) => {
    const { world, run: runHere } = await configure();
    const { code, errors } = await runHere(['send', ...argv]);
    expect([code, errors]).toEqual([2, expect.stringContaining(message)]);
    expect(world.state.spends).toEqual([]);
  });

  it('says what leaves in tokens, also with --yes, and the receipt in tokens', async () => {
    const { run: runHere } = await configure();
    const { shown, printed } = await runHere(['send', '--amount', '0.001USDC', '--yes']);
    expect(shown).toMatch(/^.*send.*: 0\.001 USDC to the holder's own wallet\n/m);
    expect(shown).toMatch(/paid 0\.001 USDC to the holder's own wallet; change: 0 USDC\n$/);
    expect(Object.keys(JSON.parse(printed.join('')) as object)).toContain('changeAmount');
  });

  it('asks on a terminal what a number without a unit counts, and shows both', async () => {
    const { world, run: runHere } = await configure();
    const neither = await runHere(['send', '--amount', '1234', '--dry-run'], 'y');
    expect([neither.code, neither.errors]).toEqual([2, expect.stringContaining('1234USDC')]);
    expect(neither.asked[0]).toMatch(
      /^1234 has no unit.*\n {2}b .*: 0\.001234 USDC\n {2}t .*: +1234 USDC\n/,
    );
    await runHere(['send', '--amount', '1234', '--dry-run'], 'T');
    await runHere(['send', '--amount', '1234', '--dry-run'], 'b');
    expect(world.state.spends).toMatchObject([
      { body: { amount: '1234000000' } },
      { body: { amount: '1234' } },
    ]);
  });

  it.each([
    [1, ['transfer'], /--to <W>/],
    [1, ['transfer', '--to', w, '--amount', '5', '--amount', '6'], /Give this option once/],
    [1, ['send'], /--amount/],
    [1, ['send', '--amount', '5', '--to', 'a', '--to', 'b'], /Give this option once/],
    [
      2,
      ['transfer', '--to', `0x${'70'.repeat(20)}`, '--amount', '5'],
      /^invalid_request: --to is an/,
    ],
    [2, ['transfer', '--to', w], /^invalid-amount: --to: the amount is missing/],
    [2, ['transfer', '--to', `${w}:5`, '--dry-run', '--key', 'k'], /^invalid_/],
  ])(
    'ends with %i: %j [send.one-destination, command.send, limit.one-destination]',
    async (expected, argv, message) => {
      const { code, errors } = await run(argv);
      expect([code, errors]).toEqual([expected, expect.stringMatching(message)]);
    },
  );
});
