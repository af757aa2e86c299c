/**
 * Writes docs/api/*.json from the route descriptions, or with `--check` compares. Run by `pnpm generate`.
 *
 * @module
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { apis } from '../src/documents.ts';
import { createOpenApi } from '../src/openapi/openapi.ts';

const folder = new URL('../../../docs/', import.meta.url);

/** Every document by its path below docs, as text. */
function renderDocuments(): readonly (readonly [string, string])[] {
  return [
    ...apis.map(
      (api) =>
        [`api/${api.name}.json`, `${JSON.stringify(createOpenApi(api), undefined, 2)}\n`] as const,
    ),
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
