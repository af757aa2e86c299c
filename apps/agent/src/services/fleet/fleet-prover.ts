/**
 * The prover of an agent whose proofs are made by other processes. A task is named by its keys, circuit and public inputs, so agents that
 * want the same proof share one. Whoever brings a valid proof first is believed, because the agent verifies it; nothing else is believed,
 * and no failure is kept under the name of a task.
 *
 * Batches only: the inputs of a spend contain the holder's secrets, and are proved on the holder's machine.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { VerificationKey } from '@pool/circuits';
import { type CircuitName, isPoolError, PoolError } from '@pool/core';
import { createFinding, type Probe } from '@pool/operations';
import { type ProofResult, type Prover, ProverError, verifyProof } from '@pool/prover';
import { codeOf } from '@pool/storage/postgres';
import type { Log } from '@pool/wallet/node';
import * as v from 'valibot';
import { type ProofQueue, taskTable } from './proof-queue.ts';
import { sealInput } from './sealed-input.ts';
import { createTaskWatch, type TaskRow } from './task-watch.ts';

/** How long a task waits while there is no prover, and while the database is away: as a job waits for chain and platform. */
const patienceMs = 5 * 60_000;

/** When the log says that there is no prover. */
const noticeMs = 15_000;

/** After so many wrong proofs or failures of one task the job reports the last one. Another prover may have made the proof. */
const attempts = 3;

export type FleetProver = Pick<Prover<CircuitName>, 'prove' | 'verify'> & {
  /** What the trace of a job shows. */
  readonly accelerator: { readonly kind: string; readonly detail: string };
  readonly probe: Probe;
  close(): Promise<void>;
};

const coordinate = v.pipe(v.string(), v.regex(/^[0-9]{1,78}$/));
const point = v.tuple([coordinate, coordinate, coordinate]);
const pair = v.tuple([coordinate, coordinate]);
/** As a prover answers. Nothing in it is believed. */
const answerSchema = v.object({
  proof: v.object({
    pi_a: point,
    pi_b: v.tuple([pair, pair, pair]),
    pi_c: point,
    protocol: v.literal('groth16'),
    curve: v.literal('bn128'),
  }),
});
const failureSchema = v.object({ code: v.pipe(v.string(), v.regex(/^[\w-]{1,60}$/)) });
const bySchema = v.object({ by: v.pipe(v.string(), v.regex(/^[\w.-]{1,253}:[0-9]{1,10}$/)) });

/** @param options.recipient - public key of the provers */
export function createFleetProver(options: {
  readonly queue: ProofQueue;
  readonly recipient: string;
  readonly readVerificationKey: (circuit: CircuitName) => Promise<VerificationKey>;
  readonly log: Log;
  readonly patienceMs?: number;
}): FleetProver {
  const { queue, recipient, readVerificationKey, log } = options;
  const patience = options.patienceMs ?? patienceMs;
  const { boss, name } = queue;
  const watch = createTaskWatch(queue);
  const provers = createProverCount(queue, log);

  async function isValid(circuit: CircuitName, expected: readonly string[], output: unknown) {
    const answer = v.safeParse(answerSchema, output);
    return answer.success &&
      verifyProof(await readVerificationKey(circuit), expected, answer.output.proof)
      ? { proof: answer.output.proof, publicSignals: expected }
      : undefined;
  }

  /** Takes a task away that no prover has begun, because nobody wants it any more. */
  async function withdraw(id: string): Promise<void> {
    const text = `delete from ${taskTable} where name = $1 and id = $2 and state < 'active'`;
    await boss
      .getDb()
      .executeSql(text, [name, id])
      .catch(() => undefined);
  }

  /** What a prover answered. @throws what the provers, or the lack of them, report */
  async function waitForAnswer(
    task: { readonly id: string; readonly send: () => Promise<void> },
    signal: AbortSignal | undefined,
    onState: (state: TaskRow['state'] | undefined) => void,
  ): Promise<unknown> {
    await task.send();
    let hadProversAtMs = performance.now();
    for (;;) {
      signal?.throwIfAborted();
      const row = await watch.read(task.id);
      onState(row?.state);
      if (row === undefined) {
        // Another agent that wanted the same proof took it, or the row was too old.
        await task.send();
      } else if (row.state === 'completed') {
        return row.output;
      } else if (row.state === 'failed' || row.state === 'cancelled') {
        await boss.deleteJob(name, task.id);
        throw new PoolError(
          'prover_unavailable',
          'every prover that took the proof ended before it was made: look at their memory and logs',
        );
      }
      if ((await provers.count()) > 0) {
        hadProversAtMs = performance.now();
      } else if (performance.now() - hadProversAtMs > patience) {
        throw new PoolError(
          'prover_unavailable',
          `there was no prover for ${Math.round(patience / 1_000)} s: ${advice}`,
        );
      }
    }
  }

  /** {@link waitForAnswer} through an outage of the database. */
  async function askFleet(
    task: Parameters<typeof waitForAnswer>[0],
    signal: AbortSignal | undefined,
    onTaken: () => void,
  ): Promise<unknown> {
    for (let awayAtMs: number | undefined; ; ) {
      try {
        return await waitForAnswer(task, signal, (state) => {
          awayAtMs = undefined;
          if (state === 'active') {
            onTaken();
          }
        });
      } catch (error) {
        signal?.throwIfAborted();
        if (isPoolError(error)) {
          throw error;
        }
        awayAtMs ??= performance.now();
        if (performance.now() - awayAtMs > patience) {
          rethrowUnavailable(error);
        }
      }
      await delay(1_000, undefined, { signal });
    }
  }

  async function prove(
    id: string,
    circuit: CircuitName,
    expected: readonly string[],
    input: Readonly<Record<string, unknown>>,
    { signal, onProgress }: Parameters<FleetProver['prove']>[0],
  ): Promise<ProofResult> {
    const send = async (): Promise<void> => {
      // Without effect if the task is there.
      await boss.send(name, { circuit, sealed: await sealInput(recipient, input) }, { id });
    };
    onProgress?.('queued', 0);
    for (let attempt = 1; ; attempt += 1) {
      const output = await askFleet({ id, send }, signal, () => onProgress?.('witness', 1));
      const valid = await isValid(circuit, expected, output);
      if (valid !== undefined) {
        // If the database is away now, the row ends by its age.
        await boss.deleteJob(name, id).catch(() => undefined);
        return valid;
      }
      await boss.deleteJob(name, id).catch(rethrowUnavailable);
      const by = v.is(bySchema, output) ? output.by : 'unknown';
      const isLast = attempt === attempts;
      if (v.is(failureSchema, output)) {
        const { code } = output;
        log.warn({ task: id, by, code }, 'a prover could not make a proof');
        if (isLast) {
          // Whatever it says, it ends no job: the next one may make the proof.
          throw new PoolError(
            'prover_unavailable',
            `the prover ${by} could not make the proof (${code}): see its log`,
          );
        }
      } else {
        log.error({ task: id, by }, 'a prover delivered a wrong proof; the task is sent again');
        if (isLast) {
          throw new PoolError(
            'prover_unavailable',
            `the prover ${by} delivers wrong proofs, which were refused: stop it and find out why`,
          );
        }
      }
    }
  }

  return {
    async prove(request) {
      const { circuit, input } = request;
      if (typeof circuit !== 'string' || input === undefined) {
        throw new ProverError(
          'argument_invalid',
          'A fleet proves by the name of a circuit, from its input.',
        );
      }
      const expected = [input['D'], input['z'], input['y']].map(String);
      const id = computeTaskId([name, circuit, ...expected]);
      try {
        return await prove(id, circuit, expected, input, request);
      } catch (error) {
        if (request.signal?.aborted !== true) {
          throw error;
        }
        await withdraw(id);
        throw new ProverError('proof_aborted', 'The proof was aborted.', { cause: error });
      }
    },
    verify: async (key, publicSignals, proof) => verifyProof(key, publicSignals, proof),
    get accelerator() {
      return { kind: 'fleet', detail: describeCount(provers.last()) };
    },
    probe: async () => {
      try {
        const count = await provers.count();
        return createFinding(count > 0, 'fleet', describeCount(count));
      } catch {
        const message = 'the queue of proofs (DISBURSE_PROVER_QUEUE) does not answer';
        return createFinding(false, 'unreachable', message);
      }
    },
    close: () => boss.stop({ timeout: 1_000 }),
  };
}

const advice =
  'start "disburse-agent prover" with this queue, these proving keys and the private key of DISBURSE_PROVER_PUBLIC_KEY';

function describeCount(count: number): string {
  return count === 0
    ? `no prover takes proofs: ${advice}`
    : `${count} ${count === 1 ? 'prover takes' : 'provers take'} proofs`;
}

/** Whatever fails in the queue is tried again. */
function rethrowUnavailable(cause: unknown): never {
  const message = `the queue of proofs does not answer (${codeOf(cause) ?? 'no code'})`;
  throw new PoolError('database_unavailable', message, { cause });
}

/** A UUID, as the queue names its tasks. */
function computeTaskId(parts: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return hash.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** The number of provers, asked at most every two seconds. */
function createProverCount({ listProvers }: ProofQueue, log: Log) {
  let last = 0;
  let absence: { readonly sinceMs: number; readonly isLogged: boolean } | undefined;
  let asked: { readonly atMs: number; readonly count: Promise<number> } | undefined;
  return {
    last: () => last,
    async count(): Promise<number> {
      if (asked === undefined || performance.now() - asked.atMs > 2_000) {
        asked = { atMs: performance.now(), count: listProvers().then(({ length }) => length) };
      }
      last = await asked.count;
      if (last > 0) {
        absence = undefined;
        return last;
      }
      absence ??= { sinceMs: performance.now(), isLogged: false };
      if (!absence.isLogged && performance.now() - absence.sinceMs > noticeMs) {
        absence = { ...absence, isLogged: true };
        log.warn({ code: 'prover_unavailable' }, describeCount(0));
      }
      return last;
    },
  };
}
