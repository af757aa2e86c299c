// A real chain, the real contracts and a real payment into the pool by a relayer of this test. Then the registry is revoked and funding is
// paused: no platform, gate or agent ever ran. The program withdraws with the holder's files and keys.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createArtifactStore } from '@pool/circuits';
import { connectErc20, decodeSpend } from '@pool/contracts';
import { zeroWord } from '@pool/core';
import { type Anvil, mineMeanwhile, signalAt, startAnvil } from '@pool/testkit';
import { openSpendArchive } from '@pool/wallet/node';
import { JsonRpcProvider, Wallet } from 'ethers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createFundedPool, type FundedPool } from './fixtures/funded-pool.ts';

let anvil: Anvil;
let provider: JsonRpcProvider;
let pool: FundedPool;
let folder: string;
const gasKey = Wallet.createRandom();
const recipient = Wallet.createRandom().address;

beforeAll(async () => {
  anvil = await startAnvil({ blockTimeSeconds: 0.4, slotsInAnEpoch: 1 });
  provider = new JsonRpcProvider(anvil.rpcUrl, undefined, { cacheTimeout: -1 });
  provider.pollingInterval = 50;
  folder = mkdtempSync(join(tmpdir(), 'exit-'));
  pool = await mineMeanwhile(provider, () => createFundedPool(provider, [30n, 12n]));
  await provider.send('anvil_setBalance', [gasKey.address, `0x${(10n ** 18n).toString(16)}`]);
  const { wasm, zkey } = await createArtifactStore().ensureArtifacts('spend-2x4');
  writeFileSync(
    join(folder, 'exit.json'),
    JSON.stringify({
      chain: {
        ...{ family: 'evm', rpcUrl: anvil.rpcUrl, chainId: 31337, maxRecipients: 16 },
        ...{ pool: pool.address, registry: pool.registry, deployedAtBlock: 0 },
        finality: { kind: 'finalized-tag' },
        tokens: { TUSD: { address: pool.token, decimals: 6 } },
      },
      token: 'TUSD',
      platformDomain: pool.platformDomain,
      circuits: { 'spend-2x4': { wasm, zkey } },
    }),
  );
  writeFileSync(join(folder, 'notes.json'), JSON.stringify(pool.notesFile));
});
afterAll(async () => {
  provider.destroy();
  await anvil.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** @param preload - options of Node */
function run(
  amount: string,
  withdrawal: string,
  notes = 'notes.json',
  preload: readonly string[] = [],
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const files = [join(folder, 'exit.json'), join(folder, notes)];
  const main = join(import.meta.dirname, 'main.ts');
  const child = spawn(
    process.execPath,
    [
      '--conditions=@pool/source',
      ...preload,
      main,
      ...files,
      amount,
      recipient,
      join(folder, withdrawal),
    ],
    {
      env: {
        ...process.env,
        HOLDER_PRIVATE_KEY: pool.holderKey,
        GAS_PRIVATE_KEY: gasKey.privateKey,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

function balance(): Promise<bigint> {
  return connectErc20(pool.token, provider).balanceOf(recipient);
}

/** Of the withdrawal that is open. */
async function readSignature(withdrawal: string) {
  const archive = openSpendArchive(join(folder, withdrawal, 'spends.sqlite'));
  const [open] = await archive.listOpen();
  archive.close();
  if (open?.state.kind !== 'signed') throw new Error('no signature is stored');
  return open.state.signature;
}

it('finds nothing in a file of foreign and invented notes', async () => {
  const { notes } = pool.notesFile;
  const [first] = notes;
  const sealed = `0x${'00'.repeat(209)}`;
  const invented = [...notes.map((note) => ({ ...note, sealed })), { ...first, leafIndex: 7 }];
  writeFileSync(
    join(folder, 'invented.json'),
    JSON.stringify({ ...pool.notesFile, notes: invented }),
  );
  const { code, stderr } = await run('5', 'invented-withdrawal', 'invented.json');
  expect(code).toBe(1);
  expect(stderr).toContain('the notes hold 0 base units, less than the amount');
});

it('continues after a kill with the signature that it has, and the token arrives', async () => {
  const killed = await run('35', 'first', 'notes.json', signalAt('proving', 'SIGKILL'));
  expect(killed.code).toBeNull();
  const before = await readSignature('first');
  expect(await balance()).toBe(0n);

  const { code, stdout, stderr } = await run('35', 'first');
  expect(stderr).toContain('2 spendable note(s), 42 base units');
  expect([code, await balance()]).toEqual([0, 35n]);
  const { outRoot } = JSON.parse(stdout) as { outRoot: string };
  const hash = /sent (0x[0-9a-f]{64})/.exec(stderr)?.[1] ?? '';
  const sent = await provider.getTransaction(hash);
  const { operation } = decodeSpend(sent?.data ?? '');
  expect(operation).toMatchObject({ outRoot, ...before, eligibilityRoot: zeroWord });
  expect(sent?.data.toLowerCase()).not.toContain(pool.holderAddress.slice(2).toLowerCase());

  // Once more: the chain has it, and nothing is sent.
  const again = await run('35', 'first');
  expect([again.code, again.stderr.includes('sent 0x'), await balance()]).toEqual([0, false, 35n]);
});

it('finds its change on the chain, and withdraws the rest', async () => {
  const { code, stderr } = await run('7', 'second');
  expect(stderr).toContain('1 spendable note(s), 7 base units');
  expect([code, await balance()]).toEqual([0, 42n]);
  const empty = await run('1', 'third');
  expect(empty.stderr).toContain('0 spendable note(s)');
});
