/**
 * A document as Markdown, for people and for programs that read text: every operation, field, code and example once.
 *
 * @module
 */
import type { OpenApiDocument } from './openapi.ts';
import type { JsonObject } from './route.ts';

/** @param documentUrl - where the same document is as JSON */
export function renderMarkdown(document: OpenApiDocument, documentUrl: string): string {
  const { title, description } = document.info;
  const components = asObject(document['components']);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      renderOperation(`${method.toUpperCase()} ${path}`, operation),
    ),
  );
  const blocks = [
    `# ${title}`,
    description,
    `The same as OpenAPI ${document.openapi}: [${documentUrl}](${documentUrl}).`,
    'A refusal has the fields `code` (one of those listed with its status) and `message` (for people).',
    ...renderMeanings('Credentials', components['securitySchemes']),
    ...renderMeanings('Headers of answers', components['headers']),
    '## Operations',
    ...operations.flat(),
    '## Schemas',
    ...Object.entries(asObject(components['schemas'])).flatMap(([name, schema]) => [
      `### ${name}`,
      renderSchema(asObject(schema)),
    ]),
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function renderMeanings(title: string, things: unknown): string[] {
  const lines = Object.entries(asObject(things)).map(
    ([name, thing]) => `- \`${name}\`: ${asText(asObject(thing)['description'])}`,
  );
  return [`## ${title}`, lines.join('\n')];
}

function renderOperation(title: string, operation: JsonObject): string[] {
  const body = asObject(operation['requestBody']);
  const parameters = asArray(operation['parameters']).map((parameter) => {
    const { description, ...form } = asObject(parameter['schema']);
    const place = `${asText(parameter['in'])}${parameter['required'] === true ? '' : ', optional'}`;
    return `- \`${asText(parameter['name'])}\` (${place}; ${describeForm(form)}): ${asText(description)}`;
  });
  return [
    `### ${title}`,
    `${asText(operation['summary'])}. ${asText(operation['description'])}`.trim(),
    `Credential: ${describeCredential(operation)}`,
    ...(parameters.length === 0 ? [] : ['Parameters:', parameters.join('\n')]),
    ...(body['content'] === undefined ? [] : ['Body:', ...renderContent(body)]),
    ...Object.entries(asObject(operation['responses'])).flatMap(([status, response]) => [
      `**${status}** ${asText(asObject(response)['description'])}`,
      ...renderContent(asObject(response)),
    ]),
  ];
}

function describeCredential(operation: JsonObject): string {
  const names = asArray(operation['security']).flatMap((entry) => Object.keys(entry));
  const needs = operation['x-needs'] === undefined ? '' : ` (${asText(operation['x-needs'])})`;
  return names.length === 0 ? 'none' : `${names.map((name) => `\`${name}\``).join(', ')}${needs}`;
}

function renderContent(holder: JsonObject): string[] {
  return Object.values(asObject(holder['content'])).flatMap((media) => {
    const { schema, example } = asObject(media);
    const fields = Object.keys(asObject(asObject(schema)['properties']));
    const isRefusal = fields.join(' ') === 'code message';
    return [
      isRefusal ? '' : renderSchema(asObject(schema)),
      example === undefined ? '' : ['```json', JSON.stringify(example), '```'].join('\n'),
    ];
  });
}

/** The fields as a list, those of inner objects below their own. */
function renderSchema(schema: JsonObject, indent = ''): string {
  const fields = renderInside(schema, indent);
  const form = `${indent}${describeForm(schema)}`;
  return indent === '' ? [form, ...fields].join('\n').replace('\n-', '\n\n-') : fields.join('\n');
}

function renderInside(schema: JsonObject, indent: string): string[] {
  const required: unknown = schema['required'];
  const own = Object.entries(asObject(schema['properties'])).flatMap(([name, property]) => {
    const field = asObject(property);
    const isNeeded = Array.isArray(required) && required.includes(name);
    const meaning = field['description'] === undefined ? '' : `: ${asText(field['description'])}`;
    return [
      `${indent}- \`${name}\` (${describeForm(field)}${isNeeded ? '' : ', optional'})${meaning}`,
      ...renderInside(field, `${indent}  `),
    ];
  });
  const parts = [schema['items'], schema['additionalProperties']]
    .filter((part) => part !== undefined)
    .flatMap((part) => renderInside(asObject(part), indent));
  const shapes = listShapes(schema).flatMap((shape, index) => {
    const inside = renderInside(shape, `${indent}  `);
    return inside.length === 0
      ? []
      : [`${indent}- shape ${index + 1} (${describeForm(shape)})`, ...inside];
  });
  return [...own, ...parts, ...shapes];
}

/** What a value looks like, in one line. */
function describeForm(schema: JsonObject): string {
  const reference = schema['$ref'];
  if (reference !== undefined) {
    const name = asText(reference).split('/').at(-1) ?? '';
    return `[${name}](#${name.toLowerCase()})`;
  }
  const values: unknown =
    schema['enum'] ?? (schema['const'] === undefined ? undefined : [schema['const']]);
  if (Array.isArray(values)) {
    return values.map((value) => `\`${JSON.stringify(value)}\``).join(' or ');
  }
  const shapes = listShapes(schema);
  if (shapes.length > 0) {
    return [...new Set(shapes.map(describeForm))].join(' or ');
  }
  const { type } = schema;
  const item = type === 'array' ? ` of ${describeForm(asObject(schema['items']))}` : '';
  const limits = limitNames
    .filter((name) => schema[name] !== undefined)
    .map((name) => `, ${name} \`${String(schema[name])}\``);
  return `${typeof type === 'string' ? type : 'any value'}${item}${limits.join('')}`;
}

const limitNames = [
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
] as const;

function listShapes(schema: JsonObject): readonly JsonObject[] {
  return asArray(schema['oneOf'] ?? schema['anyOf'] ?? schema['prefixItems']);
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
