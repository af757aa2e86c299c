/**
 * The OpenAPI 3.1 document of a service, from its route descriptions. Schemas describe what travels: a
 * request as it is sent, an answer as it is received.
 *
 * @module
 */

import { amountSchema, type ErrorCode, errorCatalogue } from '@pool/core';
import { toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { describeFields } from './field-meanings.ts';
import type { Api, JsonObject, Route, RouteAnswerSchema, RouteExample } from './route.ts';

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

/** What any operation may be answered before its route is known, said once: it belongs to none of them. */
const serverRefusals = [
  'Before any route is asked, the server itself may refuse with {code, message} and end the connection:',
  '400 invalid_request (no HTTP, or a request that two readers could understand differently),',
  '405 method_not_allowed (CONNECT),',
  '408 request_timeout (the request did not arrive in time),',
  '415 unsupported_media_type (a Content-Encoding other than identity, or a charset other than UTF-8),',
  '417 expectation_failed (an Expect other than 100-continue),',
  '431 headers_too_large (the request line and the headers are too large or too many),',
  'and, while the server stops, 503 stopping with Retry-After.',
].join(' ');

export function createOpenApi(api: Api): OpenApiDocument {
  const convert = createConverter(api);
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of api.routes) {
    const toSchema: ToSchema = (schema, scope = route.id) => describeFields(convert(schema), scope);
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: describeRoute(route, api.examples[route.id] ?? {}, toSchema),
    };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: api.title,
      version: contractVersion,
      description: `${api.description} ${serverRefusals}`,
    },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: api.servers,
    paths,
    components: {
      securitySchemes: api.securitySchemes,
      schemas: Object.fromEntries(
        Object.entries(toJsonSchemaDefs(api.schemas, conversion)).map(([name, schema]) => [
          name,
          describeFields(schema as JsonObject, name),
        ]),
      ),
      headers,
    },
  };
}

/** @param scope - in which fields have their meaning; default: the operation */
type ToSchema = (schema: v.GenericSchema, scope?: string) => JsonObject;

function describeRoute(route: Route, example: RouteExample, toSchema: ToSchema): JsonObject {
  const values = example.parameters ?? {};
  const parameters = [
    ...listParameters('path', route.params, values, toSchema),
    ...listParameters('query', route.query, values, toSchema),
    ...listParameters('header', route.headers, values, toSchema),
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
            content: {
              [route.bodyType ?? jsonType]: {
                schema: toSchema(route.body),
                ...exampleOf(example.body),
              },
            },
          },
        }),
    responses: describeResponses(route, example.answers ?? {}, toSchema),
  };
}

const jsonType = 'application/json';

function exampleOf(value: unknown): JsonObject {
  return value === undefined ? {} : { example: value };
}

function describeResponses(
  route: Route,
  examples: NonNullable<RouteExample['answers']>,
  toSchema: ToSchema,
): JsonObject {
  const responses: Record<string, JsonObject> = {};
  const respond = (
    status: string,
    answer: RouteAnswerSchema,
    names: readonly HeaderName[],
    scope?: string,
  ) => {
    const example = exampleOf(examples[Number(status)]);
    responses[status] = {
      description: answer.description,
      headers: Object.fromEntries(
        names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
      ),
      content: {
        [answer.contentType ?? jsonType]: { schema: toSchema(answer.schema, scope), ...example },
      },
    };
  };
  for (const [status, answer] of Object.entries(route.answers)) {
    respond(status, answer, [
      'X-Request-Id',
      ...(status === '401' ? ['WWW-Authenticate' as const] : []),
      ...(answer.setsCookie === true ? ['Set-Cookie' as const] : []),
    ]);
  }
  for (const [status, codes] of Object.entries(route.errors)) {
    const description = describeCodes(errorDescriptions[status] ?? 'Refused.', codes);
    const names: readonly HeaderName[] = [
      'X-Request-Id',
      ...(status === '401' ? ['WWW-Authenticate' as const] : []),
      ...(status === '429' || status === '503' ? ['Retry-After' as const] : []),
    ];
    respond(status, { description, schema: errorBodySchema(codes) }, names, 'error');
  }
  return responses;
}

function describeCodes(summary: string, codes: readonly ErrorCode[]): string {
  const lines = codes.map((code) => `- \`${code}\`: ${errorCatalogue[code].meaning}`);
  return `${summary}\n\n${lines.join('\n')}`;
}

function errorBodySchema(codes: readonly string[]) {
  return v.strictObject({ code: v.picklist(codes), message: v.string() });
}

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
  'X-Request-Id': {
    description:
      'Names this request in the log of the service. An agent keeps the caller’s own, if it has this form.',
    required: true,
    schema: { type: 'string', pattern: '^[0-9a-fA-F-]{16,36}$' },
  },
  'Retry-After': {
    description: 'Seconds to wait before asking again.',
    required: true,
    schema: { type: 'string', pattern: '^[1-9][0-9]*$' },
  },
  'WWW-Authenticate': {
    description: 'How to authenticate.',
    required: true,
    schema: { type: 'string', pattern: '^(?:Bearer|Basic)' },
  },
  'Set-Cookie': {
    description:
      'The session, as cookie `sessionId`: HttpOnly, SameSite=Lax, and Secure unless the platform is on loopback. Empty, when it has ended.',
    required: true,
    schema: { type: 'string', pattern: '^sessionId=' },
  },
} as const;

type HeaderName = keyof typeof headers;

function listParameters(
  place: 'path' | 'query' | 'header',
  entries: v.ObjectEntries | undefined,
  examples: Readonly<Record<string, string>>,
  toSchema: ToSchema,
): readonly JsonObject[] {
  return Object.entries(entries ?? {}).map(([name, entry]) => ({
    name: place === 'header' ? spellHeader(name) : name,
    in: place,
    required: entry.type !== 'optional',
    schema: toSchema(entry),
    ...exampleOf(examples[name]),
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
