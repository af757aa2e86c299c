/**
 * Drives every operation of an OpenAPI document against an app in this process: valid requests, requests with one
 * error, texts that are not JSON, missing and strange headers. Every answer must have a documented status and a body
 * that the document accepts, and must repeat nothing of the request.
 *
 * @module
 */
import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { createAnswerJudge, type DescribedOperation } from './api-judge.ts';
import { arbitraryOf, canary, hostileValues, type JsonSchema, mutate } from './api-values.ts';

export type FuzzTarget = {
  /** The OpenAPI document. */
  readonly document: object;
  /** Sends one request to the app; the path begins with a slash. */
  readonly send: (path: string, init: RequestInit) => Promise<Response>;
  /** Headers that satisfy each security scheme, by its name. */
  readonly credentials: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Values by field or parameter name that mean something to the app. */
  readonly known: Readonly<Record<string, readonly unknown[]>>;
  /** Whole bodies by operation id that the app accepts. */
  readonly bodies: Readonly<Record<string, readonly unknown[]>>;
  /** Texts that no answer may contain. */
  readonly secrets: readonly string[];
  /** The largest accepted body, in bytes. */
  readonly maxBodyBytes: number;
  /** Requests per operation. */
  readonly runs: number;
  /** Decides every request. Default: `POOL_FUZZ_SEED` of the environment, otherwise a new one for each run. */
  readonly seed?: number;
};

type Operation = DescribedOperation & {
  readonly method: string;
  readonly path: string;
  readonly schemes: readonly string[];
  readonly parameters: readonly {
    readonly name: string;
    readonly in: 'path' | 'query' | 'header';
    readonly schema: JsonSchema;
  }[];
  readonly bodyType: string | undefined;
  readonly bodySchema: JsonSchema | undefined;
};

type OperationObject = {
  readonly operationId: string;
  readonly security: readonly Record<string, unknown>[];
  readonly parameters?: Operation['parameters'];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: JsonSchema }>> };
  readonly responses: Operation['responses'];
};

type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly headers?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
  };
};

/** Statuses by operation id, and a note of the seed for failed assertions about them. */
export type SeenStatuses = ReadonlyMap<string, ReadonlySet<number>> & { readonly note: string };

/**
 * Statuses seen. Fails with the operation, the smallest request and the seed; a run with that seed, against an
 * app in the same state, sends the same requests in the same order.
 */
export async function fuzzApi(target: FuzzTarget): Promise<SeenStatuses> {
  const document = target.document as Document;
  const judge = createAnswerJudge(document.components, target.secrets);
  const seed = target.seed ?? readSeed() ?? randomInt(2 ** 31);
  const seen = new Map<string, Set<number>>();
  for (const operation of listOperations(document)) {
    const statuses = new Set<number>();
    seen.set(operation.id, statuses);
    const check = async (request: FuzzRequest): Promise<void> => {
      const response = await target.send(request.path, request.init);
      statuses.add(response.status);
      await judge(operation, response);
    };
    try {
      await fc.assert(fc.asyncProperty(arbitraryRequest(operation, target, document), check), {
        seed,
        numRuns: target.runs,
        interruptAfterTimeLimit: 10_000,
      });
      for (const request of plainRefusals(operation, target)) {
        await check(request);
      }
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : 'not an error';
      throw new Error(
        `${operation.id}: POOL_FUZZ_SEED=${seed} sends the same requests again\n${reason}`,
        { cause },
      );
    }
  }
  return Object.assign(seen, { note: `with POOL_FUZZ_SEED=${seed}` });
}

/** @throws Error for an invalid seed */
function readSeed(): number | undefined {
  const text = process.env['POOL_FUZZ_SEED'] ?? '';
  if (text === '') {
    return undefined;
  }
  if (!/^[0-9]{1,10}$/.test(text)) {
    throw new Error('POOL_FUZZ_SEED must be a whole number');
  }
  return Number(text);
}

function listOperations(document: Document): readonly Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const [bodyType, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
      return {
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        schemes: operation.security.flatMap((entry) => Object.keys(entry)),
        parameters: operation.parameters ?? [],
        bodyType,
        bodySchema: media?.schema,
        responses: operation.responses,
      };
    }),
  );
}

type FuzzRequest = { readonly path: string; readonly init: RequestInit };

const rawTexts: readonly string[] = [
  '',
  '{',
  'null',
  '""',
  '\ufeff{}',
  '\u0000',
  `{"${canary}":`,
  '1e999',
  '[',
  '['.repeat(20_000),
  `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
  '"\\ud800"',
  '{"__proto__":null}',
];

// Characters that a header can contain: clients and servers refuse line breaks and NUL.
const strangeHeaders: readonly string[] = [
  '',
  '"',
  '""',
  '"\\"',
  '.',
  '..',
  canary,
  `Bearer ${canary}`,
  'Bearer',
  'Basic Og==',
  `Basic ${canary}`,
  'sessionId=',
  `sessionId=${canary}`,
  'sessionId=%ff',
  '\u00e9\u00ff',
  'text/plain',
  'application/json; charset=utf-16',
  'null',
  'http://[',
  canary.repeat(800),
];

// Segments a URL keeps as they are. `.` and `..` would lead to another route.
const strangeSegments: readonly string[] = [
  '%',
  '%ff',
  '%00',
  '%ed%a0%80',
  '%F0%9F%92%B8',
  '%2F',
  '%22%22',
  '0',
  '-1',
  '1e3',
  '999999999999999999999',
  'a'.repeat(3_000),
  ...hostileValues.filter((value) => typeof value === 'string' && value !== '').map(encode),
];

function encode(value: unknown): string {
  return encodeURIComponent(String(value).slice(0, 3_000).toWellFormed());
}

function arbitraryRequest(
  operation: Operation,
  target: FuzzTarget,
  document: Document,
): fc.Arbitrary<FuzzRequest> {
  const { schemas } = document.components;
  const picks = fc.array(fc.nat(), { minLength: 24, maxLength: 24 });
  const bodies = target.bodies[operation.id] ?? [];
  const body =
    operation.bodySchema === undefined
      ? fc.constant(undefined)
      : fc.oneof(
          ...(bodies.length === 0 ? [] : [fc.constantFrom(...bodies)]),
          arbitraryOf(operation.bodySchema, target.known, schemas),
        );
  const parameters = fc.record(
    Object.fromEntries(
      operation.parameters.map(({ name, schema }) => [
        name,
        (target.known[name] ?? []).length > 0
          ? fc.constantFrom(...(target.known[name] ?? []))
          : arbitraryOf(schema, {}, schemas),
      ]),
    ),
  );
  return fc
    .record({
      body,
      parameters,
      kind: fc.constantFrom(
        'valid',
        'valid',
        'mutated',
        'mutated',
        'mutated',
        'raw',
        'headers',
        'place',
      ),
      picks,
    })
    .map(({ body: given, parameters: values, kind, picks: numbers }) => {
      let used = 0;
      const pick = (below: number): number => (numbers[used++ % numbers.length] ?? 0) % below;
      return buildRequest(operation, target, { body: given, values, kind, pick });
    });
}

type Choice = {
  readonly body: unknown;
  readonly values: Readonly<Record<string, unknown>>;
  readonly kind: string;
  readonly pick: (below: number) => number;
};

function buildRequest(operation: Operation, target: FuzzTarget, choice: Choice): FuzzRequest {
  const { kind, pick } = choice;
  const headers = baseHeaders(operation, target);
  const query = new URLSearchParams();
  let path = operation.path;
  for (const parameter of operation.parameters) {
    const value = String(choice.values[parameter.name]);
    const strange = kind === 'place' && pick(2) === 0;
    if (parameter.in === 'path') {
      const segment = strange ? strangeSegments[pick(strangeSegments.length)] : encode(value);
      path = path.replace(`{${parameter.name}}`, () => segmentOf(segment));
    } else if (parameter.in === 'query') {
      if (strange && pick(3) === 0) continue;
      const text = strange ? String(hostileValues[pick(hostileValues.length)]) : value;
      query.append(parameter.name, text.slice(0, 3_000).toWellFormed());
    } else {
      headers[parameter.name.toLowerCase()] = value;
    }
  }
  if (kind === 'headers') {
    disturbHeaders(headers, pick);
  }
  const search = query.size === 0 ? '' : `?${query.toString()}`;
  const body = encodeBody(operation, choice);
  return {
    path: `${path}${search}`,
    init: { method: operation.method, headers, ...(body === undefined ? {} : { body }) },
  };
}

// An empty, `.` or `..` segment is another path, about which this operation says nothing.
function segmentOf(segment: string | undefined): string {
  return segment === undefined || /^(?:\.|%2e){0,2}$/i.test(segment) ? '%00' : segment;
}

function baseHeaders(operation: Operation, target: FuzzTarget): Record<string, string> {
  const credentials = operation.schemes.flatMap((scheme) =>
    Object.entries(target.credentials[scheme] ?? {}),
  );
  return {
    host: '127.0.0.1',
    ...(operation.bodyType === undefined ? {} : { 'content-type': operation.bodyType }),
    ...Object.fromEntries(credentials),
  };
}

function disturbHeaders(headers: Record<string, string>, pick: (below: number) => number): void {
  const names = [...Object.keys(headers), 'origin'];
  const name = names[pick(names.length)] ?? 'origin';
  if (pick(3) === 0) {
    delete headers[name];
    return;
  }
  headers[name] = strangeHeaders[pick(strangeHeaders.length)] ?? '';
}

function encodeBody(operation: Operation, { body, kind, pick }: Choice): string | undefined {
  if (operation.bodyType === undefined) {
    return undefined;
  }
  if (kind === 'raw') {
    return rawTexts[pick(rawTexts.length)];
  }
  const value = kind === 'mutated' ? mutate(body, pick) : body;
  if (operation.bodyType === 'application/json') {
    return JSON.stringify(value) ?? '';
  }
  const fields = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return new URLSearchParams(
    Object.fromEntries(fields.map(([name, field]) => [name, String(field)])),
  ).toString();
}

/** What every operation refuses: no headers, a foreign Host, a foreign Origin, a body too large. */
function plainRefusals(operation: Operation, target: FuzzTarget): readonly FuzzRequest[] {
  const params = operation.parameters.filter((parameter) => parameter.in === 'path');
  const path = params.reduce((text, { name }) => text.replace(`{${name}}`, '1'), operation.path);
  const { method } = operation;
  const headers = baseHeaders(operation, target);
  const body = operation.bodyType === undefined ? {} : { body: '{}' };
  const large = { method, headers, body: `"${'a'.repeat(target.maxBodyBytes)}"` };
  return [
    { path, init: { method, ...body } },
    { path, init: { method, headers: { ...headers, host: 'elsewhere.example' }, ...body } },
    {
      path,
      init: { method, headers: { ...headers, origin: 'https://elsewhere.example' }, ...body },
    },
    ...(operation.bodyType === undefined ? [] : [{ path, init: large }]),
  ];
}

/** Whether a route serves the description of a service, which the description does not name. */
export function isOfDescription(path: string): boolean {
  return /(?:^|\/)(?:openapi\.json|docs(?:\.md|\/[a-z.-]+)?|llms\.txt)$/.test(path);
}
