// Names that people give: of an account, of an API key, of an edge token.

import { createTestHolder } from '@pool/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { createTestPlatform } from '../fixtures/test-platform.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

it.each([
  ['a NUL', 'a\u0000b', 'U+0000'],
  ['a line break', 'a\nb', 'U+000A'],
  ['an unpaired surrogate', '\ud800', 'U+D800'],
  ['an override of direction', 'CFO \u202elleb', 'U+202E'],
  ['an embedding', 'a\u202ab', 'U+202A'],
  ['an isolate', 'a\u2066b', 'U+2066'],
  ['a mark of direction', 'a\u200eb', 'U+200E'],
  ['a space of no width', 'pay\u200broll', 'U+200B'],
  ['a byte order mark', '\ufeffa', 'U+FEFF'],
  ['nothing', '', 'at least 1 character'],
])('refuses a name with %s, and names it [key.name]', async (_name, label, words) => {
  await database.reset();
  const platform = createTestPlatform(database);
  const session = await platform.signIn(await createTestHolder('a'));
  await session.register('Ada & Co');
  const refusal = {
    code: 'invalid_request',
    status: 400,
    message: expect.stringContaining(words),
  };
  await expect(session.mintKey('disburse', label)).rejects.toMatchObject(refusal);
  await expect(session.mintEdgeToken(label)).rejects.toMatchObject(refusal);
  await expect(
    (await platform.signIn(await createTestHolder('b'))).register(label),
  ).rejects.toMatchObject(refusal);
  expect(await session.listKeys()).toEqual([]);
});
