/**
 * Vends each employer its reader of the pool-gate, and reports new, changed and revoked readers to the gate. A reader
 * is vended only after the gate acknowledged it: before that the gate would refuse the agent, and the agent would take
 * this for a wrong configuration.
 *
 * @module
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { GateReaderState } from '@pool/api';
import { errorCodeOf, type Secret } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import { describeFailure, type Log } from '@pool/http-server';
import {
  deriveReaderSecret,
  describeWantedState,
  ensureGateReader,
  type GateReaderRow,
  nameState,
} from '../accounts/gate-readers.ts';

/** The part of the gate that is needed here. A `GateClient` of @pool/platform-client implements it. */
export type ReaderGate = {
  putReader(clientId: string, state: GateReaderState): Promise<void>;
};

export type VendedReader = { readonly clientId: string; readonly clientSecret: Secret };

export type ReaderVendor = ReturnType<typeof createReaderVendor>;

export type ReaderVendorDeps = {
  readonly db: PlatformDatabase;
  readonly gate: ReaderGate;
  /** Of the platform's own client at the gate. */
  readonly platformSecret: Secret;
  readonly log: Log;
  readonly nowMs: () => number;
  /** The longest time that one bootstrap waits for the gate. Default 3 s. */
  readonly waitMs?: number;
};

/** A gate may have been restored from a backup since it acknowledged, so the state is sent again after this time. */
const tellAgainAfterMs = 10 * 60_000;

export function createReaderVendor(deps: ReaderVendorDeps) {
  const { db, gate, platformSecret, log, nowMs, waitMs = 3_000 } = deps;
  /** When the gate last acknowledged a client. */
  const toldAtMs = new Map<string, number>();

  async function tell(row: GateReaderRow): Promise<'acknowledged' | 'refused' | 'unreachable'> {
    const state = describeWantedState(platformSecret, row);
    try {
      await gate.putReader(row.client_id, state);
    } catch (error) {
      const code = errorCodeOf(error) ?? '';
      const isLater = code === 'stale_generation';
      log.warn(
        { employer: row.employer_id, ...describeFailure(error) },
        isLater
          ? 'the gate has a later state of this reader: was the platform restored? rotate the reader'
          : 'the gate did not accept the state of a reader; it is sent again',
      );
      return code === 'gate_unreachable' ? 'unreachable' : 'refused';
    }
    toldAtMs.set(row.client_id, nowMs());
    // Another state may have been written meanwhile: only the one that was sent is acknowledged.
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
    /** The employer's reader; undefined while it is revoked, or while the gate does not know it. */
    async vend(employerId: string): Promise<VendedReader | undefined> {
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
    /** Sends the gate every state that it has not acknowledged, or that was not sent to it recently. */
    async pass(): Promise<void> {
      const rows = await db.selectFrom('gate_readers').selectAll().execute();
      for (const row of rows) {
        if (isAcknowledged(row) && isLatelyTold(row)) {
          continue;
        }
        // While the gate is down, each further request would only wait for its timeout.
        if ((await tell(row)) === 'unreachable') {
          return;
        }
      }
    },
    /** Whether the gate has acknowledged the current state of the employer's reader. */
    async knows(employerId: string): Promise<boolean> {
      const rows = await db
        .selectFrom('gate_readers')
        .selectAll()
        .where('employer_id', '=', employerId)
        .execute();
      return rows.every(isAcknowledged);
    },
  };
}
