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
  'code, pre { font: 14px/1.4 ui-monospace, monospace; }',
  'pre { overflow-x: auto; padding: .75rem; border: 1px solid #8886; border-radius: .25rem; }',
  'section { border-top: 1px solid #8886; margin-top: 2rem; }',
  'table { border-collapse: collapse; width: 100%; }',
  'td, th { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; }',
  'summary { cursor: pointer; }',
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
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      renderOperation(`${method.toUpperCase()} ${path}`, operation),
    ),
  );
  const { title, description } = document.info;
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
    `<h1>${escapeHtml(title)}</h1>`,
    `<p>${escapeHtml(description)}</p>`,
    `<p>As OpenAPI ${escapeHtml(document.openapi)}: <a href="${escapeHtml(documentUrl)}">${escapeHtml(documentUrl)}</a></p>`,
    renderSchemes(asObject(asObject(document['components'])['securitySchemes'])),
    ...operations,
    ...Object.entries(asObject(asObject(document['components'])['schemas'])).map(renderSchema),
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

function renderSchemes(schemes: JsonObject): string {
  const rows = Object.entries(schemes).map(
    ([name, scheme]) =>
      `<tr><td><code>${escapeHtml(name)}</code></td><td>${escapeHtml(asText(asObject(scheme)['description']))}</td></tr>`,
  );
  return rows.length === 0
    ? ''
    : `<h2>Credentials</h2>\n<table><tbody>\n${rows.join('\n')}\n</tbody></table>`;
}

function renderOperation(title: string, operation: JsonObject): string {
  const id = asText(operation['operationId']);
  const parts = [
    `<section id="${escapeHtml(id)}">`,
    `<h2><code>${escapeHtml(title)}</code></h2>`,
    `<p>${escapeHtml(asText(operation['summary']))}</p>`,
  ];
  if (operation['description'] !== undefined) {
    parts.push(`<p>${escapeHtml(asText(operation['description']))}</p>`);
  }
  parts.push(`<p>Credential: ${renderCredential(operation)}</p>`);
  const parameters = asArray(operation['parameters']);
  if (parameters.length > 0) {
    parts.push('<h3>Parameters</h3>', '<table><tbody>', ...parameters.map(renderParameter));
    parts.push('</tbody></table>');
  }
  if (operation['requestBody'] !== undefined) {
    parts.push('<h3>Body</h3>', renderContent(asObject(operation['requestBody'])));
  }
  parts.push('<h3>Answers</h3>');
  for (const [status, response] of Object.entries(asObject(operation['responses']))) {
    const described = asObject(response);
    parts.push(
      '<details>',
      `<summary><code>${escapeHtml(status)}</code> ${escapeHtml(asText(described['description']))}</summary>`,
      renderContent(described),
      '</details>',
    );
  }
  return [...parts, '</section>'].join('\n');
}

function renderCredential(operation: JsonObject): string {
  const names = asArray(operation['security']).flatMap((entry) => Object.keys(entry));
  const needs = operation['x-needs'] === undefined ? '' : ` (${asText(operation['x-needs'])})`;
  return names.length === 0
    ? 'none'
    : `${names.map((name) => `<code>${escapeHtml(name)}</code>`).join(', ')}${escapeHtml(needs)}`;
}

function renderParameter(parameter: JsonObject): string {
  const cells = [
    `<code>${escapeHtml(asText(parameter['name']))}</code>`,
    escapeHtml(`${asText(parameter['in'])}${parameter['required'] === true ? ', required' : ''}`),
    `<code>${escapeHtml(JSON.stringify(parameter['schema']))}</code>`,
  ];
  return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
}

function renderContent(holder: JsonObject): string {
  return Object.entries(asObject(holder['content']))
    .map(
      ([type, media]) =>
        `<p><code>${escapeHtml(type)}</code></p>\n${renderJson(asObject(media)['schema'])}`,
    )
    .join('\n');
}

function renderSchema([name, schema]: [string, unknown]): string {
  return `<section id="schema-${escapeHtml(name)}">\n<h2>${escapeHtml(name)}</h2>\n${renderJson(schema)}\n</section>`;
}

function renderJson(value: unknown): string {
  return `<pre>${escapeHtml(JSON.stringify(value, undefined, 2))}</pre>`;
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
