/**
 * Writes docs/api from the route descriptions, or with `--check` compares. Run by `pnpm generate`.
 *
 * @module
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { apis } from '../src/documents.ts';
import { renderMarkdown } from '../src/openapi/markdown.ts';
import { createOpenApi } from '../src/openapi/openapi.ts';
import { renderIndex } from '../src/openapi/serve-api.ts';

const folder = new URL('../../../docs/', import.meta.url);

/** Every document by its path below docs, as text. */
function renderDocuments(): readonly (readonly [string, string])[] {
  return [
    ...apis.flatMap((api) => {
      const document = createOpenApi(api);
      return [
        [`api/${api.name}.json`, `${JSON.stringify(document, undefined, 2)}\n`] as const,
        [`api/${api.name}.md`, renderMarkdown(document, `${api.name}.json`)] as const,
      ];
    }),
    ['api/llms.txt', renderIndex(apis.map((api) => ({ api, url: `${api.name}.md` })))],
  ];
}

/** Names of files that differ from what the descriptions say. */
export function findStaleDocuments(): string[] {
  return renderDocuments()
    .filter(([name, text]) => readIfThere(name) !== text)
    .map(([name]) => name);
}

function readIfThere(name: string): string | undefined {
  try {
    return readFileSync(new URL(name, folder), 'utf8');
  } catch {
    return undefined;
  }
}

if (import.meta.main) {
  if (process.argv.includes('--check')) {
    const stale = findStaleDocuments();
    if (stale.length > 0) {
      process.stderr.write(`docs out of date: ${stale.join(', ')}; run pnpm generate\n`);
      process.exitCode = 1;
    }
  } else {
    mkdirSync(new URL('api/', folder), { recursive: true });
    for (const [name, text] of renderDocuments()) {
      writeFileSync(new URL(name, folder), text);
    }
  }
}
