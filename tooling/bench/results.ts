// A section of bench/RESULTS.md: where and when its figures were measured, and its tables.
import { cpus, release, totalmem, type } from 'node:os';

export interface Stamp {
  readonly machine: string;
  /** YYYY-MM-DD */
  readonly date: string;
}

export interface Table {
  readonly title?: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface Section extends Stamp {
  readonly title: string;
  /** What was measured, and how. */
  readonly about: string;
  readonly tables: readonly Table[];
}

/** Processor, cores, memory, system, Node: the figures depend on them. */
export function describeMachine(): string {
  const processors = cpus();
  const gib = (totalmem() / 2 ** 30).toFixed(0);
  return `${processors[0]?.model ?? 'unknown processor'}, ${processors.length} logical cores, ${gib} GiB, ${type()} ${release()}, Node ${process.version}`;
}

/** This machine, today. */
export function createStamp(): Stamp {
  return { machine: describeMachine(), date: new Date().toISOString().slice(0, 10) };
}

function renderTable({ title, columns, rows }: Table): string {
  return [
    ...(title === undefined ? [] : [`### ${title}`, '']),
    `| ${columns.join(' | ')} |`,
    `|---|${columns
      .slice(1)
      .map(() => '--:|')
      .join('')}`,
    ...rows.map((row) => `| ${row.join(' | ')} |`),
    '',
  ].join('\n');
}

export function renderSection({ title, machine, date, about, tables }: Section): string {
  const head = `${machine}. ${date}. ${about}`.trimEnd();
  return [`## ${title}`, '', head, '', ...tables.map(renderTable)].join('\n');
}
