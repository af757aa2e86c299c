/**
 * The gas snapshot: the cost of whole transactions equals the committed figures exactly.
 *
 * `pnpm --filter @pool/contracts run gas` writes the snapshot again.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { type Anvil, startAnvil } from '@pool/testkit';
import { JsonRpcProvider } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createGasScene,
  findProof,
  type GasScene,
  measureFund,
  measurePublicTransfer,
} from './scene.ts';
import { findSpend, measureSpend } from './spend-scene.ts';

const snapshotUrl = new URL('../../gas.snapshot', import.meta.url);
const isUpdate = process.env['UPDATE_GAS_SNAPSHOT'] === '1';

const committed = new Map(
  readFileSync(snapshotUrl, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(': '))
    .map(([name, gas]): [string, bigint] => [name ?? '', BigInt(gas ?? '0')]),
);

describe('gas of whole transactions', () => {
  let anvil: Anvil;
  let provider: JsonRpcProvider;
  let scene: GasScene;
  const measured = new Map<string, bigint>();

  const check = (name: string, gas: bigint): void => {
    measured.set(name, gas);
    if (!isUpdate) expect(gas).toBe(committed.get(name));
  };

  beforeAll(async () => {
    anvil = await startAnvil();
    provider = new JsonRpcProvider(anvil.rpcUrl, undefined, { cacheTimeout: -1 });
    scene = await createGasScene(provider);
  });

  afterAll(async () => {
    provider.destroy();
    await anvil.stop();
    if (!isUpdate) return;
    const lines = [...measured].map(([name, gas]) => `${name}: ${String(gas)}\n`);
    writeFileSync(snapshotUrl, lines.join(''));
  });

  it('fund with 16 recipients stays below 35,000 per recipient', async () => {
    const gas = await measureFund(scene, findProof('fund-16'));
    expect(gas / 16n).toBeLessThan(35_000n);
    check('fund-16', gas);
  });

  it('fund with 64 recipients stays below 9,000 per recipient', async () => {
    const gas = await measureFund(scene, findProof('fund-64'));
    expect(gas / 64n).toBeLessThan(9_000n);
    check('fund-64', gas);
  });

  it('fund with 256 recipients stays below 3,500 per recipient', async () => {
    const gas = await measureFund(scene, findProof('fund-256'));
    expect(gas / 256n).toBeLessThan(3_500n);
    check('fund-256', gas);
  });

  it.each([16, 64, 100, 256])('a public batch transfer to %i people', async (count) => {
    const { newHolders, existingHolders } = await measurePublicTransfer(scene, count);
    check(`public-transfer-new-${String(count)}`, newHolders);
    check(`public-transfer-existing-${String(count)}`, existingHolders);
  });

  it('a transfer with two inputs stays below 460,000', async () => {
    const gas = await measureSpend(scene, findSpend('transfer to two'));
    expect(gas).toBeLessThan(460_000n);
    check('spend-2x4-transfer', gas);
  });

  it('a send with two inputs stays below 490,000', async () => {
    const gas = await measureSpend(scene, findSpend('send with change'));
    expect(gas).toBeLessThan(490_000n);
    check('spend-2x4-send', gas);
  });

  it('a transfer with sixteen inputs', async () => {
    check('spend-16x8-transfer', await measureSpend(scene, findSpend('transfer to seven')));
  });

  it.skipIf(isUpdate)('the README states the committed figures', () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    for (const [name, gas] of committed) {
      const people = /(?:fund|-new|-existing)-(\d+)$/.exec(name)?.[1];
      const figures = people === undefined ? [gas] : [BigInt(people), gas, gas / BigInt(people)];
      const row = figures.map((figure) => figure.toLocaleString('en-US'));
      expect(readme, name).toContain(`| ${row.join(' | ')} |`);
    }
  });
});
