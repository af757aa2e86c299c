// A graphics device that fails repeatedly: how often it is opened, how often the key is loaded, and what the operator sees.
import { rm } from 'node:fs/promises';
import { type MemoryFile, wtns } from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OracleOptions, oracleKeyBytes } from '../../test/oracle-engine.ts';
import { setUp } from '../../test/oracle-prover.ts';
import {
  createSmallCircuit,
  endSnarkjsThreads,
  type SmallCircuit,
} from '../../test/small-circuit.ts';
import { ProverError, type ProverErrorCode } from '../base/errors.ts';
import { renderProverMetrics } from '../base/prover-metrics.ts';

let factors: SmallCircuit;
beforeAll(async () => {
  factors = await createSmallCircuit();
});
afterAll(async () => {
  await endSnarkjsThreads();
  await rm(factors.folder, { recursive: true, force: true });
});

const input = { product: 391, a: 17, b: 23 };
function failure(code: string, retryable = false) {
  return expect.objectContaining({ code, retryable });
}
function fails(code: ProverErrorCode): OracleOptions {
  return {
    change: () => {
      throw new ProverError(code, `failed on purpose: ${code}`);
    },
  };
}
function codesOf(onIncident: ReturnType<typeof setUp>['onIncident']) {
  return onIncident.mock.calls.map(([{ code }]) => code);
}

describe('a device that always goes away', () => {
  it('is opened three times, and its key loaded three times, in any number of proofs', async () => {
    const { prover, cpu, devices, countOpened, onIncident } = setUp({
      everyDevice: fails('accelerator_lost'),
    });
    for (let proof = 1; proof <= 5; proof++) {
      expect((await prover.prove({ circuit: factors, input })).publicSignals).toEqual(['391']);
    }
    expect(countOpened()).toBe(3);
    expect(devices.map(({ counts }) => counts)).toEqual(
      Array(3).fill({ loads: 1, calls: 1, releases: 1, closes: 1 }),
    );
    expect(cpu.counts).toMatchObject({ loads: 1, calls: 5 });
    expect(codesOf(onIncident)).toEqual([
      'accelerator_lost',
      'accelerator_lost',
      'accelerator_lost',
      'accelerator_retired',
    ]);
    expect(onIncident).toHaveBeenLastCalledWith({
      code: 'accelerator_retired',
      message: expect.stringMatching(/oracle webgpu failed 3 times in a row.*processor.*restart/is),
    });
    await prover.close();
  });

  it('is shown in the description and in the metrics, and later calls do not open it again', async () => {
    const { prover, countOpened } = setUp({ everyDevice: fails('accelerator_lost') });
    await prover.prove({ circuit: factors, input });
    expect(prover.metrics()).toMatchObject({ acceleratorLosses: 2, acceleratorRetired: 0 });
    await prover.prove({ circuit: factors, input });
    const told = {
      kind: 'cpu',
      detail: expect.stringMatching(/^oracle cpu; oracle webgpu failed 3 times in a row/),
    };
    expect(await prover.ready()).toEqual(told);
    expect(prover.accelerator).toEqual(told);
    expect(countOpened()).toBe(3);
    const text = renderProverMetrics(prover.metrics());
    expect(text).toMatch(/^prover_accelerator_losses_total 3$/m);
    expect(text).toMatch(/^prover_accelerator_retired 1$/m);
    await prover.close();
  });

  it('fails proofs if webgpu is required, and is not opened again', async () => {
    const { prover, cpu, countOpened } = setUp({
      accelerator: 'webgpu',
      everyDevice: fails('accelerator_lost'),
    });
    await expect(prover.prove({ circuit: factors, input })).rejects.toEqual(
      failure('accelerator_lost', true),
    );
    for (let proof = 2; proof <= 4; proof++) {
      await expect(prover.prove({ circuit: factors, input })).rejects.toEqual(
        expect.objectContaining({
          code: 'accelerator_unavailable',
          message: expect.stringMatching(/3 times in a row.*restart/is),
        }),
      );
    }
    await expect(prover.ready()).rejects.toEqual(failure('accelerator_unavailable'));
    expect([countOpened(), cpu.counts.calls]).toEqual([3, 0]);
    await prover.close();
  });

  it('is still used if it finishes a proof in between', async () => {
    const lost = fails('accelerator_lost');
    /** Proves once, then goes away. */
    const once: OracleOptions = {
      change: (sums, call) => {
        if (call > 1) throw new ProverError('accelerator_lost', 'gone');
        return sums;
      },
    };
    const { prover, cpu, countOpened } = setUp({ devices: [lost, once, once, once, once, {}] });
    for (let proof = 1; proof <= 6; proof++) {
      await prover.prove({ circuit: factors, input });
    }
    expect(prover.metrics()).toMatchObject({ acceleratorLosses: 5, acceleratorRetired: 0 });
    expect([countOpened(), cpu.counts.calls, prover.accelerator.kind]).toEqual([6, 0, 'webgpu']);
    await prover.close();
  });

  it('that cannot be opened again is also reported', async () => {
    const { prover, onIncident } = setUp({ devices: [fails('accelerator_lost')] });
    await prover.prove({ circuit: factors, input });
    expect(codesOf(onIncident)).toEqual(['accelerator_lost', 'accelerator_retired']);
    expect((await prover.ready()).detail).toMatch(/did not open again \(none left\)/);
    await prover.close();
  });
});

describe('a witness of the caller that does not satisfy the circuit', () => {
  const wrong = async () => {
    const witness: MemoryFile = { type: 'mem' };
    await wtns.calculate(input, factors.wasm, witness);
    const data = witness.data ?? new Uint8Array();
    data[data.length - 32] = (data.at(-32) ?? 0) ^ 1;
    return data;
  };

  it.each(['auto', 'webgpu', 'cpu'] as const)(
    'is refused with %s as often as it is given, and no device is to blame',
    async (accelerator) => {
      const { prover, onIncident, countOpened } = setUp({ accelerator, everyDevice: {} });
      const witness = await wrong();
      for (let proof = 1; proof <= 3; proof++) {
        await expect(prover.prove({ circuit: factors, witness })).rejects.toEqual(
          failure('witness_refused'),
        );
      }
      expect(onIncident).not.toHaveBeenCalled();
      expect(countOpened()).toBe(accelerator === 'cpu' ? 0 : 1);
      await prover.close();
    },
  );
});

it('a device that computes wrong sums from a right witness of the caller is to blame', async () => {
  const { prover, onIncident } = setUp({
    accelerator: 'webgpu',
    everyDevice: { change: (sums) => ({ ...sums, a: sums.b1 }) },
  });
  const witness: MemoryFile = { type: 'mem' };
  await wtns.calculate(input, factors.wasm, witness);
  await expect(
    prover.prove({ circuit: factors, witness: witness.data ?? new Uint8Array() }),
  ).rejects.toMatchObject({ code: 'accelerator_lost', retryable: true });
  expect(codesOf(onIncident)).toEqual(['accelerator_wrong_result']);
  await prover.close();
});

describe('a device that refuses the work', () => {
  it('is not lost: the processor makes this proof, and all proofs after three failures', async () => {
    const { prover, cpu, countOpened, onIncident } = setUp({
      everyDevice: fails('accelerator_refused'),
    });
    for (let proof = 1; proof <= 5; proof++) {
      await prover.prove({ circuit: factors, input });
      expect(countOpened()).toBe(Math.min(proof, 3));
    }
    expect(cpu.counts.calls).toBe(5);
    expect(codesOf(onIncident)).toEqual([
      'accelerator_refused',
      'accelerator_refused',
      'accelerator_refused',
      'accelerator_retired',
    ]);
    expect(onIncident.mock.calls[0]).toMatchObject([
      { message: expect.stringContaining('failed on purpose') },
    ]);
    expect(prover.metrics()).toMatchObject({ acceleratorLosses: 0, acceleratorRefusals: 3 });
    await prover.close();
  });

  it('fails the proof with its message if webgpu is required', async () => {
    const { prover } = setUp({ accelerator: 'webgpu', devices: [fails('accelerator_refused')] });
    await expect(prover.prove({ circuit: factors, input })).rejects.toEqual(
      failure('accelerator_refused'),
    );
    await prover.close();
  });
});

describe('a device that is too small for a key', () => {
  it.each(['memory_budget_exceeded', 'accelerator_limit_exceeded'] as const)(
    '(%s) stays open, and is not tried for that key more than three times',
    async (code) => {
      const { prover, cpu, devices, countOpened, onIncident } = setUp({
        everyDevice: fails(code),
      });
      for (let proof = 1; proof <= 5; proof++) {
        await prover.prove({ circuit: factors, input });
      }
      expect([countOpened(), devices[0]?.counts.calls, cpu.counts.calls]).toEqual([1, 3, 5]);
      expect(codesOf(onIncident)).toEqual(['accelerator_too_small']);
      expect(onIncident.mock.calls[0]).toMatchObject([
        { message: expect.stringContaining('small.zkey') },
      ]);
      expect(prover.metrics()).toMatchObject({ acceleratorLosses: 0, acceleratorRefusals: 0 });
      await prover.close();
    },
  );

  it('fails the proof if webgpu is required', async () => {
    const { prover, countOpened } = setUp({
      accelerator: 'webgpu',
      everyDevice: fails('accelerator_limit_exceeded'),
      deviceBudget: 10 * oracleKeyBytes,
    });
    await expect(prover.prove({ circuit: factors, input })).rejects.toEqual(
      failure('accelerator_limit_exceeded'),
    );
    expect(countOpened()).toBe(1);
    await prover.close();
  });
});
