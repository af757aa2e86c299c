/**
 * What agents of one employer share beside their jobs, in the PostgreSQL database of their job store: the encryption keys of wallets, the
 * turn of each (chain, token, funder), and openings.
 *
 * @module
 */
import { setTimeout as delay } from 'node:timers/promises';
import { PoolError, parseEncryptionPublicKey, type Secret, type WalletPub } from '@pool/core';
import {
  describeClient,
  findPostgresTables,
  openPostgresTables,
  type PostgresSettings,
  type PostgresTables,
  toDatabaseError,
} from '@pool/storage/postgres';
import pg from 'pg';
import { createKeyLock, type KeyLock } from '../../key-lock.ts';
import type { EvidencePins } from '../../ports.ts';
import type { OpeningsStore } from './openings-store.ts';
import { createSharedOpenings, openingTable } from './shared-openings.ts';
import type { openPaidKeys } from './wallet-keys.ts';

const migrations = [
  [
    ...['evidence_pin', 'paid_key'].map(
      (table) => `create table ${table} (
        wallet_pub text primary key,
        encryption_public_key text not null,
        at_ms bigint not null)`,
    ),
    'create table agent_setting (name text primary key, value text not null)',
  ],
  [openingTable],
];

export type SharedState = {
  readonly pins: EvidencePins;
  readonly paidKeys: Omit<ReturnType<typeof openPaidKeys>, 'close'>;
  /** Held by one run of all agents, from the allowance decision until a block has the batch. */
  readonly turns: KeyLock;
  /**
   * The first agent stores what all agents must agree on.
   * @param value - not secret
   * @throws PoolError `invalid_configuration` for another value than the stored one; `database_unavailable`
   */
  assertShared(name: string, value: string): Promise<void>;
  /** What this payer can disclose. @param fingerprintKey - that of the agents that share the records */
  openOpenings(fingerprintKey: Secret): OpeningsStore;
  close(): Promise<void>;
};

type KeyRow = {
  readonly wallet_pub: string;
  readonly encryption_public_key: string;
  readonly at_ms: number;
};

type SharedStateOptions = {
  readonly settings: PostgresSettings;
  /** Refuses a server that may lose what it has acknowledged. */
  readonly mustBeDurable: boolean;
};

const named = { name: 'agent', size: 4, migrations };

/** @throws PoolError `database_unavailable`, `database_refused` */
export async function openSharedState(options: SharedStateOptions): Promise<SharedState> {
  return createSharedState(await openPostgresTables({ ...options, ...named }), options);
}

/**
 * For a command beside the agents. Changes no table.
 * @returns undefined if no agent has used the database
 * @throws as {@link openSharedState}
 */
export async function findSharedState(
  options: SharedStateOptions,
  access: 'read' | 'write',
): Promise<SharedState | undefined> {
  const tables = await findPostgresTables({ ...options, ...named }, access);
  return tables && createSharedState(tables, options);
}

function createSharedState(tables: PostgresTables, options: SharedStateOptions): SharedState {
  return {
    pins: createPins(tables),
    paidKeys: {
      findAll: async (wallets) => {
        const rows = await findKeys(tables, 'paid_key', wallets);
        return wallets.map((wallet) => {
          const row = rows.get(wallet);
          return row === undefined
            ? undefined
            : {
                encryptionPublicKey: parseEncryptionPublicKey(row.encryption_public_key),
                atMs: row.at_ms,
              };
        });
      },
      async record(paid, atMs) {
        await keepKeys(
          tables,
          'paid_key',
          paid.map((one) => ({ ...one, atMs })),
        );
      },
    },
    turns: createSharedTurns(options.settings),
    async assertShared(name, value) {
      await tables.use((query) =>
        query('insert into agent_setting values ($1, $2) on conflict do nothing', [name, value]),
      );
      const { rows } = await tables.use((query) =>
        query<{ value: string }>('select value from agent_setting where name = $1', [name]),
      );
      if (rows[0]?.value !== value) {
        throw new PoolError(
          'invalid_configuration',
          `${name} is not that of the agents that use this job store already; agents of one job store need the same. If the first agent had the wrong one, stop all agents and delete the row of agent_setting`,
        );
      }
    },
    openOpenings: (fingerprintKey) => createSharedOpenings(tables, fingerprintKey),
    close: () => tables.close(),
  };
}

function createPins(tables: PostgresTables): EvidencePins {
  return {
    async pinAll(evidence) {
      const pinned = await findKeys(
        tables,
        'evidence_pin',
        evidence.map(({ walletPub }) => walletPub),
      );
      const newer = evidence.filter(
        ({ walletPub, issuedAtMs }) => (pinned.get(walletPub)?.at_ms ?? -1) < issuedAtMs,
      );
      // Another agent may have pinned newer evidence meanwhile: what is stored after the write counts.
      await keepKeys(
        tables,
        'evidence_pin',
        newer.map((one) => ({ ...one, atMs: one.issuedAtMs })),
      );
      const stored =
        newer.length === 0
          ? pinned
          : await findKeys(
              tables,
              'evidence_pin',
              evidence.map(({ walletPub }) => walletPub),
            );
      return evidence.map(
        ({ walletPub, encryptionPublicKey }) =>
          stored.get(walletPub)?.encryption_public_key === encryptionPublicKey.valueOf(),
      );
    },
  };
}

type KeyTable = 'evidence_pin' | 'paid_key';

async function findKeys(
  { use }: PostgresTables,
  table: KeyTable,
  wallets: readonly WalletPub[],
): Promise<ReadonlyMap<string, KeyRow>> {
  const { rows } = await use((query) =>
    query<KeyRow>(`select * from ${table} where wallet_pub = any($1::text[])`, [wallets]),
  );
  return new Map(rows.map((row) => [row.wallet_pub, row]));
}

/** One write. Changes nothing where a key of the same time, or a newer one, is stored. */
async function keepKeys(
  { use }: PostgresTables,
  table: KeyTable,
  keys: readonly {
    readonly walletPub: WalletPub;
    readonly encryptionPublicKey: string;
    readonly atMs: number;
  }[],
): Promise<void> {
  if (keys.length === 0) {
    return;
  }
  // In one order, so that two agents cannot wait for each other. A wallet that occurs twice has its newest key.
  const newest = new Map(
    [...keys].sort((a, b) => a.atMs - b.atMs).map((one) => [one.walletPub, one]),
  );
  const ordered = [...newest.values()].sort((a, b) => (a.walletPub < b.walletPub ? -1 : 1));
  await use((query) =>
    query(
      `insert into ${table} as kept (wallet_pub, encryption_public_key, at_ms)
       select * from unnest($1::text[], $2::text[], $3::bigint[])
       on conflict (wallet_pub) do update
         set encryption_public_key = excluded.encryption_public_key, at_ms = excluded.at_ms
         where excluded.at_ms > kept.at_ms`,
      [
        ordered.map(({ walletPub }) => walletPub),
        ordered.map(({ encryptionPublicKey }) => encryptionPublicKey),
        ordered.map(({ atMs }) => atMs),
      ],
    ),
  );
}

/** The first number of the locks of turns. */
const turnLock = 0x7475_726e;

/** How long the server may take to say whether a turn is free. */
const answerMs = 5_000;

/** Pause before the server is asked again for a turn that it could not give. */
const againMs = 1_000;

/**
 * The turn is a lock of a session, so a process that dies frees it at once. A run that loses its session goes on: the turn orders
 * allowances and protects no money, because the contract pays a key once (docs/decisions/0017).
 */
function createSharedTurns(settings: PostgresSettings): KeyLock {
  const own = createKeyLock();
  return {
    isTaken: (name) => own.isTaken(name),
    async tryAcquire(name) {
      const release = await own.tryAcquire(name);
      // Who cannot ask the server has to wait for it.
      const end = release && (await takeTurn(settings, name, 'try').catch(() => undefined));
      if (end === undefined) {
        release?.();
        return undefined;
      }
      return () => {
        end();
        release?.();
      };
    },
    async acquire(name, signal, onOutage = () => undefined) {
      const release = await own.acquire(name, signal);
      try {
        const end = await waitForTurn(settings, name, signal, onOutage);
        return () => {
          end();
          release();
        };
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

/** Waits as long as it takes, also while the server is away. @returns how to end the turn */
async function waitForTurn(
  settings: PostgresSettings,
  name: string,
  signal: AbortSignal,
  onOutage: (error: unknown) => void,
): Promise<() => void> {
  for (let tries = 1; ; tries += 1) {
    signal.throwIfAborted();
    try {
      const end = await takeTurn(settings, name, 'wait', signal);
      if (end !== undefined) {
        return end;
      }
    } catch (error) {
      if (tries === 1 && !signal.aborted) {
        onOutage(toDatabaseError(error));
      }
    }
    await delay(againMs, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * A machine that loses power closes no connection: the server frees its turns after half a minute. It also looks whether a session that
 * waits is still there.
 */
const sessionSettings = `set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3;
  set idle_session_timeout = 0; set client_connection_check_interval = '5s'`;

/**
 * Takes the turn in a session of its own.
 * @returns how to end it; undefined if `try` found it taken
 * @throws the error of the server or of the connection; the signal's reason
 */
async function takeTurn(
  settings: PostgresSettings,
  name: string,
  mode: 'try' | 'wait',
  signal?: AbortSignal,
): Promise<(() => void) | undefined> {
  const client = new pg.Client({
    ...describeClient(settings, 'pool-agent-turn'),
    ...(mode === 'try' ? { query_timeout: answerMs } : {}),
  });
  client.on('error', () => undefined);
  const end = (): void => {
    client.end().catch(() => undefined);
  };
  signal?.addEventListener('abort', end, { once: true });
  let isHeld = false;
  try {
    await client.connect();
    await client.query(sessionSettings);
    const take = mode === 'try' ? 'pg_try_advisory_lock' : 'pg_advisory_lock';
    const { rows } = await client.query<{ taken: unknown }>(
      `select ${take}($1, hashtext($2)) as taken`,
      [turnLock, name],
    );
    signal?.throwIfAborted();
    isHeld = mode === 'wait' || rows[0]?.taken === true;
    return isHeld ? end : undefined;
  } finally {
    signal?.removeEventListener('abort', end);
    if (!isHeld) {
      end();
    }
  }
}
