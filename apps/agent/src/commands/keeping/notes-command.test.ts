// `disburse-agent notes export` and `notes import`: what is written, what is taken, what is refused, and the exit codes. The chain is a fake
// of the testkit; its notes are real.

import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readChainsFile } from '@pool/configuration';
import { assertField, bigintToHex32, type EvmChainSettings } from '@pool/core';
import { createNoteScanner, type NoteScanner } from '@pool/notes';
import { openHolder } from '@pool/signers';
import {
  createFakeHolder,
  createFakeNotePool,
  type FakeHolder,
  type FakeNotePool,
  textOf,
} from '@pool/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { NotesDocument } from '../../../../../packages/wallet/src/holder/notes-document.ts';
import { createHolderNotes } from '../../../../../packages/wallet/src/node/holder/holder-notes.ts';
import { readKeptNotes } from '../../../../../packages/wallet/src/node/holder/notes-file.ts';
import { runCli } from '../../cli.ts';
import { readKeepingSettings } from '../../config/config.ts';
import { writeAgentFiles } from '../../fixtures/stub-platform.ts';
import { runNotesExport, runNotesImport } from './notes-command.ts';

const anna = createFakeHolder(1);
const ben = createFakeHolder(2);

let scanner: NoteScanner;
beforeAll(async () => {
  scanner = await createNoteScanner({ threads: 1 });
});
afterAll(() => scanner.close());

let home: string;
let envFile: string;
let settings: EvmChainSettings;
let pool: FakeNotePool;
beforeEach(() => {
  ({ home, envFile } = createAgent(anna));
  settings = readChainsFile(join(home, 'chains.json')).chains['anvil']!;
  pool = createFakeNotePool({ asset: settings });
});

/** An agent directory with its configuration. Its platform does not answer. */
function createAgent(holder: FakeHolder, lines: readonly string[] = []) {
  const directory = mkdtempSync(join(tmpdir(), 'pool-notes-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = writeAgentFiles(directory, 'http://127.0.0.1:9', [
    `DISBURSE_HOLDER_PRIVATE_KEY=${holder.wallet.privateKey}`,
    `DISBURSE_HOLDER_VIEWING_KEY=${bigintToHex32(holder.viewingKey)}`,
    ...lines,
  ]);
  return { home: directory, envFile: path };
}

function createPorts() {
  return {
    createHistory: () => pool.history,
    createScanner: async () => ({ ...scanner, close: async () => undefined }),
  };
}

/** The agent reads the platform's listing, as for a balance. */
async function readAsAgent(env = envFile) {
  const keeping = readKeepingSettings(env);
  const note = (): void => undefined;
  const notes = createHolderNotes({
    home: keeping.home,
    log: { debug: note, info: note, error: note, warn: note },
    openHolder: () => openHolder({ ...keeping, chain: 'anvil' }),
    findChain: () => ({ key: 'anvil', settings }),
    createDeliveries: () => pool.deliveries,
    ...createPorts(),
  });
  const { total } = await notes.readBalance('USDC');
  await notes.close();
  return total;
}

function createOutput() {
  const printed: string[] = [];
  const written: string[] = [];
  return {
    ...{ printed, written },
    out: (outcome: string | object) => void printed.push(textOf(outcome)),
    terminal: { isTty: false, write: (text: string) => void written.push(text) },
  };
}

async function runExport(options: Parameters<typeof runNotesExport>[0] = {}, env = envFile) {
  const output = createOutput();
  const code = await runNotesExport({ envFile: env, ...options }, output, createPorts());
  return { code, printed: output.printed.join('\n'), written: output.written.join('') };
}

async function runImport(path: string, env = envFile, json = false) {
  const output = createOutput();
  const code = await runNotesImport(path, { envFile: env, json }, output, createPorts());
  return { code, printed: output.printed.join('\n'), written: output.written };
}

async function importJson(path: string, env = envFile) {
  const { code, printed } = await runImport(path, env, true);
  return { code, report: JSON.parse(printed) as unknown };
}

function fileOf(contents: unknown, name = 'notes.json'): string {
  const path = join(home, name);
  writeFileSync(path, typeof contents === 'string' ? contents : JSON.stringify(contents));
  return path;
}

/** In the form of `redeliver --out`. */
function createDelivery(notes: readonly { commitment: string; sealed: string; to: FakeHolder }[]) {
  return {
    format: 'pool/sealed-notes/1',
    batches: [
      {
        ...{ chain: 'anvil', token: settings.tokens['USDC']?.address, batchRoot: '0x00' },
        notes: notes.map(({ commitment, sealed, to }, slot) => ({
          ...{ slot, commitment, sealed, encryptionPublicKey: to.encryptionPublicKey },
        })),
      },
    ],
  };
}

describe('notes export', () => {
  it('writes a new file of mode 0600 with every note, spent ones too, and without a key [command.notes-export]', async () => {
    const nonce = assertField(7n);
    pool.fund([{ holder: anna, amount: 30n, memo: 'May', nonce }]);
    pool.fund([{ holder: anna, amount: 12n }]);
    pool.spend([pool.nullifierOf({ holder: anna, nonce })], []);
    expect(await readAsAgent()).toBe(12n);
    const file = join(home, 'kept.json');
    const { code, printed } = await runExport({ file });
    expect(code).toBe(0);
    expect(printed).toContain(`${file}: 2 sealed note(s), spent ones too (USDC: 2 note(s))`);
    expect(printed).toContain(`chain anvil (chain id 31337), pool ${settings.pool}`);
    expect(printed).toContain(`P ${anna.encryptionPublicKey}`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, 'utf8');
    expect(JSON.parse(text)).toMatchObject({ format: 'pool-notes', version: 1 });
    for (const secret of [bigintToHex32(anna.viewingKey), anna.wallet.privateKey]) {
      expect(text.toLowerCase()).not.toContain(secret.slice(2).toLowerCase());
    }
  });

  it('never overwrites a file [command.notes-export]', async () => {
    pool.fund([{ holder: anna, amount: 30n }]);
    await readAsAgent();
    const file = fileOf('kept');
    await expect(runExport({ file })).rejects.toMatchObject({ code: 'file_not_written' });
    expect(readFileSync(file, 'utf8')).toBe('kept');
  });

  it('prints the document alone on standard output, and what it is beside it [command.notes-export]', async () => {
    pool.fund([{ holder: anna, amount: 30n }]);
    await readAsAgent();
    const { code, printed, written } = await runExport();
    expect(code).toBe(0);
    expect((JSON.parse(printed) as NotesDocument).notes).toHaveLength(1);
    expect(written).toContain('1 sealed note(s)');
  });

  it('writes the notes of one token, and refuses one that is not configured', async () => {
    pool.fund([{ holder: anna, amount: 30n }]);
    await readAsAgent();
    const file = join(home, 'usdc.json');
    const { printed } = await runExport({ file, token: 'USDC', json: true });
    expect(JSON.parse(printed)).toMatchObject({ path: file, notes: 1, tokens: { USDC: 1 } });
    await expect(runExport({ token: 'DAI' })).rejects.toMatchObject({ code: 'unknown_token' });
    await expect(runExport({ json: true })).rejects.toThrow('--json needs --file');
  });

  it('writes nothing if the agent directory has no note, and says what to do', async () => {
    const file = join(home, 'kept.json');
    await expect(runExport({ file })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('disburse-agent balance'),
    });
    expect(existsSync(file)).toBe(false);
  });

  it('is read by send --self-submit', async () => {
    pool.fund([{ holder: anna, amount: 30n }]);
    await readAsAgent();
    const file = join(home, 'kept.json');
    await runExport({ file });
    const identity = { ...settings, walletPub: anna.walletPub };
    const [note] = pool.listing;
    expect(readKeptNotes(file, identity)).toEqual([note]);
    const document = JSON.parse(readFileSync(file, 'utf8')) as {
      readonly notes: readonly object[];
    };
    const [entry] = document.notes;
    const ofAnotherToken = { ...entry, token: settings.pool, leafIndex: 7 };
    const both = join(home, 'both.json');
    writeFileSync(both, JSON.stringify({ ...document, notes: [entry, ofAnotherToken] }));
    expect(readKeptNotes(both, identity)).toEqual([note, { ...note, batchIndex: 7 }]);
    expect(() => readKeptNotes(file, { ...identity, walletPub: ben.walletPub })).toThrow(
      expect.objectContaining({ code: 'restore_refused' }),
    );
    const delivery = fileOf(createDelivery([]));
    expect(() => readKeptNotes(delivery, identity)).toThrow(/notes import/);
  });
});

describe('notes import', () => {
  it('takes an export into another directory, and again without effect [command.notes-import]', async () => {
    pool.fund([{ holder: anna, amount: 30n, memo: 'May' }]);
    pool.fund([{ holder: anna, amount: 12n }]);
    await readAsAgent();
    const file = join(home, 'kept.json');
    await runExport({ file });
    // The platform lost everything.
    pool.listing.length = 0;
    const other = createAgent(anna);
    expect(await runImport(file, other.envFile)).toEqual({
      code: 0,
      printed: `${file}: 2 new, 0 known, 0 refused\n  balance: from 0 USDC to 0.000042 USDC`,
      written: [],
    });
    expect(await runImport(file, other.envFile)).toMatchObject({
      code: 0,
      printed: `${file}: 0 new, 2 known, 0 refused\n  no balance changed`,
    });
    expect(await readAsAgent(other.envFile)).toBe(42n);
    const files = readdirSync(other.home).filter((name) => name.startsWith('holder-notes-'));
    expect(files.sort().map((name) => name.split('.').at(-1))).toEqual(['archive', 'sqlite']);
  });

  it('takes what a funder delivered again, and leaves the notes of others [command.notes-import]', async () => {
    pool.fund([
      { holder: anna, amount: 30n },
      { holder: ben, amount: 5n },
    ]);
    const [mine, theirs] = pool.listing.splice(0);
    expect(await readAsAgent()).toBe(0n);
    const notes = [
      { ...mine!, to: anna },
      { ...theirs!, to: ben },
    ];
    const file = fileOf(createDelivery(notes));
    expect(await importJson(file)).toEqual({
      code: 0,
      report: {
        ...{ chain: 'anvil', chainId: 31337, pool: settings.pool },
        ...{ new: 1, known: 0, others: 1, refused: [] },
        balances: [{ token: 'USDC', before: '0', after: '30' }],
      },
    });
    expect(await readAsAgent()).toBe(30n);
  });

  it('refuses each bad entry with its place and reason, takes the others, and ends with 1 [command.notes-import]', async () => {
    pool.fund([
      { holder: anna, amount: 30n },
      { holder: ben, amount: 5n },
      { holder: anna, amount: 0n },
    ]);
    const [mine, theirs, empty] = pool.listing.splice(0);
    const elsewhere = createFakeNotePool({ asset: settings });
    elsewhere.fund([{ holder: anna, amount: 9n }]);
    const [unknown] = elsewhere.listing;
    const notes = [
      // The label lies: it is of another holder.
      { ...theirs!, to: anna },
      { ...unknown!, commitment: bigintToHex32(5n), to: anna },
      { ...mine!, sealed: '0x00', to: anna },
      { ...mine!, sealed: `0x${'00'.repeat(209)}`, to: anna },
      { ...empty!, to: anna },
      // The label lies here too, and the note is this holder's.
      { ...mine!, to: ben },
    ];
    const file = fileOf(createDelivery(notes));
    const { code, report } = await importJson(file);
    expect([code, report]).toMatchObject([
      1,
      {
        ...{ new: 1, known: 0, others: 0 },
        refused: [
          { entry: 'batch 1, note 1', reason: 'not_ours' },
          { entry: 'batch 1, note 2', reason: 'not_on_chain' },
          { entry: 'batch 1, note 3', reason: 'damaged' },
          { entry: 'batch 1, note 4', reason: 'not_ours' },
          { entry: 'batch 1, note 5', reason: 'not_ours' },
        ],
        balances: [{ before: '0', after: '30' }],
      },
    ]);
    // A place that is known is not opened again.
    const { printed } = await runImport(file);
    expect(printed).toMatch(
      /0 new, 2 known, 4 refused\n {2}batch 1, note 1: refused: it does not open/,
    );
    expect(printed).toContain('batch 1, note 2: refused: no final batch or spend of this pool has');
  });

  it('takes notes of an earlier P after a rotation, and exports them with it', async () => {
    pool.fund([{ holder: anna, amount: 30n }]);
    const [mine] = pool.listing.splice(0);
    const { viewingKey, encryptionPublicKey } = createFakeHolder(9);
    const rotated = createAgent({ ...anna, viewingKey }, [
      `DISBURSE_HOLDER_EARLIER_VIEWING_KEYS=${bigintToHex32(anna.viewingKey)}`,
    ]);
    const file = fileOf(createDelivery([{ ...mine!, to: anna }]));
    expect(await importJson(file, rotated.envFile)).toMatchObject({
      code: 0,
      report: { new: 1, others: 0, balances: [{ before: '0', after: '30' }] },
    });
    const exported = await runExport(
      { file: join(home, 'kept.json'), json: true },
      rotated.envFile,
    );
    expect(JSON.parse(exported.printed)).toMatchObject({
      notes: 1,
      encryptionPublicKeys: [encryptionPublicKey, anna.encryptionPublicKey],
    });
    expect(await importJson(join(home, 'kept.json'))).toMatchObject({
      code: 0,
      report: { new: 1 },
    });
  });

  it('says that a new note which is spent changes no balance', async () => {
    const nonce = assertField(7n);
    pool.fund([{ holder: anna, amount: 30n, nonce }]);
    const [mine] = pool.listing.splice(0);
    pool.spend([pool.nullifierOf({ holder: anna, nonce })], []);
    const file = fileOf(createDelivery([{ ...mine!, to: anna }]));
    expect(await runImport(file)).toMatchObject({
      code: 0,
      printed: expect.stringContaining('no balance changed: the new notes are spent already'),
    });
  });

  it('ends with 1 if no note of the file is the holder’s', async () => {
    pool.fund([{ holder: ben, amount: 5n }]);
    const [theirs] = pool.listing;
    const file = fileOf(createDelivery([{ ...theirs!, to: ben }]));
    expect(await importJson(file)).toMatchObject({ code: 1, report: { others: 1, refused: [] } });
  });

  it.each([
    ['{', 'it is not whole JSON'],
    ['{"format":"other"}', 'it is neither an export'],
    ['{"format":"pool-notes","version":2}', 'it is of version 2'],
    [
      `{"format":"pool-notes","version":1,"chainId":1,"pool":"0x5fbdb2315678afecb367f032d93f642f64180aa3","walletPub":"","encryptionPublicKey":"","notes":[]}`,
      'it has notes of pool',
    ],
  ])('refuses the file %s', async (text, message) => {
    const file = fileOf(text);
    const errors: string[] = [];
    const code = await runCli(['notes', 'import', file, '--env-file', envFile], {
      out: () => undefined,
      err: (line) => void errors.push(line),
      terminal: { isTty: false, write: () => undefined },
    });
    expect([code, errors.join('')]).toEqual([2, expect.stringContaining(message)]);
    expect(errors.join('')).toContain(file);
  });

  it('changes nothing of what the agent has read of the platform’s listing', async () => {
    pool.fund([
      { holder: anna, amount: 1n },
      { holder: anna, amount: 2n },
      { holder: anna, amount: 3n },
      { holder: anna, amount: 4n },
    ]);
    await readAsAgent();
    const file = join(home, 'kept.json');
    await runExport({ file });
    await importJson(file);
    const asked: (string | undefined)[] = [];
    const { fetchPage } = pool.deliveries;
    pool.deliveries.fetchPage = (token, cursor) => {
      asked.push(cursor);
      return fetchPage(token, cursor);
    };
    await readAsAgent();
    expect(asked[0]).toBeDefined();
  });
});
