// An agent of one version and a platform of another understand each other (docs/operations/upgrading.md, "Versions of the interfaces").
// Everything that the OpenAPI documents of an earlier version show is compared with the documents of this one, in both directions.
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { listEarlierVersions, readEarlierDocuments } from './earlier-stores.ts';

type Content = Readonly<Record<string, { readonly schema: object; readonly example?: unknown }>>;
type Operation = {
  readonly requestBody?: { readonly content: Content };
  readonly parameters?: readonly { readonly name: string; readonly required?: boolean }[];
  readonly responses: Readonly<Record<string, { readonly content: Content }>>;
};
type ApiDocument = {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: object;
};

const names = ['agent', 'edge', 'gate', 'platform'] as const;

function createFits({ components }: ApiDocument) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', components });
  /** @returns what is wrong with a value */
  return (schema: object, value: unknown): string => {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
    const validate = ajv.compile(JSON.parse(text) as object);
    return validate(value) ? '' : ajv.errorsText(validate.errors);
  };
}

/** A schema with the schemas that it names, without descriptions. */
function resolveSchema(document: ApiDocument, schema: unknown): unknown {
  if (Array.isArray(schema)) {
    return schema.map((one) => resolveSchema(document, one));
  }
  if (typeof schema !== 'object' || schema === null) {
    return schema;
  }
  if ('$ref' in schema) {
    const [, ...keys] = String(schema.$ref).split('/');
    const found = keys.reduce<unknown>((from, key) => Reflect.get(Object(from), key), document);
    return resolveSchema(document, found);
  }
  const kept = Object.entries(schema).filter(([key]) => key !== 'description');
  return Object.fromEntries(kept.map(([key, value]) => [key, resolveSchema(document, value)]));
}

describe.each(listEarlierVersions())('the interfaces of %s', (version) => {
  it.each(names)('%s: each side reads what the other one writes', (name) => {
    const earlier = readEarlierDocuments(version)[name] as ApiDocument;
    const url = new URL(`../../../docs/api/${name}.json`, import.meta.url);
    const now = JSON.parse(readFileSync(url, 'utf8')) as ApiDocument;
    if (now.info.version !== earlier.info.version) {
      return;
    }
    const fitsNow = createFits(now);
    const fitsEarlier = createFits(earlier);
    const found: [what: string, problem: string][] = [];
    const compare = (what: string, then: Content, today: Content = {}, isAnswer = false): void => {
      for (const [type, { schema, example }] of Object.entries(then)) {
        const other = today[type];
        if (other === undefined) {
          found.push([what, `${type} is missing`]);
        } else if (example === undefined || other.example === undefined) {
          // Without an example, such as bodies with proofs: nothing may differ.
          const isSame = isDeepStrictEqual(
            resolveSchema(earlier, schema),
            resolveSchema(now, other.schema),
          );
          found.push([what, isSame ? '' : 'has another schema']);
        } else {
          found.push([`${what} of the earlier version`, fitsNow(other.schema, example)]);
          // A request may have a new optional field, which an earlier platform refuses.
          found.push([
            `${what} of this version`,
            isAnswer ? fitsEarlier(schema, other.example) : '',
          ]);
        }
      }
    };
    for (const [path, methods] of Object.entries(earlier.paths)) {
      for (const [method, then] of Object.entries(methods)) {
        const today = now.paths[path]?.[method];
        const at = `${method} ${path}:`;
        found.push([`${at} route`, today === undefined ? 'is missing' : '']);
        const known = then.parameters?.map((one) => one.name) ?? [];
        for (const { name: parameter, required } of today?.parameters ?? []) {
          const isNew = required === true && !known.includes(parameter);
          found.push([`${at} ${parameter}`, isNew ? 'is a new required parameter' : '']);
        }
        const { requestBody: body } = then;
        compare(`${at} request`, body?.content ?? {}, today?.requestBody?.content);
        for (const [status, { content }] of Object.entries(then.responses)) {
          // Codes may be added, and a client treats an unknown one by its status.
          if (/^2/.test(status)) {
            compare(`${at} answer ${status}`, content, today?.responses[status]?.content, true);
          }
        }
      }
    }
    expect(found.filter(([, problem]) => problem !== '')).toEqual([]);
    expect(found.length).toBeGreaterThan(20);
  });
});
