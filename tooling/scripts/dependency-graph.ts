// Draws the graph of our packages into ARCHITECTURE.md, from the current imports. `--check` only compares.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  type CruiseResult,
  computePackageEdges,
  reduceEdges,
  renderMermaid,
  replaceGraph,
} from '../src/dependency-graph.ts';
import { run } from '../src/processes.ts';

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
