/** Every field says what it means, on its schema: in each document, and in each schema that core and this package export. */

import * as core from '@pool/core';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { apis } from './documents.ts';
import * as api from './index.ts';
import { createOpenApi, type OpenApiDocument } from './openapi/openapi.ts';
import type { Api, JsonObject } from './openapi/route.ts';

const shortest = 25;
const fillers = new Set('a an and for in is it its of on or that the this to'.split(' '));

/** @returns why the meaning is too thin; undefined: it is not */
function findThinness(field: string, meaning: unknown): string | undefined {
  if (typeof meaning !== 'string') {
    return 'has no description';
  }
  if (meaning.length < shortest) {
    return `is described in fewer than ${shortest} characters: ${meaning}`;
  }
  if (!/[.!?]$/.test(meaning)) {
    return `is not described in sentences: ${meaning}`;
  }
  const ofName = new Set(listWords(field.replace(/(?<=[a-z])(?=[A-Z])/g, ' ')));
  const added = listWords(meaning).filter((word) => !ofName.has(word) && !fillers.has(word));
  return added.length < 3 ? `is described by little but its name: ${meaning}` : undefined;
}

function listWords(text: string): string[] {
  return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
}

/** Fields of a JSON document that are described too thinly. */
function findThinFields(node: unknown, at: string): string[] {
  if (typeof node !== 'object' || node === null) {
    return [];
  }
  const { properties, parameters } = node as { properties?: object; parameters?: unknown };
  const fields: [string, { description?: unknown }][] = [
    ...Object.entries(properties ?? {}),
    ...(Array.isArray(parameters) ? parameters.map(({ name, schema }) => [name, schema]) : []),
  ] as [string, { description?: unknown }][];
  return [
    ...fields.flatMap(([name, { description }]) => {
      const problem = findThinness(name, description);
      return problem === undefined ? [] : [`${at}.${name} ${problem}`];
    }),
    ...Object.entries(node).flatMap(([name, inner]) =>
      name === 'example' ? [] : findThinFields(inner, `${at}.${name}`),
    ),
  ];
}

/** Fields of a schema, and of those it is made of, that are described too thinly. */
function findThinEntries(schema: unknown, at: string, seen = new Set<unknown>()): string[] {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) {
    return [];
  }
  seen.add(schema);
  const { entries = {} } = schema as { entries?: Record<string, v.GenericSchema> };
  const parts = ['pipe', 'item', 'items', 'value', 'wrapped', 'options'].flatMap((part) => {
    const inner: unknown = Reflect.get(schema, part);
    return Array.isArray(inner) ? inner : [inner];
  });
  return [
    ...Object.entries(entries).flatMap(([name, entry]) => {
      const inner = entry.type === 'optional' && 'wrapped' in entry ? entry.wrapped : entry;
      const problem = findThinness(name, v.getDescription(inner as v.GenericSchema));
      return [
        ...(problem === undefined ? [] : [`${at}.${name} ${problem}`]),
        ...findThinEntries(entry, `${at}.${name}`, seen),
      ];
    }),
    ...parts.flatMap((part) => findThinEntries(part, at, seen)),
  ];
}

/** A service of one route that takes these fields. */
function made(fields: v.ObjectEntries, schemas: Record<string, v.GenericSchema> = {}): Api {
  return {
    name: 'made',
    title: 'Made',
    description: 'For this test.',
    servers: [],
    securitySchemes: {},
    schemas,
    examples: {},
    routes: [
      {
        id: 'one',
        method: 'POST',
        path: '/one',
        summary: 'Takes the fields',
        body: v.strictObject(fields),
        answers: {},
        errors: {},
      },
    ],
  };
}

function fieldsOf(paths: OpenApiDocument['paths']): unknown {
  const { requestBody } = paths['/one']?.['post'] ?? {};
  const { content } = requestBody as { content: Record<string, { schema: JsonObject }> };
  return content['application/json']?.schema['properties'];
}

function isSchema(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'schema';
}

describe('the meanings of fields', () => {
  it.each(apis)('$name describes each field and parameter', (described) => {
    const { paths, components } = createOpenApi(described);
    expect(findThinFields({ paths, components }, described.name)).toEqual([]);
  });

  it.each(apis)('$name describes each named schema', (described) => {
    const without = Object.entries(described.schemas).filter(
      ([name, schema]) => findThinness(name, v.getDescription(schema)) !== undefined,
    );
    expect(without.map(([name]) => name)).toEqual([]);
  });

  it('are on every schema that core and api export', () => {
    const schemas = [...Object.entries(core), ...Object.entries(api)].filter(([, value]) =>
      isSchema(value),
    );
    expect(schemas.length).toBeGreaterThan(40);
    expect(schemas.flatMap(([name, schema]) => findThinEntries(schema, name))).toEqual([]);
  });

  it.each([
    ['s', undefined],
    ['s', 'Of the signature.'],
    ['severity', 'How bad it is.'],
    ['clientId', 'Client id.'],
    ['walletPub', 'The wallet pub of the wallet.'],
    ['chain', 'Key of a chain in the file'],
  ])('that are too thin are found: %s, %s', (field, meaning) => {
    expect(findThinness(field, meaning)).toBeDefined();
    const node = { properties: { [field]: { description: meaning } } };
    expect(findThinFields({ deep: [node] }, 'x')).toHaveLength(1);
    const entry = meaning === undefined ? v.string() : v.pipe(v.string(), v.description(meaning));
    const schema = v.array(v.strictObject({ [field]: v.optional(entry) }));
    expect(findThinEntries(schema, 'x')).toHaveLength(1);
  });
});

describe('the meaning of a field', () => {
  it('is kept when a transformation precedes it', () => {
    const { paths } = createOpenApi(
      made({ word: v.pipe(core.hex32Schema, v.description('of the field')) }),
    );
    expect(fieldsOf(paths)).toMatchObject({
      word: { description: 'of the field', type: 'string' },
    });
  });

  it('is beside the reference to a named schema, which keeps its own', () => {
    const named = v.pipe(v.strictObject({ id: v.string() }), v.description('in general'));
    const { paths, components } = createOpenApi(
      made({ own: named, other: v.optional(v.pipe(named, v.description('here'))) }, { named }),
    );
    const $ref = '#/components/schemas/named';
    expect(fieldsOf(paths)).toEqual({
      own: { description: 'in general', $ref },
      other: { description: 'here', $ref },
    });
    expect(components).toMatchObject({ schemas: { named: { description: 'in general' } } });
  });
});
