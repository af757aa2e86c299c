import { createHmac } from 'node:crypto';
import { canonicalJson } from '@pool/core';
import { beforeAll, describe, expect, it } from 'vitest';
import { createSeed, deriveBytes, type Seed } from './account.ts';
import {
  type AccountFile,
  parseAccountFile,
  readIdentity,
  serializeAccountFile,
} from './account-file.ts';
import { createAccountFile, createSlotSalt } from './key-slots.ts';

let seed: Seed;
let file: AccountFile;
beforeAll(async () => {
  seed = createSeed();
  const prf = Uint8Array.from({ length: 32 }, () => 7);
  const slot = { label: 'phone', credentialId: '0x01', salt: createSlotSalt(), prf } as const;
  file = await createAccountFile({ seed, domain: 'pool.example', slot, nowMs: Date.UTC(2026, 10) });
});

describe('reading an account file', () => {
  it('gives W, its address and P before the account is open', () => {
    const { walletPub, address, encryptionPublicKey } = readIdentity(
      parseAccountFile(serializeAccountFile(file)),
    );
    expect({ walletPub, encryptionPublicKey }).toEqual({
      ...{ walletPub: file.walletPub, encryptionPublicKey: file.encryptionPublicKey },
    });
    expect(address).toMatch(/^0x[0-9a-fA-F]{40}$/);
  });

  it('has the HMAC of every other field under a key of the seed', () => {
    const { mac, ...content } = file;
    const hmac = createHmac('sha256', deriveBytes(seed, 'file-mac', 32));
    expect(mac).toBe(`0x${hmac.update(canonicalJson(content)).digest('hex')}`);
  });

  it.each<[string, (text: string) => string, RegExp]>([
    ['another text', () => 'hello', /is not JSON with each key once/],
    ['half of it', (text) => text.slice(0, text.length / 2), /is not JSON/],
    ['a key twice', (text) => text.replace('{', '{"version":1,'), /each key once/],
    ['a newer version', (text) => text.replace('"version":1', '"version":2'), /load the newest/],
    ['version 0', (text) => text.replace('"version":1', '"version":0'), /version: must be 1/],
    ['another format', () => '{"format":"pool-backup","version":2}', /format: must be "pool-acc/],
    ['null', () => 'null', /\(body\): must be an object/],
    ['a field more', (text) => text.replace('{', '{"seed":"",'), /seed: is not a known field/],
    ['a field less', (text) => text.replace('"wordsTriedAt":null,', ''), /wordsTriedAt: missing/],
    ['an odd credential id', (text) => text.replace('"0x01"', '"0x0"'), /credentialId: has the w/],
    ['a W off the curve', (text) => text.replace(/"0x0[23]/, '"0x05'), /walletPub: is not a point/],
  ])('is refused for %s, with the cause', (_, change, message) => {
    const changed = change(serializeAccountFile(file));
    expect(changed).not.toBe(serializeAccountFile(file));
    expect(() => parseAccountFile(changed)).toThrow(
      expect.objectContaining({
        code: 'invalid_account_file',
        message: expect.stringMatching(message),
      }),
    );
  });
});
