/**
 * The README's table of variables, generated from the table of variables (`pnpm generate`).
 *
 * @module
 */
import type { ConfigVariable } from './kinds.ts';

const start = '<!-- configuration:start (pnpm generate) -->';
const end = '<!-- configuration:end -->';

/** One Markdown row per variable. @param home - how the table calls the directory of the service */
export function renderConfigTable(
  variables: readonly ConfigVariable<unknown>[],
  home: string,
): string {
  return [
    '| variable | for | value | default | meaning |',
    '|---|---|---|---|---|',
    ...variables.map((variable) =>
      renderRow([
        `\`${variable.name}\``,
        variable.role,
        variable.kind.label,
        describeDefault(variable, home),
        variable.purpose,
      ]),
    ),
  ].join('\n');
}

function describeDefault(
  { fallback, isRequired, whenUnset }: ConfigVariable<unknown>,
  home: string,
): string {
  if (fallback !== undefined) {
    return `\`${String(fallback(home))}\``;
  }
  return isRequired === true ? '**required**' : (whenUnset ?? 'none');
}

function renderRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** The document with the table between its two markers. @throws Error when a marker is missing */
export function replaceConfigTable(document: string, table: string): string {
  const from = document.indexOf(start);
  const to = document.indexOf(end);
  if (from < 0 || to < from) {
    throw new Error(`the markers ${start} … ${end} are missing`);
  }
  return `${document.slice(0, from + start.length)}\n${table}\n${document.slice(to)}`;
}
