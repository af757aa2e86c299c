// A template appears whole, whoever makes it.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { ensureTemplate } from './cluster-template.ts';

function makeCache(): string {
  const cache = mkdtempSync(join(tmpdir(), 'pool-templates-'));
  onTestFinished(() => rmSync(cache, { recursive: true }));
  return cache;
}

it('is whole for each of three that make it at once, and is made no second time', async () => {
  const cache = makeCache();
  const make = async (folder: string): Promise<void> => {
    writeFileSync(join(folder, 'first'), '1');
    await delay(5);
    writeFileSync(join(folder, 'last'), '2');
  };
  const read = async (): Promise<string> =>
    readFileSync(join(await ensureTemplate('t', make, cache), 'last'), 'utf8');
  expect(await Promise.all([read(), read(), read()])).toEqual(['2', '2', '2']);
  expect(readdirSync(cache)).toEqual(['t']);
  const never = (): Promise<void> => Promise.reject(new Error('made twice'));
  await ensureTemplate('t', never, cache);
});

it('leaves nothing when it cannot be made', async () => {
  const cache = makeCache();
  const fail = (): Promise<void> => Promise.reject(new Error('no space'));
  await expect(ensureTemplate('t', fail, cache)).rejects.toThrow('no space');
  expect(readdirSync(cache)).toEqual([]);
});
