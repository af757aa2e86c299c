// Folds dependency-cruiser's module graph into the graph of our packages and draws it as Mermaid into ARCHITECTURE.md, from the current
// imports. `--check` only compares.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { run } from '../src/processes.ts';

/** The part of dependency-cruiser's JSON output that we read. */
export interface CruiseResult {
  readonly modules: readonly {
    readonly source: string;
    readonly dependencies: readonly { readonly resolved: string }[];
  }[];
}

/** An import from the production code of one package into another, by folder name: `apps/agent`, `packages/core`. */
export interface Edge {
  readonly from: string;
  readonly to: string;
}

const packageOfPath = /^((?:packages|apps)\/[^/]+)\//;
const test = /\.(?:test|bench)\.ts$|\/src\/fixtures\//;

/** The edges between packages that production code makes, sorted, each once. */
export function computePackageEdges({ modules }: CruiseResult): Edge[] {
  const edges = new Map<string, Edge>();
  for (const { source, dependencies } of modules) {
    const from = packageOfPath.exec(source)?.[1];
    if (from === undefined || test.test(source) || !source.startsWith(`${from}/src/`)) continue;
    for (const { resolved } of dependencies) {
      const to = packageOfPath.exec(resolved)?.[1];
      if (to === undefined || to === from) continue;
      edges.set(`${from} ${to}`, { from, to });
    }
  }
  return [...edges.keys()].sort().flatMap((key) => edges.get(key) ?? []);
}

/** The edges that no longer path implies: they are enough to see the structure. */
export function reduceEdges(edges: readonly Edge[]): Edge[] {
  const reaches = (from: string, to: string, skip: Edge): boolean =>
    edges.some(
      (edge) =>
        edge !== skip && edge.from === from && (edge.to === to || reaches(edge.to, to, skip)),
    );
  return edges.filter((edge) => !reaches(edge.from, edge.to, edge));
}

function shortName(path: string): string {
  return path.replace(/^(packages|apps)\//, '');
}

/** A Mermaid flowchart: apps as boxes, packages rounded, arrows from the importing to the imported package. */
export function renderMermaid(edges: readonly Edge[]): string {
  const nodes = [...new Set(edges.flatMap(({ from, to }) => [from, to]))].sort();
  const id = (path: string): string => path.replaceAll(/[^a-z0-9]/g, '_');
  return [
    '```mermaid',
    'flowchart TD',
    ...nodes.map((path) =>
      path.startsWith('apps/')
        ? `  ${id(path)}["${shortName(path)}"]`
        : `  ${id(path)}("${shortName(path)}")`,
    ),
    ...edges.map(({ from, to }) => `  ${id(from)} --> ${id(to)}`),
    '```',
  ].join('\n');
}

const startMarker = '<!-- dependency-graph:start (pnpm generate) -->';
const endMarker = '<!-- dependency-graph:end -->';

/** The document with the drawing between its two markers; throws when a marker is missing. */
export function replaceGraph(document: string, drawing: string): string {
  const start = document.indexOf(startMarker);
  const end = document.indexOf(endMarker);
  if (start < 0 || end < start)
    throw new Error(`the markers ${startMarker} … ${endMarker} are missing`);
  return `${document.slice(0, start + startMarker.length)}\n${drawing}\n${document.slice(end)}`;
}

if (import.meta.main) {
  const root = resolve(import.meta.dirname, '../..');
  const documentPath = join(root, 'ARCHITECTURE.md');

  const { stdout, combined } = await run(
    join(root, 'node_modules/.bin/depcruise'),
    ['--config=.dependency-cruiser.mjs', '--output-type=json', 'packages', 'apps'],
    { cwd: root, output: 'collect' },
  );
  // depcruise returns the graph even if a rule is broken. `pnpm check` reports broken rules.
  if (!stdout.startsWith('{')) throw new Error(`depcruise returned no graph:\n${combined}`);
  const graph = JSON.parse(stdout) as CruiseResult;

  const before = readFileSync(documentPath, 'utf8');
  const after = replaceGraph(before, renderMermaid(reduceEdges(computePackageEdges(graph))));

  if (process.argv.includes('--check')) {
    if (before !== after) {
      process.stderr.write('the graph in ARCHITECTURE.md is not up to date: run `pnpm generate`\n');
      process.exitCode = 1;
    }
  } else if (before !== after) {
    writeFileSync(documentPath, after);
  }
}
