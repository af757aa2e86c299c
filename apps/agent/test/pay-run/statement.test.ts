// `statement`: the account that pays, over a period, from a job store and a chain that says who paid when.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type EvmChainSettings, parseEvmAddress } from '@pool/core';
import { openJobStore } from '@pool/idempotency';
import { expect, it } from 'vitest';
import {
  type StatementCommand,
  type StatementPorts,
  writeStatement,
} from '../../../../packages/pay-run/src/commands/statement.ts';
import { createWorld, openCommands } from './invited-world.ts';

const funder = parseEvmAddress(`0x${'11'.repeat(20)}`);
const november: StatementCommand = {
  ...{ chain: 'anvil', token: 'USDC', account: '1200', fiat: 'EUR=100', opening: '1.00' },
  ...{ from: '2026-11-01T00:00:00Z', to: '2026-12-01T00:00:00Z', deposit: [] },
};

/** Two parts are paid: 1000 and 1001 base units, on 28 November. */
async function start(change: Partial<StatementPorts> = {}) {
  const world = createWorld([], 2);
  await world.split();
  const { home, payer, output, printed } = await openCommands(world);
  const tokens = { USDC: { address: parseEvmAddress(`0x${'22'.repeat(20)}`), decimals: 6 } };
  const ports: StatementPorts = {
    ledger: payer.ledger,
    readChains: () => ({ anvil: { tokens } as unknown as EvmChainSettings }),
    openRecords: () => ({
      ...payer.openRecords!({} as EvmChainSettings),
      fetchFunder: async () => funder,
    }),
    nowMs: () => Date.UTC(2026, 11, 2),
    ...change,
  };
  const run = async (options: Partial<StatementCommand> = {}) => {
    expect(await writeStatement({ ...november, ...options }, ports, output)).toBe(0);
    return printed();
  };
  return { home, payer, ports, run };
}

it('writes the batches of the period, and the closing balance, into a new file of its owner', async () => {
  const { home, run } = await start();
  const path = join(home, 'november.xml');
  // Both parts have the transaction hash of the fake chain, so they are one entry of 0.10 + 0.10.
  expect(await run({ out: path })).toBe(`${path}: 1 entries, closing balance 0.80 EUR`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(`<Nm>${funder} USDC on anvil</Nm>`);
  expect(text).toContain('<Sum>0.20</Sum>');
  await expect(run({ out: path })).rejects.toMatchObject({ code: 'file_not_written' });
});

it('has no entry of another period, and adds the deposits that are declared', async () => {
  const { run } = await start();
  const october = { from: '2026-10-01T00:00:00Z', to: '2026-11-01T00:00:00Z' };
  const text = await run({ ...october, deposit: ['2026-10-05=4.5', '2026-10-31=0.50'] });
  expect(text.match(/<Ntry>/g)).toHaveLength(2);
  expect(text).toContain('<Amt Ccy="EUR">6.00</Amt>');
  expect(text).not.toContain('DBIT</CdtDbtInd>');
  const december = { from: '2026-12-01T00:00:00Z', to: '2026-12-02T00:00:00Z' };
  expect(await run(december)).not.toContain('<Ntry>');
});

it.each([
  [{ to: '2026-12-03T00:00:00Z' }, /^--to: the period has not ended/],
  [{ account: '' }, /^--account/],
  [{ account: 'x'.repeat(35) }, /^--account/],
  [{ funder: '0x1234' }, /^--funder: give the address/],
  [{ token: 'DAI' }, /^--token: the settings have no token DAI on anvil/],
  [{ opening: '1.001' }, /at most 2 digits/],
  [{ opening: '0.19' }, /0\.01 EUR more than the account had/],
  [{ deposit: ['2026-11-31=1'] }, /^--deposit: give a day/],
  [{ deposit: ['2026-12-01=1'] }, /^--deposit: 2026-12-01 is not in the period/],
] satisfies readonly [Partial<StatementCommand>, RegExp][])('refuses %j', async (options, why) => {
  const { run } = await start();
  await expect(run(options)).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringMatching(why),
  });
});

it('refuses while a payment runs that may be in the period', async () => {
  const { payer, run } = await start();
  const store = await openJobStore(payer.ledger.jobs);
  const payload = JSON.stringify({
    ...{ key: 'late', chain: 'anvil', tokenSymbol: 'USDC', recipients: [], skipped: [] },
    phase: { kind: 'accepted' },
  });
  const name = { scope: 'employer', key: 'late', fingerprint: 'f', state: 'accepted', payload };
  await store.claim({ ...name, nowMs: Date.UTC(2026, 9, 30) });
  await store.close();
  await expect(run()).rejects.toMatchObject({
    code: 'statement_incomplete',
    message: expect.stringContaining('payment late is running'),
  });
});

it('refuses when the chain does not say when or by whom a payment was made', async () => {
  const { ports, run } = await start();
  const records = ports.openRecords({} as EvmChainSettings);
  const silent = { ...records, fetchTransactionLeaves: async () => [] };
  const other = parseEvmAddress(`0x${'33'.repeat(20)}`);
  const refused = async (change: object) => {
    const { run: again } = await start({ openRecords: () => ({ ...records, ...change }) });
    await expect(again()).rejects.toMatchObject({ code: 'statement_incomplete' });
  };
  await refused(silent);
  await refused({ fetchFunder: async () => undefined });
  // The account of another funder has no entry.
  expect(await run({ funder: other })).not.toContain('<Ntry>');
});
