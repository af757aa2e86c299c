// The key under which a wallet was last paid survives the process, and the latest payment decides.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createFakeHolder } from '@pool/testkit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openPaidKeys, openRecordedPaidKeys, paidKeysPath } from './wallet-keys.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(`${tmpdir()}/paid-keys-`);
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const [first, second] = [createFakeHolder(1), createFakeHolder(2)];

it('keeps the key of the latest payment across restarts, in a file that only its owner can read', async () => {
  const before = openPaidKeys(paidKeysPath(folder));
  await before.record([first, second], 10);
  await before.record([{ ...first, encryptionPublicKey: second.encryptionPublicKey }], 20);
  // A job that ends late must not restore the older key.
  await before.record([first], 15);
  before.close();
  const after = openRecordedPaidKeys(folder);
  expect(
    await after.findAll([first.walletPub, second.walletPub, createFakeHolder(3).walletPub]),
  ).toEqual([
    { encryptionPublicKey: second.encryptionPublicKey, atMs: 20 },
    { encryptionPublicKey: second.encryptionPublicKey, atMs: 10 },
    undefined,
  ]);
  after.close();
  expect(statSync(paidKeysPath(folder)).mode & 0o777).toBe(0o600);
});

it('creates no file for a command that only reads', async () => {
  const keys = openRecordedPaidKeys(folder);
  expect(await keys.findAll([first.walletPub])).toEqual([undefined]);
  keys.close();
  expect(() => statSync(paidKeysPath(folder))).toThrow('ENOENT');
});
