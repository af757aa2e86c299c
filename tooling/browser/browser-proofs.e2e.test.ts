// Proofs in a real browser, under a policy that allows the page's own files and nothing else.
import { cp, mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createArtifactStore } from '@pool/circuits';
import type { VerificationKey } from '@pool/prover';
import type * as DropIn from '@pool/prover/snarkjs';
import { hasBrowser, openBrowser, openPage, servePage } from '@pool/testkit/browser';
import { groth16 } from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createBatch, toInput } from '../../packages/circuits/test/fund-batch.ts';
import {
  readSpendVector,
  readWalletY,
  spendVectors,
} from '../../packages/circuits/test/spend-vector.ts';
import {
  createSmallCircuit,
  endSnarkjsThreads,
  type SmallCircuit,
  squaresSource,
} from '../../packages/prover/test/small-circuit.ts';
import { bundlePage } from './bundle.ts';
import type { PageGlobal, PageResult, PageTask } from './page.ts';

/** As the browser's debugger takes it. */
function toPlain(input: unknown): Readonly<Record<string, unknown>> {
  const text = JSON.stringify(input, (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}

type OpenPage = Awaited<ReturnType<typeof openPage>>['page'];

function callPage(page: OpenPage, task: PageTask): Promise<PageResult> {
  return page.evaluate((given) => (globalThis as unknown as PageGlobal).provePage(given), task);
}

describe.skipIf(!hasBrowser)('the prover in a page (without Chromium it is skipped)', () => {
  let browser: Awaited<ReturnType<typeof openBrowser>>;
  let folder: string;
  let small: SmallCircuit;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pool-page-'));
    await bundlePage('tooling/browser/page.ts', folder);
    small = await createSmallCircuit(squaresSource(20), 6);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await endSnarkjsThreads();
    for (const path of [folder, small.folder]) await rm(path, { recursive: true, force: true });
  });

  /** Runs a task in a new page. */
  async function prove(
    isolated: boolean,
    files: { readonly wasm: string; readonly zkey: string },
    task: Partial<PageTask> & Pick<PageTask, 'input'>,
    on = browser,
  ): Promise<PageResult> {
    const server = await servePage({
      folder,
      isolated,
      files: { '/circuit.wasm': files.wasm, '/circuit.zkey': files.zkey },
    });
    const { page, errors } = await openPage(on, server.origin);
    try {
      const whole: PageTask = {
        ...{ options: {}, wasm: '/circuit.wasm', zkey: '/circuit.zkey', form: 'url', proofs: 1 },
        ...task,
      };
      const result = await callPage(page, whole);
      expect(errors).toEqual([]);
      expect(server.violations).toEqual([]);
      return result;
    } finally {
      await page.context().close();
      server.close();
    }
  }

  const squares = { start: '3', offsets: ['1', '-1'] };

  /** The files of a deployed circuit. */
  async function fetchArtifacts(circuit: 'fund-16' | 'spend-2x4') {
    const { wasm, zkey, verificationKey } = await createArtifactStore({
      keyForm: 'compact',
    }).ensureArtifacts(circuit);
    return { files: { wasm: String(wasm), zkey: String(zkey) }, verificationKey };
  }

  async function expectProofs(
    { proofs }: PageResult,
    verificationKey: VerificationKey | undefined,
  ): Promise<void> {
    expect(proofs.length).toBeGreaterThan(0);
    for (const { proof, publicSignals } of proofs) {
      expect(await groth16.verify(verificationKey, publicSignals, proof)).toBe(true);
    }
  }

  it.each(['url', 'stream'] as const)(
    'proves a foreign circuit on threads that share memory, with the files as %s',
    async (form) => {
      const options = { threads: 2 };
      const result = await prove(true, small, { input: squares, options, form });
      expect(result.detail).toBe('WebAssembly, 2 threads, relaxed SIMD');
      expect(result.stages).toEqual(['queued', 'witness', 'proof', 'verify']);
      await expectProofs(result, small.verificationKey);
    },
  );

  it('proves fund-16 on threads, after an abort in the middle of a proof', async () => {
    const { files, verificationKey } = await fetchArtifacts('fund-16');
    const input = toPlain(toInput(createBatch(16, 15)));
    const task = { input, verificationKey, form: 'blob', abortAt: 'proof' } as const;
    const result = await prove(true, files, task);
    expect(result.aborted).toBe('proof_aborted');
    await expectProofs(result, verificationKey);
  });

  it('proves spend-2x4 on workers where the page is not isolated, and leaves the page responsive', async () => {
    const { files, verificationKey } = await fetchArtifacts('spend-2x4');
    const vector = spendVectors.find(({ name }) => name === 'transfer to two');
    if (vector === undefined) throw new Error('vectors/spend.json has no such spend');
    const input = toPlain(readSpendVector(vector, readWalletY(vector)));
    const task = { input, verificationKey, form: 'bytes', options: { threads: 2 } } as const;
    const result = await prove(false, files, { ...task, proofs: 2, abortAt: 'proof' });
    expect(result.detail).toBe(
      'WebAssembly, 2 workers without shared memory (the page is not cross-origin isolated), relaxed SIMD',
    );
    expect(result.aborted).toBe('proof_aborted');
    await expectProofs(result, verificationKey);
    // Most of a warm proof leaves the page's thread alone. Its longest task reads results and adds up a few points.
    expect(result.turns).toBeGreaterThan(40);
  });

  it('says that a worker died, and starts others for the next proof', async () => {
    const files = { '/circuit.wasm': String(small.wasm), '/circuit.zkey': String(small.zkey) };
    const server = await servePage({ folder, files });
    onTestFinished(() => server.close());
    const { page } = await openPage(browser, server.origin);
    onTestFinished(() => page.context().close());
    const task: PageTask = {
      ...{ wasm: '/circuit.wasm', zkey: '/circuit.zkey', form: 'url', input: squares },
      ...{ proofs: 1, options: { threads: 2 }, keep: true },
    };
    await expectProofs(await callPage(page, task), small.verificationKey);
    const [worker] = page.workers().filter((one) => one.url().endsWith('/split-worker.js'));
    // It is lost in the middle of the next proof.
    await worker?.evaluate(() => {
      const onmessage = () => {
        throw new Error('broken');
      };
      Object.assign(globalThis, { onmessage });
    });
    await expect(callPage(page, task)).rejects.toThrow(/proof_failed: The proving engine stopped/);
    await expectProofs(await callPage(page, task), small.verificationKey);
  });

  it.each([
    ['isolated', true],
    ['not isolated', false],
  ] as const)(
    'frees all workers and memories on close where the page is %s',
    async (_page, isolated) => {
      const files = { '/circuit.wasm': String(small.wasm), '/circuit.zkey': String(small.zkey) };
      const server = await servePage({ folder, isolated, files });
      onTestFinished(() => server.close());
      const { page } = await openPage(browser, server.origin);
      onTestFinished(() => page.context().close());
      const debug = await page.context().newCDPSession(page);
      /** Memories that something in the page still reaches. */
      const countMemories = async (): Promise<number> => {
        await debug.send('HeapProfiler.collectGarbage');
        return page.evaluate(
          () =>
            (globalThis as unknown as { memories: readonly WeakRef<object>[] }).memories.filter(
              (memory) => memory.deref() !== undefined,
            ).length,
        );
      };
      await page.evaluate(() => {
        const memories: WeakRef<object>[] = [];
        Object.assign(globalThis, { memories });
        const Memory = new Proxy(WebAssembly.Memory, {
          construct: (Target, args: [never]) => {
            const memory = new Target(...args);
            memories.push(new WeakRef(memory));
            return memory;
          },
        });
        Object.assign(WebAssembly, { Memory });
      });
      const task: PageTask = {
        ...{ wasm: '/circuit.wasm', zkey: '/circuit.zkey', form: 'url', input: squares },
        ...{ proofs: 1, options: { threads: 2 }, keep: true },
      };
      await expectProofs(await callPage(page, task), small.verificationKey);
      // Two for the kernels, and one each for witness and verification.
      expect(page.workers()).toHaveLength(4);
      // Workers that do not share keep their memories to themselves.
      expect(await countMemories()).toBe(isolated ? 1 : 0);
      // The page keeps the closed prover.
      await page.evaluate(() => (globalThis as unknown as PageGlobal).prover?.close());
      await expect.poll(() => page.workers()).toEqual([]);
      await expect.poll(countMemories).toBe(0);
    },
  );

  // A whole proof takes a minute of such a driver, most of it for its shaders.
  it('computes on the browser’s WebGPU, here on a driver that runs on the processor', async () => {
    const isFull = process.env['POOL_TEST_FULL'] === '1';
    const gpu = await openBrowser([
      ...['--headless=new', '--enable-unsafe-webgpu', '--enable-features=WebGPU,Vulkan'],
      ...['--use-vulkan=swiftshader', '--use-webgpu-adapter=swiftshader'],
    ]);
    onTestFinished(() => gpu.close());
    const options = { accelerator: 'webgpu', allowSoftwareAdapter: true } as const;
    const task = { input: squares, options, ready: true, proofs: isFull ? 1 : 0 };
    const result = await prove(true, small, task, gpu);
    expect(result.detail).toMatch(/^WebGPU, google swiftshader/);
    if (isFull) await expectProofs(result, small.verificationKey);
  });

  it('has the drop-in for snarkjs, with URLs and files in memory', async () => {
    const server = await servePage({
      folder,
      isolated: true,
      files: { '/circuit.wasm': String(small.wasm), '/circuit.zkey': String(small.zkey) },
    });
    onTestFinished(() => server.close());
    const { page, errors } = await openPage(browser, server.origin);
    onTestFinished(() => page.context().close());
    const made = await page.evaluate(async (input) => {
      const { groth16, wtns, zKey } = (globalThis as unknown as { dropIn: typeof DropIn }).dropIn;
      const [wasm, zkey] = ['circuit.wasm', '/circuit.zkey'];
      const witness: DropIn.OutputFile = { type: 'mem' };
      await wtns.calculate(input, wasm, witness);
      const proofs = [
        await groth16.prove(zkey, { type: 'mem', data: witness.data ?? new Uint8Array() }),
        await groth16.fullProve(input, wasm, zkey),
      ];
      const key = await zKey.exportVerificationKey(zkey);
      const checks = proofs.map(({ proof, publicSignals }) =>
        groth16.verify(key, publicSignals, proof),
      );
      return { proofs, checks: await Promise.all(checks) };
    }, squares);
    expect(made.checks).toEqual([true, true]);
    for (const { proof, publicSignals } of made.proofs) {
      expect(await groth16.verify(small.verificationKey, publicSignals, proof)).toBe(true);
    }
    expect([...errors, ...server.violations]).toEqual([]);
  });

  it('keeps a prepared key for the next visit, which fetches the key only if it changed', async () => {
    const scratch = await mkdtemp(join(tmpdir(), 'pool-page-'));
    onTestFinished(() => rm(scratch, { recursive: true }));
    const zkey = join(scratch, 'circuit.zkey');
    await cp(String(small.zkey), zkey);
    const files = { '/circuit.wasm': String(small.wasm), '/circuit.zkey': zkey };
    const server = await servePage({ folder, isolated: true, files });
    onTestFinished(() => server.close());
    const { page, errors } = await openPage(browser, server.origin);
    const context = page.context();
    onTestFinished(() => context.close());
    const task: PageTask = {
      ...{ wasm: '/circuit.wasm', zkey: '/circuit.zkey', form: 'url', input: squares, proofs: 1 },
      options: { keyCacheDir: 'keys' },
    };
    await expectProofs(await callPage(page, task), small.verificationKey);
    await context.route('**/circuit.zkey', async (route) => {
      await (route.request().method() === 'HEAD' ? route.continue() : route.abort());
    });
    const again = await context.newPage();
    await again.goto(server.origin);
    await expectProofs(await callPage(again, task), small.verificationKey);
    await utimes(zkey, 1, 1);
    const third = await context.newPage();
    await third.goto(server.origin);
    await expect(callPage(third, task)).rejects.toThrow(/artifact_unreadable/);
    expect([...errors, ...server.violations]).toEqual([]);
  });

  it('names the file of a thread that the server does not have', async () => {
    const wrong = await mkdtemp(join(tmpdir(), 'pool-page-'));
    onTestFinished(() => rm(wrong, { recursive: true }));
    await cp(folder, wrong, { recursive: true });
    await rm(join(wrong, 'kernel-worker.js'));
    const server = await servePage({ folder: wrong, isolated: true });
    onTestFinished(() => server.close());
    const { page } = await openPage(browser, server.origin);
    onTestFinished(() => page.context().close());
    const task: PageTask = { options: {}, wasm: '', zkey: '', form: 'url', input: {}, proofs: 0 };
    await expect(callPage(page, { ...task, ready: true })).rejects.toThrow(
      /thread_file_missing: the program of a thread did not load: kernel-worker\.js of http/,
    );
  });
});
