import { describe, expect, expectTypeOf, it } from 'vitest';
import { PoolError } from '../pool-error.ts';
import { errorCatalogue, errorGroups, findErrorEntry } from './error-catalogue.ts';

const rows = Object.entries(errorCatalogue);

describe('the catalogue of error codes', () => {
  it('has each code in one group', () => {
    const codes = Object.values(errorGroups).flatMap((group) => Object.keys(group));
    expect(codes.filter((code, index) => codes.indexOf(code) !== index)).toEqual([]);
    expect(rows.map(([code]) => code).sort()).toEqual(codes.sort());
  });

  it('states for each code what happened and what to do, with no meaning twice in a group', () => {
    for (const [code, { meaning }] of rows) {
      expect(meaning, code).toMatch(/^[A-Z-].{15,}[.;] [A-Za-z].{6,}\.$/s);
    }
    for (const group of Object.values(errorGroups)) {
      const meanings = Object.values(group).map(({ meaning }) => meaning);
      expect(meanings.filter((meaning, index) => meanings.indexOf(meaning) !== index)).toEqual([]);
    }
  });

  it('asks to retry only what is not a mistake of the caller', () => {
    for (const [code, entry] of rows) {
      const { status, retry } = { status: undefined, retry: false, ...entry };
      if (retry === true && status !== undefined) {
        expect([408, 429, 502, 503, 504], code).toContain(status);
      }
    }
  });

  it('has no entry for a code that it does not contain', () => {
    expect(findErrorEntry('toString')).toBeUndefined();
    expect(findErrorEntry('rate_limited')?.status).toBe(429);
  });

  it('is the only source of codes: another one does not compile', () => {
    expectTypeOf<'no_such_code'>().not.toExtend<ConstructorParameters<typeof PoolError>[0]>();
    expectTypeOf<string>().not.toExtend<ConstructorParameters<typeof PoolError>[0]>();
    expectTypeOf<'rate_limited'>().toExtend<ConstructorParameters<typeof PoolError>[0]>();
    expect(new PoolError('rate_limited', 'x').code).toBe('rate_limited');
  });
});
