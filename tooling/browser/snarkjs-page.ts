// snarkjs in a page, for the benchmark: the same jobs as page.ts, with the files in memory.
import { groth16 } from 'snarkjs';
import type { PageTask } from './page.ts';

export type SnarkjsTask = Pick<
  PageTask,
  'wasm' | 'zkey' | 'verificationKey' | 'input' | 'proofs'
> & {
  readonly singleThread: boolean;
};

async function fetchBytes(url: string) {
  const data = new Uint8Array(await (await fetch(url)).arrayBuffer());
  return { type: 'mem', data } as const;
}

async function run(task: SnarkjsTask): Promise<readonly number[]> {
  const { input, verificationKey, singleThread } = task;
  const ms: number[] = [];
  const started = performance.now();
  const [wasm, zkey] = [await fetchBytes(task.wasm), await fetchBytes(task.zkey)];
  for (let i = 0; i < task.proofs; i += 1) {
    // The first job includes the download.
    const from = i === 0 ? started : performance.now();
    const options = { singleThread };
    const full = groth16.fullProve(input, wasm, zkey, undefined, undefined, options);
    const { proof, publicSignals } = await full;
    if (!(await groth16.verify(verificationKey, publicSignals, proof))) {
      throw new Error('the proof does not verify');
    }
    ms.push(performance.now() - from);
  }
  return ms;
}

Object.assign(globalThis, { proveWithSnarkjs: run });
