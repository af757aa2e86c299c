// Contacts: labels for W with their evidence. A label stays on this machine.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@pool/core';
import {
  createFakeHolder,
  type FakeHolder,
  fakeEvidenceDomain,
  signFakeEvidence,
} from '@pool/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { withPortProof } from '../../../../../packages/pay-run/src/fixtures/port-proofs.ts';
import { findContact } from '../../../../../packages/wallet/src/holder/contacts.ts';
import {
  contactsPath,
  readContacts,
} from '../../../../../packages/wallet/src/node/store/contacts.ts';
import { runCli } from '../../cli.ts';
import { writeAgentFiles } from '../../fixtures/stub-platform.ts';

const [ben, eva, mallory] = [1, 2, 3].map((index) => createFakeHolder(index)) as [
  FakeHolder,
  FakeHolder,
  FakeHolder,
];

/** A platform that records everything it is sent. It is the agent too: a transfer ends with its receipt. */
const platform = {
  url: '',
  /** Address, headers and bodies of all requests, as text. */
  received: [] as string[],
  records: new Map<string, object>(),
};
const loopbackToken = 'ab'.repeat(32);
function answer(request: IncomingMessage, response: ServerResponse): void {
  let body = '';
  request.on('data', (chunk: Buffer) => {
    body += chunk.toString('utf8');
  });
  request.on('end', () => {
    platform.received.push(JSON.stringify([request.url, request.headers, body]));
    response.setHeader('content-type', 'application/json');
    if (request.url?.endsWith('/transfer') === true) {
      const receipt = {
        operation: 'transfer',
        status: 'dry-run',
        nullifiers: [],
        changeAmount: '0',
      };
      response.end(JSON.stringify(receipt));
      return;
    }
    const { addresses = [] } = JSON.parse(body === '' ? '{}' : body) as { addresses?: string[] };
    const recipients = addresses.map(
      (address) =>
        platform.records.get(address.toLowerCase()) ?? { address, readiness: 'not_enrolled' },
    );
    response.end(JSON.stringify({ recipients }));
  });
}
const server = createServer(withPortProof(new Secret(loopbackToken), answer));

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  platform.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  platform.received = [];
  platform.records.clear();
  enrol(ben);
  enrol(eva);
});

function enrol(holder: FakeHolder, changes: object = {}): void {
  const { address, walletPub, encryptionPublicKey, evidence } = holder;
  const keys = { walletPub, encryptionPublicKey, evidence };
  const record = { address, readiness: 'ready', ...keys, ...changes };
  platform.records.set(address.toLowerCase(), record);
}

function start() {
  const home = mkdtempSync(join(tmpdir(), 'pool-contacts-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const port = new URL(platform.url).port;
  const lines = [
    'DISBURSE_CHAIN=anvil',
    `DISBURSE_PORT=${port}`,
    `DISBURSE_TRANSFER_TOKEN=pool_live_transfer_${'a'.repeat(43)}`,
  ];
  writeFileSync(join(home, 'loopback.token'), loopbackToken);
  const envFile = writeAgentFiles(home, platform.url, lines);
  return {
    home,
    async run(...args: readonly string[]) {
      const printed: string[] = [];
      const errors: string[] = [];
      const shown: string[] = [];
      const code = await runCli([...args, '--env-file', envFile], {
        out: (text) => void printed.push(text),
        err: (text) => void errors.push(text),
        terminal: { isTty: false, write: (text) => void shown.push(text) },
      });
      return {
        code,
        printed: printed.join('\n'),
        errors: errors.join('\n'),
        shown: shown.join(''),
      };
    },
  };
}

describe('contacts', () => {
  it('are added with their evidence, listed and removed, in a file of the owner only', async () => {
    const { home, run } = start();
    expect((await run('contacts', 'list')).printed).toContain('no contacts');
    expect(await run('contacts', 'add', '@Ben', ben.walletPub)).toMatchObject({
      code: 0,
      printed: expect.stringContaining(`W ${ben.walletPub}`),
    });
    expect(readContacts(home)).toMatchObject([
      { label: 'ben', walletPub: ben.walletPub, evidence: ben.evidence },
    ]);
    expect(statSync(contactsPath(home)).mode & 0o777).toBe(0o600);
    expect((await run('contacts', 'list')).printed).toMatch(/^@ben +0x/);
    expect((await run('contacts', 'remove', 'ben')).code).toBe(0);
    expect(readContacts(home)).toEqual([]);
    expect(await run('contacts', 'remove', 'ben')).toMatchObject({
      errors: expect.stringMatching(/^invalid_contact/),
    });
  });

  it.each([
    ['a label of another wallet', ['eva', () => ben.walletPub], 'invalid_contact'],
    ['a wallet of another label', ['evita', () => eva.walletPub], 'invalid_contact'],
    ['a label that looks like another', ['ev-a', () => ben.walletPub], 'invalid_contact'],
    ['a label with characters of another script', ['еva', () => ben.walletPub], 'invalid_contact'],
    ['an address', ['ben', () => ben.address], 'invalid_wallet_pub'],
    ['a wallet that is not enrolled', ['mal', () => mallory.walletPub], 'unregistered-recipient'],
  ] as const)('refuse %s', async (_, [label, wallet], code) => {
    const { home, run } = start();
    await run('contacts', 'add', 'eva', eva.walletPub);
    const before = readFileSync(contactsPath(home), 'utf8');
    const { errors } = await run('contacts', 'add', label, wallet());
    expect(errors).toMatch(new RegExp(`^${code}: `));
    expect(readFileSync(contactsPath(home), 'utf8')).toBe(before);
  });

  it.each(['rn', '1', '0'])('refuse a label that differs from another by %s only', async (part) => {
    const { run } = start();
    const twin = { rn: 'm', '1': 'l', '0': 'o' }[part] ?? '';
    await run('contacts', 'add', `a${twin}b`, eva.walletPub);
    const { errors } = await run('contacts', 'add', `a${part}b`, ben.walletPub);
    expect(errors).toMatch(/^invalid_contact/);
  });

  it('take another P of the same W with newer evidence, and refuse older evidence', async () => {
    const { home, run } = start();
    await run('contacts', 'add', 'ben', ben.walletPub);
    const { encryptionPublicKey } = mallory;
    const later = { issuedAtMs: Date.UTC(2026, 10, 2), encryptionPublicKey };
    enrol(ben, { encryptionPublicKey, evidence: signFakeEvidence(ben.wallet, later) });
    const renewed = await run('contacts', 'add', 'ben', ben.walletPub);
    expect(renewed).toMatchObject({ code: 0, printed: expect.stringContaining('renewed') });
    expect(readContacts(home)[0]?.encryptionPublicKey).toBe(encryptionPublicKey);
    enrol(ben);
    const { errors } = await run('contacts', 'add', 'ben', ben.walletPub);
    expect(errors).toMatch(/^contact_changed: .*newer sign-in evidence/);
    expect(readContacts(home)[0]?.encryptionPublicKey).toBe(encryptionPublicKey);
  });

  it('refuse evidence of another wallet under this address', async () => {
    const { run } = start();
    enrol(ben, { walletPub: mallory.walletPub, evidence: mallory.evidence });
    expect((await run('contacts', 'add', 'ben', ben.walletPub)).errors).toMatch(/^contact_changed/);
  });

  it('whose W was exchanged in the file are refused when they are used', async () => {
    const { home, run } = start();
    await run('contacts', 'add', 'ben', ben.walletPub);
    const find = () => findContact(readContacts(home), '@ben', fakeEvidenceDomain, Date.now());
    expect(find()).toBe(ben.walletPub);
    const text = readFileSync(contactsPath(home), 'utf8');
    writeFileSync(contactsPath(home), text.replace(ben.walletPub, mallory.walletPub));
    expect(find).toThrow(expect.objectContaining({ code: 'contact_changed' }));
    writeFileSync(contactsPath(home), text.slice(9));
    expect(find).toThrow(expect.objectContaining({ code: 'store_damaged' }));
  });

  it('pay by label, and the label is in no request', async () => {
    const { run } = start();
    await run('contacts', 'add', 'secretlabel', ben.walletPub);
    const paid = await run('transfer', '--to', '@secretlabel:7USDC', '--dry-run', '--yes');
    expect(paid).toMatchObject({
      code: 0,
      shown: expect.stringContaining(`  7 USDC to @secretlabel (${ben.walletPub})`),
    });
    const unknown = await run('transfer', '--to', '@nobody:7', '--dry-run', '--yes');
    expect(unknown.errors).toMatch(/^invalid_contact: .*@secretlabel/);
    const sent = platform.received.join('\n');
    expect(sent).toContain(ben.walletPub);
    expect(sent).toContain(ben.address);
    expect(sent.toLowerCase()).not.toMatch(/secretlabel|nobody/);
  });
});
