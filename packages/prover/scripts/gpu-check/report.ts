/** Milliseconds of the fastest of several runs: other work on the machine only increases the time. */
export async function measure(times: number, run: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let k = 0; k < times; k++) {
    const startedAt = performance.now();
    await run();
    best = Math.min(best, performance.now() - startedAt);
  }
  return best;
}

/** Long enough for the clocks of an idle card to rise. */
const warmUpMs = 300;

/** As `measure`, on a card under load. */
export async function measureUnderLoad(
  times: number,
  run: () => Promise<unknown>,
): Promise<number> {
  const startedAt = performance.now();
  do {
    await run();
  } while (performance.now() < startedAt + warmUpMs);
  return await measure(times, run);
}

/**
 * The results of the check: a line for people as soon as a result is known, a table at the end, and everything as one JSON object.
 */
type Cell = string | number | boolean | undefined;
export type Row = Readonly<Record<string, Cell>>;

/** The columns for which any row of a table has a value, in the order of first appearance. */
function listColumns(rows: readonly Row[]): readonly string[] {
  return [
    ...new Set(rows.flatMap((row) => Object.keys(row).filter((name) => row[name] !== undefined))),
  ];
}

function showCell(cell: Cell): string {
  if (cell === undefined) return '';
  if (typeof cell !== 'number') return String(cell);
  if (Number.isInteger(cell)) return cell.toLocaleString('en');
  return cell.toLocaleString('en', { maximumSignificantDigits: 4 });
}

function renderTable(rows: readonly Row[]): string {
  const columns = listColumns(rows);
  const lines = [columns, ...rows.map((row) => columns.map((name) => showCell(row[name])))];
  const widths = columns.map((_, k) => Math.max(...lines.map((line) => line[k]?.length ?? 0)));
  return lines
    .map((line) => line.map((cell, k) => cell.padStart(widths[k] ?? 0)).join('  '))
    .join('\n');
}

export function createReport(deadlineMs: number, say: (text: string) => void) {
  const tables = new Map<string, Row[]>();
  const problems: string[] = [];
  let checks = 0;
  return {
    /** One measurement. */
    add: (table: string, row: Row): void => {
      tables.set(table, [...(tables.get(table) ?? []), row]);
      say(`${table}: ${JSON.stringify(row)}\n`);
    },
    /** One comparison; sums and elements are compared value by value. */
    check: (what: string, isRight: boolean): void => {
      checks++;
      if (!isRight) {
        problems.push(`${what}: wrong`);
        say(`WRONG ${what}\n`);
      }
    },
    /** A part of the check. Its failure is reported, and the other parts still run. */
    part: async (what: string, run: () => Promise<void>): Promise<void> => {
      if (performance.now() > deadlineMs) {
        tables.set('left out', [...(tables.get('left out') ?? []), { what, why: 'out of time' }]);
        return;
      }
      const startedAt = performance.now();
      try {
        await run();
        say(`${what}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
      } catch (error) {
        problems.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
        say(`FAILED ${what}: ${String(error)}\n`);
      }
    },
    problems: (): readonly string[] => problems,
    render: (): string =>
      [...tables].map(([name, rows]) => `\n${name}\n${renderTable(rows)}\n`).join(''),
    toJson: () => ({ checks, problems, tables: Object.fromEntries(tables) }),
  };
}
export type Report = ReturnType<typeof createReport>;
