import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { groth16 } from 'snarkjs';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createSmallCircuit, endSnarkjsThreads, type SmallCircuit } from '../test/small-circuit.ts';
import type { ProofResult, Prover } from './base/prover.ts';
import { createProver } from './create-prover.ts';
import { createMockProver } from './proof/mock-prover.ts';

let circuit: SmallCircuit;
let prover: Prover;
beforeAll(async () => {
  circuit = await createSmallCircuit();
  prover = createProver();
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  await prover.close();
  await endSnarkjsThreads();
  await rm(circuit.folder, { recursive: true, force: true });
});

const input = { product: '391', a: 17n, b: 23n };
function failure(code: string, retryable = false) {
  return expect.objectContaining({ code, retryable });
}

describe('a proof', () => {
  it('verifies here and under snarkjs, and reports its progress', async () => {
    const onProgress = vi.fn();
    const { proof, publicSignals } = await prover.prove({ circuit, input, onProgress });
    expect(publicSignals).toEqual(['391']);
    expect(await prover.verify(circuit.verificationKey, publicSignals, proof)).toBe(true);
    expect(await groth16.verify(circuit.verificationKey, publicSignals, proof)).toBe(true);
    const stages = onProgress.mock.calls.map(([stage]) => String(stage));
    expect([...new Set(stages)]).toEqual(['queued', 'witness', 'proof', 'verify']);
    expect(onProgress).toHaveBeenLastCalledWith('verify', 1);
  });

  it('can be requested by name if there is an artifact source', async () => {
    const ensureArtifacts = vi.fn(async () => circuit);
    const named = createProver<'small'>({ artifacts: { ensureArtifacts } });
    const { publicSignals } = await named.prove({ circuit: 'small', input });
    expect(publicSignals).toEqual(['391']);
    expect(ensureArtifacts).toHaveBeenCalledWith('small', expect.anything());
    await named.close();
  });

  it.each([
    ['an input that does not satisfy the circuit', { product: 391n, a: 17n, b: 24n }],
    ['an input without a signal', { product: 391n, a: 17n }],
    ['an input with an unknown signal', { ...input, c: 1n }],
  ])('is refused for %s, and the next proof succeeds', async (_, wrong) => {
    await expect(prover.prove({ circuit, input: wrong })).rejects.toEqual(
      failure('witness_refused'),
    );
    expect((await prover.prove({ circuit, input })).publicSignals).toEqual(['391']);
  });

  it('is refused with the verification key of another circuit', async () => {
    const { IC } = circuit.verificationKey;
    const [first, second] = IC;
    const other = { ...circuit.verificationKey, IC: [second, first] } as never;
    await expect(
      prover.prove({ circuit: { ...circuit, verificationKey: other }, input }),
    ).rejects.toEqual(failure('artifacts_mismatch'));
  });

  it('fails with a code if files are missing', async () => {
    await expect(
      prover.prove({ circuit: { ...circuit, zkey: '/nowhere.zkey' }, input }),
    ).rejects.toEqual(failure('artifact_unreadable'));
  });

  it('starts while the sums of the one before are computed, and ends after it', async () => {
    const events: string[] = [];
    const one = (name: string) =>
      prover.prove({
        circuit,
        input,
        onProgress: (stage, fraction) => {
          if (stage === 'witness' && fraction === 0) events.push(`${name} starts`);
          if (stage === 'verify' && fraction === 1) events.push(`${name} ends`);
        },
      });
    await Promise.all([one('first'), one('second')]);
    expect(events).toEqual(['first starts', 'second starts', 'first ends', 'second ends']);
  });
});

describe('ending', () => {
  it('an abort ends the running proof and not the next one', async () => {
    const abort = new AbortController();
    const aborted = prover.prove({
      circuit,
      input,
      signal: abort.signal,
      onProgress: (stage) => {
        if (stage === 'witness') abort.abort();
      },
    });
    const next = prover.prove({ circuit, input });
    await expect(aborted).rejects.toEqual(failure('proof_aborted'));
    expect((await next).publicSignals).toEqual(['391']);
  });

  it('an abort before the start starts nothing', async () => {
    const onProgress = vi.fn();
    const signal = AbortSignal.abort();
    await expect(prover.prove({ circuit, input, signal, onProgress })).rejects.toEqual(
      failure('proof_aborted'),
    );
    expect(onProgress).not.toHaveBeenCalledWith('witness', expect.anything());
  });

  it('close fails running, waiting and later calls', async () => {
    const closing = createProver();
    const running = closing.prove({ circuit, input });
    const waiting = closing.prove({ circuit, input });
    const both = Promise.allSettled([running, waiting]);
    await closing.close();
    for (const outcome of await both) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: failure('prover_closed') });
    }
    await expect(closing.prove({ circuit, input })).rejects.toEqual(failure('prover_closed'));
  });

  it.each([
    ['closed', 'await prover.close();'],
    ['did not close its idle prover', ''],
  ])('a process that proved and %s exits by itself', async (_, end) => {
    const index = new URL('./index.ts', import.meta.url).href;
    const { wasm, zkey, verificationKey } = circuit;
    const script = `
      import { createProver } from ${JSON.stringify(index)};
      const prover = createProver();
      const circuit = ${JSON.stringify({ wasm, zkey, verificationKey })};
      const { publicSignals } = await prover.prove({ circuit, input: { product: 15, a: 3, b: 5 } });
      ${end}
      process.stdout.write(publicSignals.join());`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--conditions=@pool/source', '--input-type=module', '-e', script],
      { timeout: 30_000 },
    );
    expect(stdout).toBe('15');
  });
});

it.each([
  ['threads', 0],
  ['threads', 1.5],
  ['memoryBudgetBytes', Number.NaN],
  ['deviceMemoryBudgetBytes', -1],
  ['witnessTimeoutMs', 2 ** 31],
])('the option %s refuses %d', (name, value) => {
  expect(() => createProver({ [name]: value })).toThrow(failure('argument_invalid'));
});

it('the budget is limited to what the kernels can address', async () => {
  const rich = createProver({ accelerator: 'cpu', memoryBudgetBytes: 2 ** 40 });
  expect(rich.metrics().memoryBudgetBytes).toBe(2 ** 32);
  await rich.close();
});

describe('the accelerator', () => {
  it('cpu is the processor, described before and after it starts', async () => {
    const described = createProver({ accelerator: 'cpu' });
    expect(described.accelerator).toMatchObject({
      kind: 'cpu',
      detail: expect.stringContaining('starts with the first proof'),
    });
    const { kind, detail } = await described.ready();
    expect([kind, detail]).toEqual(['cpu', expect.stringMatching(/^WebAssembly, \d+ threads?, /)]);
    expect(described.accelerator).toEqual({ kind, detail });
    await described.close();
    await expect(described.ready()).rejects.toEqual(failure('prover_closed'));
  });

  it('webgpu is a real device or an error; auto then uses the processor [service.prover-on-accelerator]', async () => {
    const demanding = createProver({ accelerator: 'webgpu' });
    const auto = createProver();
    const found = await demanding.ready().catch((error: unknown) => error);
    const { kind } = await auto.ready();
    if (kind === 'cpu') {
      expect(found).toEqual(failure('accelerator_unavailable'));
    } else {
      expect(found).toMatchObject({ kind: 'webgpu' });
    }
    await demanding.close();
    await auto.close();
  });
});

describe('the mock prover', () => {
  it('verifies and refuses to prove', async () => {
    const mock = createMockProver();
    await expect(mock.prove({ circuit, input })).rejects.toEqual(failure('prover_mock'));
    const { proof, publicSignals }: ProofResult = await prover.prove({ circuit, input });
    expect(await mock.verify(circuit.verificationKey, publicSignals, proof)).toBe(true);
    expect(await mock.verify(circuit.verificationKey, ['392'], proof)).toBe(false);
    await mock.close();
  });
});
