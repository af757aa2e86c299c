import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type ManagedProcess, startProcess, waitUntilReady } from '../process.ts';
import { formsOfScalar, type ScalarForm } from './scalar-forms.ts';
import {
  heapSnapshotOptions,
  searchFile,
  searchHeapSnapshot,
  searchProcess,
} from './search-process.ts';

const directory = mkdtempSync(join(tmpdir(), 'pool-search-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

// Computed, so that this file and its compiled form do not contain the scalar.
const scalar = 0x1f2e3d4c5b6a79880123456789abcdeffedcba98765432100f1e2d3c4b5a6978n ^ (1n << 255n);
const forms = formsOfScalar('key', scalar);

/** Holds the scalar in one way, reports it, and stays. @param hold - an expression of `k`, the scalar XOR 2^255 */
async function startHolder(name: string, hold: string, env = {}): Promise<ManagedProcess> {
  const masked = scalar ^ (1n << 255n);
  const script = `const k = BigInt('${masked}') ^ (1n << 255n); globalThis.kept = ${hold}; console.log('kept'); setInterval(() => {}, 1000);`;
  const path = join(directory, `${name}.cjs`);
  writeFileSync(path, script);
  const holder = startProcess({
    name,
    command: process.execPath,
    args: [path],
    env,
    logPath: join(directory, `${name}.log`),
  });
  await waitUntilReady(holder, async () => (holder.output().includes('kept') ? true : undefined));
  return holder;
}

describe('formsOfScalar', () => {
  it('names each form once', () => {
    const spelt = new Set(forms.map(({ bytes }) => bytes.toString('hex')));
    expect(spelt.size).toBe(forms.length);
  });

  it('finds base64 wherever the scalar begins in a longer text', () => {
    const bytes = Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex');
    for (const before of [0, 1, 2, 3, 4]) {
      const text = Buffer.concat([Buffer.alloc(before, 0xa5), bytes, Buffer.alloc(5, 0x5a)]);
      const path = join(directory, 'embedded.txt');
      writeFileSync(path, text.toString('base64'));
      expect(searchFile(path, forms), String(before)).not.toEqual([]);
    }
  });

  it('refuses a number that could be found by chance', () => {
    expect(() => formsOfScalar('key', 12n)).toThrow(RangeError);
  });
});

describe('searchProcess', () => {
  const kept = {
    'big-endian bytes': "Buffer.from(k.toString(16), 'hex')",
    'little-endian bytes': 'k',
    hex: 'k.toString(16)',
    decimal: 'k.toString()',
    'base64 at 0': "Buffer.from(k.toString(16), 'hex').toString('base64')",
    '64-bit limbs, highest first':
      'BigUint64Array.from([192n, 128n, 64n, 0n].map((by) => (k >> by) & 0xffffffffffffffffn))',
  };

  it('finds each form in the environment, the memory and a heap snapshot of a process', async () => {
    const hold = `[${Object.values(kept).join(', ')}]`;
    const env = { KEY: scalar.toString(16), NODE_OPTIONS: heapSnapshotOptions(directory) };
    const holder = await startHolder('holder', hold, env);
    const { pid } = holder.identity;
    const { dump, findings, searchedBytes } = await searchProcess(pid, forms, directory);
    const heap = await searchHeapSnapshot(pid, forms, directory);
    await holder.kill();
    expect(findings).toContainEqual({ form: 'key: hex', where: 'environment' });
    expect(heap.findings).toContainEqual({ form: 'key: decimal', where: 'heap snapshot' });
    expect(searchedBytes).toBeGreaterThan(dump === 'memory' ? 10_000_000 : 1_000_000);
    const expected = Object.keys(kept).map((form) => ({ form: `key: ${form}`, where: 'memory' }));
    expect(findings).toEqual(expect.arrayContaining(dump === 'memory' ? expected : []));
  });

  it('finds nothing in a process that does not have the scalar', async () => {
    const holder = await startHolder('without', '1');
    const others: readonly ScalarForm[] = formsOfScalar('other', scalar ^ 0xffffffffffffn);
    const { findings } = await searchProcess(holder.identity.pid, others);
    await holder.kill();
    expect(findings).toEqual([]);
  });
});
