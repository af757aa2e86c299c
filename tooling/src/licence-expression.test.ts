import { describe, expect, it } from 'vitest';
import { isPermissive, readLicence } from './licence-expression.ts';

describe('isPermissive', () => {
  it.each([
    'MIT',
    'Apache-2.0',
    '(MIT OR GPL-3.0)',
    'GPL-2.0-only OR MIT',
    '(MIT AND BSD-3-Clause)',
    'MIT OR (GPL-3.0-only AND ISC)',
    'Apache-2.0 WITH LLVM-exception',
  ])('accepts %s', (expression) => {
    expect(isPermissive(expression)).toBe(true);
  });

  it.each([
    'GPL-3.0',
    'GPL-3.0-or-later',
    'LGPL-3.0',
    'AGPL-3.0-only',
    'MPL-2.0',
    'MIT AND GPL-3.0',
    '(MIT OR ISC) AND GPL-3.0',
    'UNLICENSED',
    'SEE LICENSE IN LICENSE.md',
    'https://example.org/licence',
    '',
    '(MIT',
    'MIT OR',
    'MIT ISC',
    'mit',
  ])('refuses %j', (expression) => {
    expect(isPermissive(expression)).toBe(false);
  });
});

describe('readLicence', () => {
  it('reads the current and both old forms', () => {
    expect(readLicence({ license: 'MIT' })).toBe('MIT');
    expect(readLicence({ license: { type: 'ISC' } })).toBe('ISC');
    expect(readLicence({ licenses: [{ type: 'MIT' }, { type: 'GPL-3.0' }] })).toBe(
      'MIT OR GPL-3.0',
    );
  });

  it('returns undefined if no licence is stated', () => {
    expect(readLicence({})).toBeUndefined();
    expect(readLicence({ license: '' })).toBeUndefined();
    expect(readLicence({ licenses: [] })).toBeUndefined();
    expect(readLicence({ licenses: [{ url: 'x' }] })).toBeUndefined();
  });
});
