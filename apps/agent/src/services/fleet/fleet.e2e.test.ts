// Agents and provers through a real PostgreSQL server: prover processes that are killed, a prover that lies, tasks that failed, and what
// the database shows.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { verificationKeys } from '@pool/circuits';
import { deriveTraceId, Secret } from '@pool/core';
import type { Prover } from '@pool/prover';
import { createDatabase, type ManagedProcess, startPostgres } from '@pool/testkit';
import { traceJob } from '@pool/tracing';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { startAgentTracing } from '../../config/config.ts';
import { startFakeCollector } from '../../fixtures/fake-collector.ts';
import {
  createFleetAgent,
  createFleetPlace,
  createInput,
  type FleetPlace,
  startProverProcess,
} from '../../fixtures/fleet-world.ts';
import type { FleetProver } from './fleet-prover.ts';
import { openProofQueue, type ProofQueue, taskTable } from './proof-queue.ts';
import { startProverWorker } from './prover-worker.ts';
import { openInput, sealInput } from './sealed-input.ts';

const logged: { level: string; fields: object; message: string }[] = [];
function note(level: string) {
  return (fields: object, message: string): void => {
    logged.push({ level, fields, message });
  };
}
const log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };

let place: FleetPlace;
let home: string;
beforeEach(async () => {
  place = await createFleetPlace(await createDatabase(inject('postgresUrl') ?? ''));
  home = mkdtempSync(join(tmpdir(), 'pool-fleet-'));
  logged.length = 0;
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

async function open(
  role: 'agent' | 'prover',
  { settings, recipient } = place,
): Promise<ProofQueue> {
  const queue = await openProofQueue({ settings, manifest: undefined, recipient, role, log });
  onTestFinished(() => queue.boss.stop({ graceful: false }));
  return queue;
}

async function createAgent(patienceMs = 300_000): Promise<FleetProver> {
  return createFleetAgent({ ...place, queue: await open('agent'), log, patienceMs });
}

/** A process of its own, ready to take tasks. */
async function startProver(
  name: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ManagedProcess> {
  const started = await startProverProcess(place, { name, home, env });
  onTestFinished(() => started.kill());
  return started;
}

/** A prover in this process. */
async function startWorker(prover: Pick<Prover, 'prove'>, at = place): Promise<ProofQueue> {
  const queue = await open('prover', at);
  await startProverWorker({ ...{ queue, prover, log }, identity: new Secret(at.privateKey) });
  return queue;
}

function signalsOf(input: Readonly<Record<string, unknown>>): readonly unknown[] {
  return ['D', 'z', 'y'].map((name) => input[name]);
}

/** Every row of every table, and what its base64 says. */
async function dumpDatabase(): Promise<string> {
  const { boss } = await open('agent');
  const db = boss.getDb();
  const tables = await db.executeSql(
    "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'pgboss'",
  );
  const texts: string[] = [];
  for (const { name } of tables.rows as { name: string }[]) {
    const { rows } = await db.executeSql(`select t::text as row from only ${name} t`);
    texts.push(...(rows as { row: string }[]).map(({ row }) => row));
  }
  const dump = texts.join('\n');
  const sealed = dump.match(/[A-Za-z0-9+/=]{40,}/g) ?? [];
  return [dump, ...sealed.map((text) => Buffer.from(text, 'base64').toString('latin1'))].join('\n');
}

describe('a fleet of provers', () => {
  it('makes the proofs of an agent, finishes what a killed prover began, and ends in good order', async () => {
    const provers = [await startProver('first'), await startProver('second')];
    const agent = await createAgent();
    await expect.poll(agent.probe).toMatchObject({
      ok: true,
      detail: { kind: 'fleet', message: '2 provers take proofs' },
    });
    const inputs = Array.from({ length: 4 }, (_, index) => createInput(index + 1));
    const twin = await createAgent();
    // Another agent wants the first one too.
    const proofs = [...inputs, inputs[0]!].map((input, index) =>
      (index < 4 ? agent : twin).prove({ circuit: 'fund-16', input }),
    );
    const isProving = (prover: ManagedProcess) => {
      const output = prover.output();
      return output.lastIndexOf('"proving"') > output.lastIndexOf('"proved"');
    };
    await expect.poll(() => provers.findIndex(isProving), { interval: 20 }).not.toBe(-1);
    const victim = provers.find(isProving)!;
    await victim.kill();
    const made = await Promise.all(proofs);
    for (const [index, { proof, publicSignals }] of made.entries()) {
      expect(publicSignals).toEqual(signalsOf(inputs[index % 4]!));
      expect(await agent.verify(verificationKeys['fund-16'], publicSignals, proof)).toBe(true);
    }
    const survivor = provers.find((prover) => prover !== victim)!;
    expect(survivor.output().match(/"proved"/g)?.length).toBeGreaterThanOrEqual(3);
    await survivor.stop(120_000);
    expect(await survivor.exited).toEqual({ code: 0, signal: undefined });
    await expect.poll(agent.probe).toMatchObject({ ok: false });
  });

  it('refuses the proof of a prover that lies, and gets a right one from another', async () => {
    const inputs = [createInput(1), createInput(2)] as const;
    const agent = await createAgent();
    const honest = await startProver('honest');
    const right = await agent.prove({ circuit: 'fund-16', input: inputs[0] });
    await honest.stop();
    const lies = [right, { ...right, proof: { ...right.proof, pi_a: right.proof.pi_c } }];
    const told = Promise.withResolvers<void>();
    // The first proof is valid, and of another batch; the second is none.
    const liar = await startWorker({
      prove: async () => {
        const lie = lies.shift() ?? right;
        if (lies.length === 0) {
          told.resolve();
        }
        return lie;
      },
    });
    const waiting = agent.prove({ circuit: 'fund-16', input: inputs[1] });
    await told.promise;
    await liar.boss.stop();
    await startProver('another');
    expect((await waiting).publicSignals).toEqual(signalsOf(inputs[1]));
    expect(logged.filter(({ message }) => /wrong proof/.test(message))).toHaveLength(2);
    expect(logged.find(({ level }) => level === 'error')?.fields).toMatchObject({
      by: expect.stringContaining(`:${process.pid}`),
    });
  });

  it('accepts a task again at once after a prover could not make it', async () => {
    const agent = await createAgent();
    const input = createInput(3);
    let isBroken = true;
    await startWorker({
      prove: async () => {
        if (isBroken) {
          const secret = new Error(`amounts: ${String(input['amounts'])}`);
          throw Object.assign(secret, { code: 'proof_failed', retryable: true });
        }
        return { proof: 'nonsense' } as never;
      },
    });
    const request = { circuit: 'fund-16', input } as const;
    const failure = {
      code: 'prover_unavailable',
      retryable: true,
      message: expect.stringMatching(
        /^the prover \S+:\d+ could not make the proof \(proof_failed\)/,
      ),
    };
    await expect(agent.prove(request)).rejects.toMatchObject(failure);
    expect(logged.filter(({ message }) => /could not make a proof/.test(message))).toHaveLength(3);
    isBroken = false;
    await expect(agent.prove(request)).rejects.toMatchObject({ code: 'prover_unavailable' });
    expect(logged.filter(({ message }) => /wrong proof/.test(message))).toHaveLength(3);
    expect(JSON.stringify(logged)).not.toContain('amounts');
  });

  it('believes no prover that a proof cannot be made, and a broken machine rests', async () => {
    const agent = await createAgent();
    const input = createInput(4);
    const failures = [{ code: 'ENOSPC' }, { code: 'witness_refused', retryable: false }];
    const atMs: number[] = [];
    const told = Promise.withResolvers<void>();
    const broken = await startWorker({
      prove: async () => {
        atMs.push(performance.now());
        if (atMs.length === 2) {
          told.resolve();
        }
        throw Object.assign(new Error('total'), failures[atMs.length - 1]);
      },
    });
    const waiting = agent.prove({ circuit: 'fund-16', input });
    await Promise.race([told.promise, waiting]);
    await broken.boss.stop();
    expect(atMs[1]! - atMs[0]!).toBeGreaterThan(9_500);
    await startProver('sound');
    expect((await waiting).publicSignals).toEqual(signalsOf(input));
    const codes = logged
      .filter(({ message }) => /could not make a proof/.test(message))
      .map(({ fields }) => fields);
    expect(codes).toMatchObject([{ code: 'ENOSPC' }, { code: 'witness_refused' }]);
  });

  it('asks no prover that has another key', async () => {
    const privateKey = await generateX25519Identity();
    const recipient = await identityToRecipient(privateKey);
    const other = await startWorker(
      { prove: () => Promise.reject(new Error('asked')) },
      { ...place, privateKey, recipient },
    );
    await expect.poll(other.listProvers).toHaveLength(1);
    const agent = await createAgent(1_000);
    await expect(agent.prove({ circuit: 'fund-16', input: createInput(1) })).rejects.toThrow(
      'there was no prover for 1 s',
    );
  });

  it('says that there is no prover, and withdraws what nobody waits for', async () => {
    const agent = await createAgent(1_000);
    const input = createInput(1);
    await expect(agent.prove({ circuit: 'fund-16', input })).rejects.toMatchObject({
      code: 'prover_unavailable',
      retryable: true,
      message: expect.stringContaining(
        'there was no prover for 1 s: start "disburse-agent prover"',
      ),
    });
    const abort = new AbortController();
    const waiting = agent.prove({ circuit: 'fund-16', input, signal: abort.signal });
    setTimeout(() => abort.abort(), 300);
    await expect(waiting).rejects.toMatchObject({ code: 'proof_aborted' });
    const { rows } = await (await open('agent')).boss
      .getDb()
      .executeSql(`select id from ${taskTable}`);
    expect(rows).toEqual([]);
  });
});

it('a fleet goes on after the database was killed in the middle of a proof', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  place = await createFleetPlace(await server.createDatabase());
  const prover = await startProver('prover');
  const agent = await createAgent();
  const inputs = [createInput(1), createInput(2)];
  const proofs = inputs.map((input) => agent.prove({ circuit: 'fund-16', input }));
  await expect.poll(() => prover.output()).toContain('"proving"');
  await server.kill();
  await server.start();
  const made = await Promise.all(proofs);
  expect(made.map(({ publicSignals }) => publicSignals)).toEqual(inputs.map(signalsOf));
});

it('an agent starts while the queue is away, and its proofs are made later', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  place = await createFleetPlace(await server.createDatabase());
  const absent = { ...place, settings: { ...place.settings, database: 'absent' } };
  await expect(open('agent', absent)).rejects.toThrow('(3D000): create it, empty');
  await server.kill();
  const agent = await createAgent();
  const stopped = await createAgent();
  await stopped.close();
  expect(await agent.probe()).toMatchObject({ ok: false, detail: { kind: 'unreachable' } });
  const input = createInput(1);
  const waiting = agent.prove({ circuit: 'fund-16', input });
  await Promise.race([delay(2_000), waiting]);
  await server.start();
  await startProver('prover');
  expect((await waiting).publicSignals).toEqual(signalsOf(input));
  expect(logged.filter(({ message }) => /no batch is proved until/.test(message))).toHaveLength(2);
});

it('a proof is in the trace of the job that asked for it, and its span tells no more', async () => {
  const collector = await startFakeCollector();
  onTestFinished(collector.close);
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url);
  onTestFinished(() => void vi.unstubAllEnvs());
  const stopTracing = await startAgentTracing('pool-agent');
  const prover = await startProver('prover', { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  const queue = await open('agent');
  const agent = createFleetAgent({ ...place, queue, log });
  const inputs = [createInput(1), createInput(2)] as const;
  const key = 'salaries of June';
  await traceJob(key, 'disbursement', () => agent.prove({ circuit: 'fund-16', input: inputs[0] }));
  // As an agent without traces asks.
  await agent.prove({ circuit: 'fund-16', input: inputs[1] });
  await prover.stop(120_000);
  await stopTracing?.();
  const spans = collector.spans();
  const job = spans.find(({ name }) => name === 'disbursement');
  expect(job).toMatchObject({
    service: 'pool-agent',
    traceId: deriveTraceId(key).padStart(32, '0'),
  });
  const proofs = spans.filter((span) => span !== job);
  const plain = { service: 'pool-prover', name: 'proof', attributes: [], events: [], links: [] };
  expect(proofs).toMatchObject([plain, plain]);
  expect(proofs[0]).toMatchObject({ traceId: job?.traceId, parentSpanId: job?.spanId });
  expect(proofs[1]?.parentSpanId).toBeUndefined();
  const hidden = [key, queue.name, place.recipient, place.privateKey, place.settings.database];
  expect(hidden.filter((text) => collector.received().includes(text))).toEqual([]);
});

describe('an input in the queue', () => {
  it('is in no table in clear, and its length does not show how many are paid', async () => {
    const inputs = [createInput(1), createInput(16)] as const;
    const agent = await createAgent(500);
    for (const input of inputs) {
      await expect(agent.prove({ circuit: 'fund-16', input })).rejects.toMatchObject({
        code: 'prover_unavailable',
      });
    }
    const dump = await dumpDatabase();
    const lengths = dump.match(/[A-Za-z0-9+/=]{1000,}/g)?.map(({ length }) => length);
    expect(lengths).toEqual([lengths?.[0], lengths?.[0]]);
    const secrets = ['walletIds', 'px', 'amounts', 'secret', 'total'].flatMap(
      (name) => inputs[1][name] as string | string[],
    );
    // Of all forms that a number can have, those that the code writes.
    expect(secrets.filter((value) => value.length > 6 && dump.includes(value))).toEqual([]);
    expect(dump).not.toContain('walletIds');
  });

  it('opens with the key of the provers alone', async () => {
    const input = createInput(2);
    const sealed = await sealInput(place.recipient, input);
    const opened = (await openInput(new Secret(place.privateKey), sealed)) as { amounts: string[] };
    expect(opened.amounts.map(BigInt)).toEqual((input['amounts'] as string[]).map(BigInt));
    const other = new Secret(await generateX25519Identity());
    await expect(openInput(other, sealed)).rejects.toThrow();
  });
});
