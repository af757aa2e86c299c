/**
 * In full runs: whole proofs of real circuits with the engine on a device, from input to verified proof: the same sums as the processor's, bit for
 * bit; verification by snarkjs; several keys and proofs at once on one device; devices that are lost during a proof.
 */
import { rm } from 'node:fs/promises';
import type { Prover, ProvingArtifact, VerificationKey } from '@pool/prover';
import { groth16 } from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { identifyFile } from '../../packages/prover/src/base/file-input.ts';
import { createCpuEngine } from '../../packages/prover/src/engine/cpu-engine.ts';
import type { Engine, EnginePhase, ProofSums } from '../../packages/prover/src/engine/engine.ts';
import { createKeyCache } from '../../packages/prover/src/engine/key-cache.ts';
import { createEngineProver } from '../../packages/prover/src/proof/engine-prover.ts';
import { createDeviceEngine } from '../../packages/prover/src/webgpu/engine.ts';
import { findLimbLayout } from '../../packages/prover/src/webgpu/field/limbs.ts';
import { openZkey } from '../../packages/prover/src/zkey/open-zkey.ts';
import {
  createSmallCircuit,
  endSnarkjsThreads,
  squaresSource,
} from '../../packages/prover/test/small-circuit.ts';
import { openTestDevice } from '../../packages/prover/test/test-device.ts';
import { createNoteHash } from '../test/note-hash.ts';

const isFullRun = process.env['POOL_TEST_FULL'] === '1';
const probe = isFullRun ? await openTestDevice() : undefined;
const hasDevice = probe !== undefined;
probe?.close();

type Recorded = { readonly witness: Uint8Array; readonly sums: ProofSums };

/** An engine on its own device, which the test can remove. It records its calls and results. */
async function openEngine() {
  const gpu = await openTestDevice();
  if (gpu === undefined) throw new Error('no device');
  const engine = createDeviceEngine(gpu, {
    layout: findLimbLayout('digits-13-loop'),
    memoryBudgetBytes: 2 ** 28,
  });
  const recorded: Recorded[] = [];
  const state: { loseAt: EnginePhase | undefined } = { loseAt: undefined };
  const watch = (report: ((phase: EnginePhase, fraction: number) => void) | undefined) => ({
    onProgress: (phase: EnginePhase, fraction: number) => {
      if (phase === state.loseAt) gpu.device.destroy();
      report?.(phase, fraction);
    },
  });
  const watched: Engine = {
    ...engine,
    load: async (zkey, options = {}) => {
      const key = await engine.load(zkey, { ...options, ...watch(options.onProgress) });
      return {
        ...key,
        computeSums: async (wires, proofOptions = {}) => {
          // The prover wipes the witness that it passed.
          const witness = wires.slice();
          const sums = await key.computeSums(wires, {
            ...proofOptions,
            ...watch(proofOptions.onProgress),
          });
          recorded.push({ witness, sums });
          return sums;
        },
      };
    },
  };
  return { engine: watched, recorded, state };
}
type Opened = Awaited<ReturnType<typeof openEngine>>;

const squaresInput = { start: 3, offsets: [1, -2] };

describe.skipIf(!hasDevice)('whole proofs on a graphics device', () => {
  let note: Awaited<ReturnType<typeof createNoteHash>>;
  let squares: Awaited<ReturnType<typeof createSmallCircuit>>;
  let cpu: Engine;
  let prover: Prover<string>;
  const opened: Opened[] = [];
  const onIncident = vi.fn();
  const device = (index: number): Opened => {
    const found = opened[index];
    if (found === undefined) throw new Error(`device ${index} was not opened`);
    return found;
  };
  const kind = () => prover.accelerator.kind;

  const proveAndVerify = async (
    circuit: ProvingArtifact & { readonly verificationKey: VerificationKey },
    input: Readonly<Record<string, unknown>>,
  ): Promise<void> => {
    const { proof, publicSignals } = await prover.prove({ circuit, input });
    const { verificationKey } = circuit;
    expect(await prover.verify(verificationKey, publicSignals, proof)).toBe(true);
    expect(await groth16.verify(verificationKey, publicSignals, proof)).toBe(true);
    const [first = '', ...others] = publicSignals;
    const another = [String(BigInt(first) + 1n), ...others];
    expect(await prover.verify(verificationKey, another, proof)).toBe(false);
  };

  beforeAll(async () => {
    if (!hasDevice) return;
    note = await createNoteHash();
    squares = await createSmallCircuit(squaresSource(5), 4);
    cpu = await createCpuEngine({ threads: 2 });
    prover = createEngineProver<string>({
      accelerator: 'auto',
      memoryBudgetBytes: 2 ** 30,
      deviceMemoryBudgetBytes: 2 ** 28,
      factories: {
        cpu: () => Promise.resolve(cpu),
        webgpu: async () => {
          const fresh = await openEngine();
          opened.push(fresh);
          // The third one is lost before it has a key.
          if (opened.length === 3) fresh.state.loseAt = 'load';
          return { engine: fresh.engine };
        },
      },
      onIncident,
    });
  }, 400_000);
  afterAll(async () => {
    if (!hasDevice) return;
    await prover.close();
    await endSnarkjsThreads();
    for (const { folder } of [note, squares]) await rm(folder, { recursive: true, force: true });
  });

  /** The result of the processor for the same key and witness. */
  const computeOnProcessor = async ({ zkey }: ProvingArtifact, witness: Uint8Array) => {
    const cache = createKeyCache(cpu, 2 ** 30);
    const { resident } = await cache.take(await identifyFile(zkey, 'proving key'), {});
    try {
      return await resident.computeSums(witness);
    } finally {
      cache.release();
    }
  };

  it('of a circuit of 2^9 rows verifies here and under snarkjs, with the sums of the processor', async () => {
    await proveAndVerify(note, note.input);
    expect(kind()).toBe('webgpu');
    const [{ witness, sums } = { witness: new Uint8Array(0), sums: undefined }, ...more] =
      device(0).recorded;
    expect(more).toHaveLength(0);
    expect(witness.length).toBeGreaterThan(32 * 2 ** 8);
    expect(sums).toEqual(await computeOnProcessor(note, witness));
  }, 600_000);

  it('run several at once on one device that has no memory for all keys', async () => {
    await Promise.all([
      proveAndVerify(squares, squaresInput),
      proveAndVerify(squares, { start: 0, offsets: [0, 0] }),
      proveAndVerify(squares, { start: 1, offsets: [5, 6] }),
    ]);
    expect(prover.metrics()).toMatchObject({ residentKeys: 2, evictions: 0, acceleratorLosses: 0 });

    // Without the queue of the prover: two proofs in one engine at the same time.
    const { engine, recorded } = device(0);
    const known = recorded.slice(1, 4);
    const noteKey = await openZkey(note.zkey);
    const needed = engine.estimateBytes?.(noteKey.header) ?? 0;
    await noteKey.close();
    // Memory for the large key or for the small one, but not for both.
    const cache = createKeyCache(engine, needed + 2 ** 16);
    const noteFile = await identifyFile(note.zkey, 'proving key');
    await cache.take(noteFile, {});
    const { resident } = await cache.take(await identifyFile(squares.zkey, 'proving key'), {});
    expect([cache.count(), cache.evictions()]).toEqual([1, 1]);
    expect(await Promise.all(known.map(({ witness }) => resident.computeSums(witness)))).toEqual(
      known.map(({ sums }) => sums),
    );
    await cache.take(noteFile, {});
    expect([cache.count(), cache.evictions(), cache.loads()]).toEqual([1, 2, 3]);
    cache.release();
    const tooSmall = createKeyCache(engine, needed - 1);
    await expect(tooSmall.take(noteFile, {})).rejects.toMatchObject({
      code: 'memory_budget_exceeded',
    });
  }, 600_000);

  it('continue on another device if one is lost during a proof', async () => {
    device(0).state.loseAt = 'quotient';
    await proveAndVerify(squares, squaresInput);
    expect(kind()).toBe('webgpu');
    expect(opened).toHaveLength(2);
    const [made] = device(1).recorded;
    expect(made?.sums).toEqual(
      await computeOnProcessor(squares, made?.witness ?? new Uint8Array(0)),
    );
    expect(onIncident.mock.calls).toMatchObject([[{ code: 'accelerator_lost' }]]);
  }, 600_000);

  it('continue on the processor if that device is also lost', async () => {
    device(1).state.loseAt = 'sums';
    await proveAndVerify(squares, squaresInput);
    expect(kind()).toBe('cpu');
    expect(opened).toHaveLength(3);
    expect(prover.metrics()).toMatchObject({ acceleratorLosses: 3, wrongResults: 0 });
  }, 600_000);
});
