/** The documents: valid OpenAPI, up to date, and saying what the schemas say. */
import { Validator } from '@seriousme/openapi-schema-validator';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { findStaleDocuments } from '../../scripts/generate-api.ts';
import { amountSchema } from '../schema.ts';
import { docsPagePolicy } from './docs-page.ts';
import { apis } from './documents.ts';
import { createOpenApi } from './openapi.ts';
import { type Api, defineRoute } from './route.ts';
import { createApiPages } from './serve-api.ts';

const made = (schema: v.GenericSchema): Api => ({
  name: 'made',
  title: 'A & <b>B</b>',
  description: 'd',
  servers: [{ url: '/', description: 's' }],
  securitySchemes: {},
  schemas: {},
  routes: [
    defineRoute({
      id: 'one',
      method: 'POST',
      path: '/one/{name}',
      summary: '<script>alert(1)</script>',
      params: { name: v.string() },
      query: { page: v.optional(v.string()) },
      body: schema,
      answers: { 200: { description: 'fine', schema } },
      errors: { 400: ['a', 'b'] },
    }),
  ],
});

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

  it('describes parameters, bodies, answers and codes of a route', () => {
    const { paths } = createOpenApi(made(v.strictObject({ amount: amountSchema })));
    expect(paths['/one/{name}']?.['post']).toMatchObject({
      operationId: 'one',
      security: [],
      parameters: [
        { name: 'name', in: 'path', required: true, schema: { type: 'string' } },
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
          },
        },
      },
      responses: {
        400: {
          content: {
            'application/json': { schema: { properties: { code: { enum: ['a', 'b'] } } } },
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

describe('the page', () => {
  const pages = createApiPages(made(v.string()), '/x');
  const page = pages.find(({ path }) => path === '/x/docs');

  it('shows operations, escaped, and links the document', () => {
    expect(page?.body).toContain('POST /one/{name}');
    expect(page?.body).toContain('href="/x/openapi.json"');
    expect(page?.body).not.toContain('<script');
    expect(page?.body).not.toContain('<b>B');
  });

  it('loads nothing and runs nothing, and its policy allows its one style sheet', () => {
    expect(page?.body).not.toMatch(
      /<(?:img|link|iframe|object|embed)|\ssrc=|@import|url\(|\son[a-z]+=/i,
    );
    expect(page?.headers['content-security-policy']).toBe(docsPagePolicy);
    expect(docsPagePolicy).toMatch(/^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}=';/);
  });
});
