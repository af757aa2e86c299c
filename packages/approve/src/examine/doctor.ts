/**
 * The doctor proves that the gate cannot be gone around: it reads how the custodian is configured, at start and every hour. While a check
 * fails, the gate is unhealthy and votes nothing.
 *
 * @module
 */
import { errorCodeOf, isPoolError } from '@pool/core';

export type DoctorCheck = {
  /** Stable name, for scripts and metrics. */
  readonly name: string;
  readonly ok: boolean;
  /** What was found, and what to do. */
  readonly detail: string;
};

export type DoctorReport = {
  readonly ok: boolean;
  readonly atMs: number;
  readonly checks: readonly DoctorCheck[];
};

export type Examine = () => Promise<readonly DoctorCheck[]>;

export type Doctor = {
  /** Examines now. Never throws: a custodian that does not answer is a failed check. */
  examine(): Promise<DoctorReport>;
  /** Undefined: not examined yet, or forgotten, so nothing is voted. */
  latest(): DoctorReport | undefined;
  /** Drops the verdict, and that of an examination that is under way: it was made for another policy. */
  forget(): void;
};

export function passed(name: string, detail: string): DoctorCheck {
  return { name, ok: true, detail };
}

export function failed(name: string, detail: string): DoctorCheck {
  return { name, ok: false, detail };
}

/** A verdict that is older than this counts as failed: the hourly examination is stuck. */
const maxAgeMs = 2 * 3_600_000;

export function createDoctor(deps: {
  readonly examinations: readonly Examine[];
  readonly nowMs: () => number;
  /** Keeps a report. @returns further checks: what could not be kept counts as failed */
  readonly record?: (report: DoctorReport) => readonly DoctorCheck[];
}): Doctor {
  let latest: DoctorReport | undefined;
  let forgotten = 0;
  return {
    async examine() {
      const startedAfter = forgotten;
      const checks: DoctorCheck[] = [];
      for (const examine of deps.examinations) {
        checks.push(...(await examineSafely(examine)));
      }
      const found = createReport(checks, deps.nowMs());
      const report = createReport([...(deps.record?.(found) ?? []), ...checks], found.atMs);
      if (startedAfter === forgotten) {
        latest = report;
      }
      return report;
    },
    forget() {
      latest = undefined;
      forgotten += 1;
    },
    latest() {
      return latest !== undefined && deps.nowMs() - latest.atMs > maxAgeMs
        ? {
            ...latest,
            ok: false,
            checks: [
              failed('age', 'the last examination is more than two hours old'),
              ...latest.checks,
            ],
          }
        : latest;
    },
  };
}

function createReport(checks: readonly DoctorCheck[], atMs: number): DoctorReport {
  return { ok: checks.every(({ ok }) => ok), atMs, checks };
}

async function examineSafely(examine: Examine): Promise<readonly DoctorCheck[]> {
  try {
    return await examine();
  } catch (error) {
    const detail = isPoolError(error)
      ? error.message
      : `the examination failed (${errorCodeOf(error) ?? 'unexpected error'})`;
    return [failed('custodian-answers', detail)];
  }
}
