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
  const one = (
    name: string,
    help: string,
    read: () => number | undefined | Promise<number>,
  ): Measure => ({
    name,
    help,
    async read() {
      const value = await read();
      return value === undefined ? [] : [{ value }];
    },
  });
  return [
    one('pool_publisher_coin', "The publisher's balance, in the chain's coin.", () => {
      const wei = readBalanceWei();
      return wei === undefined ? undefined : Number(wei) / 1e18;
    }),
    one(
      'pool_gate_chain_silent_seconds',
      'Seconds since the RPC last answered.',
      () => chain.readSilentMs() / 1_000,
    ),
    one('pool_eligibility_tree_fill', 'Share of the eligibility tree that is used.', async () => {
      const { used, capacity } = await leaves.count();
      return used / capacity;
    }),
    one(
      'pool_eligibility_changes_waiting',
      'Wallets that are not yet on the published list, or not yet off it.',
      async () => {
        const { count } = await db
          .selectFrom('wallets')
          .select((eb) => eb.fn.countAll<string | number>().as('count'))
          .whereRef('wanted', '!=', 'published')
          .executeTakeFirstOrThrow();
        return Number(count);
      },
    ),
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
    one(
      'pool_publication_open_seconds',
      'Age of the publication that is not final yet; 0 without one.',
      async () => {
        const row = await db
          .selectFrom('publications')
          .select('created_at')
          .where('state', '=', 'open')
          .orderBy('id')
          .executeTakeFirst();
        const ageMs = row === undefined ? 0 : nowMs() - Date.parse(row.created_at);
        return Math.max(0, ageMs) / 1_000;
      },
    ),
  ];
}
