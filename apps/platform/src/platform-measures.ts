/**
 * What the platform's `/metrics` says: the relayer's coin and queue, how far the index is, and how full the note tree is.
 *
 * @module
 */

import type { PlatformDatabase } from '@pool/database';
import type { ChainWatch, Measure, Sample } from '@pool/http-server';
import { leanImtCapacity } from '@pool/notes';
import { countLeaves, type RelayerReload, type RelayerWatch, selectCursor } from '@pool/relayer';

type WatchedChain = {
  readonly key: string;
  readonly watch: Pick<RelayerWatch, 'read' | 'readBalanceWei' | 'readTotalUse'>;
  readonly silence: Pick<ChainWatch, 'readSilentMs'>;
  readonly reload: Pick<RelayerReload, 'isWaiting'>;
};

export function listPlatformMeasures(
  db: PlatformDatabase,
  chains: readonly WatchedChain[],
): Measure[] {
  function perChain(
    name: string,
    help: string,
    read: (chain: WatchedChain) => number | undefined | Promise<number | undefined>,
  ): Measure {
    return {
      name,
      help,
      async read() {
        const samples = await Promise.all(
          chains.map(async (chain): Promise<Sample[]> => {
            const value = await read(chain);
            return value === undefined ? [] : [{ value, labels: { chain: chain.key } }];
          }),
        );
        return samples.flat();
      },
    };
  }

  return [
    perChain('pool_relayer_coin', "The relayer's balance, in the chain's coin.", ({ watch }) => {
      const wei = watch.readBalanceWei();
      return wei === undefined ? undefined : Number(wei) / 1e18;
    }),
    perChain('pool_relayer_ok', '1 if a settlement that is posted now would be sent.', (chain) => {
      const health = chain.watch.read();
      return health === undefined ? undefined : Number(health.ok);
    }),
    perChain(
      'pool_relayer_day_used',
      "Share of the relayer's coin of 24 hours that is used.",
      ({ watch }) => {
        const use = watch.readTotalUse();
        return use === undefined ? undefined : use.usedGwei / use.dailyGwei;
      },
    ),
    perChain(
      'pool_relayer_share_used',
      'Share that is used of the half for spends and for employers without an edge token of the operator.',
      ({ watch }) => {
        const use = watch.readTotalUse();
        return use === undefined ? undefined : use.othersGwei / use.othersDailyGwei;
      },
    ),
    perChain(
      'pool_relayer_key_waits',
      '1 while a new key waits, and nothing new is sent.',
      ({ reload }) => Number(reload.isWaiting()),
    ),
    perChain(
      'pool_relayer_open_transactions',
      'Transactions of the relayer that may still be mined: what a new key waits for.',
      async ({ key }) => {
        const { count } = await db
          .selectFrom('relayer_transactions')
          .select((eb) => eb.fn.countAll<string | number>().as('count'))
          .where('chain', '=', key)
          .where('state', '=', 'open')
          .executeTakeFirstOrThrow();
        return Number(count);
      },
    ),
    {
      name: 'pool_relayer_queue',
      help: 'Settlements and spends that are not final yet.',
      read: async () =>
        (await Promise.all(chains.map(({ key }) => countUnfinished(db, key)))).flat(),
    },
    perChain(
      'pool_index_silent_seconds',
      "Seconds since the indexer last read up to the chain's final block: the lag of the index.",
      ({ silence }) => silence.readSilentMs() / 1_000,
    ),
    perChain(
      'pool_index_block',
      'The last block that is indexed.',
      async ({ key }) => (await selectCursor(db, key)).block_number,
    ),
    perChain('pool_index_halted', '1 if the index disagrees with the chain.', async ({ key }) =>
      Number((await selectCursor(db, key)).halted !== null),
    ),
    perChain(
      'pool_note_tree_fill',
      'Share of the newest note tree that is used.',
      async ({ key }) => ((await countLeaves(db, key)) % leanImtCapacity) / leanImtCapacity,
    ),
  ];
}

async function countUnfinished(db: PlatformDatabase, chain: string): Promise<Sample[]> {
  const rows = await db
    .selectFrom('submissions')
    .select((eb) => ['kind', 'state', eb.fn.countAll<string | number>().as('count')])
    .where('chain', '=', chain)
    .where('state', 'in', ['accepted', 'submitted'])
    .where('superseded_at', 'is', null)
    .groupBy(['kind', 'state'])
    .execute();
  return (['settlement', 'spend'] as const).flatMap((kind) =>
    (['accepted', 'submitted'] as const).map((state) => ({
      value: Number(rows.find((row) => row.kind === kind && row.state === state)?.count ?? 0),
      labels: { chain, kind: `${kind}s`, state },
    })),
  );
}
