import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { deriveTraceId } from './trace-id.ts';

it.each(['payroll-2026-11', 'x', ' ~!"', 'k'.repeat(255)])(
  'a trace id is the start of a tagged SHA-256 of the key: %s',
  (key) => {
    const digest = createHash('sha256').update(`pool/v1/trace${key}`, 'utf8').digest('hex');
    expect(deriveTraceId(key)).toBe(digest.slice(0, 16));
  },
);
