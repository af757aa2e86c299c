/** The commands as a person types them: output, exit codes, and what must not be printed. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPowersOfTau } from '../test/powers-of-tau.ts';
import { compileTest } from '../test/witness.ts';
import { computeFileDigest } from './artifacts-manifest.ts';

type Outcome = { readonly code: number; readonly out: string; readonly err: string };
const cli = fileURLToPath(new URL('./cli.ts', import.meta.url));
let folder: string;
function run(...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--conditions=@pool/source', cli, ...args],
      { cwd: folder },
      (error, out, err) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err }),
    );
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pool-cli-test-'));
  const { r1csBytes } = await compileTest(
    'template Square() { signal input a; signal output b; b <== a*a; } component main = Square();',
  );
  await writeFile(join(folder, 'c.r1cs'), r1csBytes);
  await writeFile(join(folder, 'p.ptau'), createPowersOfTau({ tau: 7n, alpha: 3n, beta: 5n }, 3));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('pool-circuits', () => {
  it('runs a whole ceremony', async () => {
    const digest = await computeFileDigest(join(folder, 'p.ptau'));
    const files = ['--r1cs', 'c.r1cs', '--ptau', 'p.ptau', '--ptau-sha256', digest];
    const begun = await run('ceremony', 'init', ...files, '--out', '0.zkey', '--json');
    expect(begun).toMatchObject({ code: 0, err: '' });
    const { circuitHash } = JSON.parse(begun.out) as { circuitHash: string };
    expect(circuitHash).toMatch(/^[0-9a-f]{128}$/);
    const unsound = await run('ceremony', 'verify', ...files, '--zkey', '0.zkey');
    expect(unsound).toMatchObject({ code: 3, out: expect.stringContaining('no_contribution') });

    await writeFile(join(folder, 'dice'), 'my own dice');
    const made = await run(
      ...['ceremony', 'contribute', '--in', '0.zkey', '--out', '1.zkey'],
      ...['--name', 'Ada', '--entropy-file', 'dice'],
    );
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(made.out).toMatch(/^contribution 1\nhash [0-9a-f]{128}\n$/);
    const again = await run('ceremony', 'contribute', '--in', '0.zkey', '--out', '1.zkey');
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('invalid_option') });
    const ended = await run(
      ...['ceremony', 'beacon', '--in', '1.zkey', '--out', '2.zkey'],
      ...['--beacon', '0x00ff', '--iterations', '10', '--json'],
    );
    expect(JSON.parse(ended.out)).toMatchObject({ contribution: 2 });
    const verified = await run('ceremony', 'verify', ...files, '--zkey', '2.zkey');
    expect(verified.code).toBe(0);
    const hash = /hash ([0-9a-f]+)/.exec(made.out)?.[1] ?? 'none';
    expect(verified.out).toContain(`circuit hash ${circuitHash}\n1 Ada\n  ${hash}\n2 beacon`);
    expect(verified.out).toContain('the key is sound');
    // What people compare with what was announced and published.
    expect(verified.out).toContain('from 0x00ff, hashed 2^10 times\n');
    for (const name of ['c.r1cs', 'p.ptau', '2.zkey']) {
      expect(verified.out).toContain(`sha-256 ${await computeFileDigest(join(folder, name))}\n`);
    }

    const exported = await run(
      'ceremony',
      'export-verifier',
      '--zkey',
      '2.zkey',
      '--out',
      'vk.json',
    );
    expect(exported.code).toBe(0);
    expect(JSON.parse(await readFile(join(folder, 'vk.json'), 'utf8'))).toMatchObject({
      nPublic: 1,
    });
  });

  it('refuses powers of tau that are not pinned and record no contribution', async () => {
    const files = ['--r1cs', 'c.r1cs', '--ptau', 'p.ptau', '--out', 'never.zkey'];
    expect(await run('ceremony', 'init', ...files)).toMatchObject({
      code: 1,
      err: expect.stringContaining('ceremony_invalid'),
    });
  });

  it.each([
    [[]],
    [['nothing']],
    [['ceremony']],
    [['ceremony', 'constructor']],
    [['ceremony', 'init', '--r1cs', 'c.r1cs']],
    [['ceremony', 'contribute', '--secret', '1']],
    [['ceremony', 'beacon', '--in', 'a', '--out', 'b', '--beacon', 'xyz', '--iterations', '10']],
    [['ceremony', 'verify', '--r1cs', 'a', '--ptau', 'b', '--zkey', 'c', '--ptau-sha256', 'x']],
    [['fetch', '--from', 'x']],
    [['build']],
  ])('prints its usage and exits with 2 for %j', async (args) => {
    const { code, out, err } = await run(...args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('pool-circuits ceremony verify');
  });

  it('reports what failed', async () => {
    const missing = await run('ceremony', 'verify', '--r1cs', 'x', '--ptau', 'x', '--zkey', 'x');
    expect(missing).toMatchObject({ code: 1, err: expect.stringContaining('invalid_option') });
    const nowhere = await run('fetch', '--from', 'nowhere', '--out', 'o', '--circuit', 'fund-16');
    expect(nowhere).toMatchObject({ code: 1, err: expect.stringContaining('artifact_missing') });
    expect((await run('--help')).code).toBe(0);
  });
});
