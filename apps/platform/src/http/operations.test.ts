/** What operators see and do: `/readyz`, the drain before a stop, and `/metrics` with a token of its own. */
import { PoolError, Secret } from '@pool/core';
import { createShell } from '@pool/http-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { addHealthRoutes } from '../../../../packages/http-server/src/service/health-routes.ts';
import { listen } from '../../../../packages/http-server/src/service/listen.ts';
import { createLog } from '../../../../packages/http-server/src/service/log.ts';
import { addMetricsRoute } from '../../../../packages/http-server/src/service/metrics.ts';
import {
  createChainWatch,
  createDatabaseCheck,
  createReadiness,
  drain,
} from '../../../../packages/http-server/src/service/readiness.ts';
import { listGateMeasures } from '../../../../packages/pool-gate/src/gate-measures.ts';
import { createLeaves } from '../../../../packages/pool-gate/src/leaves.ts';
import { openTestGateDatabase } from '../../../../packages/pool-gate/test/test-gate-database.ts';
import { createHaltWatch } from '../../../../packages/relayer/src/indexer/indexer.ts';
import type { RelayerWatch } from '../../../../packages/relayer/src/send/relayer-health.ts';
import { listPlatformMeasures } from '../platform-measures.ts';

const log = createLog('silent', 'test');

function createApp() {
  return createShell({ log, allowedHosts: [], allowedOrigins: [] });
}

describe('readyz', () => {
  it('sees the database, the RPC of each chain, and a halted indexer', async () => {
    const database = await openTestDatabase();
    let nowMs = 0;
    let isHeld = true;
    const watch = createChainWatch('base', () => nowMs);
    const halt = createHaltWatch(database.db, 'base');
    const readiness = createReadiness([createDatabaseCheck(() => isHeld), watch.check, halt.check]);
    const app = createApp();
    addHealthRoutes(app, readiness.find);
    const ask = async () => {
      const answer = await app.request('/readyz');
      const { code } = (await answer.json()) as { code?: string };
      return [answer.status, code];
    };
    try {
      expect(await ask()).toEqual([200, undefined]);
      isHeld = false;
      expect(await ask()).toEqual([503, 'database_unavailable']);
      isHeld = true;
      nowMs = 60_000;
      expect(await ask()).toEqual([503, 'chain_unreachable']);
      watch.noteAnswer();
      nowMs += 59_999;
      expect(await ask()).toEqual([200, undefined]);
      await database.db
        .insertInto('indexer_cursors')
        .values({ chain: 'base', block_number: 0, block_hash: '', halted: 'x' })
        .execute();
      await halt.look();
      expect(await ask()).toEqual([503, 'notes_unavailable']);
      await database.db.deleteFrom('indexer_cursors').execute();
      await halt.look();
      expect(await ask()).toEqual([200, undefined]);
    } finally {
      await database.close();
    }
  });

  it('turns 503 first, while everything else is answered; then the listener closes', async () => {
    const readiness = createReadiness([]);
    const app = createApp();
    addHealthRoutes(app, readiness.find);
    app.get('/work', (c) => c.json({ done: true }));
    const server = await listen(
      (request, from) => app.fetch(request, from),
      { host: '127.0.0.1', port: 0 },
      log,
    );
    const statusOf = async (path: string) =>
      (await fetch(`${server.url}${path}`, { headers: { connection: 'close' } })).status;
    expect([await statusOf('/readyz'), await statusOf('/work')]).toEqual([200, 200]);
    const connectionOf = async () => (await fetch(`${server.url}/work`)).headers.get('connection');
    expect(await connectionOf()).toBe('keep-alive');
    const drained = drain(readiness, server, 300, log);
    // A client whose connection stayed open would send its next request into the end of the process.
    expect(await connectionOf()).toBe('close');
    expect([await statusOf('/readyz'), await statusOf('/livez'), await statusOf('/work')]).toEqual([
      503, 200, 200,
    ]);
    await drained;
    // Still open: nobody is refused before the drain has ended.
    expect(await statusOf('/work')).toBe(200);
    await server.close();
    await expect(statusOf('/work')).rejects.toThrow('fetch failed');
  });
});

describe('metrics', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());

  const token = 'metrics-'.padEnd(24, 'm');
  const relayer: Pick<RelayerWatch, 'read' | 'readBalanceWei' | 'readTotalUse'> = {
    read: () => ({ ok: false, code: 'insufficient_gas' }),
    readBalanceWei: () => 1_250_000_000_000_000_000n,
    readTotalUse: () => undefined,
  };

  function open(secret: string | undefined) {
    const app = createApp();
    const chains = [
      {
        ...{ key: 'base', watch: relayer, silence: { readSilentMs: () => 7_500 } },
        reload: { isWaiting: () => true },
      },
    ];
    addMetricsRoute(
      app,
      listPlatformMeasures(database.db, chains),
      secret === undefined ? undefined : new Secret(secret),
    );
    return (bearer?: string) =>
      app.request('/metrics', {
        headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
      });
  }

  it('opens to its token only, and is not there without one', async () => {
    const ask = open(token);
    expect((await ask()).status).toBe(401);
    expect((await ask(`${token}x`)).status).toBe(401);
    expect((await ask(token)).status).toBe(200);
    expect((await open(undefined)(token)).status).toBe(404);
  });

  it('names coin, queue, lag, halt and fill of each chain', async () => {
    await database.db
      .insertInto('indexer_cursors')
      .values({ chain: 'base', block_number: 42, block_hash: '', halted: 'x' })
      .execute();
    const text = await (await open(token)(token)).text();
    expect(text.split('\n')).toEqual(
      expect.arrayContaining([
        'pool_relayer_coin{chain="base"} 1.25',
        'pool_relayer_ok{chain="base"} 0',
        'pool_relayer_key_waits{chain="base"} 1',
        'pool_relayer_open_transactions{chain="base"} 0',
        'pool_relayer_queue{chain="base",kind="settlements",state="accepted"} 0',
        'pool_relayer_queue{chain="base",kind="spends",state="submitted"} 0',
        'pool_index_silent_seconds{chain="base"} 7.5',
        'pool_index_block{chain="base"} 42',
        'pool_index_halted{chain="base"} 1',
        'pool_note_tree_fill{chain="base"} 0',
        '# TYPE process_cpu_seconds_total counter',
      ]),
    );
  });

  it('names coin, fill and publications of the gate', async () => {
    const gate = await openTestGateDatabase();
    try {
      await gate.db
        .insertInto('publications')
        .values({
          root: '0x1',
          changes: '[]',
          sender: '0x0',
          nonce: 0,
          tx_hash: '0x2',
          raw_transaction: '0x3',
          replaced_hashes: '[]',
          sent_at: new Date(0).toISOString(),
          state: 'open',
          created_at: new Date(0).toISOString(),
        })
        .execute();
      const app = createApp();
      const measures = listGateMeasures({
        db: gate.db,
        leaves: createLeaves(gate.db, log, 100),
        chain: { readSilentMs: () => 1_500 },
        readBalanceWei: () => undefined,
        nowMs: () => 90_000,
      });
      addMetricsRoute(app, measures, new Secret(token));
      const headers = { authorization: `Bearer ${token}` };
      const lines = (await (await app.request('/metrics', { headers })).text()).split('\n');
      expect(lines).toEqual(
        expect.arrayContaining([
          'pool_gate_chain_silent_seconds 1.5',
          'pool_eligibility_tree_fill 0',
          'pool_eligibility_changes_waiting 0',
          'pool_publications{state="open"} 1',
          'pool_publications{state="final"} 0',
          'pool_publication_open_seconds 90',
        ]),
      );
      // A number that is not known is absent, not 0.
      expect(lines.filter((line) => line.startsWith('pool_publisher_coin'))).toEqual([]);
    } finally {
      await gate.close();
    }
  });

  it('answers an error, not a part, when a number cannot be read', async () => {
    const app = createApp();
    const read = () => {
      throw new PoolError('database_unavailable', 'the database does not answer; try again');
    };
    addMetricsRoute(app, [{ name: 'x', help: 'x', read }], new Secret(token));
    const answer = await app.request('/metrics', { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(503);
  });
});
