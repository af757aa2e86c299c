/**
 * `pnpm sandbox up`, `down` and `status`.
 *
 * @module
 */
import { join } from 'node:path';
import { PoolError } from '@pool/core';
import type { SignerKind } from '../custody/custody-place.ts';
import { ensureProvingKey } from '../processes/artifacts.ts';
import { lockDirectory } from '../processes/directory-lock.ts';
import { openProcessLedger } from '../processes/process-ledger.ts';
import type { Progress } from '../processes/progress.ts';
import { createInvitation, createPayeePage } from './payee-page.ts';
import {
  readSandboxFile,
  removeDeployment,
  type SandboxFile,
  writeSandboxFile,
} from './sandbox-file.ts';
import { startStack } from './stack.ts';

/** `broken`: some of the processes are gone, or `up` never finished. */
export function readStatus(directory: string) {
  const ledger = openProcessLedger(directory);
  const running = new Set(ledger.listRunning().map(({ pid }) => pid));
  const processes = ledger
    .list()
    .map(({ name, pid }) => ({ name, pid, running: running.has(pid) }));
  const file = readSandboxFile(directory);
  const named = file?.processes ?? [];
  const isComplete = named.length > 0 && named.every(({ pid }) => running.has(pid));
  const state: 'up' | 'broken' | 'down' = isComplete ? 'up' : running.size > 0 ? 'broken' : 'down';
  return { state, processes, file: state === 'up' ? file : undefined };
}

/** @throws PoolError `data_directory_locked`, `sandbox_failed`, and the errors of the services */
export async function bringUp(options: {
  readonly directory: string;
  readonly holderCount: number;
  /** Where the funder's key is. */
  readonly signer: SignerKind;
  readonly progress: Progress;
}): Promise<{
  readonly alreadyUp: boolean;
  readonly file: SandboxFile;
  /** Opens the payee's page for a new person, once. Undefined: the sandbox was up. */
  readonly invitation?: string;
}> {
  const { directory, progress } = options;
  const lock = lockDirectory(directory);
  const ledger = openProcessLedger(directory);
  const interrupt = (): void => {
    void ledger.endAll().finally(() => {
      lock.release();
      process.exit(130);
    });
  };
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  try {
    const status = readStatus(directory);
    if (status.file !== undefined) {
      assertSameSigner(status.file.signer, options.signer);
      return { alreadyUp: true, file: status.file };
    }
    if (status.state === 'broken') {
      throw new PoolError(
        'sandbox_failed',
        'parts of an earlier sandbox still run here: `sandbox down` ends them',
      );
    }
    removeDeployment(directory, { keepLogs: false });
    const page = createPayeePage(join(directory, 'payee-page'));
    await ensureProvingKey('fund-16', progress);
    await ensureProvingKey('spend-2x4', progress);
    await page.placeKeys();
    const stack = await startStack({
      directory,
      ledger,
      holderCount: options.holderCount,
      placePayeePage: page.place,
      ...(options.signer === 'local-key'
        ? {}
        : { custody: { kind: options.signer, holders: async () => [] } }),
      onStep: progress.step,
    });
    const invitation = await createInvitation(stack);
    progress.done();
    return { alreadyUp: false, file: writeSandboxFile(stack), invitation };
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
    lock.release();
  }
}

function assertSameSigner(running: SignerKind, asked: SignerKind): void {
  if (running !== asked) {
    throw new PoolError(
      'data_directory_locked',
      `a sandbox with --signer ${running} is up; "sandbox down" ends it, then start one with --signer ${asked}`,
    );
  }
}

/** Ends exactly what `up` started. @returns how many processes that were */
export async function takeDown(directory: string): Promise<number> {
  const lock = lockDirectory(directory);
  try {
    const ledger = openProcessLedger(directory);
    const count = ledger.listRunning().length;
    await ledger.endAll();
    removeDeployment(directory, { keepLogs: true });
    return count;
  } finally {
    lock.release();
  }
}
