// Faults outside of the prover: callbacks, artifact sources, devices, files.
import { copyFile, readFile, rename, rm, stat, truncate, utimes } from 'node:fs/promises';
import { groth16 } from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createOracleEngine, type OracleEngine, oracleKeyBytes } from '../../test/oracle-engine.ts';
import { setUp } from '../../test/oracle-prover.ts';
import {
  createSmallCircuit,
  endSnarkjsThreads,
  type SmallCircuit,
  squaresSource,
} from '../../test/small-circuit.ts';
import { ProverError } from '../base/errors.ts';
import type { Engine } from '../engine/engine.ts';
import { createEngineProver } from './engine-prover.ts';

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

describe('faults outside of the prover', () => {
  it('an error of the progress callback fails only that proof, with that error', async () => {
    for (const at of ['queued', 'witness', 'proof', 'verify']) {
      const { prover } = setUp();
      const onProgress = (stage: string) => {
        if (stage === at) throw new Error(`thrown at ${stage}`);
      };
      await expect(prover.prove({ circuit: factors, input, onProgress })).rejects.toThrow(
        `thrown at ${at}`,
      );
      expect((await prover.prove({ circuit: factors, input })).publicSignals).toEqual(['391']);
      expect(prover.metrics()).toMatchObject({ proofs: 1, failures: 1 });
      await prover.close();
    }
  });

  it('a verification key of another shape is refused with its code', async () => {
    const { prover } = setUp();
    const { verificationKey } = factors;
    for (const wrong of [null, {}, { ...verificationKey, IC: [[1n, 2n, 1n]] }]) {
      const circuit = { ...factors, verificationKey: wrong as never };
      await expect(prover.prove({ circuit, input })).rejects.toEqual(
        failure('verification_key_malformed'),
      );
      await expect(prover.verify(wrong as never, [], {} as never)).rejects.toEqual(
        failure('verification_key_malformed'),
      );
    }
    await prover.close();
  });

  it('an artifact source that ignores the signal delays neither an abort nor close', async () => {
    const prover = createEngineProver<string>({
      accelerator: 'cpu',
      memoryBudgetBytes: 1,
      deviceMemoryBudgetBytes: 1,
      witness: { maximumBytes: 1, timeoutMs: 1 },
      artifacts: { ensureArtifacts: () => new Promise(() => {}) },
      factories: {
        cpu: () => Promise.reject(new Error('none')),
        webgpu: () => Promise.reject(new Error('none')),
      },
    });
    const abort = new AbortController();
    const first = prover.prove({ circuit: 'never', input, signal: abort.signal });
    const second = prover.prove({ circuit: 'never', input });
    abort.abort();
    await expect(first).rejects.toEqual(failure('proof_aborted'));
    const ended = expect(second).rejects.toEqual(failure('prover_closed'));
    await prover.close();
    await ended;
    expect(prover.metrics().circuits).toMatchObject([
      { circuit: 'never', outcomes: { proof_aborted: 1, prover_closed: 1 } },
    ]);
  });

  it('a device that opens after close starts nothing', async () => {
    const cpu = createOracleEngine();
    const late = createOracleEngine({ kind: 'webgpu' });
    for (const answer of [{ reason: 'none' }, { engine: late }]) {
      let tell = (_: typeof answer) => {};
      const startCpu = vi.fn(() => Promise.resolve(cpu));
      const prover = createEngineProver<string>({
        accelerator: 'auto',
        memoryBudgetBytes: 1,
        deviceMemoryBudgetBytes: 1,
        witness: { maximumBytes: 1, timeoutMs: 1 },
        factories: {
          cpu: startCpu,
          webgpu: () =>
            new Promise((resolve) => {
              tell = resolve;
            }),
        },
      });
      const ready = expect(prover.ready()).rejects.toEqual(failure('prover_closed'));
      const closing = Promise.all([prover.close(), prover.close()]);
      tell(answer);
      await closing;
      await ready;
      expect(startCpu).not.toHaveBeenCalled();
    }
    expect(late.counts.closes).toBe(1);
  });
});

describe('a proving key', () => {
  /** An engine whose loading can be changed. */
  const proverOver = (change: (engine: OracleEngine) => Partial<Engine>) => {
    const cpu = createOracleEngine();
    const engine = { ...cpu, ...change(cpu) };
    const prover = createEngineProver<string>({
      accelerator: 'cpu',
      memoryBudgetBytes: 10 * oracleKeyBytes,
      deviceMemoryBudgetBytes: 1,
      witness: { maximumBytes: 2 ** 30, timeoutMs: 60_000 },
      factories: {
        cpu: () => Promise.resolve(engine),
        webgpu: () => Promise.reject(new Error('none')),
      },
    });
    return { prover, cpu };
  };

  it('is loaded while the witness program runs, and no longer when that refuses the input', async () => {
    let isLoading = false;
    const { prover } = proverOver(() => ({
      load: async (_zkey, { signal } = {}) => {
        isLoading = true;
        await new Promise((resolve) => signal?.addEventListener('abort', resolve));
        isLoading = false;
        throw new Error('aborted');
      },
    }));
    // The program refuses at once, which is later than the load begins: it runs in a thread that has to start.
    await expect(
      prover.prove({ circuit: factors, input: { ...input, product: 392 } }),
    ).rejects.toEqual(failure('witness_refused'));
    expect(isLoading).toBe(false);
    await prover.close();
  });

  it('in a stream is not read for an input that the program refuses', async () => {
    const { prover } = setUp({ accelerator: 'cpu' });
    const zkey = new Blob([await readFile(factors.zkey)]).stream();
    const circuit = { ...factors, zkey };
    await expect(prover.prove({ circuit, input: { ...input, product: 392 } })).rejects.toEqual(
      failure('witness_refused'),
    );
    expect((await prover.prove({ circuit, input })).publicSignals).toEqual(['391']);
    await prover.close();
  });

  it('that changes while it is read is refused and not kept', async () => {
    const zkey = `${factors.folder}/changing.zkey`;
    await copyFile(factors.zkey, zkey);
    let isChanging = true;
    const { prover, cpu } = proverOver((engine) => ({
      load: async (key) => {
        const resident = await engine.load(key);
        if (isChanging) await utimes(zkey, 1, 1);
        return resident;
      },
    }));
    const circuit = { ...factors, zkey };
    await expect(prover.prove({ circuit, input })).rejects.toEqual(failure('zkey_malformed', true));
    expect(prover.metrics().residentKeys).toBe(0);
    expect(cpu.counts.releases).toBe(1);
    isChanging = false;
    expect((await prover.prove({ circuit, input })).publicSignals).toEqual(['391']);
    await prover.close();
  });

  it('that was replaced is read again', async () => {
    const zkey = `${factors.folder}/replaced.zkey`;
    await copyFile(factors.zkey, zkey);
    const { prover, cpu } = proverOver(() => ({}));
    await prover.prove({ circuit: { ...factors, zkey }, input });
    await copyFile(squares.zkey, `${zkey}.new`);
    await rename(`${zkey}.new`, zkey);
    const given = { start: 3, offsets: [1, 2] };
    const { proof, publicSignals } = await prover.prove({
      circuit: { ...squares, zkey },
      input: given,
    });
    expect(await groth16.verify(squares.verificationKey, publicSignals, proof)).toBe(true);
    expect(cpu.counts.loads).toBe(2);
    await prover.close();
  });

  it.each([0.1, 0.5, 0.9, 0.999])('cut off at %d of its length is refused', async (part) => {
    const zkey = `${factors.folder}/short.zkey`;
    await copyFile(factors.zkey, zkey);
    await truncate(zkey, Math.floor((await stat(zkey)).size * part));
    const { prover } = proverOver(() => ({}));
    await expect(prover.prove({ circuit: { ...factors, zkey }, input })).rejects.toEqual(
      failure('zkey_malformed'),
    );
    await prover.close();
  });

  it('that does not fit with others removes them, and is refused if it does not fit alone', async () => {
    const full = () =>
      Promise.reject(new ProverError('memory_budget_exceeded', 'no room in one piece'));
    let alone = 0;
    const { prover, cpu } = proverOver((engine) => ({
      load: (zkey) => {
        const { loads, releases } = engine.counts;
        alone += loads === releases ? 1 : 0;
        return loads > releases || alone > 3 ? full() : engine.load(zkey);
      },
    }));
    const given = { start: 3, offsets: [1, 2] };
    await prover.prove({ circuit: factors, input });
    await prover.prove({ circuit: squares, input: given });
    expect(cpu.counts).toMatchObject({ loads: 2, releases: 1 });
    expect(prover.metrics()).toMatchObject({ residentKeys: 1, evictions: 1 });
    await prover.prove({ circuit: factors, input });
    await expect(prover.prove({ circuit: squares, input: given })).rejects.toEqual(
      failure('memory_budget_exceeded'),
    );
    expect(prover.metrics().residentKeys).toBe(0);
    await prover.close();
  });
});
