/**
 * The OpenAPI 3.1 document of a service, from its route descriptions. Schemas describe what travels: a
 * request as it is sent, an answer as it is received.
 *
 * @module
 */

import { amountSchema } from '@pool/core';
import { toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import * as v from 'valibot';
import type { Api, JsonObject, Route, RouteAnswerSchema, RouteExample } from './route.ts';
import { type ApiErrorCode, apiErrors } from './route.ts';

export type OpenApiDocument = JsonObject & {
  readonly openapi: '3.1.1';
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
};

/** Version of the contract, not of the software that serves it. */
const contractVersion = '1';

/** Refusals of the server itself, before any route is known. They belong to no operation. */
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
  const conversion = createConversion(api);
  const toSchema: ToSchema = (schema) => {
    const { $schema, $defs, ...rest } = toJsonSchema(schema, {
      ...conversion,
      definitions: api.schemas,
    });
    return rest;
  };
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of api.routes) {
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
      license: { name: 'MIT', identifier: 'MIT' },
    },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: api.servers,
    paths,
    components: {
      securitySchemes: api.securitySchemes,
      schemas: toJsonSchemaDefs(api.schemas, conversion),
      headers: Object.fromEntries(
        Object.entries(headers).filter(([name]) =>
          JSON.stringify(paths).includes(`#/components/headers/${name}"`),
        ),
      ),
    },
  };
}

type ToSchema = (schema: v.GenericSchema) => JsonObject;

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
    security: listSchemes(route).map((scheme) => ({ [scheme]: [] })),
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

/** One of them is enough. */
function listSchemes({ auth }: Route): string[] {
  return [auth?.scheme, auth?.orScheme].filter((scheme) => scheme !== undefined);
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
  const respond = (status: string, answer: RouteAnswerSchema, names: readonly HeaderName[]) => {
    const example = exampleOf(examples[Number(status)]);
    responses[status] = {
      description: answer.description,
      headers: Object.fromEntries(
        names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
      ),
      content: {
        [answer.contentType ?? jsonType]: { schema: toSchema(answer.schema), ...example },
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
    respond(status, { description, schema: errorBodySchema(codes) }, names);
  }
  return responses;
}

const meanings = Object.assign({}, ...apiErrors.map((group) => group.meanings)) as Readonly<
  Record<ApiErrorCode, string>
>;

function describeCodes(summary: string, codes: readonly ApiErrorCode[]): string {
  const lines = codes.map((code) => `- \`${code}\`: ${meanings[code]}`);
  return `${summary}\n\n${lines.join('\n')}`;
}

function errorBodySchema(codes: readonly string[]) {
  return v.strictObject({
    code: v.pipe(
      v.picklist(codes),
      v.description('Stable code for programs; the description of this answer explains each.'),
    ),
    message: v.pipe(
      v.string(),
      v.description('What was found, where, and what to do, for people. Its wording may change.'),
    ),
  });
}

const errorDescriptions: Readonly<Record<string, string>> = {
  400: 'The request is malformed or names something that this route does not accept.',
  401: 'The credential is missing or not known.',
  403: 'The credential does not reach this route, or the Host or Origin is not served.',
  404: 'Nothing has that name.',
  409: 'The request contradicts what is stored.',
  413: 'The body is too large.',
  429: 'Too many requests. Wait for Retry-After.',
  503: 'Something that this route needs does not answer. Wait for Retry-After.',
};

const headers = {
  'X-Request-Id': {
    description:
      'Id of this request in the log of the service. An agent keeps the caller’s own id if it has this form.',
    required: true,
    schema: { type: 'string', pattern: '^[0-9a-fA-F-]{16,36}$' },
  },
  'Retry-After': {
    description: 'Whole seconds to wait before the next request.',
    required: true,
    schema: { type: 'string', pattern: '^[1-9][0-9]*$' },
  },
  'WWW-Authenticate': {
    description:
      'Scheme of the credential that the route takes: Bearer, or Basic for the token endpoint (RFC 9110 §11.6.1).',
    required: true,
    schema: { type: 'string', pattern: '^(?:Bearer|Basic)' },
  },
  'Set-Cookie': {
    description:
      'The session as cookie `sessionId`: HttpOnly, SameSite=Lax, and Secure unless the platform is on loopback. Secret. Empty once the session has ended.',
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
  // As properties of an object, so that they get their meanings as fields do.
  const properties = asRecord(toSchema(v.object(entries ?? {}))['properties']);
  return Object.entries(entries ?? {}).map(([name, entry]) => ({
    name: place === 'header' ? spellHeader(name) : name,
    in: place,
    required: entry.type !== 'optional',
    schema: properties[name],
    ...exampleOf(examples[name]),
  }));
}

/** `idempotency-key` as people write it. */
function spellHeader(name: string): string {
  return name.replace(/(?:^|-)[a-z]/g, (letters) => letters.toUpperCase());
}

type Conversion = NonNullable<Parameters<typeof toJsonSchemaDefs>[1]>;
type JsonSchemaDefinition = NonNullable<ReturnType<typeof toJsonSchema>['properties']>[string];

// JSON Schema gets the nearest statement it can express; the converter throws for every other unknown action.
function createConversion(api: Api): Conversion {
  const names = new Map(Object.entries(api.schemas).map(([name, schema]) => [schema, name]));
  return {
    target: 'draft-2020-12',
    typeMode: 'input',
    overrideRef: ({ referenceId }) => referTo(referenceId),
    overrideSchema({ valibotSchema, jsonSchema }) {
      if (!('entries' in valibotSchema) || jsonSchema.properties === undefined) {
        return undefined;
      }
      const entries = valibotSchema.entries as v.ObjectEntries;
      const properties = Object.entries(jsonSchema.properties).map(
        ([name, property]): [string, JsonSchemaDefinition] => {
          const entry = entries[name];
          return [name, entry === undefined ? property : describeField(entry, property, names)];
        },
      );
      return { ...jsonSchema, properties: Object.fromEntries<JsonSchemaDefinition>(properties) };
    },
    overrideAction({ valibotAction, jsonSchema }) {
      if (isAmountCheck(valibotAction)) {
        return { ...jsonSchema, pattern: '^[1-9][0-9]{0,38}$' };
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
}

function referTo(name: string): string {
  return `#/components/schemas/${name}`;
}

/**
 * The field's own meaning before everything else. The converter alone drops a description that follows a transformation,
 * and repeats a named schema in full where a field gives it a meaning of its own.
 */
function describeField(
  entry: v.ObjectEntries[string],
  property: JsonSchemaDefinition,
  names: ReadonlyMap<unknown, string>,
): JsonSchemaDefinition {
  const schema = unwrap(entry);
  const description = v.getDescription(schema);
  if (typeof property === 'boolean' || description === undefined) {
    return property;
  }
  const name = findName(schema, names);
  return name === undefined ? { ...property, description } : { description, $ref: referTo(name) };
}

/** The schema of a field that may be absent. */
function unwrap(entry: v.ObjectEntries[string]): v.GenericSchema {
  return 'wrapped' in entry && entry.type === 'optional' ? unwrap(entry.wrapped) : entry;
}

/** The name of the schema, or of the one that it only adds a description to. */
function findName(
  schema: v.GenericSchema,
  names: ReadonlyMap<unknown, string>,
): string | undefined {
  const name = names.get(schema);
  if (name !== undefined || !('pipe' in schema)) {
    return name;
  }
  const [first, ...rest] = schema.pipe as readonly [v.GenericSchema, ...{ type: string }[]];
  return rest.every(({ type }) => type === 'description') ? findName(first, names) : undefined;
}

// A check is code; of this one it is known what it checks.
function isAmountCheck(action: unknown): boolean {
  return amountSchema.pipe.some((item) => item.type === 'check' && item === action);
}

function asRecord(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
