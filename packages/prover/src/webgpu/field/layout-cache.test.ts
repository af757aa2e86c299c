/** Measured layouts between starts: what is kept, what is rejected, and many processes on one folder. Needs no device. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LayoutMeasurement } from './benchmark.ts';
import { findMeasurements, type LayoutKey, openLayoutCache } from './layout-cache.ts';

let folder: string;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'layout-cache-')), 'cache');
});
afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }));

const key: LayoutKey = {
  adapter: { vendor: 'a', architecture: 'b', device: 'card', description: 'driver 1' },
  dawn: '0.6.2',
  shaders: 'digest',
};
const measurements: readonly LayoutMeasurement[] = [
  { name: 'digits-13-loop', isCorrect: true, multiplicationsPerSecond: 3e9 },
  { name: 'digits-15-loop', isCorrect: false, multiplicationsPerSecond: undefined },
];
/** The only file of the folder. */
async function onlyFile(): Promise<string> {
  const [name, ...others] = await readdir(folder);
  expect(others).toEqual([]);
  return join(folder, name ?? '');
}

/** One start: how often it measured, and what it used. */
async function start(
  now = key,
  answers: { readonly isRight?: boolean; readonly fails?: true } = {},
) {
  const measure = vi.fn(() => Promise.resolve(measurements));
  const isCorrect = vi.fn((_name: string) =>
    answers.fails ? Promise.reject(new Error('lost')) : Promise.resolve(answers.isRight ?? true),
  );
  const used = await findMeasurements(openLayoutCache(folder), now, { measure, isCorrect });
  return { measured: measure.mock.calls.length, tested: isCorrect.mock.calls.flat(), used };
}

describe('measured layouts', () => {
  it('are measured at the first start and read from the folder at the second, after a test of the best one', async () => {
    expect(await start()).toEqual({ measured: 1, tested: [], used: measurements });
    expect(await start()).toEqual({ measured: 0, tested: ['digits-13-loop'], used: measurements });
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(await onlyFile())).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['the driver', { adapter: { ...key.adapter, description: 'driver 2' } }],
    ['Dawn', { dawn: '0.7.0' }],
    ['a shader', { shaders: 'other' }],
  ])('are measured again if %s changed, and the stored file is replaced', async (_, change) => {
    await start();
    const now = { ...key, ...change };
    expect((await start(now)).measured).toBe(1);
    expect((await start(now)).measured).toBe(0);
    await onlyFile();
    expect((await start()).measured).toBe(1);
  });

  it('of two cards are kept in separate files', async () => {
    const other = { ...key, adapter: { ...key.adapter, device: 'another card' } };
    await start();
    await start(other);
    expect([(await start()).measured, (await start(other)).measured]).toEqual([0, 0]);
  });

  it.each([{ isRight: false }, { fails: true }] as const)(
    'are measured again if the stored choice fails its test: %j',
    async (answers) => {
      await start();
      expect((await start(key, answers)).measured).toBe(1);
    },
  );

  it('are not stored if the device computes every layout incorrectly', async () => {
    const wrong = measurements.slice(1);
    const work = { measure: () => Promise.resolve(wrong), isCorrect: () => Promise.resolve(false) };
    expect(await findMeasurements(openLayoutCache(folder), key, work)).toEqual(wrong);
    await expect(readdir(folder)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('are measured at each start, without an error, if the folder is not writable', async () => {
    await writeFile(folder, 'a file');
    expect(await start()).toMatchObject({ measured: 1, used: measurements });
    expect(await readFile(folder, 'utf8')).toBe('a file');
  });
});

describe('a damaged file', () => {
  const good = { format: 1, key, measurements };
  const [first, ...others] = measurements;
  const change = (what: object) =>
    JSON.stringify({ ...good, measurements: [{ ...first, ...what }, ...others] });
  it.each([
    ['is empty', ''],
    ['is cut off', JSON.stringify(good).slice(0, 100)],
    ['is null', 'null'],
    ['has another format', JSON.stringify({ ...good, format: 2 })],
    ['has no measurements', JSON.stringify({ format: 1, key })],
    ['has no correct layout', JSON.stringify({ ...good, measurements: measurements.slice(1) })],
    ['names an unknown layout', change({ name: 'digits-99' })],
    ['has a speed of text', change({ multiplicationsPerSecond: '2e9' })],
    ['has a negative speed', change({ multiplicationsPerSecond: -1 })],
    ['has no speed', change({ multiplicationsPerSecond: undefined })],
    ['is not text', Buffer.from([0xff, 0xfe, 0x00])],
    ['is endless', Buffer.alloc(1_000_000, 0x20)],
  ])('that %s is ignored and replaced', async (_, content) => {
    await start();
    const path = await onlyFile();
    await writeFile(path, content);
    expect((await start()).measured).toBe(1);
    expect((await start()).measured).toBe(0);
    expect(await onlyFile()).toBe(path);
  });
});

it('processes that write and read one folder at the same time read complete files only', async () => {
  const module = new URL('./layout-cache.ts', import.meta.url).href;
  const script = `
    import { openLayoutCache } from ${JSON.stringify(module)};
    const cache = openLayoutCache(${JSON.stringify(folder)});
    const key = ${JSON.stringify(key)};
    let missing = 0;
    for (let k = 0; k < 100; k++) {
      await cache.write(key, [{ name: 'digits-13-loop', isCorrect: true, multiplicationsPerSecond: k + 1 }]);
      if ((await cache.read(key)) === undefined) missing++;
    }
    process.stdout.write(String(missing));`;
  const run = () =>
    promisify(execFile)(process.execPath, [
      '--conditions=@pool/source',
      '--input-type=module',
      '-e',
      script,
    ]);
  const results = await Promise.all([run(), run(), run()]);
  expect(results.map(({ stdout }) => stdout)).toEqual(['0', '0', '0']);
  await onlyFile();
});
