/**
 * The openings of agents that share a job store on PostgreSQL, so that any of them can disclose what another one paid. Each row is sealed
 * under a key that all of them derive from their fingerprint key: a copy of the database alone discloses nothing.
 *
 * @module
 */
import { hkdfSync } from 'node:crypto';
import type { Secret } from '@pool/core';
import type { PostgresTables } from '@pool/storage/postgres';
import type { KeptOpenings } from '../../archive/kept-openings.ts';
import { sealOpenings, unsealOpenings } from './openings-seal.ts';
import type { OpeningsStore } from './openings-store.ts';

// For an hour of 27 November 2026 the first change of the tables made it too, so it may exist before the second.
export const openingTable = `create table if not exists opening (
  name bytea primary key,
  paid_at_ms bigint not null,
  nonce bytea not null,
  sealed bytea not null)`;

/** Rows that are read at once: one of a large batch has hundreds of kilobytes, and a statement has a second. */
const pageRows = 4;

type Row = {
  readonly name: Buffer;
  readonly paid_at_ms: number;
  readonly nonce: Buffer;
  readonly sealed: Buffer;
};

/** @param fingerprintKey - 32 bytes, `0x` and hex */
export function createSharedOpenings(
  { use }: Pick<PostgresTables, 'use'>,
  fingerprintKey: Secret,
): OpeningsStore {
  const shared = Buffer.from(fingerprintKey.reveal().slice(2), 'hex');
  const key = Buffer.from(hkdfSync('sha256', shared, '', 'pool/v1/openings/shared', 32));
  return {
    async keep(openings) {
      const { name, paidAtMs, nonce, sealed } = sealOpenings(key, openings);
      await use((query) =>
        query('insert into opening values ($1, $2, $3, $4) on conflict do nothing', [
          ...[name, paidAtMs, nonce, sealed],
        ]),
      );
    },
    async readAll() {
      const all: KeptOpenings[] = [];
      let after: readonly [number, Uint8Array] = [-1, Buffer.alloc(0)];
      for (;;) {
        const { rows } = await use((query) =>
          query<Row>(
            `select * from opening where (paid_at_ms, name) > ($1, $2)
             order by paid_at_ms, name limit ${pageRows}`,
            after,
          ),
        );
        all.push(
          ...rows.map(({ paid_at_ms: paidAtMs, ...row }) =>
            unsealOpenings(key, { ...row, paidAtMs }),
          ),
        );
        const last = rows.at(-1);
        if (last === undefined) {
          return all;
        }
        after = [last.paid_at_ms, last.name];
      }
    },
    async eraseBefore(paidBeforeMs) {
      const { rowCount } = await use((query) =>
        query('delete from opening where paid_at_ms < $1', [paidBeforeMs]),
      );
      return rowCount ?? 0;
    },
    // The connections are those of the agent's other records.
    close: () => undefined,
  };
}
