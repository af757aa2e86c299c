// The prover of the page: what is loaded before a payment is sent, and what its proof waits for.
import { expect, it } from 'vitest';
import { createLateProver } from './late-prover.ts';

const proof = { publicSignals: [1n] } as never;

/** `finish` ends the loading of a circuit. */
function createPage() {
  const calls: string[] = [];
  const loading = Promise.withResolvers<void>();
  let tell: (fraction: number) => void = () => undefined;
  const prover = createLateProver(async () => {
    calls.push('load');
    return {
      mode: 'real',
      async prepare(circuit, onProgress) {
        calls.push(`prepare ${circuit}`);
        tell = onProgress;
        await loading.promise;
      },
      async prove(circuit, _input, { onProgress }) {
        calls.push(`prove ${circuit}`);
        onProgress(0.5);
        return proof;
      },
      verify: async () => true,
    };
  });
  const fractions: number[] = [];
  const prove = (circuit: 'spend-2x4' | 'spend-16x8' = 'spend-2x4') =>
    prover.prove(
      circuit,
      {},
      {
        signal: new AbortController().signal,
        onProgress: (fraction) => fractions.push(fraction),
      },
    );
  return { prover, prove, calls, fractions, loading, tell: (to: number) => tell(to) };
}

it('loads nothing before a payment is reviewed or proved', async () => {
  const { prove, calls, fractions } = createPage();
  expect(calls).toEqual([]);
  expect(await prove()).toBe(proof);
  expect([calls, fractions]).toEqual([['load', 'prove spend-2x4'], [0.5]]);
});

it('loads a circuit once, and its proof waits for that and shows it', async () => {
  const { prover, prove, calls, fractions, loading, tell } = createPage();
  prover.prepare('spend-2x4');
  prover.prepare('spend-2x4');
  await expect.poll(() => calls).toEqual(['load', 'prepare spend-2x4']);
  const proved = prove();
  await prove('spend-16x8');
  tell(0.5);
  loading.resolve();
  expect(await proved).toBe(proof);
  expect(calls.slice(2)).toEqual(['prove spend-16x8', 'prove spend-2x4']);
  expect(fractions).toEqual([0.5, 0.2, 0.7]);
});

it('proves after a loading that failed', async () => {
  const { prover, prove, calls, loading } = createPage();
  prover.prepare('spend-2x4');
  loading.reject(new Error('no network'));
  expect(await prove()).toBe(proof);
  expect(calls).toEqual(['load', 'prepare spend-2x4', 'prove spend-2x4']);
});
