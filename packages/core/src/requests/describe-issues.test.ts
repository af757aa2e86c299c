// What is wrong with a body, in words of the body: no words of the schema library, and nothing of the value.
import * as v from 'valibot';
import { expect, it } from 'vitest';
import { labelPattern } from '../text/label.ts';
import { describeIssues } from './describe-issues.ts';

function describeProblem(schema: v.GenericSchema, value: unknown): string {
  const result = v.safeParse(schema, value);
  return result.success ? '' : describeIssues(result.issues);
}

it.each<[v.GenericSchema, unknown, string]>([
  [v.strictObject({ a: v.string() }), {}, 'a: missing'],
  [v.object({ a: v.string() }), {}, 'a: missing'],
  [v.strictObject({}), { foo: 1 }, 'foo: is not a known field'],
  [v.strictObject({}), 'canary', '(body): must be an object'],
  [v.strictObject({}), null, '(body): must be an object'],
  [v.record(v.string(), v.string()), 7, '(body): must be an object'],
  [v.array(v.string()), {}, '(body): must be a list'],
  [v.array(v.strictObject({ a: v.string() })), [{ a: 'x' }, {}], '[1].a: missing'],
  [v.tuple([v.string()]), 'canary', '(body): must be a list'],
  [v.tuple([v.string(), v.string()]), ['x'], '[1]: missing'],
  [v.string(), 7, '(body): must be a string'],
  [v.number(), 'canary', '(body): must be a number'],
  [v.boolean(), 'canary', '(body): must be true or false'],
  [v.literal('fail'), 'canary', '(body): must be "fail"'],
  [v.picklist(['fail', 'skip']), 'canary', '(body): must be "fail" or "skip"'],
  [v.pipe(v.array(v.string()), v.minLength(1)), [], '(body): must list at least 1 entry'],
  [
    v.pipe(v.array(v.string()), v.maxLength(2)),
    ['', '', ''],
    '(body): must list at most 2 entries',
  ],
  [v.pipe(v.string(), v.minLength(2)), 'c', '(body): must have at least 2 characters'],
  [v.pipe(v.string(), v.maxLength(3)), 'canary', '(body): must have at most 3 characters'],
  [v.pipe(v.string(), v.length(3)), 'canary', '(body): must have exactly 3 characters'],
  [v.pipe(v.string(), v.maxBytes(3)), 'canary', '(body): must have at most 3 bytes'],
  [v.pipe(v.number(), v.minValue(3)), 1, '(body): must be at least 3'],
  [v.pipe(v.number(), v.maxValue(3)), 7, '(body): must be at most 3'],
  [v.pipe(v.number(), v.integer()), 1.5, '(body): must be a whole number'],
  [v.pipe(v.string(), v.regex(/^x$/)), 'canary', '(body): has the wrong form'],
  [
    v.pipe(v.string(), v.regex(labelPattern)),
    'canary\u200f\n',
    '(body): contains the character U+200F, which people cannot see; remove it',
  ],
  [v.pipe(v.string(), v.uuid()), 'canary', '(body): must be a UUID'],
  [v.pipe(v.string(), v.url()), 'canary', '(body): must be a URL'],
  [v.pipe(v.string(), v.isoTimestamp()), 'canary', '(body): must be a time as ISO 8601'],
  [
    v.variant('kind', [v.strictObject({ kind: v.literal('a') })]),
    { kind: 'canary' },
    'kind: must be "a"',
  ],
  [
    v.pipe(
      v.string(),
      v.check(() => false),
    ),
    'canary',
    '(body): is not valid',
  ],
])('%#: names place and problem', (schema, value, message) => {
  expect(describeProblem(schema, value)).toBe(message);
});
