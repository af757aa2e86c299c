// `pnpm bench browser [--runs 3] [--circuit fund-16] [--page isolated] [--prover ours]`: whole jobs in Chromium, in pages with and without cross-origin isolation, ours beside snarkjs. First
// visit: a new profile, from the click to the proof, the files fetched from this machine. Second visit: a new page of the same profile.
// Warm: further proofs of that page. Both provers take the same standard key.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { VerificationKey } from '@pool/prover';
import { hasBrowser, openBrowser, openPage, servePage } from '@pool/testkit/browser';
import { bundlePage } from '../browser/bundle.ts';
import type { PageResult, PageTask } from '../browser/page.ts';
import type { SnarkjsTask } from '../browser/snarkjs-page.ts';
import { type BenchCircuit, fundCases, spendCases } from './prover/circuits.ts';
import { fastest } from './prover/measure.ts';
import { createStamp } from './results.ts';
import { saveRows } from './results-store.ts';

/** snarkjs makes its workers from `blob:` and `data:` URLs, so its page has no policy. */
const openPolicy = "default-src * blob: data: 'unsafe-inline' 'unsafe-eval'";

const cases = [
  ...fundCases.filter(({ power }) => power === 16).map((one) => ({ ...one, name: 'fund-16' })),
  ...spendCases.filter(({ power }) => power === 16).map((one) => ({ ...one, name: 'spend-2x4' })),
];

type Visits = { readonly first: number; readonly second: number; readonly warm: readonly number[] };
type Job = { readonly circuit: BenchCircuit; readonly isolated: boolean; readonly runs: number };

async function readTask({ inputPath, verificationKeyPath }: BenchCircuit) {
  const read = async (path: string): Promise<unknown> => JSON.parse(await readFile(path, 'utf8'));
  return {
    ...{ wasm: '/circuit.wasm', zkey: '/circuit.zkey' },
    input: (await read(inputPath)) as PageTask['input'],
    verificationKey: (await read(verificationKeyPath)) as VerificationKey,
  };
}

const alone = 'snarkjs, one thread';
const provers = ['ours', 'snarkjs', alone] as const;

async function visit(
  { circuit, isolated, runs }: Job,
  prover: (typeof provers)[number],
): Promise<Visits> {
  const folder = await mkdtemp(join(tmpdir(), 'pool-bench-page-'));
  const isOurs = prover === 'ours';
  await bundlePage(`tooling/browser/${isOurs ? 'page' : 'snarkjs-page'}.ts`, folder);
  const files = { '/circuit.wasm': circuit.wasm, '/circuit.zkey': circuit.zkey };
  const policy = isOurs ? {} : { policy: openPolicy };
  const server = await servePage({ folder, isolated, files, ...policy });
  const browser = await openBrowser();
  try {
    const task = await readTask(circuit);
    const prove = async (page: Awaited<ReturnType<typeof openPage>>['page'], proofs: number) => {
      if (isOurs) {
        const ours: PageTask = { ...task, options: { keyCacheDir: 'keys' }, form: 'url', proofs };
        const { ms } = await page.evaluate(
          (given) =>
            (globalThis as unknown as { provePage(task: PageTask): Promise<PageResult> }).provePage(
              given,
            ),
          ours,
        );
        return ms;
      }
      const theirs: SnarkjsTask = { ...task, proofs, singleThread: prover !== 'snarkjs' };
      return page.evaluate(
        (given) =>
          (
            globalThis as unknown as {
              proveWithSnarkjs(task: SnarkjsTask): Promise<readonly number[]>;
            }
          ).proveWithSnarkjs(given),
        theirs,
      );
    };
    const { page } = await openPage(browser, server.origin);
    const [first = 0] = await prove(page, 1);
    const again = await page.context().newPage();
    await again.goto(server.origin);
    const [second = 0, ...warm] = await prove(again, 1 + runs);
    return { first, second, warm };
  } finally {
    await browser.close();
    server.close();
    await rm(folder, { recursive: true });
  }
}

/** Runs the benchmark with the options of the command line. */
export async function runBrowserBench(args: readonly string[]): Promise<void> {
  if (!hasBrowser) {
    process.stdout.write('browser: left out, because there is no /usr/bin/chromium\n');
    return;
  }
  const options = {
    runs: { type: 'string', default: '3' },
    circuit: { type: 'string' },
    prover: { type: 'string' },
    page: { type: 'string' },
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  const runs = Number(values.runs);
  const [loadBefore = 0] = loadavg();
  const browser = await openBrowser();
  const version = browser.version();
  await browser.close();
  const rows: string[][] = [];
  for (const { name, power, prepare } of cases) {
    if ((values.circuit ?? name) !== name) continue;
    const { ours, standard } = await prepare();
    for (const page of ['isolated', 'not isolated']) {
      if ((values.page ?? page) !== page) continue;
      const isolated = page === 'isolated';
      for (const prover of provers) {
        // In the isolated page, snarkjs has its threads.
        if ((values.prover ?? prover) !== prover || (isolated && prover === alone)) continue;
        const circuit = prover === 'ours' ? { ...standard, wasm: ours.wasm } : standard;
        const { first, second, warm } = await visit({ circuit, isolated, runs }, prover);
        const times = [fastest(warm), first, second].map((ms) => `${ms.toFixed(0)} ms`);
        rows.push([name, `2^${power}`, page, prover, ...times]);
        process.stderr.write(`${rows.at(-1)?.join(' | ')}\n`);
      }
    }
  }
  const [loadAfter = 0] = loadavg();
  const section = {
    title: 'Proofs in a browser',
    ...createStamp(),
    about: `Chromium ${version}, headless. A job is witness, proof, blinding and verification; both provers take the same standard key; ours runs its accelerated witness program, snarkjs circom’s. In a page that is cross-origin isolated ours runs on all cores, in another one on workers with memories of their own, under a policy without \`blob:\`; snarkjs starts workers from \`blob:\` URLs in both, unless it is told to use one thread. First visit: a new profile, from the click to the proof, with the files fetched from this machine. Second visit: a new page of that profile, with our key prepared in its private file system. Warm: the fastest further proof of that page. Load average ${loadBefore.toFixed(1)} before and ${loadAfter.toFixed(1)} after the run.`,
    tables: [
      {
        columns: ['circuit', 'rows', 'page', 'prover', 'warm', 'first visit', 'second visit'],
        rows,
      },
    ],
  };
  saveRows('browser', section, 4);
}
