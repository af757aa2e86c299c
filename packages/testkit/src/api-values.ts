/**
 * Values for fuzzing, from a document's own JSON Schemas: valid ones and unexpected ones.
 *
 * @module
 */
import fc from 'fast-check';

export type JsonSchema = { readonly [keyword: string]: unknown };

/** Part of every hostile text: an answer that has it repeats its input. */
export const canary = 'zqxCANARYxqz';

// Errors may name a field that is a plain word, so that people find their mistake; this is not a plain word.
const hostileKey = `${canary}-field`;

/** Values that fit a schema; `known` are values by field name that mean something to the service. */
export function arbitraryOf(
  schema: JsonSchema,
  known: Readonly<Record<string, readonly unknown[]>>,
  components: Readonly<Record<string, JsonSchema>>,
): fc.Arbitrary<unknown> {
  const build = (node: JsonSchema, name: string): fc.Arbitrary<unknown> => {
    const meant = known[name];
    const shaped = buildShape(node);
    return meant === undefined || meant.length === 0
      ? shaped
      : fc.oneof(
          { weight: 4, arbitrary: fc.constantFrom(...meant) },
          { weight: 1, arbitrary: shaped },
        );
  };
  const buildShape = (node: JsonSchema): fc.Arbitrary<unknown> => {
    if (typeof node['$ref'] === 'string') {
      return buildShape(components[node['$ref'].split('/').at(-1) ?? ''] ?? {});
    }
    if ('const' in node) return fc.constant(node['const']);
    if (Array.isArray(node['enum'])) return fc.constantFrom(...(node['enum'] as unknown[]));
    const options = node['anyOf'] ?? node['oneOf'];
    if (Array.isArray(options)) {
      return fc.oneof(...options.map((option) => buildShape(option as JsonSchema)));
    }
    switch (node['type']) {
      case 'object':
        return buildObject(node);
      case 'array':
        return buildArray(node);
      case 'string':
        return buildString(node);
      case 'integer':
        return fc.integer(boundsOf(node, 'minimum', 'maximum', -1000, 1000));
      case 'number':
        return fc.double({ noNaN: true, noDefaultInfinity: true });
      case 'boolean':
        return fc.boolean();
      default:
        return fc.constant(null);
    }
  };
  const buildObject = (node: JsonSchema): fc.Arbitrary<unknown> => {
    const properties = Object.entries((node['properties'] ?? {}) as Record<string, JsonSchema>);
    const required = new Set((node['required'] ?? []) as string[]);
    return fc.record(
      Object.fromEntries(properties.map(([name, sub]) => [name, build(sub, name)])),
      {
        requiredKeys: properties.map(([name]) => name).filter((name) => required.has(name)),
      },
    );
  };
  const buildArray = (node: JsonSchema): fc.Arbitrary<unknown> => {
    const fixed = node['prefixItems'];
    if (Array.isArray(fixed)) {
      return fc.tuple(...fixed.map((item) => buildShape(item as JsonSchema)));
    }
    const { min, max } = boundsOf(node, 'minItems', 'maxItems', 0, 4);
    const items = (node['items'] ?? {}) as JsonSchema;
    return fc.array(buildShape(items), {
      minLength: min,
      maxLength: Math.max(min, Math.min(max, 4)),
    });
  };
  return build(schema, '');
}

function buildString(node: JsonSchema): fc.Arbitrary<string> {
  const { min, max } = boundsOf(node, 'minLength', 'maxLength', 0, 40);
  if (node['format'] === 'uuid') return fc.uuid();
  if (node['format'] === 'date-time') return fc.constant('2026-11-21T10:00:00.000Z');
  const isHexOfLength = node['pattern'] === '^0x[0-9a-f]*$';
  if (isHexOfLength) {
    const digits = fc.string({
      unit: fc.constantFrom(...'0123456789abcdef'),
      minLength: Math.max(0, min - 2),
      maxLength: Math.max(0, max - 2),
    });
    return digits.map((text) => `0x${text}`);
  }
  return typeof node['pattern'] === 'string'
    ? fc.stringMatching(new RegExp(node['pattern']))
    : fc.string({ minLength: min, maxLength: Math.max(min, Math.min(max, 60)) });
}

function boundsOf(node: JsonSchema, low: string, high: string, min: number, max: number) {
  const from = typeof node[low] === 'number' ? node[low] : min;
  const to = typeof node[high] === 'number' ? node[high] : Math.max(max, from);
  return { min: from, max: to };
}

/** Values that no field accepts. Every text carries {@link canary}. */
export const hostileValues: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  '',
  canary,
  `${canary}\u0000`,
  `${canary}\ud800`,
  `\udc00${canary}`,
  `${canary}\u202e\u2028\ufeff`,
  `${canary}'; drop table employers; --`,
  `<script>${canary}</script>`,
  `../../${canary}`,
  canary.repeat(4_000),
  '0x',
  `0x${'f'.repeat(64)}`,
  `0x${'g'.repeat(64)}`,
  [],
  [[[[[[canary]]]]]],
  {},
  { [hostileKey]: canary },
  JSON.parse('{"__proto__":{"polluted":true},"constructor":1}'),
  Array.from({ length: 1_000 }, () => canary),
];

/** The value with one thing in it replaced, dropped or added, at a place that `pick` chooses. */
export function mutate(value: unknown, pick: (below: number) => number): unknown {
  const hostile = hostileValues[pick(hostileValues.length)];
  if (typeof value !== 'object' || value === null || pick(8) === 0) {
    return hostile;
  }
  const keys = Object.keys(value);
  if (keys.length === 0 || pick(8) === 0) {
    return Array.isArray(value)
      ? [...(value as unknown[]), hostile]
      : { ...value, [hostileKey]: hostile };
  }
  const key = keys[pick(keys.length)] ?? '';
  if (pick(6) === 0) {
    return Array.isArray(value)
      ? value.filter((_, index) => String(index) !== key)
      : Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
  }
  const inner = mutate((value as Record<string, unknown>)[key], pick);
  return Array.isArray(value)
    ? value.map((item: unknown, index) => (String(index) === key ? inner : item))
    : { ...value, [key]: inner };
}
