// What a script reads from a command.
import { expect, it } from 'vitest';
import { formatData, formatFailure, openEnvelope } from './envelope.ts';
import { createConfigurationError, PoolError } from './pool-error.ts';

it('has the document of a command on one line, with big numbers as text', () => {
  expect(formatData({ amount: 2n ** 64n, text: 'two\nlines' })).toBe(
    '{"ok":true,"data":{"amount":"18446744073709551616","text":"two\\nlines"}}',
  );
});

it('has code and message of a failure, and what is wrong, one entry each', () => {
  expect(formatFailure(new PoolError('not_found', 'no job', { cause: 'canary' }))).toBe(
    '{"ok":false,"error":{"code":"not_found","message":"no job"}}',
  );
  expect(JSON.parse(formatFailure(createConfigurationError(['A', 'B']))).error).toMatchObject({
    code: 'invalid_configuration',
    problems: [{ message: 'A' }, { message: 'B' }],
  });
});

it('shows nothing of an error without a code', () => {
  expect(formatFailure(new Error('canary'))).toBe(
    '{"ok":false,"error":{"code":"internal_error","message":"an unexpected error"}}',
  );
});

it('is opened to its document, and a document alone is left as it is', () => {
  const entries = { entries: [1] };
  expect(openEnvelope(JSON.parse(formatData(entries)))).toEqual(entries);
  for (const other of [entries, { ok: true, entries }, { ok: false, data: 1 }, null, 'text', [1]]) {
    expect(openEnvelope(other)).toBe(other);
  }
});
