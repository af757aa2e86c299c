import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { groth16 } from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OracleOptions, oracleKeyBytes } from '../../test/oracle-engine.ts';
import { setUp } from '../../test/oracle-prover.ts';
import {
  createSmallCircuit,
  endSnarkjsThreads,
  type SmallCircuit,
  squaresSource,
} from '../../test/small-circuit.ts';
import { ProverError } from '../base/errors.ts';
import { renderProverMetrics } from '../base/prover-metrics.ts';

let factors: SmallCircuit;
let squares: SmallCircuit;
beforeAll(async () => {
  factors = await createSmallCircuit();
  squares = await createSmallCircuit(squaresSource(5), 4);
});
afterAll(async () => {
  await endSnarkjsThreads();
  await rm(factors.folder, { recursive: true, force: true });
  await rm(squares.folder, { recursive: true, force: true });
});

const input = { product: 391, a: 17, b: 23 };
function failure(code: string, retryable = false) {
  return expect.objectContaining({ code, retryable });
}

describe('proofs', () => {
  it('of several circuits verify under snarkjs', async () => {
    const { prover } = setUp();
    const made = [
      [factors, await prover.prove({ circuit: factors, input })],
      [squares, await prover.prove({ circuit: squares, input: { start: 3, offsets: [1, -1] } })],
      [squares, await prover.prove({ circuit: squares, input: { start: 0, offsets: [0, 0] } })],
    ] as const;
    for (const [{ verificationKey }, { proof, publicSignals }] of made) {
      expect(await groth16.verify(verificationKey, publicSignals, proof)).toBe(true);
    }
    expect(made[2][1].publicSignals).toEqual(['0', '0', '0']);
    await prover.close();
  });

  it('of the same input differ, because they are blinded', async () => {
    const { prover } = setUp();
    const [first, second] = await Promise.all([
      prover.prove({ circuit: factors, input }),
      prover.prove({ circuit: factors, input }),
    ]);
    for (const part of ['pi_a', 'pi_b', 'pi_c'] as const) {
      expect(first.proof[part]).not.toEqual(second.proof[part]);
    }
    await prover.close();
  });

  it('report a progress that never decreases, stage after stage', async () => {
    const { prover } = setUp();
    const said: [string, number][] = [];
    const onProgress = (stage: string, fraction: number) => said.push([stage, fraction]);
    await prover.prove({ circuit: factors, input, onProgress });
    const stages = ['queued', 'witness', 'proof', 'verify'];
    const order = said.map(([stage, fraction]) => stages.indexOf(stage) + fraction);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(said.filter(([stage]) => stage === 'proof').length).toBeGreaterThan(2);
    expect(said.at(-1)).toEqual(['verify', 1]);
    await prover.close();
  });

  it('are refused if the files belong to different circuits', async () => {
    const { prover } = setUp();
    const other = { ...factors, zkey: squares.zkey };
    await expect(prover.prove({ circuit: other, input })).rejects.toEqual(
      failure('artifacts_mismatch'),
    );
    const program = { ...squares, wasm: factors.wasm };
    await expect(prover.prove({ circuit: program, input })).rejects.toEqual(
      failure('artifacts_mismatch'),
    );
    await prover.close();
  });

  it('are refused if a key has a point at infinity, although the verification key has it too', async () => {
    const { prover } = setUp();
    const bytes = await readFile(squares.zkey);
    // Section 3: the points of the public signals, 64 bytes each. The table of sections: id, size, content.
    let at = 12;
    while (bytes.readUInt32LE(at) !== 3) at += 12 + Number(bytes.readBigUInt64LE(at + 4));
    bytes.fill(0, at + 12, at + 12 + 64);
    const zkey = join(squares.folder, 'infinity.zkey');
    await writeFile(zkey, bytes);
    const [, ...rest] = squares.verificationKey.IC;
    const verificationKey = { ...squares.verificationKey, IC: [['0', '0', '1'], ...rest] as const };
    const circuit = { ...squares, zkey, verificationKey };
    const start = { start: 3, offsets: [1, 2] };
    await expect(prover.prove({ circuit, input: start })).rejects.toEqual(
      failure('artifacts_mismatch'),
    );
    await prover.close();
  });

  it.each(['a', 'b1', 'b2', 'c'] as const)(
    'are never returned with a wrong sum %s',
    async (name) => {
      const { prover } = setUp({ cpu: { change: (sums) => ({ ...sums, [name]: undefined }) } });
      const start = { start: 3, offsets: [1, 2] };
      await expect(prover.prove({ circuit: squares, input: start })).rejects.toEqual(
        failure('proof_failed', true),
      );
      await prover.close();
    },
  );
});

describe('memory', () => {
  it('keeps keys between proofs, and removes the one that was not used for the longest time', async () => {
    const { prover, cpu } = setUp({ budget: 1.5 * oracleKeyBytes });
    const prove = (circuit: SmallCircuit) =>
      prover.prove({ circuit, input: circuit === factors ? input : { start: 1, offsets: [2, 3] } });
    await prove(factors);
    await prove(factors);
    expect(cpu.counts).toMatchObject({ loads: 1, releases: 0 });
    await prove(squares);
    expect(cpu.counts).toMatchObject({ loads: 2, releases: 1 });
    expect(prover.metrics()).toMatchObject({
      residentKeys: 1,
      residentBytes: oracleKeyBytes,
      evictions: 1,
      proofs: 3,
      failures: 0,
    });
    await prove(factors);
    expect(cpu.counts.loads).toBe(3);
    await prover.close();
    expect(cpu.counts).toMatchObject({ releases: 3, closes: 1 });
    expect(prover.metrics()).toMatchObject({ residentKeys: 0, residentBytes: 0 });
  });

  it('refuses a key beyond the budget and says how much memory it needs', async () => {
    const { prover, cpu } = setUp({ budget: oracleKeyBytes - 1 });
    await expect(prover.prove({ circuit: factors, input })).rejects.toEqual(
      expect.objectContaining({
        code: 'memory_budget_exceeded',
        message: expect.stringMatching(/needs about 1 MB/),
      }),
    );
    expect(cpu.counts.loads).toBe(0);
    await prover.close();
  });
});

describe('a circuit that is loaded ahead', () => {
  it('is ready for the next proof, also for one that is asked for meanwhile', async () => {
    const { prover, cpu } = setUp();
    const said: [string, number][] = [];
    const onProgress = (stage: string, fraction: number) => said.push([stage, fraction]);
    const loading = prover.ready({ circuit: factors, onProgress });
    const proving = prover.prove({ circuit: factors, input });
    expect(await loading).toEqual({ kind: 'cpu', detail: 'oracle cpu' });
    expect([said[0], said.at(-1)]).toEqual([
      ['queued', 0],
      ['proof', 1],
    ]);
    await proving;
    await prover.prove({ circuit: factors, input });
    expect(cpu.counts).toMatchObject({ loads: 1, calls: 2 });
    expect(prover.metrics()).toMatchObject({ proofs: 2, failures: 0 });
    await prover.close();
  });

  it('is refused like a proof of it', async () => {
    const { prover, cpu } = setUp();
    const { verificationKey } = squares;
    for (const [ahead, code] of [
      [{ circuit: { ...factors, verificationKey } }, 'artifacts_mismatch'],
      [{ circuit: { ...factors, wasm: factors.zkey } }, 'witness_program_malformed'],
      [{ circuit: factors, signal: AbortSignal.abort() }, 'proof_aborted'],
      [{ circuit: {} as never }, 'argument_invalid'],
    ] as const) {
      await expect(prover.ready(ahead)).rejects.toEqual(failure(code));
    }
    const closed = expect(prover.ready({ circuit: squares })).rejects.toEqual(
      failure('prover_closed'),
    );
    await prover.close();
    await closed;
    expect(cpu.counts.closes).toBe(1);
  });
});

describe('a device', () => {
  const lost = () => {
    throw new ProverError('accelerator_lost', 'gone', { retryable: true });
  };

  it('makes the proof if there is one, and is described', async () => {
    const { prover, cpu } = setUp({ devices: [{}] });
    expect(prover.accelerator.kind).toBe('none');
    expect(await prover.ready()).toEqual({ kind: 'webgpu', detail: 'oracle webgpu' });
    await prover.prove({ circuit: factors, input });
    expect(prover.accelerator.kind).toBe('webgpu');
    expect(cpu.counts.calls).toBe(0);
    await prover.close();
  });

  it('that is missing leaves the work to the processor, or fails the proof if webgpu is required', async () => {
    const auto = setUp().prover;
    await auto.prove({ circuit: factors, input });
    expect(auto.accelerator).toEqual({ kind: 'cpu', detail: 'oracle cpu' });
    await auto.close();
    const { prover } = setUp({ accelerator: 'webgpu' });
    await expect(prover.prove({ circuit: factors, input })).rejects.toEqual(
      failure('accelerator_unavailable'),
    );
    await prover.close();
  });

  it('that goes away is opened again, and its keys are loaded again', async () => {
    const { prover, cpu, devices, onIncident } = setUp({ devices: [{ change: lost }, {}] });
    await prover.prove({ circuit: factors, input });
    expect(devices.map(({ counts }) => counts)).toMatchObject([
      { loads: 1, releases: 1, closes: 1 },
      { loads: 1, calls: 1 },
    ]);
    expect(cpu.counts.calls).toBe(0);
    expect(onIncident.mock.calls).toMatchObject([[{ code: 'accelerator_lost' }]]);
    await prover.close();
  });

  it('that goes away twice leaves the proof to the processor, unless webgpu is required', async () => {
    const devices = [{ change: lost }, { change: lost }];
    const { prover, cpu } = setUp({ devices });
    await prover.prove({ circuit: factors, input });
    expect(cpu.counts.calls).toBe(1);
    expect(prover.metrics().acceleratorLosses).toBe(2);
    await prover.close();
    const demanded = setUp({ devices, accelerator: 'webgpu' });
    await expect(demanded.prover.prove({ circuit: factors, input })).rejects.toEqual(
      failure('accelerator_lost', true),
    );
    await demanded.prover.close();
  });

  it('that is too small for a key leaves it to the processor', async () => {
    const { prover, cpu, devices } = setUp({ devices: [{}], deviceBudget: oracleKeyBytes - 1 });
    await prover.prove({ circuit: factors, input });
    expect([devices[0]?.counts.loads, cpu.counts.calls]).toEqual([0, 1]);
    await prover.close();
  });

  it('with a wrong result is checked by the processor and reported', async () => {
    const wrong: OracleOptions = { change: (sums) => ({ ...sums, c: sums.a }) };
    const { prover, cpu, onIncident } = setUp({ devices: [wrong, wrong, {}] });
    for (const made of [1, 2, 3]) {
      const { proof, publicSignals } = await prover.prove({ circuit: factors, input });
      expect(await groth16.verify(factors.verificationKey, publicSignals, proof)).toBe(true);
      expect(cpu.counts.calls).toBe(made);
    }
    // After the second wrong result the device is not used again.
    expect(onIncident.mock.calls).toMatchObject([
      [{ code: 'accelerator_wrong_result' }],
      [{ code: 'accelerator_wrong_result' }],
      [{ code: 'accelerator_retired' }],
    ]);
    expect(prover.metrics().wrongResults).toBe(2);
    await prover.close();
  });
});

describe('the queue', () => {
  it('proves one circuit after another, without switching back and forth', async () => {
    const { prover, cpu } = setUp({ budget: 1.5 * oracleKeyBytes });
    const order: string[] = [];
    const prove = async (name: string) => {
      const circuit = name.startsWith('f') ? factors : squares;
      const given = circuit === factors ? input : { start: 1, offsets: [2, 3] };
      await prover.prove({ circuit, input: given });
      order.push(name);
    };
    const all = Promise.all(['f1', 's1', 'f2', 's2', 'f3'].map(prove));
    await new Promise(setImmediate);
    expect(prover.metrics()).toMatchObject({ queued: 4, running: 1 });
    await all;
    expect(order).toEqual(['f1', 'f2', 'f3', 's1', 's2']);
    expect(cpu.counts.loads).toBe(2);
    expect(prover.metrics()).toMatchObject({ queued: 0, running: 0, proofs: 5 });
    expect(prover.metrics().secondsBusy).toBeGreaterThan(0);
    await prover.close();
  });

  it('computes the witness of the next proof beside the sums of one, and the sums of one at a time', async () => {
    const witness = Promise.withResolvers<undefined>();
    let inSums = 0;
    let runningInSums = 0;
    const { prover } = setUp({
      cpu: {
        change: async (sums, call) => {
          inSums += 1;
          expect(inSums).toBe(1);
          // Without an overlap this waits forever.
          if (call === 1) await witness.promise;
          runningInSums = Math.max(runningInSums, prover.metrics().running);
          inSums -= 1;
          return sums;
        },
      },
    });
    const onProgress = (stage: string, fraction: number) => {
      if (stage === 'witness' && fraction === 1) witness.resolve(undefined);
    };
    await Promise.all([
      prover.prove({ circuit: factors, input }),
      prover.prove({ circuit: factors, input, onProgress }),
      ...[1, 2, 3].map(() => prover.prove({ circuit: factors, input })),
    ]);
    expect(runningInSums).toBeGreaterThanOrEqual(2);
    expect(runningInSums).toBeLessThanOrEqual(3);
    expect(prover.metrics()).toMatchObject({ running: 0, proofs: 5 });
    await prover.close();
  });

  it('closes a device that computed a wrong result only after the sums of the next proof', async () => {
    let closesInSums: number | undefined;
    const { prover, devices, cpu, onIncident } = setUp({
      devices: [
        {
          change: async (sums, call) => {
            if (call === 1) return { ...sums, a: undefined };
            // The first proof is found to be wrong meanwhile.
            await new Promise((resolve) => setTimeout(resolve, 2000));
            closesInSums = devices[0]?.counts.closes;
            return sums;
          },
        },
      ],
    });
    const proofs = await Promise.all([1, 2].map(() => prover.prove({ circuit: factors, input })));
    for (const { proof, publicSignals } of proofs) {
      expect(await groth16.verify(factors.verificationKey, publicSignals, proof)).toBe(true);
    }
    expect(closesInSums).toBe(0);
    expect(cpu.counts.calls).toBe(1);
    expect(onIncident.mock.calls).toMatchObject([[{ code: 'accelerator_wrong_result' }]]);
    await prover.close();
  });

  it('removes a job immediately when its caller aborts', async () => {
    const { prover, cpu } = setUp();
    const abort = new AbortController();
    const first = prover.prove({ circuit: factors, input });
    const second = prover.prove({ circuit: factors, input, signal: abort.signal });
    await new Promise(setImmediate);
    expect(prover.metrics().queued).toBe(1);
    abort.abort();
    await expect(second).rejects.toEqual(failure('proof_aborted'));
    expect(prover.metrics().queued).toBe(0);
    await first;
    expect(cpu.counts.calls).toBe(1);
    await prover.close();
  });
});

it('the metrics are rendered for Prometheus', async () => {
  const { prover } = setUp();
  await prover.prove({ circuit: factors, input });
  await expect(prover.prove({ circuit: factors, input: {} })).rejects.toThrow();
  const text = renderProverMetrics(prover.metrics());
  expect(text).toMatch(
    /^# TYPE prover_proofs_total counter\nprover_proofs_total\{circuit="small",outcome="proved"\} 1\nprover_proofs_total\{circuit="small",outcome="witness_refused"\} 1$/m,
  );
  expect(text).toMatch(/^prover_proof_duration_seconds_bucket\{circuit="small",le="\+Inf"\} 1$/m);
  expect(text).toMatch(/^prover_proof_duration_seconds_count\{circuit="small"\} 1$/m);
  expect(text).toMatch(/^prover_accelerator_info\{kind="cpu",detail="oracle cpu"\} 1$/m);
  expect(text).toMatch(/^prover_resident_bytes 1000$/m);
  await prover.close();
});
