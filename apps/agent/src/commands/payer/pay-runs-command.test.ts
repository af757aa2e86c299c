// `disburse-agent pay-runs`: what this directory sent, and what the agent says of it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DisbursementJob, numberFormatExamples, numberFormats, Secret } from '@pool/core';
import { readData } from '@pool/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { withPortProof } from '../../../../../packages/pay-run/src/fixtures/port-proofs.ts';
import {
  openPayRunLedger,
  payRunLedgerPath,
} from '../../../../../packages/pay-run/src/ledger/pay-run-ledger.ts';
import { runCli } from '../../cli.ts';
import { numberFormat } from '../../cli-options.ts';
import { loopbackToken, token } from '../../fixtures/test-app.ts';

const digest = `0x${'5c'.repeat(32)}`;

function paidJob(key: string): DisbursementJob {
  const recipientAddress = '0x8EF31ED37e5320931Bf85677De447824a66c9991';
  const commitment = `0x${'01'.repeat(32)}`;
  return {
    key,
    state: 'done',
    result: {
      status: 'completed',
      batches: [{ index: 0, txHash: '0x5c', recipientCount: 1, status: 'success' }],
      notes: [
        { requestIndex: 0, recipientAddress, commitment, amount: '1500000', status: 'success' },
      ],
      skipped: [],
      allowance: { state: 'sufficient' },
    },
  };
}

/** An agent that has paid the first part of everything, and knows no other part. */
async function start(isUp = true) {
  const home = mkdtempSync(join(tmpdir(), 'pool-pay-runs-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const listener: RequestListener = (request, response) => {
    const key = decodeURIComponent(request.url?.split('/').at(-1) ?? '');
    const isKnown = key.includes('1of2') || key.startsWith('may-');
    response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(isKnown ? paidJob(key) : { code: 'not_found', message: 'never seen' }),
    );
  };
  const server = createServer(withPortProof(new Secret(loopbackToken), listener));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): void => void server.close();
  onTestFinished(close);
  if (!isUp) {
    close();
  }
  writeFileSync(join(home, 'loopback.token'), `${loopbackToken}\n`);
  const chain = {
    ...{ family: 'evm', chainId: 31337, rpcUrl: 'http://127.0.0.1:8545', pool: token },
    ...{ registry: token, deployedAtBlock: 0, finality: { kind: 'depth', blocks: 1 } },
    ...{ maxRecipients: 3, tokens: { USDC: { address: token, decimals: 6 } } },
  };
  const evidence = { domain: 'pool.test', uri: 'https://pool.test' };
  writeFileSync(join(home, 'chains.json'), JSON.stringify({ evidence, chains: { base: chain } }));
  const file = join(home, 'agent.env');
  const variables = [
    'DISBURSE_PLATFORM_URL=https://pool.example/agent-edge',
    'DISBURSE_PLATFORM_TOKEN=pool_edge_x',
    `DISBURSE_HOME=${home}`,
    `DISBURSE_PORT=${port}`,
  ];
  writeFileSync(file, variables.join('\n'), { mode: 0o600 });
  const ledger = openPayRunLedger(payRunLedgerPath(home));
  const place = { chain: 'base', token: 'USDC' };
  const since = { attempt: 1, sent: 'accepted' } as const;
  const record = (sinceMs: number, count: number) => ({
    digest,
    parts: Array.from({ length: count }, () => ({ ...since, sinceMs })),
  });
  await ledger.change({ ...place, payRun: 'may' }, () => record(Date.UTC(2026, 4, 29, 9, 30), 1));
  await ledger.change({ ...place, payRun: 'june' }, () => record(Date.UTC(2026, 5, 29, 9, 30), 2));
  await ledger.close();
  return async (...argv: string[]) => {
    const [printed, shown]: [string[], string[]] = [[], []];
    const code = await runCli([...argv, '--env-file', file], {
      out: (text) => void printed.push(text),
      err: (text) => void shown.push(text),
      terminal: { isTty: false, write: (text) => void shown.push(text) },
    });
    return { code, printed: printed.join('\n'), shown: shown.join('\n') };
  };
}

describe('disburse-agent pay-runs', () => {
  it('lists every label, the newest first, with what was paid in tokens', async () => {
    const run = await start();
    expect(await run('pay-runs', 'list')).toEqual({
      code: 0,
      printed: [
        'june on base: 1 of 2 parts paid, 1 recipient(s), 1.5 USDC; last sent or changed 2026-06-29 09:30 UTC',
        'may on base: paid, 1 recipient(s), 1.5 USDC; last sent or changed 2026-05-29 09:30 UTC',
      ].join('\n'),
      shown: '',
    });
    expect(await run('pay-runs', 'list', '--chain', 'other')).toMatchObject({
      printed: 'no pay run was sent from this directory',
    });
  });

  it('shows the parts of a label in any spelling, also as JSON', async () => {
    const run = await start();
    const { printed } = await run('pay-runs', 'show', ' JUNE ');
    expect(printed.split('\n')).toEqual([
      expect.stringMatching(/^june on base: /),
      expect.stringMatching(/^ {2}part 1: paid in 0x5c, key june-1of2-[0-9a-f]{32}$/),
      expect.stringMatching(/^ {2}part 2: unknown, key june-2of2-[0-9a-f]{32}$/),
    ]);
    const json = await run('pay-runs', 'show', 'may', '--json');
    expect(readData(json.printed)).toMatchObject({
      payRuns: [
        {
          payRun: 'may',
          chain: 'base',
          token: 'USDC',
          parts: [{ state: 'paid', amount: '1500000' }],
        },
      ],
    });
    expect(await run('pay-runs', 'show', 'july')).toMatchObject({
      code: 2,
      shown: expect.stringContaining('no pay run july was sent from this directory'),
    });
  });

  it('shows what was sent when the agent does not run, and says that it knows no more', async () => {
    const run = await start(false);
    const { code, printed, shown } = await run('pay-runs', 'list');
    expect([code, printed]).toEqual([
      0,
      expect.stringMatching(/^june on base: 0 of 2 parts paid;/),
    ]);
    expect(shown).toContain('the agent does not answer');
  });
});

it('offers the number formats of @pool/core, with their examples', () => {
  const { choices: argChoices, about: description } = numberFormat['--number-format <format>'];
  expect(argChoices).toEqual(numberFormats);
  for (const format of numberFormats) {
    expect(description).toContain(`${numberFormatExamples[format]} (${format})`);
  }
});
