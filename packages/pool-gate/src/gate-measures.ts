/**
 * What the gate's `/metrics` says: the publisher's coin, how full the eligibility tree is, and its publications.
 *
 * @module
 */
import type { ChainWatch, Measure } from '@pool/http-server';
import type { GateDatabase } from './gate-tables.ts';
import type { Leaves } from './leaves.ts';

export type GateMeasureDeps = {
  readonly db: GateDatabase;
  readonly leaves: Leaves;
  readonly chain: Pick<ChainWatch, 'readSilentMs'>;
  /** As it was seen last. */
  readonly readBalanceWei: () => bigint | undefined;
  readonly nowMs: () => number;
};

const states = ['open', 'final', 'reverted', 'dropped'] as const;

export function listGateMeasures(deps: GateMeasureDeps): Measure[] {
  const { db, leaves, chain, readBalanceWei, nowMs } = deps;
  return [
    {
      name: 'pool_publisher_coin',
      help: "The publisher's balance, in the chain's coin.",
      read() {
        const wei = readBalanceWei();
        return wei === undefined ? [] : [{ value: Number(wei) / 1e18 }];
      },
    },
    {
      name: 'pool_gate_chain_silent_seconds',
      help: 'Seconds since the RPC last answered.',
      read: () => [{ value: chain.readSilentMs() / 1_000 }],
    },
    {
      name: 'pool_eligibility_tree_fill',
      help: 'Share of the eligibility tree that is used.',
      async read() {
        const { used, capacity } = await leaves.count();
        return [{ value: used / capacity }];
      },
    },
    {
      name: 'pool_eligibility_changes_waiting',
      help: 'Wallets that are not yet on the published list, or not yet off it.',
      async read() {
        const { count } = await db
          .selectFrom('wallets')
          .select((eb) => eb.fn.countAll<string | number>().as('count'))
          .whereRef('wanted', '!=', 'published')
          .executeTakeFirstOrThrow();
        return [{ value: Number(count) }];
      },
    },
    {
      name: 'pool_publications',
      help: 'Publications by state.',
      async read() {
        const rows = await db
          .selectFrom('publications')
          .select((eb) => ['state', eb.fn.countAll<string | number>().as('count')])
          .groupBy('state')
          .execute();
        return states.map((state) => ({
          value: Number(rows.find((row) => row.state === state)?.count ?? 0),
          labels: { state },
        }));
      },
    },
    {
      name: 'pool_publication_open_seconds',
      help: 'Age of the publication that is not final yet; 0 without one.',
      async read() {
        const row = await db
          .selectFrom('publications')
          .select('created_at')
          .where('state', '=', 'open')
          .orderBy('id')
          .executeTakeFirst();
        const ageMs = row === undefined ? 0 : nowMs() - Date.parse(row.created_at);
        return [{ value: Math.max(0, ageMs) / 1_000 }];
      },
    },
  ];
}
