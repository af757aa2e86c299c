/**
 * Whether the employer that the platform names is the employer of this agent (docs/decisions/0008). The pin in the
 * directory, `DISBURSE_EMPLOYER_ID` and bootstrap must agree. The employer of the first bootstrap is pinned.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { normalizeEmployerId, pinFirstEmployer, readTenancyPin } from '../../state/tenancy-pin.ts';
import { createFinding, type Probe } from './readiness.ts';

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
