import { createMemoryStore, StoreError } from '@pool/idempotency';
import { expect, it } from 'vitest';
import { readPage } from './find-payments.ts';

it('reads payloads itself when the server ends the statement that looks through them', async () => {
  const store = createMemoryStore();
  for (const key of ['a', 'b']) {
    const job = { scope: 's', key, fingerprint: 'f', state: 'done', payload: `"${key}"`, nowMs: 1 };
    await store.claim(job);
  }
  const input = { contains: ['"a"'], limit: 9 };
  expect((await readPage(store, input)).map(({ key }) => key)).toEqual(['a']);
  const busy: Parameters<typeof readPage>[0] = {
    async listNewest(asked) {
      if (asked.contains !== undefined) {
        throw new StoreError('store_busy', 'canceling statement due to statement timeout');
      }
      return await store.listNewest(asked);
    },
  };
  expect((await readPage(busy, input)).map(({ key }) => key)).toEqual(['b', 'a']);
  await store.close();
  await expect(readPage(store, input)).rejects.toMatchObject({ code: 'store_closed' });
});
