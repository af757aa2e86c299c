/** The documents: valid OpenAPI, up to date, and saying what the schemas say. */

import { amountSchema } from '@pool/core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { findStaleDocuments } from '../../scripts/generate-api.ts';
import { agentApi } from '../agent/agent-api.ts';
import { apis } from '../documents.ts';
import { renderMarkdown } from './markdown.ts';
import { createOpenApi } from './openapi.ts';
import type { Api } from './route.ts';
import { createApiPages } from './serve-api.ts';

type JobShape = {
  readonly required: readonly string[];
  readonly properties: { readonly state: { readonly const: string } };
};

function made(schema: v.GenericSchema): Api {
  return {
    name: 'made',
    title: 'A & <b>B</b>',
    description: 'd',
    servers: [{ url: '/', description: 's' }],
    securitySchemes: {},
    schemas: {},
    examples: {
      one: {
        parameters: { name: 'n' },
        body: { amount: '1' },
        answers: { 400: { code: 'invalid_value', message: 'no' } },
      },
    },
    routes: [
      {
        id: 'one',
        method: 'POST',
        path: '/one/{name}',
        summary: '<script>alert(1)</script>',
        params: { name: v.string() },
        query: { page: v.optional(v.string()) },
        body: schema,
        answers: { 200: { description: 'fine', schema } },
        errors: { 400: ['invalid_value', 'invalid_request'] },
      },
    ],
  };
}

type Media = { readonly schema: object; readonly example?: unknown };
type Content = { readonly content: Readonly<Record<string, Media>> };
type Operation = {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly parameters?: readonly (Media & { readonly name: string })[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly headers: object }>>;
};

function isTime(text: string): boolean {
  return new Date(text).toISOString() === text;
}
function isUri(text: string): boolean {
  return URL.canParse(text);
}
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('OpenAPI documents', () => {
  it('are committed as the descriptions say (pnpm generate)', () => {
    expect(findStaleDocuments()).toEqual([]);
  });

  it.each(apis)('$name is OpenAPI 3.1', async (api) => {
    const result = await new Validator().validate(structuredClone(createOpenApi(api)));
    expect(result).toEqual({ valid: true });
  });

  it.each(apis)('$name names each operation and path parameter once', (api) => {
    const ids = api.routes.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { path, params = {} } of api.routes) {
      const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]);
      expect(inPath).toEqual(Object.keys(params));
    }
  });

  it.each(apis)('$name summarises each operation', (api) => {
    for (const { summary } of api.routes) {
      expect(summary).toMatch(/^[A-Z].{9,}/);
    }
  });

  it.each(apis)('$name gives an example of each request and answer, and each one fits', (api) => {
    const document = createOpenApi(api);
    const ajv = new Ajv2020({ strict: false, formats: { 'date-time': isTime, uri: isUri, uuid } });
    ajv.addSchema({ $id: 'document', components: document['components'] });
    const fits = (schema: unknown, value: unknown): unknown[] => {
      const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
      const validate = ajv.compile(JSON.parse(text));
      validate(value);
      return validate.errors ?? [];
    };
    const without: string[] = [];
    for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
      const { operationId: id, parameters = [], requestBody, responses } = operation as Operation;
      const bodies = [
        ...(requestBody === undefined ? [] : [{ ...requestBody, name: 'request' }]),
        ...Object.entries(responses).map(([name, response]) => ({ ...response, name })),
      ];
      const values = [
        ...parameters,
        ...bodies.flatMap(({ name, content }) =>
          Object.values(content).map((media) => ({ ...media, name })),
        ),
      ];
      for (const { name, schema, example } of values) {
        if (example !== undefined) {
          expect([id, name, fits(schema, example)]).toEqual([id, name, []]);
        } else if (!/^[45]/.test(name)) {
          without.push(`${id} ${name}`);
        }
      }
    }
    // A proof is for machines.
    const settlements = [
      'postSettlement request',
      'postSettlement 200',
      'postSettlement 202',
      'getSettlement 200',
      'getSettlement 202',
      'postVoid 200',
      'postVoid 202',
      'redeliverNotes request',
      'redeliverNotes 200',
      'redeliverNotes 202',
      'postSpend request',
    ];
    expect(without).toEqual(api.name === 'edge' ? settlements : []);
    const ids: string[] = api.routes.map(({ id }) => id);
    expect(Object.keys(api.examples).filter((id) => !ids.includes(id))).toEqual([]);
  });

  it.each(apis)('$name names the headers of each answer', (api) => {
    for (const path of Object.values(createOpenApi(api).paths)) {
      for (const operation of Object.values(path)) {
        const { operationId, security, responses } = operation as Operation;
        expect([operationId, '401' in responses]).toEqual([
          operationId,
          security.length > 0 || ['verifySession', 'grantToken'].includes(operationId),
        ]);
        for (const [status, { headers, content }] of Object.entries(responses)) {
          const isError = JSON.stringify(content).includes('"code":{"');
          const needed = [
            'X-Request-Id',
            ...(status === '401' ? ['WWW-Authenticate'] : []),
            ...(status === '429' || (status === '503' && isError) ? ['Retry-After'] : []),
            ...(['verifySession', 'logout'].includes(operationId) && status === '200'
              ? ['Set-Cookie']
              : []),
          ];
          expect([operationId, status, Object.keys(headers)]).toEqual([
            operationId,
            status,
            needed,
          ]);
        }
      }
    }
  });

  it('describes a job as one shape for each state, so that a generated client knows which fields it has', () => {
    const { schemas } = createOpenApi(agentApi)['components'] as {
      readonly schemas: Readonly<Record<string, { readonly oneOf?: readonly JobShape[] }>>;
    };
    const shapesOf = (name: string) =>
      schemas[name]?.oneOf?.map(({ required, properties }) =>
        [properties.state.const, ...required].sort(),
      );
    expect(shapesOf('DisbursementJob')).toEqual([
      ['accepted', 'key', 'state'],
      ['key', 'state', 'submitted'],
      ['done', 'key', 'result', 'state'],
      ['error', 'failed', 'key', 'state'],
    ]);
    expect(shapesOf('SubmittedJob')?.every((shape) => shape.includes('statusUrl'))).toBe(true);
  });

  it('describes parameters, bodies, answers and codes of a route', () => {
    const { paths } = createOpenApi(made(v.strictObject({ amount: amountSchema })));
    expect(paths['/one/{name}']?.['post']).toMatchObject({
      operationId: 'one',
      security: [],
      parameters: [
        { name: 'name', in: 'path', required: true, schema: { type: 'string' }, example: 'n' },
        { name: 'page', in: 'query', required: false, schema: { type: 'string' } },
      ],
      requestBody: {
        content: {
          'application/json': {
            schema: {
              additionalProperties: false,
              required: ['amount'],
              properties: { amount: { type: 'string', pattern: '^[1-9][0-9]{0,38}$' } },
            },
            example: { amount: '1' },
          },
        },
      },
      responses: {
        400: {
          content: {
            'application/json': {
              schema: {
                properties: {
                  code: { enum: ['invalid_value', 'invalid_request'] },
                  message: { description: expect.stringMatching(/^What was found/) },
                },
              },
              example: { code: 'invalid_value', message: 'no' },
            },
          },
        },
      },
    });
  });

  it('is not made from a check that JSON Schema cannot say', () => {
    const odd = v.pipe(
      v.string(),
      v.check((text) => text.length % 2 === 1),
    );
    expect(() => createOpenApi(made(odd))).toThrow(/check/);
  });
});

describe.each(apis)('the Markdown of $name', (api) => {
  const text = renderMarkdown(createOpenApi(api), 'x.json');

  it('has every operation, code and example', () => {
    for (const { id, method, path, errors } of api.routes) {
      const [, after = ''] = text.split(`### ${method} ${path}\n`);
      const [section = ''] = after.split('\n### ');
      for (const code of Object.values(errors).flat()) {
        expect(section).toContain(`- \`${code}\`: `);
      }
      const { body, answers = {} } = api.examples[id] ?? {};
      for (const example of [body, ...Object.values(answers)]) {
        expect(section).toContain(example === undefined ? '' : JSON.stringify(example));
      }
    }
  });

  it('has every field, and leads to every schema that it names', () => {
    const json = JSON.stringify(createOpenApi(api));
    const list = (pattern: RegExp) => new Set([...json.matchAll(pattern)].map(([, name]) => name));
    for (const name of list(/"#\/components\/schemas\/(\w+)"/g)) {
      expect(text).toContain(`[${name}](#${name?.toLowerCase()})`);
      expect(text).toContain(`\n### ${name}\n`);
    }
    const missing = [...list(/"properties":\{"(\w+)"/g)].filter(
      (field) => field !== 'code' && !text.includes(`- \`${field}\` (`),
    );
    expect(missing).toEqual([]);
  });
});

it('tells programs where the Markdown of each service is', () => {
  const { texts, pages } = createApiPages({ '': made(v.string()), '/x': made(v.string()) });
  expect(texts.map(({ path }) => path)).toEqual([
    ...['/openapi.json', '/docs.md', '/x/openapi.json', '/x/docs.md'],
    '/llms.txt',
  ]);
  expect(pages.map(({ path }) => path)).toEqual(['/docs', '/x/docs']);
  expect(texts.at(-1)?.body).toMatch(/^# Pool\n\n> .+\n\n## Docs\n\n- \[.+\]\(\/docs\.md\): .+/);
});
