// A platform that was restored from a backup of before a payment: its recipients' notes come back from the funder.
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runAgentCommand } from './agent-command.ts';
import { countFundedBatches } from './chain-facts.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';
import { readReceivedNotes } from './received-notes.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack({ holderCount: 2 });
});
afterAll(async () => {
  await stack.end();
});

it('serves the notes of a payment again after the platform lost them', async () => {
  const { client, place, holders, agent, directory } = stack;
  const backup = join(directory, 'backup');
  await stack.restartPlatform((data) => cpSync(data, backup, { recursive: true }));
  await client.disburse('june', stack.createRequest({ 0: 1_500_000n, 1: 2n }));
  expect((await client.waitForJob('june')).result?.status).toBe('completed');
  const amountsOf = async (index: number) =>
    (await readReceivedNotes(place, holders[index]!, 'USDC')).map(({ amount }) => amount);
  expect(await amountsOf(0)).toEqual([1_500_000n]);

  await stack.restartPlatform((data) => {
    rmSync(data, { recursive: true });
    cpSync(backup, data, { recursive: true });
  });
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
});
