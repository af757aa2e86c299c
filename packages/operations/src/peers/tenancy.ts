/**
 * Whether the employer that the platform names is the employer of this agent (docs/decisions/0008). The pin in the
 * directory, `DISBURSE_EMPLOYER_ID` and bootstrap must agree. The employer of the first bootstrap is pinned.
 *
 * @module
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PoolError } from '@pool/core';
import { createDurableFile, isCode, replaceDurableFile } from '@pool/storage';
import * as v from 'valibot';
import { createFinding, type Probe } from './readiness.ts';

// The employer of an agent directory, pinned in `tenancy.json` at the first bootstrap (docs/decisions/0008).
// Batch nonces contain the employer's id, so a key pays once only while the id stays the same.

/** An employer's id: a UUID in lower case, as it is compared and hashed. */
export const employerIdSchema = v.pipe(v.string(), v.uuid(), v.toLowerCase());

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

/** The code of each refusal, in HTTP answers, in readiness and in a dry run. */
export const employerMismatch = 'employer_mismatch' as const;

export type Tenancy = {
  /** The employer of this agent. Undefined: not known yet. @throws PoolError 503, as {@link Tenancy.assert} */
  employerId(): string | undefined;
  /**
   * Writes nothing.
   * @throws PoolError 503 `employer_mismatch`, `tenancy_unreadable`
   */
  assert(employerId: string): Promise<void>;
  /** Like {@link Tenancy.assert}, and pins the first employer. The pin is on disk when it resolves. */
  admit(employerId: string): Promise<void>;
};

export type TenancyOptions = {
  /** The agent directory. */
  readonly home: string;
  /** `DISBURSE_EMPLOYER_ID`. */
  readonly configured: string | undefined;
  /** Employers with jobs in the store. Called only while no employer is pinned. */
  readonly listStoredEmployers: () => Promise<readonly string[]>;
  readonly nowMs: () => number;
};

export function createTenancy(options: TenancyOptions): Tenancy {
  const { home, configured } = options;

  function findEmployer(): { readonly expected: string | undefined; readonly isPinned: boolean } {
    const pinned = readTenancyPin(home)?.employerId;
    if (pinned !== undefined && configured !== undefined && pinned !== configured) {
      throw createMismatch('DISBURSE_EMPLOYER_ID names another employer than this directory');
    }
    return { expected: pinned ?? configured, isPinned: pinned !== undefined };
  }

  /** @returns whether an employer was already pinned */
  async function compare(employerId: string): Promise<boolean> {
    const { expected, isPinned } = findEmployer();
    if (expected !== undefined && normalizeEmployerId(employerId) !== expected) {
      throw createMismatch(
        `the platform names another employer than ${isPinned ? 'the one of this directory' : 'DISBURSE_EMPLOYER_ID'}`,
      );
    }
    // The pin is missing in a directory from before pins, or if a backup was restored without it.
    if (!isPinned) {
      const stored = await options.listStoredEmployers();
      if (stored.some((scope) => normalizeEmployerId(scope) !== normalizeEmployerId(employerId))) {
        throw createMismatch(
          'no employer is pinned, and the job store contains jobs of another employer than the one that the platform names',
        );
      }
    }
    return isPinned;
  }

  return {
    employerId: () => findEmployer().expected,
    async assert(employerId) {
      await compare(employerId);
    },
    async admit(employerId) {
      if (!(await compare(employerId))) {
        pinFirstEmployer(home, normalizeEmployerId(employerId) ?? employerId, options.nowMs());
        // Another process may have pinned another employer meanwhile.
        await compare(employerId);
      }
    },
  };
}

/** Names no employer: readiness needs no credential, and the ids are part of the batch nonces. */
export function createMismatch(what: string): PoolError {
  return new PoolError(
    employerMismatch,
    `${what}. A paid key could be paid again, so the agent accepts no request and continues no job. Check DISBURSE_PLATFORM_URL, DISBURSE_PLATFORM_TOKEN and DISBURSE_EMPLOYER_ID with "disburse-agent tenancy show"; if the change is intended, "disburse-agent tenancy new" begins a new tenancy`,
  );
}

/** Reports a refused platform as unavailable. @param findRefusal - undefined: no refusal */
export function withTenancy(
  probe: Probe,
  findRefusal: () => Promise<PoolError | undefined>,
): Probe {
  return async () => {
    const refusal = await findRefusal();
    return refusal === undefined
      ? probe()
      : createFinding(false, employerMismatch, refusal.message);
  };
}
