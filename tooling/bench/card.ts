// `pnpm bench card <file>`: stores the JSON of a check of a graphics card, which ran on the machine with the card (docs/gpu.md).
import { readFileSync } from 'node:fs';
import type { Row } from '../../packages/prover/scripts/gpu-check/report.ts';
import type { Table } from './results.ts';
import { saveSection } from './results-store.ts';

/** `Report.toJson` of the check. */
type Check = {
  readonly problems: readonly string[];
  readonly tables: Readonly<Record<string, readonly Row[]>>;
};

const provers: Readonly<Record<string, string>> = {
  webgpu: 'ours, on the card',
  cpu: 'ours, on the processor',
};

function show(value: Row[string]): string {
  return typeof value === 'number'
    ? value.toLocaleString('en', { maximumSignificantDigits: 4 })
    : String(value ?? '');
}

function createTable(
  rows: readonly Row[],
  title: string,
  columns: Readonly<Record<string, string | ((row: Row) => string)>>,
): Table {
  const cells = Object.values(columns);
  return {
    title,
    columns: Object.keys(columns),
    rows: rows.map((row) =>
      cells.map((cell) => (typeof cell === 'string' ? show(row[cell]) : cell(row))),
    ),
  };
}

export function runCardBench([path = '']: readonly string[]): Promise<void> {
  const { problems, tables } = JSON.parse(readFileSync(path, 'utf8')) as Check;
  if (problems.length > 0) throw new Error(`The check found problems: ${problems.join('; ')}`);
  const { device: [device] = [], proofs = [], circuits = [], sums = [] } = tables;
  const { name, date, node, processor, processors } = device ?? {};
  const warmOf = (circuit: Row[string]) =>
    Number(
      circuits.find((row) => row['circuit'] === circuit && row['prover'] === 'webgpu')?.['warmMs'],
    );
  saveSection('card', {
    title: 'Proofs on a graphics card',
    machine: `${show(name)}, with ${show(processors)} logical cores of ${show(processor)}, Node ${show(node)}`,
    date: show(date),
    about:
      'By `gpu-check` ([docs/gpu.md](../docs/gpu.md)). Milliseconds, the fastest of five. The processor is the engine on all cores. snarkjs, 0.7.6 from npm, runs circom’s own program in the same session.',
    tables: [
      createTable(circuits, 'A job: witness, proof, blinding and verification, warm', {
        circuit: 'circuit',
        prover: ({ prover }) => provers[String(prover)] ?? show(prover),
        'one job': 'warmMs',
        'of ours on the card': ({ circuit, warmMs }) =>
          `${(Number(warmMs) / warmOf(circuit)).toFixed(1)}×`,
        'each of 16 at once': 'eachOf16Ms',
        witness: 'witnessMs',
        sums: 'sumsMs',
        'blinding and verification': 'verifyMs',
        'the first job': 'firstMs',
      }),
      createTable(proofs, 'The sums of a proof of a made-up circuit', {
        rows: ({ log }) => `2^${show(log)}`,
        card: 'deviceMs',
        'each of four at once': 'eachOfFourMs',
        processor: 'processorMs',
        'of the card': ({ timesProcessor }) => `${Number(timesProcessor).toFixed(1)}×`,
        'loading a key': 'loadMs',
        'MiB of a key': 'megabytes',
      }),
      createTable(
        sums.filter(({ scalars }) => scalars === 'random'),
        'Sums of random multiples, with and without precomputed multiples',
        {
          points: ({ group, log }) => `2^${show(log)} in ${show(group).toUpperCase()}`,
          multiples: 'tables',
          ms: 'ms',
          'multiplications alone': 'limitMs',
        },
      ),
    ],
  });
  return Promise.resolve();
}
