import { mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type ManagedProcess, startProcess, waitUntilReady } from '../process.ts';
import { formsOfScalar, type ScalarForm } from './scalar-forms.ts';
import { heapSnapshotOptions, searchHeapSnapshot, searchProcess } from './search-process.ts';

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
    env: { NODE_OPTIONS: heapSnapshotOptions(directory), ...env },
    logPath: join(directory, `${name}.log`),
  });
  await waitUntilReady(holder, async () => (holder.output().includes('kept') ? true : undefined));
  return holder;
}

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

  const inMemory = Object.keys(kept).map((form) => ({ form: `key: ${form}`, where: 'memory' }));
  const hold = `[${Object.values(kept).join(', ')}]`;
  const snapshotDirectory = directory;

  it('finds each form in the environment and the memory of a process', async () => {
    const holder = await startHolder('holder', hold, { KEY: scalar.toString(16) });
    const { pid } = holder.identity;
    const { dump, findings, searchedBytes } = await searchProcess(pid, forms, {
      snapshotDirectory,
    });
    await holder.kill();
    expect(findings).toContainEqual({ form: 'key: hex', where: 'environment' });
    expect(findings).toContainEqual({ form: 'key: decimal', where: dump });
    expect(findings).toEqual(expect.arrayContaining(dump === 'memory' ? inMemory : []));
    expect(searchedBytes).toBeGreaterThan(dump === 'memory' ? 5_000_000 : 1_000_000);
  });

  it.each(['EACCES', 'EPERM'])(
    'searches a heap snapshot, and names it, where the kernel denies the memory (%s)',
    async (code) => {
      const holder = await startHolder(`denied-${code}`, hold, { KEY: scalar.toString(16) });
      const { pid } = holder.identity;
      const openMemory = (): never => {
        throw Object.assign(new Error('denied'), { code });
      };
      const searched = await searchProcess(pid, forms, { snapshotDirectory, openMemory });
      const withoutPlace = searchProcess(pid, forms, { openMemory });
      await expect(withoutPlace).rejects.toMatchObject({ code });
      await holder.kill();
      expect(searched.dump).toBe('heap snapshot');
      expect(searched.searchedBytes).toBeGreaterThan(1_000_000);
      expect(searched.findings).toContainEqual({ form: 'key: hex', where: 'environment' });
      for (const form of ['hex', 'decimal', 'base64 at 0']) {
        expect(searched.findings).toContainEqual({ form: `key: ${form}`, where: 'heap snapshot' });
      }
      // It holds secrets.
      expect(readdirSync(directory).filter((name) => name.endsWith('.heapsnapshot'))).toEqual([]);
    },
  );

  it('searches a heap snapshot where memory can be opened and not read', async () => {
    const holder = await startHolder('unreadable', hold);
    const openMemory = (): number => openSync('/dev/null', 'r');
    const options = { snapshotDirectory, openMemory };
    const { dump } = await searchProcess(holder.identity.pid, forms, options);
    await holder.kill();
    expect(dump).toBe('heap snapshot');
  });

  it('sends no signal to a process that would end from it', async () => {
    const holder = await startHolder('unprepared', hold, { NODE_OPTIONS: '' });
    const { pid } = holder.identity;
    await expect(searchHeapSnapshot(pid, forms, directory)).rejects.toThrow(/heapSnapshotOptions/);
    expect(holder.hasExited()).toBe(false);
    await holder.kill();
  });

  it('finds a key that a process holds as PEM', async () => {
    const pem = `(() => {
      const { createECDH, createPrivateKey } = require('node:crypto');
      const ecdh = createECDH('secp256k1');
      ecdh.setPrivateKey(Buffer.from(k.toString(16), 'hex'));
      const [d, point] = [ecdh.getPrivateKey(), ecdh.getPublicKey()];
      const part = (from, to) => point.subarray(from, to).toString('base64url');
      const jwk = { kty: 'EC', crv: 'secp256k1', d: d.toString('base64url'), x: part(1, 33), y: part(33) };
      const pem = createPrivateKey({ key: jwk, format: 'jwk' }).export({ type: 'sec1', format: 'pem' });
      // In lines of 16 characters, so that no part of it is the scalar in one piece.
      return pem.replaceAll('\\n', '').replaceAll(/.{16}/g, '$&\\n');
    })()`;
    const holder = await startHolder('pem', pem);
    const { pid } = holder.identity;
    const { dump, findings } = await searchProcess(pid, forms, { snapshotDirectory });
    const heap = await searchHeapSnapshot(pid, forms, directory);
    await holder.kill();
    expect(findings).toContainEqual({ form: 'key: base64 at 1', where: dump });
    expect(heap.findings).toContainEqual({ form: 'key: base64 at 1', where: 'heap snapshot' });
  });

  it('finds nothing in a process that does not have the scalar', async () => {
    const holder = await startHolder('without', '1');
    const { pid } = holder.identity;
    const others: readonly ScalarForm[] = formsOfScalar('other', scalar ^ 0xffffffffffffn);
    const { findings } = await searchProcess(pid, others, { snapshotDirectory });
    const heap = await searchHeapSnapshot(pid, others, directory);
    await holder.kill();
    expect([...findings, ...heap.findings]).toEqual([]);
  });
});
