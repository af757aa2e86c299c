/**
 * A proving key on the device: its points with their precomputed multiples, its matrices, and the working memory of a proof. A proof is
 * one upload of the witness and one download of a few sums.
 *
 * @module
 */
/// <reference types="@webgpu/types" />

import { scalarBytes } from '@pool/kernels';
import { ProverError } from '../base/errors.ts';
import { addG1 } from '../base/points.ts';
import type { EngineOptions, ProofSums } from '../engine/engine.ts';
import type { Zkey } from '../zkey/zkey.ts';
import { countSumPoints, type SumSection, tableBudget } from './engine-memory.ts';
import { createG1Msm, createG2Msm, type MsmContext } from './msm/msm.ts';
import type { GpuContext } from './quotient/ntt.ts';
import { createQuotient } from './quotient/quotient.ts';

export type KeyContext = {
  readonly gpu: GpuContext;
  readonly msm: MsmContext;
  readonly memoryBudgetBytes: number;
  /** Share of it that precomputed multiples of one key's points may use, 0..1. */
  readonly tableShare: number;
};

export type DeviceKey = {
  readonly bytes: number;
  /** Runs one call at a time on a device. */
  readonly computeSums: (witness: Uint8Array, options: EngineOptions) => Promise<ProofSums>;
  readonly release: () => void;
};

/** Share of the wires whose digits are not zero: counted in witnesses of fund-16 and fund-64 (docs/gpu.md), mostly Poseidon states. */
export const witnessDensity = 0.96;

/** Points of all sums, and rows, up to which a proof is one submission: about a tenth of a second on a large card. */
const shortProofPoints = 1 << 22;
/** Submissions of a longer proof that wait on the device. The limit lets an abort take effect soon. */
const pendingOfLongProof = 2;

/** @throws the signal's reason; ProverError `memory_budget_exceeded`, `accelerator_limit_exceeded`, `zkey_malformed`, `accelerator_lost` */
export async function loadDeviceKey(
  context: KeyContext,
  zkey: Zkey,
  options: EngineOptions,
): Promise<DeviceKey> {
  const { gpu: gpuContext, msm: msmContext } = context;
  const budgetBytes = context.memoryBudgetBytes * context.tableShare;
  const { gpu, buffers } = gpuContext;
  const { header } = zkey;
  const { signal } = options;
  const counts = countSumPoints(header);
  const total = Object.values(counts).reduce((sum, count) => sum + count, header.domainSize);
  let done = 0;
  const held: { readonly release: () => void }[] = [];
  const keep = <T extends { readonly release: () => void }>(part: T): T => {
    held.push(part);
    return part;
  };
  const release = (): void => {
    for (const part of held.splice(0)) part.release();
  };
  const report = (count: number): void => {
    done += count;
    options.onProgress?.('load', total === 0 ? 1 : done / total);
  };
  const msmOptions = (section: SumSection) => ({
    count: counts[section],
    read: (start: number, count: number, into: Uint8Array) =>
      zkey.readPoints(section, start, count, into),
    tableBudgetBytes: tableBudget(header, section, budgetBytes),
    firstScalar: section === 'c' ? header.publicSignals + 1 : 0,
    density: section === 'h' ? 1 : witnessDensity,
    signal,
  });
  const loadG1 = async (section: Exclude<SumSection, 'b2'>) => {
    signal?.throwIfAborted();
    const msm = keep(await createG1Msm(msmContext, msmOptions(section)));
    report(counts[section]);
    return msm;
  };

  try {
    const quotient = keep(
      await createQuotient(gpuContext, {
        coefficients: await zkey.readCoefficients(),
        domainSize: header.domainSize,
        wires: header.wires,
      }),
    );
    report(header.domainSize);
    const a = await loadG1('a');
    const b1 = await loadG1('b1');
    const c = await loadG1('c');
    const h = await loadG1('h');
    const b2 = keep(await createG2Msm(msmContext, msmOptions('b2')));
    report(counts.b2);

    const sums = [a, b1, b2, c, h];
    const offsets = sums.map((_, k) =>
      sums.slice(0, k).reduce((offset, { resultBytes }) => offset + resultBytes, 0),
    );
    const resultBytes = sums.reduce((bytes, msm) => bytes + msm.resultBytes, 0);
    const result = buffers.take(resultBytes, { label: 'sums' });
    keep({
      release: () => {
        buffers.release(result, { secret: true });
      },
    });
    const { device } = gpu;
    await device.queue.onSubmittedWorkDone();
    gpu.assertHealthy();

    const submit = (record: (encoder: GPUCommandEncoder) => void): Promise<undefined> =>
      gpu.guard(() => {
        const encoder = device.createCommandEncoder();
        record(encoder);
        device.queue.submit([encoder.finish()]);
        return device.queue.onSubmittedWorkDone();
      });

    // Otherwise a device that finishes a sum before the host receives the previous result would wait for the host.
    const pendingMost = total <= shortProofPoints ? sums.length + 1 : pendingOfLongProof;

    /** The quotient, then one sum after the other. */
    const run = async (witness: Uint8Array, proofOptions: EngineOptions): Promise<void> => {
      const { signal: stop, onProgress } = proofOptions;
      buffers.write(quotient.witness, 0, witness);
      const works: (() => Promise<undefined>)[] = [
        () =>
          submit((encoder) => {
            const pass = encoder.beginComputePass();
            quotient.record(pass);
            pass.end();
          }),
        ...sums.map(
          (msm, k) => () =>
            submit((encoder) => {
              const scalars = msm === h ? quotient.scalars : quotient.witness;
              msm.encode(encoder, scalars, result, offsets[k] ?? 0);
            }),
        ),
      ];
      const pending: Promise<undefined>[] = [];
      for (const [index, work] of works.entries()) {
        stop?.throwIfAborted();
        const running = work().then((value) => {
          if (index === 0) onProgress?.('quotient', 1);
          else onProgress?.('sums', index / sums.length);
          return value;
        });
        // If an earlier one fails, this one's rejection is still handled.
        running.catch(() => undefined);
        pending.push(running);
        if (pending.length >= pendingMost) await pending.shift();
      }
      for (const running of pending) {
        await running;
        stop?.throwIfAborted();
      }
    };

    /** Wipes the witness and everything derived from it, after success and after failure. */
    const wipe = (): void => {
      const encoder = device.createCommandEncoder();
      quotient.recordClear(encoder);
      encoder.clearBuffer(result);
      msmContext.workspace.recordClear(encoder);
      device.queue.submit([encoder.finish()]);
    };

    return {
      bytes: quotient.bytes + result.size + sums.reduce((bytes, msm) => bytes + msm.bytes, 0),
      release,
      computeSums: async (witness, proofOptions) => {
        if (witness.byteLength !== header.wires * scalarBytes) {
          throw new ProverError(
            'artifacts_mismatch',
            'the witness has another number of wires than the proving key',
          );
        }
        if (held.length === 0) throw new ProverError('proof_failed', 'the key was released');
        try {
          await run(witness, proofOptions);
          const bytes = await buffers.read(result, 0, resultBytes);
          const part = (k: number): Uint8Array =>
            bytes.subarray(offsets[k] ?? 0, (offsets[k] ?? 0) + (sums[k]?.resultBytes ?? 0));
          return {
            a: a.decode(part(0)),
            b1: b1.decode(part(1)),
            b2: b2.decode(part(2)),
            c: addG1(c.decode(part(3)), h.decode(part(4))),
          };
        } finally {
          wipe();
        }
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}
