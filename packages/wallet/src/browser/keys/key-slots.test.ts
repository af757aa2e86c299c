import { createHmac } from 'node:crypto';
import { type Hex, hexToBytes, Secret } from '@pool/core';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { createSeed, openAccount, type Seed } from './account.ts';
import { type AccountFile, parseAccountFile, serializeAccountFile } from './account-file.ts';
import {
  addSlot,
  confirmBackup,
  confirmRecoveryWords,
  createAccountFile,
  createSlotSalt,
  isUsable,
  type NewSlot,
  openSlot,
  removeSlot,
} from './key-slots.ts';
import { formatRecoveryWords } from './recovery-words.ts';

const domain = 'pool.example';
const nowMs = Date.UTC(2026, 10, 28);
const later = nowMs + 60_000;
const laterText = '2026-11-28T00:01:00.000Z';

/** A passkey in software: its PRF is HMAC-SHA256 under a key of its own. */
function createSlot(name: string, salt = createSlotSalt()): NewSlot {
  const prf = createHmac('sha256', name).update(hexToBytes(salt, 32)).digest();
  return {
    ...{ label: name, salt, prf: Uint8Array.from(prf) },
    credentialId: `0x${Buffer.from(name).toString('hex')}`,
  };
}

const phone = createSlot('phone');
const stick = createSlot('stick');
let seed: Seed;
let file: AccountFile;
let both: AccountFile;
beforeAll(async () => {
  seed = createSeed();
  file = await createAccountFile({ seed, domain, slot: phone, nowMs });
  both = await addSlot(file, seed, stick, nowMs);
});

function wordsOf(ofSeed: Seed): string {
  return formatRecoveryWords(ofSeed).reveal();
}

describe('an account file', () => {
  it('names W, P and the domain, and opens with its passkey', async () => {
    const { walletPub, encryptionPublicKey } = await openAccount(seed, domain);
    expect(file).toMatchObject({ domain, walletPub, encryptionPublicKey, wordsTriedAt: null });
    const opened = await openSlot(file, phone, later);
    expect(opened.seed.reveal()).toEqual(seed.reveal());
  });

  it('opens with each of its passkeys, after it was written and read', async () => {
    const read = parseAccountFile(serializeAccountFile(both));
    expect(read).toEqual(both);
    for (const slot of [phone, stick]) {
      expect((await openSlot(read, slot, later)).seed.reveal()).toEqual(seed.reveal());
    }
  });

  it('has neither the seed nor the PRF output in clear', () => {
    const text = serializeAccountFile(both);
    for (const secret of [seed.reveal(), phone.prf, stick.prf]) {
      expect(text).not.toContain(Buffer.from(secret).toString('hex'));
    }
  });

  it('is refused with another PRF output, and for a passkey without a slot', async () => {
    const wrong = { ...phone, prf: stick.prf };
    await expect(openSlot(file, wrong, later)).rejects.toMatchObject({
      code: 'account_not_opened',
    });
    await expect(openSlot(file, stick, later)).rejects.toThrow(/no slot for this passkey/);
    const short = { ...phone, prf: phone.prf.subarray(1) };
    await expect(openSlot(file, short, later)).rejects.toMatchObject({ code: 'invalid_value' });
  });

  it('is refused with any byte changed', async () => {
    const bytes = Buffer.from(serializeAccountFile(both));
    const places = fc.nat(bytes.length - 1);
    await fc.assert(
      fc.asyncProperty(places, fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ change;
        const open = async (): Promise<unknown> =>
          await openSlot(parseAccountFile(changed.toString()), phone, later);
        await expect(open()).rejects.toMatchObject({
          code: expect.stringMatching(/^(invalid_account_file|account_not_opened)$/),
        });
      }),
      { numRuns: 2_000 },
    );
  });

  // What a slot is bound to is refused before the seed is known, the rest by the MAC.
  it.each<[string, string, (file: AccountFile) => Partial<AccountFile>]>([
    ['another domain', 'account_not_opened', () => ({ domain: 'pool.example.org' })],
    ['another time of creation', 'account_not_opened', () => ({ createdAt: laterText })],
    [
      'another label of its passkey',
      'account_not_opened',
      ({ slots }) => ({ slots: slots.map((slot) => ({ ...slot, label: 'other' })) }),
    ],
    ['words that nobody tried', 'invalid_account_file', () => ({ wordsTriedAt: laterText })],
    ['a backup that nobody tried', 'invalid_account_file', () => ({ backupTriedAt: laterText })],
    ['a slot less', 'invalid_account_file', ({ slots }) => ({ slots: slots.slice(0, 1) })],
    [
      'slots in another order',
      'invalid_account_file',
      ({ slots }) => ({ slots: slots.toReversed() }),
    ],
  ])('is refused with %s', async (_, code, change) => {
    const changed = { ...both, ...change(both) };
    await expect(openSlot(changed, phone, later)).rejects.toMatchObject({ code });
    expect(() => confirmRecoveryWords(changed, wordsOf(seed), later)).toThrow(
      expect.objectContaining({ code: 'invalid_account_file' }),
    );
    await expect(addSlot(changed, seed, createSlot('third'), later)).rejects.toMatchObject({
      code: 'invalid_account_file',
    });
    expect(() => removeSlot(changed, seed, phone.credentialId)).toThrow(/changed/);
  });

  it('does not open with a slot of another account', async () => {
    const other = await createAccountFile({ seed: createSeed(), domain, slot: phone, nowMs });
    const swapped = { ...file, slots: other.slots };
    await expect(openSlot(swapped, phone, later)).rejects.toMatchObject({
      code: 'account_not_opened',
    });
  });

  it('seals equal slots differently each time', async () => {
    const again = await createAccountFile({ seed, domain, slot: phone, nowMs });
    expect(again.slots[0]?.nonce).not.toBe(file.slots[0]?.nonce);
    expect(again.slots[0]?.sealedSeed).not.toBe(file.slots[0]?.sealedSeed);
    expect(createSlotSalt()).not.toBe(createSlotSalt());
  });

  it('takes a passkey once, at most eight, and a label that people can read', async () => {
    await expect(addSlot(both, seed, stick, later)).rejects.toThrow(/opens the account already/);
    const hidden = { ...createSlot('third'), label: 'a\u202eb' };
    await expect(addSlot(both, seed, hidden, later)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('slots[2].label: contains the character U+202E'),
    });
    let full = both;
    for (let count = 2; count < 8; count += 1) {
      full = await addSlot(full, seed, createSlot(`key ${count}`), later);
    }
    await expect(addSlot(full, seed, createSlot('ninth'), later)).rejects.toThrow(/at most 8/);
  });

  it('is not made from a wiped seed', async () => {
    const wiped = new Secret(new Uint8Array(32));
    await expect(
      createAccountFile({ seed: wiped, domain, slot: phone, nowMs }),
    ).rejects.toMatchObject({ code: 'invalid_value' });
  });
});

describe('the recovery words of an account file', () => {
  it('open it, and are marked as tried', () => {
    const opened = confirmRecoveryWords(file, wordsOf(seed), later);
    expect(opened.seed.reveal()).toEqual(seed.reveal());
    expect(opened.file).toMatchObject({ ...file, wordsTriedAt: laterText, mac: opened.file.mac });
    expect(confirmRecoveryWords(opened.file, wordsOf(seed), later + 1).file).toEqual(opened.file);
  });

  it('of another account do not open it', () => {
    expect(() => confirmRecoveryWords(file, wordsOf(createSeed()), later)).toThrow(
      expect.objectContaining({
        code: 'account_not_opened',
        message: expect.stringContaining('another account'),
      }),
    );
  });

  it('make a new file where the file is lost', async () => {
    const tablet = createSlot('tablet');
    const made = await createAccountFile({ seed, domain, slot: tablet, nowMs: later });
    const { file: recovered } = confirmRecoveryWords(made, wordsOf(seed), later);
    expect(recovered.walletPub).toBe(file.walletPub);
    expect(recovered.encryptionPublicKey).toBe(file.encryptionPublicKey);
    expect(isUsable(recovered)).toBe(true);
  });
});

describe('an account is usable', () => {
  it('once its recovery words were tried', () => {
    expect(isUsable(file)).toBe(false);
    expect(isUsable(confirmRecoveryWords(file, wordsOf(seed), later).file)).toBe(true);
  });

  it('once a file with a password opened it, which the words need not', () => {
    const tried = confirmBackup(file, seed, later);
    expect(tried).toMatchObject({ ...file, backupTriedAt: laterText, mac: tried.mac });
    expect(isUsable(tried)).toBe(true);
    expect(confirmBackup(tried, seed, later + 1)).toEqual(tried);
    expect(removeSlot(tried, seed, phone.credentialId).slots).toEqual([]);
    expect(() => confirmBackup(file, createSeed(), later)).toThrow(
      expect.objectContaining({ code: 'account_not_opened' }),
    );
  });

  it('once its second passkey was tried, and not by trying the first one twice', async () => {
    expect(isUsable(both)).toBe(false);
    const first = (await openSlot(both, phone, later)).file;
    expect(first.slots.map(({ triedAt }) => triedAt)).toEqual([laterText, null]);
    expect(isUsable(first)).toBe(false);
    expect(isUsable((await openSlot(first, stick, later)).file)).toBe(true);
  });

  it('no longer with one passkey alone', async () => {
    const tried = (await openSlot(both, stick, later)).file;
    const alone = removeSlot(tried, seed, phone.credentialId);
    expect(isUsable(alone)).toBe(false);
    expect((await openSlot(alone, stick, later)).seed.reveal()).toEqual(seed.reveal());
  });
});

describe('removing a passkey', () => {
  it('is refused for the last way to open the account', () => {
    expect(() => removeSlot(file, seed, phone.credentialId)).toThrow(
      expect.objectContaining({ code: 'last_way_to_open' }),
    );
  });

  it('leaves the tried recovery words as the only way', async () => {
    const { file: tried } = confirmRecoveryWords(file, wordsOf(seed), later);
    const bare = removeSlot(tried, seed, phone.credentialId);
    await expect(openSlot(bare, phone, later)).rejects.toThrow(/no slot/);
    expect(isUsable(bare)).toBe(false);
    expect(confirmRecoveryWords(bare, wordsOf(seed), later).seed.reveal()).toEqual(seed.reveal());
  });

  it('is refused for a passkey that has no slot, and with the seed of another account', () => {
    const unknown: Hex = '0x00';
    expect(() => removeSlot(both, seed, unknown)).toThrow(/no slot for this passkey/);
    expect(() => removeSlot(both, createSeed(), phone.credentialId)).toThrow(/another account/);
  });
});
