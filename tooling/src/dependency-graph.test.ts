import { describe, expect, it } from 'vitest';
import {
  computePackageEdges,
  reduceEdges,
  renderMermaid,
  replaceGraph,
} from '../scripts/dependency-graph.ts';

function uses(source: string, ...resolved: string[]) {
  return {
    source,
    dependencies: resolved.map((path) => ({ resolved: path })),
  };
}

describe('computePackageEdges', () => {
  it('folds modules into packages and leaves out tests, scripts and other dependencies', () => {
    const edges = computePackageEdges({
      modules: [
        uses('packages/notes/src/a.ts', 'packages/core/src/index.ts', 'packages/notes/src/b.ts'),
        uses('packages/notes/src/b.ts', 'packages/core/src/index.ts', 'node_modules/x/index.js'),
        uses('packages/notes/src/a.test.ts', 'packages/testkit/src/index.ts'),
        uses('apps/agent/src/fixtures/a.ts', 'packages/testkit/src/index.ts'),
        uses('packages/contracts/scripts/x.ts', 'packages/circuits/src/index.ts'),
        uses('apps/agent/src/main.ts', 'packages/core/src/index.ts'),
      ],
    });
    expect(edges).toEqual([
      { from: 'apps/agent', to: 'packages/core' },
      { from: 'packages/notes', to: 'packages/core' },
    ]);
  });
});

describe('reduceEdges', () => {
  it('drops an edge that a longer path implies, and no other', () => {
    const edges = [
      { from: 'a', to: 'b' },
      { from: 'a', to: 'c' },
      { from: 'b', to: 'c' },
      { from: 'd', to: 'c' },
    ];
    expect(reduceEdges(edges)).toEqual([
      { from: 'a', to: 'b' },
      { from: 'b', to: 'c' },
      { from: 'd', to: 'c' },
    ]);
  });
});

describe('renderMermaid and replaceGraph', () => {
  const drawing = renderMermaid([{ from: 'apps/agent', to: 'packages/platform-client' }]);

  it('draws every node and edge', () => {
    expect(drawing.split('\n')).toEqual([
      '```mermaid',
      'flowchart TD',
      '  apps_agent["agent"]',
      '  packages_platform_client("platform-client")',
      '  apps_agent --> packages_platform_client',
      '```',
    ]);
  });

  it('replaces the text between the markers and nothing else', () => {
    const start = '<!-- dependency-graph:start (pnpm generate) -->';
    const end = '<!-- dependency-graph:end -->';
    const before = `# A\n${start}\nold\n${end}\nrest\n`;
    expect(replaceGraph(before, 'new')).toBe(`# A\n${start}\nnew\n${end}\nrest\n`);
    expect(() => replaceGraph('# A', 'new')).toThrow('markers');
  });
});
