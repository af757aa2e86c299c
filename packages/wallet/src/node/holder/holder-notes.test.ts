import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  assertField,
  chainFamilies,
  type EvmChainSettings,
  PoolError,
  parseEvmAddress,
  parseField,
  Secret,
} from '@pool/core';
import { createNoteScanner, type NoteScanner } from '@pool/notes';
import { createLocalKeyHolder } from '@pool/signers';
import { createFakeHolder, createFakeNotePool, type FakeNotePool } from '@pool/testkit';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parseNotesFile } from '../../holder/notes-document.ts';
import { createHolderNotes } from './holder-notes.ts';

const anna = createFakeHolder(1);

const settings: EvmChainSettings = {
  family: 'evm',
  chainId: 31337,
  rpcUrl: 'http://127.0.0.1:9',
  pool: parseEvmAddress('0x5fbdb2315678afecb367f032d93f642f64180aa3'),
  registry: parseEvmAddress('0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0'),
  deployedAtBlock: 5,
  finality: { kind: 'depth', blocks: 1 },
  maxRecipients: 3,
  tokens: {
    USDC: { address: parseEvmAddress('0xe7f1725e7734ce288f8367e1bb143e90bb3f0512'), decimals: 6 },
  },
};

let scanner: NoteScanner;
beforeAll(async () => {
  scanner = await createNoteScanner({ threads: 1 });
});
afterAll(() => scanner.close());

type Changes = Partial<Parameters<typeof createHolderNotes>[0]>;

function makeHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'pool-home-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

function start(pool: FakeNotePool, changes: Changes = {}) {
  const warnings: unknown[] = [];
  const note = (): void => undefined;
  const notes = createHolderNotes({
    home: undefined,
    log: { debug: note, info: note, error: note, warn: (fields) => void warnings.push(fields) },
    openHolder: async () => ({
      signer: createLocalKeyHolder({
        privateKey: new Secret(anna.wallet.privateKey as `0x${string}`),
      }),
      family: chainFamilies.evm,
      walletPub: anna.walletPub,
      address: anna.address,
      viewingKey: new Secret(anna.viewingKey),
      encryptionPublicKey: anna.encryptionPublicKey,
      earlier: [],
    }),
    findChain: () => ({ key: 'anvil', settings }),
    createDeliveries: () => pool.deliveries,
    createHistory: () => pool.history,
    createScanner: async () => ({ ...scanner, close: async () => undefined }),
    ...changes,
  });
  return { notes, warnings };
}

/** The pool's notes are of the asset of these settings. */
function createPool(): FakeNotePool {
  return createFakeNotePool({ asset: settings });
}

describe('the holder’s notes in the agent', () => {
  it('answers the balance with symbol and chain', async () => {
    const pool = createPool();
    pool.fund([
      { holder: anna, amount: 5n },
      { holder: anna, amount: 6n },
    ]);
    const { notes } = start(pool);
    expect(await notes.address()).toBe(anna.address);
    expect(await notes.readBalance('USDC')).toEqual({
      total: 11n,
      notes: 2,
      largestNote: 6n,
      symbol: 'USDC',
      chain: 'anvil',
    });
    expect(notes.progress()).toMatchObject({ isRunning: false, notes: 2 });
    await notes.close();
  });

  it('makes a damaged cache again by itself, and warns', async () => {
    const pool = createPool();
    pool.fund([{ holder: anna, amount: 5n }]);
    const home = makeHome();
    const first = start(pool, { home });
    await first.notes.readBalance('USDC');
    await first.notes.close();
    const [archive, name = ''] = readdirSync(home).sort();
    expect(name).toMatch(/^holder-notes-[0-9a-f]{12}\.sqlite$/);
    expect(archive).toBe(name.replace('.sqlite', '.archive'));
    writeFileSync(join(home, name), 'x'.repeat(10_000));
    const second = start(pool, { home });
    expect(await second.notes.readBalance('USDC')).toMatchObject({ total: 5n });
    expect(second.warnings).toEqual([{ reason: 'SQLite cannot read it' }]);
    await second.notes.close();
    const third = start(pool, { home });
    expect(await third.notes.readBalance('USDC')).toMatchObject({ total: 5n });
    expect(third.warnings).toEqual([]);
    await third.notes.close();
  });

  it('loses no note with a damaged cache, although the platform does not serve it any more', async () => {
    const pool = createPool();
    pool.fund([{ holder: anna, amount: 5n }]);
    const home = makeHome();
    const first = start(pool, { home });
    await first.notes.readBalance('USDC');
    await first.notes.close();
    pool.listing.length = 0;
    const name = readdirSync(home).find((file) => file.endsWith('.sqlite')) ?? '';
    writeFileSync(join(home, name), 'x'.repeat(10_000));
    const second = start(pool, { home });
    expect(await second.notes.readBalance('USDC')).toMatchObject({ total: 5n });
    expect(await second.notes.rescan('USDC', undefined)).toMatchObject({ total: 5n });
    await second.notes.close();
  });

  it('rescans although the cache was damaged while it was open', async () => {
    const pool = createPool();
    pool.fund([{ holder: anna, amount: 5n }]);
    const home = makeHome();
    const { notes, warnings } = start(pool, { home });
    await notes.readBalance('USDC');
    const name = readdirSync(home).find((file) => file.endsWith('.sqlite')) ?? '';
    const database = new DatabaseSync(join(home, name));
    database.exec("UPDATE note_pages SET body = substr(body, 1, 20) || '!' || substr(body, 22)");
    database.close();
    expect(await notes.rescan('USDC', 12)).toMatchObject({ total: 5n });
    expect(warnings).toEqual([{ reason: 'notes in it were changed or removed' }]);
    await notes.close();
  });

  it('keeps a cache that is locked, and answers when it is free', async () => {
    const pool = createPool();
    pool.fund([{ holder: anna, amount: 5n }]);
    const home = makeHome();
    const { notes, warnings } = start(pool, { home });
    await notes.readBalance('USDC');
    pool.fund([{ holder: anna, amount: 6n }]);
    const name = readdirSync(home).find((file) => file.endsWith('.sqlite')) ?? '';
    const other = new DatabaseSync(join(home, name));
    other.exec('BEGIN IMMEDIATE');
    await expect(notes.readBalance('USDC')).rejects.toMatchObject({
      code: 'note_cache_unavailable',
      message: expect.stringMatching(/another process uses it/),
    });
    other.close();
    expect(await notes.readBalance('USDC')).toMatchObject({ total: 11n });
    expect(warnings).toEqual([]);
    await notes.close();
  });

  it('exports its notes without chain and platform, and another directory imports them', async () => {
    const pool = createPool();
    pool.fund([{ holder: anna, amount: 5n, memo: 'May' }]);
    pool.fund([{ holder: anna, amount: 6n }]);
    const one = start(pool, { home: makeHome() }).notes;
    await one.readBalance('USDC');
    const { fetchFinalBlock } = pool.history;
    const refuse = () => Promise.reject(new Error('asked'));
    pool.history.fetchFinalBlock = refuse;
    const document = await one.exportNotes();
    await one.close();
    pool.history.fetchFinalBlock = fetchFinalBlock;
    expect(document).toMatchObject({
      format: 'pool-notes',
      version: 1,
      chainId: 31337,
      pool: settings.pool,
      walletPub: anna.walletPub,
      encryptionPublicKey: anna.encryptionPublicKey,
      notes: pool.listing.map(({ batchIndex, slot, commitment, sealed }) => ({
        ...{
          token: settings.tokens['USDC']?.address,
          leafIndex: batchIndex,
          slot,
          commitment,
          sealed,
        },
        txHash: pool.leaves[batchIndex]?.txHash,
      })),
    });
    pool.listing.length = 0;
    const two = start(pool, {
      home: makeHome(),
      createDeliveries: () => ({ fetchPage: refuse }),
    }).notes;
    const expected = { ...document, encryptionPublicKeys: [document.encryptionPublicKey] };
    const file = parseNotesFile(JSON.stringify(document), expected, 'notes.json');
    expect(await two.importNotes(file.notes.map(({ offered }) => offered!))).toEqual([
      'accepted',
      'accepted',
    ]);
    expect((await two.exportNotes()).notes).toEqual(document.notes);
    await two.close();
  });

  it('finds at the next balance what another process imported', async () => {
    const pool = createPool();
    pool.fund([{ holder: anna, amount: 5n }]);
    const notes = pool.listing.splice(0);
    const home = makeHome();
    const agent = start(pool, { home }).notes;
    expect(await agent.readBalance('USDC')).toMatchObject({ total: 0n });
    const command = start(pool, { home }).notes;
    const offered = notes.map(({ commitment, sealed }) => ({
      commitment: parseField(commitment),
      sealed,
    }));
    expect(await command.importNotes(offered)).toEqual(['accepted']);
    await command.close();
    expect(await agent.readBalance('USDC')).toMatchObject({ total: 5n });
    await agent.close();
  });

  it('opens the cache again after another process wrote it', async () => {
    const pool = createPool();
    pool.fund([{ holder: anna, amount: 5n }]);
    const home = makeHome();
    const one = start(pool, { home }).notes;
    const two = start(pool, { home }).notes;
    await one.readBalance('USDC');
    await two.readBalance('USDC');
    pool.fund([{ holder: anna, amount: 6n }]);
    expect(await one.readBalance('USDC')).toMatchObject({ total: 11n });
    expect(await two.readBalance('USDC')).toMatchObject({ total: 11n });
    await one.close();
    await two.close();
  });

  it('shares one sync among callers that wait for the same', async () => {
    const pool = createPool();
    pool.fund([{ holder: anna, amount: 5n }]);
    let pages = 0;
    const { fetchPage } = pool.deliveries;
    const { notes } = start(pool, {
      createDeliveries: () => ({
        fetchPage: (token, cursor) => {
          pages += 1;
          return fetchPage(token, cursor);
        },
      }),
    });
    const answers = await Promise.all(Array.from({ length: 20 }, () => notes.readBalance('USDC')));
    expect(answers.every(({ total }) => total === 5n)).toBe(true);
    expect(pages).toBeLessThanOrEqual(2);
    await notes.close();
  });

  it('rescans from the beginning and from a block', async () => {
    const pool = createPool();
    pool.fund([{ holder: anna, amount: 5n }]);
    pool.fund([{ holder: anna, amount: 6n }]);
    const { notes } = start(pool, { home: makeHome() });
    await notes.readBalance('USDC');
    expect(await notes.rescan('USDC', undefined)).toMatchObject({ total: 11n, notes: 2 });
    expect(await notes.rescan('USDC', 12)).toMatchObject({ total: 11n, notes: 2 });
    await notes.close();
  });

  it('continues after a chain that replaced a final block, once it is rescanned', async () => {
    const pool = createPool();
    pool.fund([{ holder: anna, amount: 5n }]);
    const { notes } = start(pool, { home: makeHome() });
    await notes.readBalance('USDC');
    pool.replaced.add(pool.head());
    pool.mine(1);
    await expect(notes.readBalance('USDC')).rejects.toMatchObject({ code: 'note_history_changed' });
    expect(await notes.rescan('USDC', undefined)).toMatchObject({ total: 5n });
    await notes.close();
  });

  it('lists what arrived since the last question, and not what a rescan or a restart finds again', async () => {
    const pool = createPool();
    const nonce = assertField(31n);
    pool.fund([{ holder: anna, amount: 5n, nonce }]);
    const home = makeHome();
    const first = start(pool, { home, nowMs: () => 7_000 }).notes;
    const before = await first.readArrivals('USDC', undefined);
    expect(before).toMatchObject({ arrivals: [], balance: { total: 5n }, decimals: 6 });
    pool.fund([{ holder: anna, amount: 6n, memo: 'May' }]);
    // The route of the agent refuses other characters in a query.
    expect(before.cursor).toMatch(/^[0-9a-f-]+\.\d+$/);
    const after = await first.readArrivals('USDC', before.cursor);
    expect(after).toMatchObject({
      arrivals: [{ note: { amount: 6n, memo: 'May' }, seenAtMs: 7_000 }],
      balance: { total: 11n },
    });
    await first.rescan('USDC', undefined);
    pool.spend([pool.nullifierOf({ holder: anna, nonce })], [{ holder: anna, amount: 4n }]);
    expect(await first.readArrivals('USDC', after.cursor)).toMatchObject({
      arrivals: [],
      balance: { total: 10n },
    });
    await first.close();
    pool.fund([{ holder: anna, amount: 8n }]);
    const second = start(pool, { home }).notes;
    expect(await second.readArrivals('USDC', after.cursor)).toMatchObject({
      arrivals: [{ note: { amount: 8n } }],
      balance: { total: 18n },
    });
    await second.close();
  });

  it('lists once what another process put into the cache, without the change of a spend', async () => {
    const pool = createPool();
    const nonce = assertField(31n);
    pool.fund([{ holder: anna, amount: 5n, nonce }]);
    const home = makeHome();
    const agent = start(pool, { home }).notes;
    const before = await agent.readArrivals('USDC', undefined);
    pool.fund([{ holder: anna, amount: 6n }]);
    pool.spend([pool.nullifierOf({ holder: anna, nonce })], [{ holder: anna, amount: 4n }]);
    const command = start(pool, { home }).notes;
    const offered = pool.listing
      .slice(1)
      .map(({ commitment, sealed }) => ({ commitment: parseField(commitment), sealed }));
    // The second one is change, which the event of its spend has.
    expect(await command.importNotes(offered)).toEqual(['accepted', 'known']);
    await command.close();
    const after = await agent.readArrivals('USDC', before.cursor);
    expect(after).toMatchObject({ arrivals: [{ note: { amount: 6n } }], balance: { total: 10n } });
    await agent.rescan('USDC', undefined);
    expect(await agent.readArrivals('USDC', after.cursor)).toMatchObject({ arrivals: [] });
    pool.fund([{ holder: anna, amount: 8n }]);
    expect(await agent.readArrivals('USDC', after.cursor)).toMatchObject({
      arrivals: [{ note: { amount: 8n } }],
    });
    await agent.close();
  });

  it('lists nothing of the first reading', async () => {
    const pool = createPool();
    pool.fund([{ holder: anna, amount: 5n }]);
    const { notes } = start(pool);
    expect(await notes.readArrivals('USDC', 'aa.3')).toMatchObject({ arrivals: [] });
    await notes.close();
  });

  it.each(['DAI', 'usdc', 'toString', '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512'])(
    'refuses %s, which is not a configured symbol',
    async (token) => {
      const { notes } = start(createPool());
      await expect(notes.readBalance(token)).rejects.toMatchObject({
        code: 'unknown_token',
        status: 400,
      });
      await notes.close();
    },
  );

  it('names what is missing if there is no usable holder, and tries again', async () => {
    let isMissing = true;
    const { notes } = start(createPool(), {
      openHolder: async () => {
        if (isMissing) {
          throw new PoolError('invalid_configuration', 'DISBURSE_HOLDER_PRIVATE_KEY is required');
        }
        return { address: anna.address } as never;
      },
    });
    await expect(notes.address()).rejects.toMatchObject({
      code: 'holder_unavailable',
      status: 503,
      message: expect.stringContaining('DISBURSE_HOLDER_PRIVATE_KEY'),
    });
    isMissing = false;
    expect(await notes.address()).toBe(anna.address);
  });

  it('accepts nothing after it was closed', async () => {
    const { notes } = start(createPool());
    await notes.close();
    await expect(notes.readBalance('USDC')).rejects.toMatchObject({ code: 'stopping' });
  });
});
