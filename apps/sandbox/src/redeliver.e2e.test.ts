// A platform that was restored from a backup of before a payment: its recipients' notes come back from the funder. One recipient watches its
// balance meanwhile, the other one takes the funder's file.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { countFundedBatches, fetchPoolBalance } from './demo/chain-facts.ts';
import { readReceivedNotes } from './demo/received-notes.ts';
import { startHolderAgent } from './fixtures/holder-agent.ts';
import { payThroughOlderCopies } from './fixtures/older-copies.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';
import { runAgentCommand } from './processes/agent-command.ts';
import { type Agent, agentScript } from './processes/agent-process.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack({ holderCount: 2, isEmbedded: true });
});
afterAll(async () => {
  await stack.end();
});

it('serves the notes of a payment again after the platform lost them [command.balance-watch, command.notes-import]', async () => {
  const { client, place, holders, agent, directory } = stack;
  const watching = await startHolderAgent(stack, holders[0]!, 'watching');
  const backup = join(directory, 'backup');
  await stack.restartPlatform((data) => cpSync(data, backup, { recursive: true }));
  const watch = startWatch(watching);
  await waitFor(() => watch.stdout.includes(`on ${stack.chain}`));
  await client.disburse('june', stack.createRequest({ 0: 1_500_000n, 1: 2n }));
  expect((await client.waitForJob('june')).result?.status).toBe('completed');
  const amountsOf = async (index: number) =>
    (await readReceivedNotes(place, holders[index]!, 'USDC')).map(({ amount }) => amount);
  expect(await amountsOf(0)).toEqual([1_500_000n]);

  await waitFor(() => watch.stdout.includes('1.5 USDC (1 note(s)'));
  await stack.restartPlatform(async (data) => {
    rmSync(data, { recursive: true });
    cpSync(backup, data, { recursive: true });
    await waitFor(() => watch.stderr.includes('the watch goes on'));
  });
  await waitFor(() => watch.stderr.includes('the balance can be read again'));
  expect(await amountsOf(0)).toEqual([]);

  for (const _again of [1, 2]) {
    const { code, stdout } = await runAgentCommand(agent, ['redeliver', '--all']);
    expect([code, stdout]).toEqual([0, expect.stringContaining('june: the platform has its 16')]);
  }
  expect(await amountsOf(0)).toEqual([1_500_000n]);
  expect(await amountsOf(1)).toEqual([2n]);
  // It moved no money, and the key stays paid.
  expect(await countFundedBatches(place)).toBe(1);
  const repeated = await client.disburse('june', stack.createRequest({ 0: 1_500_000n, 1: 2n }));
  expect(repeated).toMatchObject({ status: 200, body: { state: 'done' } });

  const file = join(directory, 'notes.json');
  const { encryptionPublicKey } = holders[1]!;
  const written = await runAgentCommand(agent, [
    ...['redeliver', 'june', '--out', file, '--for', encryptionPublicKey],
  ]);
  expect(written.code).toBe(0);
  const { batches } = JSON.parse(readFileSync(file, 'utf8')) as {
    batches: { notes: { encryptionPublicKey: string }[] }[];
  };
  expect(batches.flatMap(({ notes }) => notes.map((note) => note.encryptionPublicKey))).toEqual([
    encryptionPublicKey,
  ]);
  await expectImported(file);

  // One arrival, although the platform lost the note and got it again.
  expect(await watch.interrupt()).toBe(0);
  const [before, arrival, after, ...others] = watch.stdout.trim().split('\n');
  expect([before, after]).toEqual([
    `0 USDC (0 note(s), largest 0 USDC) on ${stack.chain}`,
    `1.5 USDC (1 note(s), largest 1.5 USDC) on ${stack.chain}`,
  ]);
  expect(arrival).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC {2}\+1\.5 USDC {2}0x[0-9a-f]{64}$/);
  expect(others).toEqual([]);
  expect(watch.stderr.match(/can be read again/g)).toHaveLength(1);
});

it('pays nothing twice when agent, platform and gate are restored from older copies in files', async () => {
  const before = await countFundedBatches(stack.place);
  const { agent, paid } = await payThroughOlderCopies(stack, stack.agent, {});
  expect(await countFundedBatches(stack.place)).toBe(before + paid.length);
  expect(await fetchPoolBalance(stack.place, 'USDC')).toBe(
    paid.reduce((a, b) => a + b, 1_500_002n),
  );
  await agent.process.stop();
});

/** The second recipient has keys and chains.json, and no platform. It takes the file of its payer, and exports what it has. */
async function expectImported(file: string): Promise<void> {
  const home = join(stack.directory, 'alone');
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(join(home, 'chains.json'), JSON.stringify(stack.chains), { mode: 0o600 });
  const environment = {
    DISBURSE_HOME: home,
    DISBURSE_HOLDER_PRIVATE_KEY: stack.holders[1]!.privateKey,
  };
  const lines = [
    '1 new, 0 known, 0 refused\n  balance: from 0 USDC to 0.000002 USDC',
    '0 new, 1 known',
  ];
  for (const line of lines) {
    const imported = await runAgentCommand({ environment }, ['notes', 'import', file]);
    expect([imported.code, imported.stdout]).toEqual([0, expect.stringContaining(line)]);
  }
  const kept = join(home, 'kept.json');
  const exported = await runAgentCommand({ environment }, ['notes', 'export', '--file', kept]);
  expect([exported.code, exported.stdout]).toEqual([0, expect.stringContaining('1 sealed note')]);
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  const again = await runAgentCommand({ environment }, ['notes', 'import', kept]);
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('0 new, 1 known')]);
}

function startWatch({ environment }: Agent) {
  const child = spawn(
    process.execPath,
    ['--conditions=@pool/source', agentScript, 'balance', '--watch'],
    { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const watch = {
    ...{ stdout: '', stderr: '' },
    interrupt(): Promise<number | null> {
      child.kill('SIGINT');
      return ended;
    },
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    watch.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    watch.stderr += text;
  });
  return watch;
}

async function waitFor(isTrue: () => boolean): Promise<void> {
  const giveUpAtMs = Date.now() + 120_000;
  while (!isTrue()) {
    if (Date.now() > giveUpAtMs) {
      throw new Error('it did not happen within two minutes');
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
