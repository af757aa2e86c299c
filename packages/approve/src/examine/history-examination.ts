/**
 * The comparison of the custodian's history with the ledger, as a check of the doctor. A ledger that was restored is only noticed by it.
 *
 * @module
 */
import { errorCodeOf } from '@pool/core';
import type { GateLog } from '../config/gate-log.ts';
import { type DoctorCheck, failed, passed } from './doctor.ts';
import type { HistoryCheck } from './history.ts';

export type HistoryExamination = {
  /** Fails until one comparison succeeded. */
  examine(): Promise<readonly DoctorCheck[]>;
  /** The next comparison goes back as far as the first one: another policy may know other wallets, or the custodian showed more. */
  forget(): void;
};

export function createHistoryExamination(deps: {
  readonly history: HistoryCheck;
  /** A request that is older cannot be voted on any more. */
  readonly voteLimitSeconds: number;
  readonly nowMs: () => number;
  readonly log: Pick<GateLog, 'warn' | 'error'>;
}): HistoryExamination {
  const { history, log } = deps;
  let isCompared = false;
  let forgotten = 0;
  return {
    async examine() {
      const startedAfter = forgotten;
      const nowMs = deps.nowMs();
      try {
        const voteMs = isCompared ? 0 : 1000 * deps.voteLimitSeconds;
        const { missing, unknown } = await history.compare({ nowMs, voteMs });
        isCompared = startedAfter === forgotten;
        if (missing.length > 0) {
          log.error(
            { missing: missing.length },
            'the custodian shows approvals that the ledger does not have; nothing is voted before "pool-approve ledger rebaseline --by NAME"',
          );
        }
        if (unknown.length > 0) {
          log.warn(
            {
              unknown: unknown.length,
              first: unknown[0]?.id ?? null,
              why: unknown[0]?.why ?? null,
            },
            "the custodian shows approvals by the gate's user that the gate cannot describe",
          );
        }
      } catch (error) {
        const code = errorCodeOf(error) ?? (error instanceof Error ? error.name : 'unknown');
        log.warn({ error: code }, "the custodian's history could not be read");
      }
      return [
        isCompared
          ? passed('history', "the custodian's history was compared with the ledger")
          : failed(
              'history',
              "the custodian's history was not compared with the ledger yet; read the log, and let the gate's user read it",
            ),
      ];
    },
    forget() {
      isCompared = false;
      forgotten += 1;
    },
  };
}
