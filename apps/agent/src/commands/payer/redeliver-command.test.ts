// `disburse-agent redeliver`: its exit codes, and what it prints, sends and writes.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Delivery } from '@pool/api';
import { parseEncryptionPublicKey, parseHex32 } from '@pool/core';
import { openJobStore } from '@pool/idempotency';
import { deliveryName } from '@pool/operations';
import { exitCodes } from '@pool/pay-run';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runCli } from '../../cli.ts';
import { writeAgentFiles } from '../../fixtures/stub-platform.ts';

const scope = '5b1d1f0e-6f55-4d3a-9d53-6f1f2c1a7e01';
function word(digit: string) {
  return parseHex32(`0x${'0'.repeat(63)}${digit}`);
}
const mine = parseEncryptionPublicKey(`0x${'a1'.repeat(32)}`);
const theirs = parseEncryptionPublicKey(`0x${'a2'.repeat(32)}`);

const delivery: Delivery = {
  chain: 'anvil',
  batch: {
    funder: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    token: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
    total: '3000',
    batchNonce: word('1'),
    eligibilityRoot: word('2'),
    batchRoot: word('3'),
    commitments: [word('4'), word('5')],
    sealedNotesHash: word('6'),
    digest: word('7'),
    deadline: 1_900_000_000,
  },
  sealedNotes: [
    { encryptionPublicKey: mine, sealed: `0x01${'0b'.repeat(208)}` },
    { encryptionPublicKey: theirs, sealed: `0x01${'0c'.repeat(208)}` },
  ],
};

let home: string;
let server: Server;
let url: string;
/** What the platform was sent, by path. */
let sent: { path: string; body: unknown }[];
let refusals: Map<string, string>;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'redeliver-'));
  sent = [];
  refusals = new Map();
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url ?? '';
      const refusal = refusals.get(path);
      response.setHeader('content-type', 'application/json');
      if (refusal !== undefined) {
        response.statusCode = 409;
        response.end(JSON.stringify({ code: refusal, message: 'refused' }));
        return;
      }
      sent.push({ path, body: JSON.parse(Buffer.concat(chunks).toString()) });
      const record = { key: 'x', state: 'settled', ...delivery, txHash: word('9') };
      response.end(JSON.stringify(record));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(home, { recursive: true });
});

async function run(...args: string[]) {
  let printed = '';
  const print = (text: string): void => {
    printed += `${text}\n`;
  };
  const code = await runCli(['redeliver', ...args, '--env-file', writeAgentFiles(home, url)], {
    out: print,
    err: print,
    terminal: { isTty: false, write: () => undefined },
  });
  return { code, printed };
}

async function store(
  key: string,
  status: 'completed' | 'partial',
  kept?: Delivery | string,
): Promise<void> {
  const jobs = await openJobStore({ url: `sqlite:${join(home, 'jobs.sqlite')}` });
  const payload = JSON.stringify({
    requestDigest: '0x00',
    phase: {
      result: { status, batches: [] },
      ...(status === 'completed' ? { kind: 'completed', settlement: {} } : { kind: 'reverted' }),
    },
  });
  await jobs.claim({ scope, key, fingerprint: 'f', state: 'accepted', payload, nowMs: 1 });
  const lease = await jobs.lease({ workerId: 'w', states: ['accepted'], ttlMs: 9, nowMs: 1 });
  const fenced = { scope, key, fence: lease?.fence ?? 0 };
  if (kept !== undefined) {
    await jobs.putOnce({
      ...fenced,
      name: deliveryName,
      value: typeof kept === 'string' ? kept : JSON.stringify(kept),
    });
  }
  await jobs.update({ ...fenced, state: 'done', payload, nowMs: 1 });
  await jobs.close();
}

it('delivers the notes of one key to the platform', async () => {
  await store('june', 'completed', delivery);
  await store('july', 'completed', delivery);
  const { code, printed } = await run('june');
  expect(printed).toContain('june: the platform has its 2 sealed notes');
  expect(code).toBe(exitCodes.ok);
  expect(sent).toEqual([{ path: '/agent-edge/settlements/june/notes', body: delivery }]);
});

it('delivers every paid key, and names the key that the platform refused', async () => {
  for (const key of ['may', 'june', 'july']) await store(key, 'completed', delivery);
  await store('august', 'partial');
  refusals.set('/agent-edge/settlements/june/notes', 'not_settled');
  const { code, printed } = await run('--all');
  expect(code).toBe(exitCodes.error);
  expect(printed).toMatch(/june: not_settled/);
  expect(printed).toMatch(/1 of 3 were not delivered/);
  expect(sent.map(({ path }) => path.split('/').at(-2))).toEqual(['may', 'july']);
});

it.each([
  ['is cut off', '{"chain": "anvil", "batch": {"salary-of-alice'],
  ['has another shape', '{"chain": "anvil", "salary": "of-alice"}'],
])('delivers the other keys when a stored delivery %s, and names that key', async (_, damaged) => {
  await store('may', 'completed', damaged);
  await store('june', 'completed', delivery);
  const { code, printed } = await run('--all');
  expect(sent.map(({ path }) => path.split('/').at(-2))).toEqual(['june']);
  expect(printed).toMatch(/may: store_damaged: .*backup/);
  expect(printed).toMatch(/1 of 2 were not delivered/);
  expect(printed).not.toContain('salary');
  expect(code).toBe(exitCodes.error);

  const path = join(home, 'notes.json');
  const written = await run('--all', '--out', path);
  expect(written.code).toBe(exitCodes.error);
  expect(written.printed).toContain('may: store_damaged');
  expect(JSON.parse(readFileSync(path, 'utf8')).batches).toHaveLength(1);
});

it('delivers the notes of a key whose job record is damaged', async () => {
  await store('june', 'completed', delivery);
  const database = new DatabaseSync(join(home, 'jobs.sqlite'));
  database.exec("UPDATE job SET payload = '{damaged'");
  database.close();
  expect((await run('--all')).code).toBe(exitCodes.ok);
  expect(sent).toHaveLength(1);
});

it('writes the notes of one recipient to a new file that only its owner can read', async () => {
  await store('june', 'completed', delivery);
  const path = join(home, 'notes.json');
  expect((await run('june', '--out', path, '--for', mine)).code).toBe(exitCodes.ok);
  const text = readFileSync(path, 'utf8');
  expect(JSON.parse(text)).toEqual({
    format: 'pool/sealed-notes/1',
    batches: [
      {
        chain: 'anvil',
        token: delivery.batch.token,
        batchRoot: delivery.batch.batchRoot,
        notes: [{ slot: 0, commitment: word('4'), ...delivery.sealedNotes[0] }],
      },
    ],
  });
  // The file for one recipient names no other recipient.
  expect(text).not.toContain(theirs);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(sent).toEqual([]);
  // The command does not overwrite a file.
  const again = await run('june', '--out', path);
  expect([again.code, again.printed.includes('must be a new file')]).toEqual([
    exitCodes.error,
    true,
  ]);
});

it('refuses a key that it cannot deliver, and names the reason', async () => {
  await store('june', 'completed');
  await store('may', 'partial');
  expect((await run()).printed).toContain('name one key');
  expect((await run('june', '--all')).printed).toContain('name one key');
  expect((await run('june', '--for', mine)).printed).toContain('needs --out');
  expect((await run('june')).printed).toContain('delivery_not_kept');
  expect((await run('may')).printed).toContain('no paid job under that key');
  const path = join(home, 'notes.json');
  expect((await run('june', '--out', path)).printed).toContain('delivery_not_kept');
  expect(existsSync(path)).toBe(false);
});
