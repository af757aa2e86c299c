import { expect, it } from 'vitest';
import { fundFile } from '../fixtures/manifest-files.ts';
import { createManifestDelivery } from './custodian-flow.ts';

it('passes the file of a request that waits again after 5 minutes, or once it was forgotten', async () => {
  let nowMs = 0;
  let posts = 0;
  const approver = {
    async postManifest() {
      posts += 1;
    },
  };
  const delivery = createManifestDelivery(approver, () => nowMs);
  const request = { externalId: 'p1-1', file: fundFile };
  await delivery.handOver(request);
  nowMs = 299_999;
  await delivery.remind(request);
  expect(posts).toBe(1);
  nowMs = 300_000;
  await delivery.remind(request);
  expect(posts).toBe(2);
  // It ended. An equal request that waits later is a new one.
  delivery.forget(request);
  await delivery.remind(request);
  expect(posts).toBe(3);
});
