// The contacts of an account in a browser. The rules of labels and evidence are those of the agent, whose tests have each case.
import 'fake-indexeddb/auto';
import { parseWalletPub, type WalletPub } from '@pool/core';
import {
  createFakeHolder,
  type FakeHolder,
  fakeEvidenceDomain,
  signFakeEvidence,
} from '@pool/testkit';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createEvidenceVerifier } from '../evidence-verifier.ts';
import { readAllBytes } from '../fixtures/browser-store.ts';
import type { Contact } from '../holder/contacts.ts';
import { createBrowserContacts } from './browser-contacts.ts';
import { openBrowserStores } from './store/browser-stores.ts';

const [ben, eva, mallory] = [1, 2, 3].map((index) => createFakeHolder(index)) as [
  FakeHolder,
  FakeHolder,
  FakeHolder,
];
function walletOf({ walletPub }: FakeHolder): WalletPub {
  return parseWalletPub(walletPub);
}
function nowMs(): number {
  return Date.UTC(2026, 10, 3);
}

let count = 0;
let name = '';
const asked: unknown[] = [];
const records = new Map<string, object>();
beforeEach(() => {
  count += 1;
  name = `contacts ${count}`;
  asked.length = 0;
  records.clear();
  enrol(ben);
  enrol(eva);
});

function enrol(holder: FakeHolder, changes: object = {}): void {
  const { address, walletPub, encryptionPublicKey, evidence } = holder;
  const keys = { walletPub, encryptionPublicKey, evidence };
  records.set(address, { address, readiness: 'ready', ...keys, ...changes });
}

async function openTab() {
  const raw = new Uint8Array(32).fill(1);
  const storageKey = await crypto.subtle.importKey('raw', raw, 'AES-GCM', false, [
    'encrypt',
    'decrypt',
  ]);
  const stores = await openBrowserStores({ name, storageKey });
  onTestFinished(() => stores.close());
  const { pins } = stores;
  return createBrowserContacts({
    records: stores.openRecords<readonly Contact[]>('page-contacts'),
    ...{ domain: fakeEvidenceDomain, nowMs, chain: 'anvil' },
    lookup: {
      async lookupRecipients(...question) {
        asked.push(question);
        return question[1].map((address) => records.get(address) ?? { address }) as never;
      },
    },
    verifier: createEvidenceVerifier({ domain: fakeEvidenceDomain, pins, nowMs }),
  });
}

describe('the contacts of a browser', () => {
  it('are there at the next visit with their evidence, until they are removed', async () => {
    const first = await openTab();
    expect(await first.list()).toEqual([]);
    expect(await first.add('@Secretlabel', walletOf(ben))).toBe('added');
    expect(await first.add('anna', walletOf(eva))).toBe('added');
    expect(await first.add('anna', walletOf(eva))).toBe('unchanged');
    const again = await openTab();
    expect(await again.list()).toMatchObject([
      { label: 'anna' },
      { label: 'secretlabel', walletPub: ben.walletPub, evidence: ben.evidence },
    ]);
    expect(await again.find('@secretlabel')).toBe(ben.walletPub);
    await again.remove('anna');
    await expect(again.remove('anna')).rejects.toMatchObject({ code: 'invalid_contact' });
    await expect(first.find('anna')).rejects.toMatchObject({
      ...{ code: 'invalid_contact', message: expect.stringContaining('@secretlabel') },
    });
    expect(await readAllBytes(name)).not.toContain('secretlabel');
    expect(JSON.stringify(asked)).not.toContain('secretlabel');
  });

  it('refuse a label that is taken or looks like another, before anything is asked', async () => {
    const contacts = await openTab();
    await contacts.add('eva', walletOf(eva));
    asked.length = 0;
    for (const label of ['eva', 'ev-a', 'еva', '']) {
      await expect(contacts.add(label, walletOf(ben))).rejects.toMatchObject({
        code: 'invalid_contact',
      });
    }
    expect(asked).toEqual([]);
  });

  it('refuse one of two labels that look alike, which two tabs add at once', async () => {
    const [one, other] = [await openTab(), await openTab()];
    const added = await Promise.allSettled([
      one.add('aml', walletOf(ben)),
      other.add('am1', walletOf(eva)),
    ]);
    expect(added.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await one.list()).toHaveLength(1);
  });

  it('take another P of the same W with newer evidence, and nothing older or of another wallet', async () => {
    const contacts = await openTab();
    await contacts.add('ben', walletOf(ben));
    const { encryptionPublicKey } = mallory;
    const later = { issuedAtMs: Date.UTC(2026, 10, 2), encryptionPublicKey };
    enrol(ben, { encryptionPublicKey, evidence: signFakeEvidence(ben.wallet, later) });
    expect(await contacts.add('ben', walletOf(ben))).toBe('rotated');
    enrol(ben);
    const again = await openTab();
    await expect(again.add('ben', walletOf(ben))).rejects.toMatchObject({
      code: 'contact_changed',
    });
    enrol(eva, { walletPub: mallory.walletPub, evidence: mallory.evidence });
    await expect(again.add('eva', walletOf(eva))).rejects.toMatchObject({
      code: 'contact_changed',
    });
    await expect(again.add('mal', walletOf(mallory))).rejects.toMatchObject({
      code: 'unregistered-recipient',
    });
    expect((await again.list()).map((contact) => contact.encryptionPublicKey)).toEqual([
      encryptionPublicKey,
    ]);
  });
});
