// The newest evidence of each wallet is kept, across restarts and in one write (protocol §2).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFakeHolder } from '@pool/testkit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openEvidencePins } from './wallet-keys.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pins-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const [first, second] = [createFakeHolder(1), createFakeHolder(2)];
function pinOf(holder: typeof first, issuedAtMs: number, key = holder.encryptionPublicKey) {
  return {
    walletPub: holder.walletPub,
    encryptionPublicKey: key,
    issuedAtMs,
  };
}

it('accepts newer evidence, and older evidence of the same key only', async () => {
  const pins = openEvidencePins(':memory:');
  const other = second.encryptionPublicKey;
  expect(await pins.pinAll([pinOf(first, 10), pinOf(second, 10)])).toEqual([true, true]);
  expect(await pins.pinAll([pinOf(first, 9), pinOf(first, 10, other)])).toEqual([true, false]);
  expect(await pins.pinAll([pinOf(second, 11), pinOf(first, 11, other)])).toEqual([true, true]);
  expect(await pins.pinAll([pinOf(first, 10)])).toEqual([false]);
  expect(await pins.pinAll([])).toEqual([]);
  pins.close();
});

it('judges evidence of one wallet in the given order', async () => {
  const pins = openEvidencePins(':memory:');
  const other = second.encryptionPublicKey;
  expect(await pins.pinAll([pinOf(first, 11, other), pinOf(first, 10)])).toEqual([true, false]);
  pins.close();
});

it('remembers a rotation after a restart, in a file that only its owner can read', async () => {
  const path = join(folder, 'pins.sqlite');
  const before = openEvidencePins(path);
  await before.pinAll([pinOf(first, 11, second.encryptionPublicKey)]);
  before.close();
  const after = openEvidencePins(path);
  expect(await after.pinAll([pinOf(first, 10)])).toEqual([false]);
  after.close();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('waits while another agent of the same directory writes', async () => {
  const path = join(folder, 'pins.sqlite');
  const pins = openEvidencePins(path);
  const script = `
    const database = new (require('node:sqlite').DatabaseSync)(process.argv[1]);
    database.exec('BEGIN IMMEDIATE');
    process.stdout.write('locked');
    setTimeout(() => database.exec('COMMIT'), 300);
  `;
  const other = spawn(process.execPath, ['--no-warnings', '-e', script, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(other.stdout, 'data');
  const pin = async (): Promise<readonly boolean[]> => {
    const startedMs = performance.now();
    try {
      return await pins.pinAll([pinOf(first, 10)]);
    } catch {
      // It waited. The machine has stopped the other process for longer.
      expect(performance.now() - startedMs).toBeGreaterThan(1_000);
      return await pin();
    }
  };
  expect(await pin()).toEqual([true]);
  await once(other, 'close');
  pins.close();
});
