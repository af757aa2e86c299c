/**
 * Describes for the sender what a schema found wrong with a value: the place, and what the value must be. It uses words of the
 * body, not of the schema library, and without the value: valibot's own messages repeat it.
 *
 * @module
 */
import type * as v from 'valibot';
import { describeLabelProblem, labelPattern } from '../text/label.ts';
import { isEvmAddress } from '../values/evm-address.ts';

type Issue = v.BaseIssue<unknown>;

/**
 * The first three problems: `recipients[3].amount: missing`. Never echoes a value.
 * @param within - path of the value in what was sent
 */
export function describeIssues(
  issues: readonly Issue[],
  within: readonly (string | number)[] = [],
): string {
  const shown = issues.slice(0, 3).map((issue) => {
    const keys = (issue.path ?? []).map(({ key }) => key);
    return `${formatPath([...within, ...keys])}: ${describeKind(issue)}`;
  });
  const rest = issues.length - shown.length;
  return shown.join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}

function formatPath(keys: readonly unknown[]): string {
  const path = keys
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${printableKey(key)}`))
    .join('');
  return path === '' ? '(body)' : path.replace(/^\./, '');
}

// A key can be the caller's own text (an unknown field), so only plain identifiers are repeated.
function printableKey(key: unknown): string {
  return typeof key === 'string' && /^[A-Za-z][A-Za-z0-9]{0,39}$/.test(key) ? key : '(field)';
}

function describeKind(issue: Issue): string {
  const { kind, type, expected } = issue;
  if (kind === 'schema' && expected === 'never') {
    return 'is not a known field';
  }
  // JSON has no undefined: the field is missing.
  if (kind === 'schema' && issue.received === 'undefined') {
    return 'missing';
  }
  return kinds[type]?.(issue) ?? 'is not valid';
}

function mustBe(what: string) {
  return (): string => `must be ${what}`;
}

/** The values that the schema accepts, in our own text: `("fail" | "skip")`. */
function mustBeExpected({ expected }: Issue): string | undefined {
  return expected === null
    ? undefined
    : `must be ${expected.replace(/^\((.*)\)$/, '$1').replaceAll(' | ', ' or ')}`;
}

function hasWrongForm(): string {
  return 'has the wrong form';
}

/** By the type of a schema or an action. */
const kinds: Readonly<Record<string, (issue: Issue) => string | undefined>> = {
  object: mustBe('an object'),
  strict_object: mustBe('an object'),
  record: mustBe('an object'),
  array: mustBe('a list'),
  tuple: mustBe('a list'),
  string: mustBe('a string'),
  number: mustBe('a number'),
  boolean: mustBe('true or false'),
  literal: mustBeExpected,
  picklist: mustBeExpected,
  variant: mustBeExpected,
  min_length: (issue) => describeLength(issue, 'at least'),
  max_length: (issue) => describeLength(issue, 'at most'),
  length: (issue) => describeLength(issue, 'exactly'),
  max_bytes: (issue) => `must have at most ${readRequirement(issue)} bytes`,
  min_value: (issue) => `must be at least ${readRequirement(issue)}`,
  max_value: (issue) => `must be at most ${readRequirement(issue)}`,
  integer: mustBe('a whole number'),
  safe_integer: mustBe('a whole number'),
  regex: ({ requirement, input }) =>
    requirement === labelPattern ? describeLabelProblem(String(input)) : hasWrongForm(),
  starts_with: hasWrongForm,
  url: mustBe('a URL'),
  uuid: mustBe('a UUID'),
  iso_timestamp: mustBe('a time as ISO 8601'),
  check: ({ requirement }) => checks.get(requirement),
};

/** By the predicate of a `v.check`. */
const checks: ReadonlyMap<unknown, string> = new Map([
  [
    isEvmAddress,
    'must be an EVM address with a correct checksum (or in lower case), and not the zero address',
  ],
]);

function describeLength(issue: Issue, bound: string): string {
  const count = readRequirement(issue);
  return Array.isArray(issue.input)
    ? `must list ${bound} ${count} ${count === 1 ? 'entry' : 'entries'}`
    : `must have ${bound} ${count} ${count === 1 ? 'character' : 'characters'}`;
}

/** A property of the schema, not of the value. */
function readRequirement({ requirement }: Issue): number {
  return Number(requirement);
}
