// What `up`, `down` and `status` do with processes, tested with processes that do nothing.
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning, type ManagedProcess, startProcess } from '@pool/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockDirectory } from '../processes/directory-lock.ts';
import { openProcessLedger } from '../processes/process-ledger.ts';
import { createProgress } from '../processes/progress.ts';
import { bringUp, readStatus, takeDown } from './lifecycle.ts';
import { startStack } from './stack.ts';

let directory: string;
let started: ManagedProcess[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'pool-sandbox-'));
  started = [];
});
afterEach(async () => {
  await Promise.all(started.map((process) => process.kill()));
  rmSync(directory, { recursive: true, force: true });
});

function startIdle(name: string): ManagedProcess {
  const process_ = startProcess({
    name,
    command: process.execPath,
    args: ['-e', 'setInterval(() => {}, 1000)'],
    logPath: join(directory, `${name}.log`),
  });
  started.push(process_);
  return process_;
}

const progress = createProgress({ stream: { write: () => undefined }, plainLines: false });
function up() {
  return bringUp({ directory, signer: 'local-key', holderCount: 1, progress });
}

function pretendUp(...processes: ManagedProcess[]): void {
  const ledger = openProcessLedger(directory);
  for (const { name, identity } of processes) {
    ledger.add(name, identity);
  }
  const named = processes.map(({ name, identity }) => ({ name, pid: identity.pid, log: '' }));
  writeFileSync(
    join(directory, 'sandbox.json'),
    JSON.stringify({ signer: 'local-key', processes: named }),
  );
}

describe('the sandbox', () => {
  it('is down if nothing was started, and then down succeeds', async () => {
    expect(readStatus(directory)).toEqual({ state: 'down', processes: [], file: undefined });
    expect(await takeDown(directory)).toBe(0);
  });

  it('is up while everything runs, and then up starts nothing', async () => {
    pretendUp(startIdle('chain'), startIdle('agent'));
    expect(readStatus(directory).state).toBe('up');
    expect((await up()).alreadyUp).toBe(true);
  });

  it('is broken when a part has died; then up is refused, and down ends the rest', async () => {
    const [chain, agent] = [startIdle('chain'), startIdle('agent')];
    pretendUp(chain, agent);
    await agent.kill();
    expect(readStatus(directory)).toMatchObject({
      state: 'broken',
      processes: [
        { name: 'chain', running: true },
        { name: 'agent', running: false },
      ],
    });
    await expect(up()).rejects.toMatchObject({ code: 'sandbox_failed' });
    expect(await takeDown(directory)).toBe(1);
    expect(isRunning(chain.identity)).toBe(false);
    expect(readStatus(directory).state).toBe('down');
    expect(existsSync(join(directory, 'sandbox.json'))).toBe(false);
  });

  it('ends only the processes that it started, even if a pid has a new owner', async () => {
    const [ours, foreign] = [startIdle('ours'), startIdle('foreign')];
    const ledger = openProcessLedger(directory);
    ledger.add('ours', ours.identity);
    // An entry left by a crash, whose pid now belongs to another process.
    ledger.add('earlier', { pid: foreign.identity.pid, startedAt: '1' });
    expect(await takeDown(directory)).toBe(1);
    expect(isRunning(ours.identity)).toBe(false);
    expect(isRunning(foreign.identity)).toBe(true);
  });

  it('allows one command at a time, and ignores the lock of a crashed one', () => {
    const lock = lockDirectory(directory);
    expect(() => lockDirectory(directory)).toThrow(
      expect.objectContaining({ code: 'data_directory_locked' }),
    );
    lock.release();
    const abandoned = JSON.stringify({ pid: process.pid, startedAt: 'an earlier boot' });
    writeFileSync(join(directory, 'command.lock'), abandoned);
    lockDirectory(directory).release();
    expect(existsSync(join(directory, 'command.lock'))).toBe(false);
  });

  it('ends a process at once that is started while it stops', async () => {
    const ledger = openProcessLedger(directory);
    await ledger.endAll();
    const late = startIdle('late');
    expect(() => ledger.add('late', late.identity)).toThrow(
      expect.objectContaining({ code: 'sandbox_failed' }),
    );
    await expect.poll(() => isRunning(late.identity)).toBe(false);
  });

  it('names the step that failed, its URL and its log, and ends what it started', async () => {
    // The log of the chain cannot be written, so the chain does not start.
    mkdirSync(join(directory, 'logs/chain.log'), { recursive: true });
    await expect(startStack({ directory })).rejects.toMatchObject({
      code: 'sandbox_failed',
      message: expect.stringMatching(
        /^starting the chain \(http:\/\/127\.0\.0\.1:[0-9]+\) failed: .*\nRead \/.*\/logs\/chain\.log\./,
      ),
    });
    expect(openProcessLedger(directory).list()).toEqual([]);
  });

  it('keeps its list of processes private', () => {
    openProcessLedger(directory).add('chain', startIdle('chain').identity);
    expect(statSync(join(directory, 'processes.json')).mode & 0o777).toBe(0o600);
  });
});
