/**
 * A document as a page for people: one static HTML text without scripts, images, fonts or anything from
 * elsewhere. Its policy allows the page's own style sheet, by hash, and nothing else.
 *
 * @module
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { OpenApiDocument } from './openapi.ts';
import type { JsonObject } from './route.ts';

const style = [
  ':root { color-scheme: light dark; }',
  'body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }',
  'code, pre { font: 14px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }',
  'pre { overflow-x: auto; overflow-wrap: normal; padding: .75rem; border: 1px solid #8886; border-radius: .25rem; }',
  'h2 { margin-top: 3rem; border-top: 1px solid #8886; padding-top: 1rem; }',
  'h3 { margin-top: 2.5rem; }',
  'h3 code { font-size: 18px; }',
  'th code { overflow-wrap: normal; }',
  'table { border-collapse: collapse; width: 100%; }',
  'caption { text-align: left; font-weight: bold; }',
  'td, th { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; }',
  'nav ul { list-style: none; padding: 0; }',
  'summary { cursor: pointer; }',
  'details > :not(summary) { margin-left: 1rem; }',
].join('\n');

/** The `content-security-policy` header that belongs to every page of {@link renderDocsPage}. */
export const docsPagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${btoa(String.fromCharCode(...sha256(utf8ToBytes(style))))}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** @param documentUrl - where the same document is served as JSON */
export function renderDocsPage(document: OpenApiDocument, documentUrl: string): string {
  const { title, description } = document.info;
  const components = asObject(document['components']);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      id: asText(operation['operationId']),
      operation,
    })),
  );
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(title)}</title>`,
    `<style>${style}</style>`,
    '</head>',
    '<body>',
    '<header>',
    `<h1>${escapeHtml(title)}</h1>`,
    `<p>${escapeHtml(description)}</p>`,
    `<p>The same as OpenAPI ${escapeHtml(document.openapi)}: <a href="${escapeHtml(documentUrl)}">${escapeHtml(documentUrl)}</a></p>`,
    '</header>',
    '<nav aria-label="Operations">',
    '<ul>',
    ...operations.map(
      ({ name, id, operation }) =>
        `<li><a href="#${escapeHtml(id)}"><code>${escapeHtml(name)}</code></a> ${escapeHtml(asText(operation['summary']))}</li>`,
    ),
    '</ul>',
    '</nav>',
    '<main>',
    ...renderMeanings('Credentials', ['Credential', 'What it is'], components['securitySchemes']),
    '<h2>Operations</h2>',
    ...operations.map(({ name, operation }) => renderOperation(name, operation)),
    ...renderMeanings('Headers of answers', ['Header', 'Meaning'], components['headers']),
    '<h2>Schemas</h2>',
    ...Object.entries(asObject(components['schemas'])).map(renderSchema),
    '</main>',
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

/** Each thing with its description. */
function renderMeanings(title: string, columns: readonly string[], things: unknown): string[] {
  const rows = Object.entries(asObject(things)).map(([name, thing]) => [
    renderCode(name),
    escapeHtml(asText(asObject(thing)['description'])),
  ]);
  return [`<h2>${title}</h2>`, renderTable(columns, rows)];
}

function renderCode(value: unknown): string {
  return `<code>${escapeHtml(asText(value))}</code>`;
}

/** @param rows - cells as HTML; the first of each names its row */
function renderTable(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  caption = '',
): string {
  const line = ([name = '', ...cells]: readonly string[]): string =>
    `<tr><th scope="row">${name}</th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  const head = columns.map((column) => `<th scope="col">${escapeHtml(column)}</th>`).join('');
  return [
    '<table>',
    ...(caption === '' ? [] : [`<caption>${escapeHtml(caption)}</caption>`]),
    `<thead><tr>${head}</tr></thead>`,
    '<tbody>',
    ...rows.map(line),
    '</tbody>',
    '</table>',
  ].join('\n');
}

function renderOperation(title: string, operation: JsonObject): string {
  const id = asText(operation['operationId']);
  const parts = [
    `<section aria-labelledby="${escapeHtml(id)}">`,
    `<h3 id="${escapeHtml(id)}"><code>${escapeHtml(title)}</code></h3>`,
    `<p>${escapeHtml(asText(operation['summary']))}</p>`,
  ];
  if (operation['description'] !== undefined) {
    parts.push(`<p>${escapeHtml(asText(operation['description']))}</p>`);
  }
  parts.push(`<p>Credential: ${renderCredential(operation)}</p>`);
  const parameters = asArray(operation['parameters']);
  if (parameters.length > 0) {
    const columns = ['Name', 'Where', 'Meaning', 'Example', 'Form'];
    parts.push(renderTable(columns, parameters.map(listParameter), 'Parameters'));
  }
  if (operation['requestBody'] !== undefined) {
    parts.push('<h4>Body</h4>', renderContent(asObject(operation['requestBody'])));
  }
  parts.push('<h4>Answers</h4>');
  for (const [status, response] of Object.entries(asObject(operation['responses']))) {
    const described = asObject(response);
    parts.push(
      '<details>',
      `<summary><code>${escapeHtml(status)}</code> ${escapeHtml(asText(described['description']))}${renderCodes(described)}</summary>`,
      `<p>Headers: ${Object.keys(asObject(described['headers'])).map(renderCode).join(', ')}</p>`,
      renderContent(described),
      '</details>',
    );
  }
  return [...parts, '</section>'].join('\n');
}

/** The codes that an answer with this status may have: what a reader looks for first. */
function renderCodes(response: JsonObject): string {
  const [media] = Object.values(asObject(response['content']));
  const properties = asObject(asObject(asObject(media)['schema'])['properties']);
  const codes: unknown = asObject(properties['code'])['enum'];
  return Array.isArray(codes) ? ` ${codes.map(renderCode).join(', ')}` : '';
}

function renderCredential(operation: JsonObject): string {
  const names = asArray(operation['security']).flatMap((entry) => Object.keys(entry));
  const needs = operation['x-needs'] === undefined ? '' : ` (${asText(operation['x-needs'])})`;
  return names.length === 0 ? 'none' : `${names.map(renderCode).join(', ')}${escapeHtml(needs)}`;
}

function listParameter(parameter: JsonObject): readonly string[] {
  const { description, ...form } = asObject(parameter['schema']);
  return [
    renderCode(parameter['name']),
    escapeHtml(`${asText(parameter['in'])}${parameter['required'] === true ? ', required' : ''}`),
    escapeHtml(asText(description)),
    renderCode(parameter['example']),
    renderCode(JSON.stringify(form)),
  ];
}

function renderContent(holder: JsonObject): string {
  return Object.entries(asObject(holder['content']))
    .map(([type, media]) => {
      const { schema, example } = asObject(media);
      return [
        ...(example === undefined ? [] : ['<p>Example</p>', renderJson(example)]),
        `<p>Schema of <code>${escapeHtml(type)}</code></p>`,
        renderJson(schema),
      ].join('\n');
    })
    .join('\n');
}

function renderSchema([name, schema]: [string, unknown]): string {
  const id = `schema-${escapeHtml(name)}`;
  return `<section aria-labelledby="${id}">\n<h3 id="${id}">${escapeHtml(name)}</h3>\n${renderJson(schema)}\n</section>`;
}

/** Scrollable by keyboard too; names of schemas lead to them. */
function renderJson(value: unknown): string {
  const text = escapeHtml(JSON.stringify(value, undefined, 2)).replace(
    /#\/components\/schemas\/([A-Za-z]+)/g,
    '<a href="#schema-$1">$&</a>',
  );
  return `<pre tabindex="0">${text}</pre>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function asObject(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}

function asArray(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonObject[]) : [];
}
