// Results are stored as JSON, one file per benchmark, and the page and the plot are written from all of them. So a benchmark that was
// run on another machine stays on the page with that machine's name and day.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  mergeProverResults,
  type ProverResults,
  renderProverPlot,
  renderProverResults,
} from './prover/render.ts';
import { renderSection, type Section } from './results.ts';

const folder = resolve(import.meta.dirname, '../../bench');

/** Title of each file of measured provers. */
const proofs = {
  'prover-cpu': 'Proofs on the processor',
  'spends-cpu': 'Proofs of spends',
} as const;

type ProofsName = keyof typeof proofs;

export const proofsNames = Object.keys(proofs) as readonly ProofsName[];

export function isProofsName(name: string): name is ProofsName {
  return Object.hasOwn(proofs, name);
}

function read(name: string): unknown {
  const path = join(folder, 'results', `${name}.json`);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

/** Stores results and writes bench/RESULTS.md and bench/prover.svg from all files of bench/results. */
function write(name: string, results: ProverResults | Section): void {
  mkdirSync(join(folder, 'results'), { recursive: true });
  writeFileSync(join(folder, 'results', `${name}.json`), `${JSON.stringify(results, null, 1)}\n`);
  // Written by the same programs that read them.
  const sections = [
    ...Object.entries(proofs).map(([file, title]) => {
      const found = read(file) as ProverResults | undefined;
      return found && renderProverResults(title, found);
    }),
    ...['card', 'browser', 'agent', 'fleet', 'payroll', 'scale', 'model', 'hostile', 'rates'].map(
      (file) => {
        const found = read(file) as Section | undefined;
        return found && renderSection(found);
      },
    ),
  ].filter((section) => section !== undefined);
  writeFileSync(
    join(folder, 'RESULTS.md'),
    `# Benchmarks\n\nWritten by \`pnpm bench\`. Figures are of the machine and the day named with them.\n\n${sections.join('\n')}`,
  );
  const cpu = read('prover-cpu') as ProverResults | undefined;
  if (cpu !== undefined) writeFileSync(join(folder, 'prover.svg'), renderProverPlot(cpu));
}

type SectionName =
  | 'agent'
  | 'browser'
  | 'card'
  | 'fleet'
  | 'hostile'
  | 'model'
  | 'payroll'
  | 'rates'
  | 'scale';

/** Stores a section and writes the pages again. */
export function saveSection(name: SectionName, section: Section): void {
  write(name, section);
}

/**
 * Stores some rows of a section with one table. Rows of the same machine and day with another start stay.
 * @param keys - number of columns that name a row
 */
export function saveRows(name: SectionName, section: Section, keys: number): void {
  const before = read(name) as Section | undefined;
  const isSame = before?.machine === section.machine && before.date === section.date;
  const keyOf = (row: readonly string[]) => row.slice(0, keys).join('|');
  const tables = section.tables.map((table, index) => {
    const fresh = new Set(table.rows.map(keyOf));
    const known = isSame ? (before.tables[index]?.rows ?? []) : [];
    return { ...table, rows: [...known.filter((row) => !fresh.has(keyOf(row))), ...table.rows] };
  });
  write(name, { ...section, tables });
}

/**
 * Stores the measurements of some circuits and writes the pages again. Circuits measured before on the same machine and day stay;
 * results of another machine or day are replaced.
 */
export function saveProverResults(name: ProofsName, results: ProverResults): void {
  // Written by this function.
  const before = read(name) as ProverResults | undefined;
  const isSame = before?.machine === results.machine && before.date === results.date;
  write(name, isSame ? mergeProverResults(before, results) : results);
}
