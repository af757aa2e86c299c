/**
 * Vends each employer its reader of the pool-gate, and tells the gate of readers that it does not know yet, that have
 * another secret, or that are revoked. A reader is vended once the gate has acknowledged it: an agent that came before
 * would be refused, and would take that for a wrong configuration.
 *
 * @module
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { GateReaderState } from '@pool/api';
import { errorCodeOf, type Secret } from '@pool/core';
import {
  deriveReaderSecret,
  describeWantedState,
  ensureGateReader,
  type GateReaderRow,
  nameState,
} from '../accounts/gate-readers.ts';
import type { PlatformDatabase } from '../database/platform-tables.ts';
import { describeFailure, type Log } from '../log.ts';

/** The gate as it is needed here; a `GateClient` of @pool/platform-client is one. */
export type ReaderGate = {
  putReader(clientId: string, state: GateReaderState): Promise<void>;
};

export type VendedReader = { readonly clientId: string; readonly clientSecret: Secret };

export type ReaderVendor = {
  /** The employer's reader; undefined while it is revoked, or while the gate does not know it. */
  vend(employerId: string): Promise<VendedReader | undefined>;
  /** Tells the gate every state that it has not acknowledged, or was not told of lately. */
  pass(): Promise<void>;
  /** Whether the gate has acknowledged the present state of the employer's reader. */
  knows(employerId: string): Promise<boolean>;
};

export type ReaderVendorDeps = {
  readonly db: PlatformDatabase;
  readonly gate: ReaderGate;
  /** Of the platform's own client at the gate. */
  readonly platformSecret: Secret;
  readonly log: Log;
  readonly nowMs: () => number;
  /** Longest that one bootstrap waits for the gate. Default 3 s. */
  readonly waitMs?: number;
};

/** A gate may have been restored from a backup since it acknowledged: it is told again after this time. */
const tellAgainAfterMs = 10 * 60_000;

export function createReaderVendor(deps: ReaderVendorDeps): ReaderVendor {
  const { db, gate, platformSecret, log, nowMs, waitMs = 3_000 } = deps;
  /** When the gate was told of a client last, with success. */
  const toldAtMs = new Map<string, number>();

  async function tell(row: GateReaderRow): Promise<'acknowledged' | 'refused' | 'unreachable'> {
    const state = describeWantedState(platformSecret, row);
    try {
      await gate.putReader(row.client_id, state);
    } catch (error) {
      const code = errorCodeOf(error) ?? '';
      const isLater = code === 'client_revoked' || code === 'stale_generation';
      log.warn(
        { employer: row.employer_id, ...describeFailure(error) },
        isLater
          ? 'the gate has a later state of this reader: was the platform restored? rotate the reader'
          : 'the gate could not be told of a reader; it is told again',
      );
      return code === 'gate_unreachable' ? 'unreachable' : 'refused';
    }
    toldAtMs.set(row.client_id, nowMs());
    // Another state may have been written meanwhile: this one is acknowledged then, and that one is not.
    await db
      .updateTable('gate_readers')
      .set({ acknowledged: nameState(state) })
      .where('employer_id', '=', row.employer_id)
      .execute();
    return 'acknowledged';
  }

  const isAcknowledged = (row: GateReaderRow): boolean =>
    row.acknowledged === nameState(describeWantedState(platformSecret, row));

  function isLatelyTold({ client_id }: GateReaderRow): boolean {
    const toldAt = toldAtMs.get(client_id);
    return toldAt !== undefined && Math.abs(nowMs() - toldAt) < tellAgainAfterMs;
  }

  return {
    async vend(employerId) {
      const row = await ensureGateReader(db, employerId, nowMs());
      if (row.revoked_at !== null) {
        return undefined;
      }
      if (!isAcknowledged(row)) {
        const told = tell(row).then((outcome) => outcome === 'acknowledged');
        if (!(await Promise.race([told, delay(waitMs, false, { ref: false })]))) {
          return undefined;
        }
      }
      return { clientId: row.client_id, clientSecret: deriveReaderSecret(platformSecret, row) };
    },
    async pass() {
      const rows = await db.selectFrom('gate_readers').selectAll().execute();
      for (const row of rows) {
        if (isAcknowledged(row) && isLatelyTold(row)) {
          continue;
        }
        // A gate that is down would let each of them wait in vain.
        if ((await tell(row)) === 'unreachable') {
          return;
        }
      }
    },
    async knows(employerId) {
      const rows = await db
        .selectFrom('gate_readers')
        .selectAll()
        .where('employer_id', '=', employerId)
        .execute();
      return rows.every(isAcknowledged);
    },
  };
}
