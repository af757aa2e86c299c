import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { listWorkspacePackages, packageParents } from './workspace.ts';

const root = resolve(import.meta.dirname, '../..');

it('knows every folder of packages that pnpm knows', () => {
  const settings = readFileSync(resolve(root, 'pnpm-workspace.yaml'), 'utf8');
  const listed = [...settings.matchAll(/^\s*- (\w+)\/\*$/gm)].map((match) => match[1]);
  expect(listed).toEqual([...packageParents]);
});

it('reads names and privacy from the package.json files', () => {
  const packages = listWorkspacePackages(root);
  const byName = new Map(packages.map((entry) => [entry.name, entry]));
  expect(byName.get('@pool/core')?.isPrivate).toBe(false);
  expect(byName.get('@pool/testkit')?.isPrivate).toBe(true);
  expect(byName.get('@pool/core')?.dir).toBe(resolve(root, 'packages/core'));
});
