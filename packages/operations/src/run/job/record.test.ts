import { expect, it } from 'vitest';
import { deserializeRecord } from './record.ts';

it.each([
  ['is not JSON', '{"version": 1'],
  ['is of another version', '{"version": 2}'],
])('refuses a record that %s', (_what, payload) => {
  expect(() => deserializeRecord(payload)).toThrow(
    expect.objectContaining({ code: 'job_unreadable' }),
  );
});
