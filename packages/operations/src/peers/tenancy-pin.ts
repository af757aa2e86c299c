/**
 * The employer of an agent directory, pinned in `tenancy.json` at the first bootstrap (docs/decisions/0008).
 * Batch nonces contain the employer's id, so a key pays once only while the id stays the same.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PoolError } from '@pool/core';
import { createDurableFile, isCode, replaceDurableFile } from '@pool/storage';
import * as v from 'valibot';
import { employerIdSchema } from '../config/config.ts';

const pinSchema = v.strictObject({
  version: v.literal(1),
  employerId: employerIdSchema,
  pinnedAt: v.pipe(v.string(), v.isoTimestamp()),
  /** Earlier employers of this directory, oldest first. */
  earlier: v.array(
    v.strictObject({ employerId: employerIdSchema, until: v.pipe(v.string(), v.isoTimestamp()) }),
  ),
});
export type TenancyPin = v.InferOutput<typeof pinSchema>;

export function tenancyPinPath(home: string): string {
  return join(home, 'tenancy.json');
}

/** An employer's id in the spelling that is compared and hashed. Undefined: the text is not a UUID. */
export function normalizeEmployerId(text: string): string | undefined {
  const parsed = v.safeParse(employerIdSchema, text);
  return parsed.success ? parsed.output : undefined;
}

/**
 * @returns undefined when nothing is pinned yet
 * @throws PoolError 503 `tenancy_unreadable`: without the pin the agent cannot know whether a key was already paid
 */
export function readTenancyPin(
  home: string,
  readFile: (path: string) => string = (path) => readFileSync(path, 'utf8'),
): TenancyPin | undefined {
  const path = tenancyPinPath(home);
  let content: string;
  try {
    content = readFile(path);
  } catch (cause) {
    if (isCode(cause, 'ENOENT')) {
      return undefined;
    }
    throw createUnreadable(path, 'cannot be read', cause);
  }
  try {
    return v.parse(pinSchema, JSON.parse(content));
  } catch (cause) {
    throw createUnreadable(path, 'is damaged', cause);
  }
}

/** Pins the first employer. @returns the pin, which another process may have written first */
export function pinFirstEmployer(home: string, employerId: string, nowMs: number): TenancyPin {
  const pin: TenancyPin = {
    version: 1,
    employerId,
    pinnedAt: new Date(nowMs).toISOString(),
    earlier: [],
  };
  createDurableFile(tenancyPinPath(home), serialize(pin));
  return readTenancyPin(home) ?? pin;
}

/** Begins a new tenancy. Only `disburse-agent tenancy new` calls it. */
export function replacePinnedEmployer(home: string, employerId: string, nowMs: number): void {
  const before = readTenancyPin(home);
  const at = new Date(nowMs).toISOString();
  const earlier = before === undefined ? [] : [{ employerId: before.employerId, until: at }];
  replaceDurableFile(
    tenancyPinPath(home),
    serialize({
      version: 1,
      employerId,
      pinnedAt: at,
      earlier: [...(before?.earlier ?? []), ...earlier],
    }),
  );
}

function serialize(pin: TenancyPin): string {
  return `${JSON.stringify(pin, null, 2)}\n`;
}

function createUnreadable(path: string, what: string, cause: unknown): PoolError {
  return new PoolError(
    'tenancy_unreadable',
    `${path}, the file with the employer of this agent, ${what}: restore it from a backup. Until then the agent accepts no request and continues no job`,
    { cause },
  );
}
