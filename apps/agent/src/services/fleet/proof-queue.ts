/**
 * The queue of proofs in a PostgreSQL database: agents put tasks in, and any number of `disburse-agent prover` processes take them. It
 * decides nothing about money: an agent verifies what it gets, and only its own job store says what was signed.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readArtifactsManifest } from '@pool/circuits';
import { fundCircuits, PoolError } from '@pool/core';
import {
  codeOf,
  describeClient,
  explainFirstFailure,
  explainRefusal,
  type PostgresSettings,
  toDatabaseError,
} from '@pool/storage/postgres';
import { createSilentTelemetry } from '@pool/tracing';
import type { Log } from '@pool/wallet/node';
import type { PgBoss } from 'pg-boss';
import * as v from 'valibot';

export type ProofQueue = {
  readonly boss: PgBoss;
  /** Of the keys that its tasks are proved with, and the key to which they are encrypted. */
  readonly name: string;
  /** Names of the provers that take tasks of this queue now. */
  listProvers(): Promise<readonly string[]>;
};

/** The data of a task, as the database has them. `sealed` is {@link sealInput}'s. */
export const taskSchema = v.strictObject({
  circuit: v.picklist(fundCircuits),
  sealed: v.string(),
});

/** Rows as pg-boss 12 names them: there is no call that reads a state without the data, which can have megabytes. */
export const taskTable = 'pgboss.job';

/** A task whose prover was killed is given to another one after this time, in seconds. pg-boss accepts no less. */
const heartbeatSeconds = 10;

const taskOptions = {
  heartbeatSeconds,
  // The longest proof, with the time to build its keys. Then another prover may try.
  expireInSeconds: 1_800,
  // Provers that ended with the task in hand.
  retryLimit: 10,
  // Tasks and proofs that no agent asks for any more.
  retentionSeconds: 3_600,
  deleteAfterSeconds: 3_600,
};

/** The queue of these keys: provers with others serve another one, and fail no task of this one. */
function nameQueue(manifest: string | undefined, recipient: string): string {
  const text =
    manifest === undefined ? JSON.stringify(readArtifactsManifest()) : readFileSync(manifest);
  return `proofs-${createHash('sha256').update(text).update(recipient).digest('hex')}`;
}

/**
 * Connects, and prepares the database at first use. An agent opens it although the server is away: until it answers, all calls fail as in
 * any outage.
 * @param options.manifest - path of the published manifest; undefined for development keys
 * @param options.recipient - public key of the provers
 * @param options.role - provers are listed; an agent is not
 * @throws PoolError `database_unavailable`; for an agent only what does not pass by itself
 */
export async function openProofQueue(options: {
  readonly settings: PostgresSettings;
  readonly manifest: string | undefined;
  readonly recipient: string;
  readonly role: 'agent' | 'prover';
  readonly log: Log;
}): Promise<ProofQueue> {
  const { settings, manifest, recipient, role, log } = options;
  const name = nameQueue(manifest, recipient);
  // Large, and most agents have no queue.
  const { PgBoss } = await import('pg-boss');
  const { types: _, ...client } = describeClient(settings, `pool-${role}-proofs`);
  const boss = new PgBoss({
    ...(client as ConstructorParameters<typeof PgBoss>[0] & object),
    // Over a connection that is half open a query would wait for minutes.
    ...{ query_timeout: 20_000, max: 4 },
    schedule: false,
    superviseIntervalSeconds: 1,
    monitorIntervalSeconds: 1,
    registerInstance: role === 'prover',
    instanceHeartbeatSeconds: 2,
    // In a column of its own: a prover of any version takes the task, with tracing or without.
    openTelemetry: { ...createSilentTelemetry(), propagateContext: true },
  });
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  // The code alone: an error of pg-boss can contain the statement with its data. During an outage there are several a second.
  boss.on('error', (error) => {
    if (performance.now() - loggedAtMs > 10_000) {
      loggedAtMs = performance.now();
      log.warn({ code: codeOf(error) ?? 'unknown' }, 'the queue of proofs has a problem');
    }
  });
  const prepare = async (attempts: number): Promise<void> => {
    await boss.start({ attempts });
    await boss.createQueue(name, taskOptions);
  };
  try {
    await prepare(1);
  } catch (error) {
    const isAway = toDatabaseError(error) !== error;
    const message = `the queue of proofs (DISBURSE_PROVER_QUEUE): ${explainFirstFailure(error)}`;
    if (role === 'agent' && isAway && explainRefusal(error) === undefined) {
      log.warn({ code: 'database_unavailable' }, `${message}; no batch is proved until it does`);
      // Ends with the first success, or when it is stopped. Each prover creates the queue too.
      prepare(Number.MAX_SAFE_INTEGER).catch(() => undefined);
    } else {
      await boss.stop({ graceful: false }).catch(() => undefined);
      throw isAway ? new PoolError('database_unavailable', message, { cause: error }) : error;
    }
  }
  return {
    boss,
    name,
    async listProvers() {
      const instances = await boss.getInstances();
      return instances
        .filter(({ live, workers }) => live && workers.some(({ queue }) => queue === name))
        .map(({ host, pid }) => `${host}:${pid}`);
    },
  };
}
