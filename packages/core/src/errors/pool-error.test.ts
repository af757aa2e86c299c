import { describe, expect, expectTypeOf, it } from 'vitest';
import { errorCodeOf, findErrorEntry, isPoolError, PoolError, peerCode } from './pool-error.ts';

describe('PoolError', () => {
  it('reads status and retry from the catalogue', () => {
    expect(new PoolError('rate_limited', 'x')).toMatchObject({ status: 429, retryable: true });
    expect(new PoolError('not_found', 'x')).toMatchObject({ status: 404, retryable: false });
  });

  it('defaults to status 400, not retryable, no details, no cause for a code that the catalogue lacks', () => {
    const error = new PoolError(peerCode('of_another_version'), 'message');
    expect(error).toMatchObject({
      code: 'of_another_version',
      message: 'message',
      retryable: false,
      status: 400,
    });
    expect(error.details).toBeUndefined();
    expect('cause' in error).toBe(false);
  });

  it('prefers the given options to the catalogue', () => {
    const cause = new Error('inner');
    const options = { retryable: true, status: 503, details: { limit: 64 }, cause };
    expect(new PoolError('cancelled', 'message', options)).toMatchObject(options);
  });

  it('is recognised by its shape, also from another copy of the package', () => {
    const foreign = Object.assign(new Error('x'), { code: 'c', retryable: false, status: 400 });
    expect(isPoolError(foreign)).toBe(true);
    expect(errorCodeOf(foreign)).toBe('c');
  });

  it.each([
    new Error('x'),
    Object.assign(new Error('x'), { code: 'ENOENT' }),
    Object.assign(new Error('x'), { code: 5, retryable: false, status: 400 }),
    { code: 'c', retryable: false, status: 400 },
    'text',
    null,
    undefined,
  ])('is not %s', (value) => {
    expect(isPoolError(value)).toBe(false);
    expect(errorCodeOf(value)).toBeUndefined();
  });

  it('has no entry for a code that it does not contain', () => {
    expect(findErrorEntry('toString')).toBeUndefined();
    expect(findErrorEntry('rate_limited')?.status).toBe(429);
  });

  it('takes declared codes only: another one does not compile', () => {
    expectTypeOf<'no_such_code'>().not.toExtend<ConstructorParameters<typeof PoolError>[0]>();
    expectTypeOf<string>().not.toExtend<ConstructorParameters<typeof PoolError>[0]>();
    expectTypeOf<'rate_limited'>().toExtend<ConstructorParameters<typeof PoolError>[0]>();
    expect(new PoolError('rate_limited', 'x').code).toBe('rate_limited');
  });
});
