import { findErrorEntry } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { apis } from './documents.ts';

describe('the routes', () => {
  /** One mistake, answered 400 as a value and 401 as a credential. */
  const alsoUnauthorized = ['invalid_sign_in', 'invalid_signature', 'contract_wallet_unsupported'];

  it('answer each code with the status of the catalogue', () => {
    const other = apis.flatMap(({ routes }) =>
      routes.flatMap(({ id, errors }) =>
        Object.entries(errors).flatMap(([status, codes]) =>
          codes
            .filter((code) => findErrorEntry(code)?.status !== Number(status))
            .filter((code) => !(status === '401' && alsoUnauthorized.includes(code)))
            .map((code) => `${id}: ${status} ${code}`),
        ),
      ),
    );
    expect(other).toEqual([]);
  });
});
