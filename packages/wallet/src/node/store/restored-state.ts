/**
 * The mark of a directory that was restored from a backup. Transfers and withdrawals of the time after the backup are not in its archive,
 * and one of them may still land. So the agent makes none until all of them have landed or are dead (docs/decisions/0013).
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PoolError } from '@pool/core';
import { createDurableFile, isCode } from '@pool/storage';
import * as v from 'valibot';

/**
 * The longest life of a spend that left before the restore: its deadline is up to 30 minutes away, finality takes up to 30 minutes, and the
 * rest is for clocks. In milliseconds.
 */
export const restoredWaitMs = 75 * 60_000;

const markSchema = v.strictObject({
  version: v.literal(1),
  restoredAt: v.pipe(v.string(), v.isoTimestamp()),
  /** When the backup was made. */
  backupCreatedAt: v.pipe(v.string(), v.isoTimestamp()),
});
export type RestoreMark = v.InferOutput<typeof markSchema>;

const restoreMarkName = 'restored.json';

export function writeRestoreMark(folder: string, mark: RestoreMark): void {
  createDurableFile(join(folder, restoreMarkName), `${JSON.stringify(mark, null, 2)}\n`);
}

/** @throws PoolError 503 `restored_recently` while a spend that this directory does not know may land */
export function assertSpendsKnown(home: string, nowMs: number): void {
  const path = join(home, restoreMarkName);
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) {
      return;
    }
    throw createUnreadable(path);
  }
  const parsed = v.safeParse(markSchema, parseJson(content));
  if (!parsed.success) {
    throw createUnreadable(path);
  }
  const { restoredAt, backupCreatedAt } = parsed.output;
  const untilMs = Date.parse(restoredAt) + restoredWaitMs;
  if (nowMs < untilMs) {
    throw new PoolError(
      'restored_recently',
      `this directory was restored from a backup of ${backupCreatedAt}, and a payment made after that time can still land; transfers and withdrawals begin at ${new Date(untilMs).toISOString()}. Compare the balance then, before you repeat a payment`,
    );
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function createUnreadable(path: string): PoolError {
  return new PoolError(
    'restored_recently',
    `${path}, the mark of a restore, cannot be read, so it is unknown whether earlier payments can still land; delete it ${restoredWaitMs / 60_000} minutes after the restore`,
  );
}
