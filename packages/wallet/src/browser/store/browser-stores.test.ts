// The stores of an account in a browser together: the same account at the next visit, another one, and records that tabs write at once.
import 'fake-indexeddb/auto';
import { bigintToHex32, parseEncryptionPublicKey, parseWalletPub } from '@pool/core';
import { createFakeHolder } from '@pool/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openTestDatabase, readAllBytes } from '../../fixtures/browser-store.ts';
import { openBrowserStores } from './browser-stores.ts';

function importKey(fill: number) {
  const raw = new Uint8Array(32).fill(fill);
  return crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt', 'decrypt']);
}

async function openTab(name: string, fill = 1) {
  const stores = await openBrowserStores({ name, storageKey: await importKey(fill) });
  onTestFinished(() => stores.close());
  return stores;
}

const anna = createFakeHolder(1);

function pinOf(holder: ReturnType<typeof createFakeHolder>, issuedAtMs: number) {
  return {
    walletPub: parseWalletPub(anna.walletPub),
    encryptionPublicKey: parseEncryptionPublicKey(holder.encryptionPublicKey),
    issuedAtMs,
  };
}

const outRoot = bigintToHex32(7n);
const otherRoot = bigintToHex32(8n);

describe('the stores of an account in a browser', () => {
  it('give one key one spend, whichever tab asks first, also at the next visit', async () => {
    const [one, other] = [await openTab('journal'), await openTab('journal')];
    const claimed = await Promise.all([
      one.journal.claim('salary', 'a'),
      other.journal.claim('salary', 'b'),
    ]);
    expect(claimed[0]).toBe(claimed[1]);
    const bound = await Promise.all([
      one.journal.bindSpend('salary', 1, outRoot),
      other.journal.bindSpend('salary', 1, otherRoot),
    ]);
    expect(bound[0]).toBe(bound[1]);
    one.close();
    const again = await openTab('journal');
    expect(await again.journal.findSpend('salary', 1)).toBe(bound[0]);
    expect(await again.journal.findSpend('salary', 2)).toBeUndefined();
    expect(await again.journal.findFingerprint('salary')).toBe(claimed[0]);
    expect(await again.journal.findFingerprint('rent')).toBeUndefined();
  });

  it('bind no spend to a key that nobody claimed', async () => {
    const { journal } = await openTab('unclaimed');
    await expect(journal.bindSpend('salary', 1, outRoot)).rejects.toMatchObject({
      code: 'spend_unreadable',
    });
  });

  it('remember the newest key of a wallet, and refuse an older one at the next visit', async () => {
    const first = await openTab('pins');
    const [old, rotated] = [pinOf(anna, 1), pinOf(createFakeHolder(9), 2)];
    expect(await first.pins.pinAll([old])).toEqual([true]);
    expect(await first.pins.pinAll([rotated, old])).toEqual([true, false]);
    first.close();
    const again = await openTab('pins');
    expect(await again.pins.pinAll([old, rotated])).toEqual([false, true]);
    // Of the same instant, the one that was seen first remains.
    expect(await again.pins.pinAll([{ ...old, issuedAtMs: 2 }])).toEqual([false]);
  });

  it('have the transactions of a spend at the next visit, the newest first and each once', async () => {
    const first = await openTab('sent');
    const sentOf = (nonce: number) => ({
      ...{ outRoot, chainId: 1, from: anna.address, nonce, createdAtMs: nonce },
      ...{ txHash: bigintToHex32(BigInt(nonce)), rawTransaction: '0x02' as const },
    });
    for (const nonce of [1, 2, 1]) {
      await first.sent.add(sentOf(nonce));
    }
    first.close();
    const again = await openTab('sent');
    expect(await again.sent.list(outRoot)).toEqual([sentOf(2), sentOf(1)]);
    expect(await again.sent.list(otherRoot)).toEqual([]);
  });

  it('belong to one account', async () => {
    await openTab('account');
    await expect(openTab('account', 2)).rejects.toMatchObject({ code: 'store_damaged' });
  });

  it('refuse a record that was changed, or put in the place of another', async () => {
    const stores = await openTab('records');
    const records = stores.openRecords<string>('page-contact');
    await records.change(['ben', 'dora'], () => ['W of ben', 'W of dora']);
    expect(await records.find('ben')).toBe('W of ben');
    expect(await readAllBytes('records')).not.toContain('W of ben');
    const database = await openTestDatabase('records');
    await database.write('records', async (rows) => {
      const [one, other] = (await rows.getAllKeys()).filter(([table]) => table === 'page-contact');
      const moved = one && (await rows.get(one));
      if (moved === undefined || other === undefined) throw new Error('no record');
      await rows.put(moved, other);
    });
    const found = await Promise.allSettled([records.find('ben'), records.find('dora')]);
    expect(found.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    for (const outcome of found) {
      if (outcome.status === 'rejected') {
        expect(outcome.reason).toMatchObject({ code: 'store_damaged' });
      }
    }
  });

  it('keep nothing of a change that fails in its middle', async () => {
    const database = await openTestDatabase('half');
    const key: [string, string] = ['page-contact', 'ben'];
    await expect(
      database.write('records', async (rows) => {
        await rows.put(new Uint8Array(1), key);
        throw new Error('the page failed');
      }),
    ).rejects.toThrow('the page failed');
    expect(await database.read('records', (rows) => rows.get(key))).toBeUndefined();
  });

  it('cannot be read after they are closed', async () => {
    const stores = await openTab('closed');
    stores.close();
    await expect(stores.journal.findFingerprint('a')).rejects.toMatchObject({ code: 'stopping' });
  });

  it('say what to do where the browser keeps nothing', async () => {
    const { prototype } = (
      globalThis as unknown as { readonly IDBFactory: { prototype: { open: unknown } } }
    ).IDBFactory;
    const { open } = prototype;
    prototype.open = () => {
      throw new DOMException('private', 'InvalidStateError');
    };
    onTestFinished(() => {
      prototype.open = open;
    });
    await expect(openTab('private')).rejects.toMatchObject({
      code: 'store_damaged',
      message: expect.stringContaining('InvalidStateError'),
    });
  });
});
