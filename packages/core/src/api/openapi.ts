/**
 * The OpenAPI 3.1 document of a service, from its route descriptions. Schemas describe what travels: a
 * request as it is sent, an answer as it is received.
 *
 * @module
 */
import { toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { amountSchema } from '../schema.ts';
import type { Api, Route } from './route.ts';

/** A JSON object whose fields are read by name. */
export type JsonObject = { readonly [name: string]: unknown };

export type OpenApiDocument = JsonObject & {
  readonly openapi: '3.1.1';
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
};

/** Version of the contract, not of the software that serves it. */
const contractVersion = '1';

export function createOpenApi(api: Api): OpenApiDocument {
  const toSchema = createConverter(api);
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of api.routes) {
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: describeRoute(route, toSchema),
    };
  }
  return {
    openapi: '3.1.1',
    info: { title: api.title, version: contractVersion, description: api.description },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: api.servers,
    paths,
    components: {
      securitySchemes: api.securitySchemes,
      schemas: toJsonSchemaDefs(api.schemas, conversion),
      headers,
    },
  };
}

type ToSchema = (schema: v.GenericSchema) => JsonObject;

function describeRoute(route: Route, toSchema: ToSchema): JsonObject {
  const parameters = [
    ...listParameters('path', route.params, toSchema),
    ...listParameters('query', route.query, toSchema),
    ...listParameters('header', route.headers, toSchema),
  ];
  return {
    operationId: route.id,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    security: route.auth === undefined ? [] : [{ [route.auth.scheme]: [] }],
    ...(route.auth?.needs === undefined ? {} : { 'x-needs': route.auth.needs }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { [route.bodyType ?? jsonType]: { schema: toSchema(route.body) } },
          },
        }),
    responses: describeResponses(route, toSchema),
  };
}

const jsonType = 'application/json';

function describeResponses(route: Route, toSchema: ToSchema): JsonObject {
  const responses: Record<string, JsonObject> = {};
  for (const [status, answer] of Object.entries(route.answers)) {
    responses[status] = {
      description: answer.description,
      headers: listHeaders(status),
      content: { [answer.contentType ?? jsonType]: { schema: toSchema(answer.schema) } },
    };
  }
  for (const [status, codes] of Object.entries(route.errors)) {
    responses[status] = {
      description: errorDescriptions[status] ?? 'Refused.',
      headers: listHeaders(status),
      content: { [jsonType]: { schema: toSchema(errorBodySchema(codes)) } },
    };
  }
  return responses;
}

const errorBodySchema = (codes: readonly string[]) =>
  v.strictObject({ code: v.picklist(codes), message: v.string() });

const errorDescriptions: Readonly<Record<string, string>> = {
  400: 'The request cannot be taken as it is.',
  401: 'No credential, or one that is not known.',
  403: 'The credential does not reach this route, or the Host or Origin is not served.',
  404: 'There is no such thing.',
  409: 'It stands against what is stored.',
  413: 'The body is too large.',
  429: 'Too many requests; come back later.',
  503: 'Something this route needs does not answer; come back later.',
};

const headers = {
  RequestId: {
    description: 'Names this request in the log of the service.',
    schema: { type: 'string', format: 'uuid' },
  },
  RetryAfter: { description: 'Seconds to wait.', schema: { type: 'string', pattern: '^[0-9]+$' } },
  WwwAuthenticate: { description: 'How to authenticate.', schema: { type: 'string' } },
} as const;

function listHeaders(status: string): JsonObject {
  const ref = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` });
  return {
    'x-request-id': ref('RequestId'),
    ...(status === '401' ? { 'www-authenticate': ref('WwwAuthenticate') } : {}),
    ...(status === '429' || status === '503' ? { 'retry-after': ref('RetryAfter') } : {}),
  };
}

function listParameters(
  place: 'path' | 'query' | 'header',
  entries: v.ObjectEntries | undefined,
  toSchema: ToSchema,
): readonly JsonObject[] {
  return Object.entries(entries ?? {}).map(([name, entry]) => ({
    name: place === 'header' ? spellHeader(name) : name,
    in: place,
    required: entry.type !== 'optional',
    schema: toSchema(entry),
  }));
}

/** `idempotency-key` as people write it. */
function spellHeader(name: string): string {
  return name.replace(/(?:^|-)[a-z]/g, (letters) => letters.toUpperCase());
}

type Conversion = NonNullable<Parameters<typeof toJsonSchemaDefs>[1]>;

// What JSON Schema cannot say is said as nearly as it can; anything else unknown to the converter throws.
const conversion: Conversion = {
  target: 'draft-2020-12',
  typeMode: 'input',
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  overrideAction({ valibotAction, jsonSchema }) {
    if (isAmountCheck(valibotAction)) {
      return {
        ...jsonSchema,
        pattern: '^[1-9][0-9]{0,38}$',
        description: 'Base units, 1 to 2^128-1, without sign, point or leading zero.',
      };
    }
    // Patterns of JSON Schema are read in Unicode mode, so that flag is understood.
    if (valibotAction.type === 'regex' && 'requirement' in valibotAction) {
      const { requirement } = valibotAction;
      if (requirement instanceof RegExp && requirement.flags === 'u') {
        return { ...jsonSchema, pattern: requirement.source };
      }
    }
    if (valibotAction.type === 'max_bytes' && 'requirement' in valibotAction) {
      // A string of n bytes has at most n characters.
      return { ...jsonSchema, maxLength: Number(valibotAction.requirement) };
    }
    return undefined;
  },
};

// A check is code; of this one it is known what it checks.
function isAmountCheck(action: unknown): boolean {
  return amountSchema.pipe.some((item) => item.type === 'check' && item === action);
}

function createConverter(api: Api): ToSchema {
  return (schema) => {
    const { $schema, $defs, ...rest } = toJsonSchema(schema, {
      ...conversion,
      definitions: api.schemas,
    });
    return rest;
  };
}
