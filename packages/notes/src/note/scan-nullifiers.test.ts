import { parseField } from '@pool/core';
import { createScanKernels } from '@pool/kernels';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/note.json' with { type: 'json' };
import { computeNullifiers } from './scan-nullifiers.ts';

let kernels: Awaited<ReturnType<typeof createScanKernels>>;
beforeAll(async () => {
  kernels = await createScanKernels({ threads: 1 });
});
afterAll(() => kernels.close());

describe('computeNullifiers', () => {
  it.each(vectors.notes)('matches for an amount of $amount', async (vector) => {
    const note = { assetId: parseField(vector.assetId), nonce: parseField(vector.nonce) };
    const other = { ...note, nonce: parseField(vector.px) };
    const found = await computeNullifiers(kernels, {
      notes: [other, note],
      viewingKey: parseField(vector.viewingKey),
      walletId: parseField(vector.walletId),
    });
    expect(found[1]).toBe(parseField(vector.nullifier));
    expect(found[0]).not.toBe(found[1]);
  });

  it('refuses a viewing key outside its range', async () => {
    const walletId = parseField(vectors.notes[0]?.walletId);
    await expect(
      computeNullifiers(kernels, { notes: [], viewingKey: 0n, walletId }),
    ).rejects.toMatchObject({ code: 'invalid_viewing_key' });
  });
});
