// The audit's case: one item of a custodian's list has more than 64 MiB. Over real HTTP, from a server that writes it in pieces.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createHttpClient, tooLarge } from '@pool/http-client';
import { expect, it, onTestFinished } from 'vitest';
import { cutItem, cutPage, cutWidePage } from './page-reader.ts';

const pieces = 80;
const piece = 'x'.repeat(1024 * 1024);

/** A list of three items, of which the second has 80 MiB in its body. `alone`: that item. */
async function serveLarge(): Promise<string> {
  const server = createServer((request, response) => {
    const isAlone = request.url === '/alone';
    function* write(): Generator<string> {
      yield isAlone ? '{"id":"b","body":"' : '[{"id":"a"},{"id":"b","body":"';
      for (let count = 0; count < pieces; count += 1) {
        yield piece;
      }
      yield isAlone ? '"}' : '"},{"id":"c"}]';
    }
    // A client that has read enough goes away.
    pipeline(Readable.from(write()), response).catch(() => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each([
  ['the smallest page', '/', cutPage(2, 10)],
  ['a page of items of one millisecond', '/', cutWidePage(2)],
])('%s loses only the item of 80 MiB', async (_what, path, cut) => {
  const call = createHttpClient({ url: await serveLarge(), service: 'custodian' });
  const { body } = await call({ method: 'GET', path, cut });
  expect(body).toEqual([{ id: 'a' }, { id: 'b', body: tooLarge }, { id: 'c' }]);
});

it('an item of 80 MiB that is read alone keeps its id', async () => {
  const call = createHttpClient({ url: await serveLarge(), service: 'custodian' });
  const { body } = await call({ method: 'GET', path: '/alone', cut: cutItem });
  expect(body).toEqual({ id: 'b', body: tooLarge });
});

it('a larger page is asked for again with fewer items', async () => {
  const call = createHttpClient({ url: await serveLarge(), service: 'custodian' });
  await expect(call({ method: 'GET', path: '/', cut: cutPage(2, 100) })).rejects.toMatchObject({
    code: 'custodian_invalid_response',
  });
});
