import { expect, it } from 'vitest';
import { parsePatch } from './patches.ts';

const diff = 'diff --git a/x/a.ts b/x/a.ts\n--- a/x/a.ts\n+++ b/x/a.ts\n@@ -1 +1 @@\n-a\n+b\n';

it('reads title, tests and files', () => {
  expect(parsePatch(`Title: A change\nTest: x/a.test.ts\nTest: x/b.test.ts\n\n${diff}`)).toEqual({
    title: 'A change',
    tests: ['x/a.test.ts', 'x/b.test.ts'],
    files: ['x/a.ts'],
  });
});

it.each([diff, `Title: no tests\n${diff}`, 'Title: no file\nTest: x\n'])('refuses %j', (text) => {
  expect(() => parsePatch(text)).toThrow('a patch needs');
});
