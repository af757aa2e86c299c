/**
 * Whether an answer is one that an OpenAPI document describes: status, headers, content type and body; and whether it
 * repeats nothing of the request.
 *
 * @module
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { canary, type JsonSchema } from './api-values.ts';

type HeaderObject = {
  readonly $ref?: string;
  readonly required?: boolean;
  readonly schema?: JsonSchema;
};

type ResponseObject = {
  readonly headers?: Readonly<Record<string, HeaderObject>>;
  readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>;
};

export type DescribedOperation = {
  readonly id: string;
  readonly responses: Readonly<Record<string, ResponseObject>>;
};

type Components = { readonly headers?: Readonly<Record<string, HeaderObject>> };

/** @throws Error naming the operation, the status and what is wrong */
type AnswerJudge = (operation: DescribedOperation, response: Response) => Promise<void>;

type Validators = {
  readonly of: (schema: JsonSchema) => ValidateFunction;
  readonly errorsText: Ajv2020['errorsText'];
};

/** By the components of a document: a file asks about one document many times, and each schema takes long to compile. */
const compiled = new WeakMap<Components, Validators>();

function createValidators(components: Components): Validators {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', components });
  const validators = new Map<object, ValidateFunction>();
  const compile = (schema: JsonSchema): ValidateFunction => {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
    return ajv.compile(JSON.parse(text) as object);
  };
  return {
    of(schema) {
      const made = validators.get(schema) ?? compile(schema);
      validators.set(schema, made);
      return made;
    },
    errorsText: (errors) => ajv.errorsText(errors),
  };
}

const anything: JsonSchema = {};

/** @param secrets - texts that no body may contain */
export function createAnswerJudge(components: Components, secrets: readonly string[]): AnswerJudge {
  const validators = compiled.get(components) ?? createValidators(components);
  compiled.set(components, validators);

  const resolveHeader = (header: HeaderObject): HeaderObject =>
    components.headers?.[header.$ref?.split('/').at(-1) ?? ''] ?? header;

  return async (operation, response) => {
    const { status } = response;
    const text = await response.text();
    const described = operation.responses[String(status)];
    if (described === undefined) {
      throw new Error(`${operation.id}: status ${status} is not documented: ${text.slice(0, 300)}`);
    }
    for (const [name, header] of Object.entries(described.headers ?? {})) {
      const { required, schema } = resolveHeader(header);
      const value = response.headers.get(name);
      if (value === null ? required === true : !validators.of(schema ?? anything)(value)) {
        throw new Error(`${operation.id}: status ${status} without ${name} as documented`);
      }
    }
    const leaked = secrets.find((secret) => text.includes(secret));
    if (leaked !== undefined) {
      throw new Error(`${operation.id}: status ${status} repeats a credential`);
    }
    const [type, media] = Object.entries(described.content)[0] ?? [];
    if (type === undefined || media === undefined) {
      throw new Error(`${operation.id}: status ${status} documents no content`);
    }
    if (!(response.headers.get('content-type') ?? '').startsWith(type)) {
      throw new Error(`${operation.id}: status ${status} is not ${type}`);
    }
    if (type !== 'application/json') {
      return;
    }
    const body: unknown = JSON.parse(text);
    const validate = validators.of(media.schema);
    if (!validate(body)) {
      throw new Error(
        `${operation.id}: the document refuses a body of status ${status}: ${validators.errorsText(validate.errors)}: ${text.slice(0, 300)}`,
      );
    }
    if (messagesOf(body).some((message) => message.includes(canary))) {
      throw new Error(`${operation.id}: status ${status} repeats its input: ${text.slice(0, 300)}`);
    }
  };
}

/** Every `message` in a body, at any depth. */
function messagesOf(body: unknown): readonly string[] {
  if (typeof body !== 'object' || body === null) {
    return [];
  }
  return Object.entries(body).flatMap(([name, value]) =>
    name === 'message' && typeof value === 'string' ? [value] : messagesOf(value),
  );
}
