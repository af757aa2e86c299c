// The fingerprint key: created once, private, and never replaced.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@pool/core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ensureFingerprintKey, findFingerprintKey, fingerprintKeyPath } from './fingerprint-key.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'fingerprint-'));
});
afterEach(() => {
  rmSync(home, { recursive: true });
});

it('is created at the first start and kept', () => {
  expect(findFingerprintKey(home)).toBeUndefined();
  const key = ensureFingerprintKey(home, undefined).reveal();
  expect(key).toMatch(/^0x[0-9a-f]{64}$/);
  expect(ensureFingerprintKey(home, undefined).reveal()).toBe(key);
  expect(statSync(fingerprintKeyPath(home)).mode & 0o777).toBe(0o600);
  expect(readFileSync(fingerprintKeyPath(home), 'utf8')).toBe(`${key}\n`);
});

it('is the configured key if there is one, and then creates no file', () => {
  const configured = new Secret(`0x${'12'.repeat(32)}`);
  expect(ensureFingerprintKey(home, configured)).toBe(configured);
  expect(findFingerprintKey(home)).toBeUndefined();
});

it.each(['', '0x12', 'ab'.repeat(32)])('is not replaced when the file contains %j', (content) => {
  writeFileSync(fingerprintKeyPath(home), content);
  expect(() => ensureFingerprintKey(home, undefined)).toThrow(
    expect.objectContaining({ code: 'store_damaged' }),
  );
  expect(readFileSync(fingerprintKeyPath(home), 'utf8')).toBe(content);
});
