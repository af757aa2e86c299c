// `disburse-agent backup create` and `verify`: what a backup contains, that it is one state although the agent writes, and that every change
// of the file is noticed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { exitCodes } from '@pool/pay-run';
import { readData } from '@pool/testkit';
import { backupMagic } from '@pool/wallet';
import { Encrypter, generateX25519Identity } from 'age-encryption';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type BackupWorld,
  backupEmployerId,
  createBackupWorld,
  earlier,
  escrow,
  wallet,
} from '../../fixtures/backup-world.ts';

let world: BackupWorld;
beforeEach(async () => {
  world = await createBackupWorld();
});
afterEach(() => world.remove());

describe('backup create', () => {
  it('writes one encrypted file, from which verify says date, W, P and counts', async () => {
    const before = Date.now();
    const { code, printed } = await world.create();
    expect(code).toBe(exitCodes.ok);
    expect(printed).toContain('no spend key');
    expect(statSync(world.file).mode & 0o777).toBe(0o600);
    const bytes = readFileSync(world.file, 'latin1');
    expect(bytes).toContain('age-encryption.org/v1');
    for (const secret of [escrow.viewingKey.slice(2), 'canary', 'SQLite format']) {
      expect(bytes).not.toContain(secret);
    }
    const verified = await world.verify();
    expect(verified.code).toBe(exitCodes.ok);
    expect(verified.printed).toContain(`W ${wallet.walletPub}`);
    expect(verified.printed).toContain(`P ${escrow.encryptionPublicKey}`);
    expect(verified.printed).toContain(`employer ${backupEmployerId}`);
    expect(verified.printed).toMatch(/evidence-pins\.sqlite: \d+ bytes \(1 evidence_pins\)/);
    expect(verified.printed).toMatch(/spends\.sqlite: \d+ bytes \(0 spend_inputs, 0 spends\)/);
    const date = /made (\S+) /.exec(verified.printed)?.[1] ?? '';
    expect(Date.parse(date)).toBeGreaterThanOrEqual(before);
    for (const secret of [escrow.viewingKey.slice(2), wallet.privateKey.slice(2), 'canary']) {
      expect(verified.printed + printed).not.toContain(secret);
    }
    expect(readdirSync(world.home).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('takes a database as it is in one moment, while another process writes to it', async () => {
    const path = join(world.home, 'spends.sqlite');
    const child = spawn(
      process.execPath,
      [
        '--disable-warning=ExperimentalWarning',
        '--input-type=module',
        '-e',
        `import { DatabaseSync } from 'node:sqlite';
         const database = new DatabaseSync(${JSON.stringify(path)}, { timeout: 10000 });
         database.exec('PRAGMA journal_mode = WAL; CREATE TABLE left_side (n); CREATE TABLE right_side (n);');
         for (let n = 0; ; n += 1) {
           database.exec('BEGIN; INSERT INTO left_side VALUES (zeroblob(4000)); INSERT INTO right_side VALUES (1); COMMIT');
           if (n === 200) process.stdout.write('busy');
         }`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    try {
      await new Promise((resolve) => child.stdout.once('data', resolve));
      for (let round = 0; round < 3; round += 1) {
        const out = join(world.directory, `${round}.age`);
        const args = ['create', '--out', out, '--encrypt-to', world.recipient, '--json'];
        const { code, printed } = await world.run([...args, '--env-file', world.source]);
        expect(code).toBe(exitCodes.ok);
        const { parts } = readData(printed) as {
          parts: { name: string; counts: Record<string, number> }[];
        };
        const counts = parts.find(({ name }) => name === 'spends.sqlite')?.counts;
        expect(counts?.['left_side']).toBeGreaterThan(200);
        expect(counts?.['left_side']).toBe(counts?.['right_side']);
      }
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('can be encrypted with a passphrase, and then no other one opens it', async () => {
    const passphrase = join(world.directory, 'passphrase');
    const other = join(world.directory, 'other');
    writeFileSync(passphrase, 'correct horse battery staple\n');
    writeFileSync(other, 'incorrect horse battery staple\n');
    const made = await world.run([
      'create',
      '--out',
      world.file,
      '--passphrase-file',
      passphrase,
      '--env-file',
      world.source,
    ]);
    expect(made.code).toBe(exitCodes.ok);
    expect((await world.run(['verify', world.file, '--passphrase-file', passphrase])).code).toBe(0);
    const refused = await world.run(['verify', world.file, '--passphrase-file', other]);
    expect(refused.printed).toContain('restore_refused');
  });

  it.each([
    ['no encryption', []],
    ['an world.identity in place of a recipient', ['--encrypt-to', 'AGE-SECRET-KEY-1CANARY']],
    ['a short passphrase', ['--passphrase-file', 'PASSPHRASE']],
  ])('refuses %s, and writes nothing', async (_title, args) => {
    const passphrase = join(world.directory, 'passphrase');
    writeFileSync(passphrase, 'canary\n');
    const given = args.map((arg) => (arg === 'PASSPHRASE' ? passphrase : arg));
    const { code, printed } = await world.run([
      'create',
      '--out',
      world.file,
      '--env-file',
      world.source,
      ...given,
    ]);
    expect(code).not.toBe(exitCodes.ok);
    expect(printed.toLowerCase()).not.toContain('canary');
    expect(existsSync(world.file)).toBe(false);
  });

  it('overwrites no file', async () => {
    writeFileSync(world.file, 'mine');
    const { code, printed } = await world.create();
    expect(code).not.toBe(exitCodes.ok);
    expect(printed).toContain('overwrites no file');
    expect(readFileSync(world.file, 'utf8')).toBe('mine');
    expect(readdirSync(world.directory).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('is refused where a store is damaged', async () => {
    const path = join(world.home, 'spends.sqlite');
    const bytes = readFileSync(path);
    bytes.fill(0x5a, 4096, 8192);
    writeFileSync(path, bytes);
    const { code, printed } = await world.create();
    expect(code).not.toBe(exitCodes.ok);
    expect(printed).toContain('file_not_written');
    expect(existsSync(world.file)).toBe(false);
  });

  it('includes stores that the configuration keeps elsewhere', async () => {
    const path = join(world.directory, 'elsewhere.sqlite');
    const database = new DatabaseSync(path);
    database.exec('CREATE TABLE job (id INTEGER); INSERT INTO job VALUES (1), (2)');
    database.close();
    const journal = join(world.home, 'keys.sqlite');
    const keys = new DatabaseSync(journal);
    keys.exec('CREATE TABLE job (id INTEGER)');
    keys.close();
    world.configure({
      DISBURSE_JOB_STORE: `sqlite:${path}`,
      DISBURSE_SPEND_JOURNAL: `sqlite:${journal}`,
    });
    const { printed } = await world.create();
    expect(printed).toMatch(/jobs\.sqlite: \d+ bytes \(2 job\)/);
    expect(printed).toMatch(/spend-journal\.sqlite: \d+ bytes \(0 job\)/);
    expect(printed).not.toContain('keys.sqlite');
    expect((await world.restore()).printed).toContain(
      `DISBURSE_SPEND_JOURNAL=sqlite:${world.target}/spend-journal.sqlite`,
    );
  });
});

describe('backup verify', () => {
  it('notices a change of any byte, and a missing end', async () => {
    await world.create();
    const whole = readFileSync(world.file);
    const places = [0, 30, 120, 200, Math.floor(whole.length / 2), whole.length - 1];
    for (const place of places) {
      const changed = Buffer.from(whole);
      changed[place] = (changed[place] ?? 0) ^ 1;
      writeFileSync(world.file, changed);
      const { code, printed } = await world.verify();
      expect(code).toBe(2);
      expect(printed).toMatch(/restore_refused/);
    }
    for (const length of [0, 100, whole.length - 70_000, whole.length - 1]) {
      writeFileSync(world.file, whole.subarray(0, Math.max(0, length)));
      expect((await world.verify()).code).toBe(2);
    }
  });

  it('says that another world.identity does not open it, and quotes no identity', async () => {
    await world.create();
    const foreign = await generateX25519Identity();
    writeFileSync(world.identity, foreign);
    const { code, printed } = await world.verify();
    expect(code).toBe(2);
    expect(printed).toContain('restore_refused');
    expect(printed).not.toContain(foreign);
  });

  it('refuses a file that a stranger made for the same recipient', async () => {
    // The stranger knows world.recipient, W and P, and not the viewing key.
    const forge = async (manifest: object, parts: Buffer): Promise<void> => {
      const json = Buffer.from(JSON.stringify(manifest));
      const length = Buffer.alloc(4);
      length.writeUInt32BE(json.length);
      const encrypter = new Encrypter();
      encrypter.addRecipient(world.recipient);
      const plaintext = Buffer.concat([Buffer.from(backupMagic), length, json, parts]);
      writeFileSync(world.file, await encrypter.encrypt(new Uint8Array(plaintext)));
    };
    const base = {
      format: 'pool-backup',
      version: 1,
      createdAt: '2026-11-22T10:00:00.000Z',
      agentVersion: '0',
      employerId: null,
      mac: '0'.repeat(64),
    };
    const holder = {
      walletPub: wallet.walletPub,
      signer: 'local-key',
      encryptionPublicKey: escrow.encryptionPublicKey,
      earlierEncryptionPublicKeys: [],
    };
    const key = Buffer.from(JSON.stringify({ scalar: earlier.viewingKey }));
    const part = {
      name: 'viewing-key.json',
      bytes: key.length,
      sha256: createHash('sha256').update(key).digest('hex'),
      counts: {},
    };
    await forge({ ...base, holder, parts: [] }, Buffer.alloc(0));
    expect((await world.verify()).printed).toContain('the viewing key is missing');
    await forge({ ...base, holder, parts: [part] }, key);
    expect((await world.verify()).printed).toContain('do not give the encryption keys');
    const own = { ...holder, encryptionPublicKey: earlier.encryptionPublicKey };
    await forge({ ...base, holder: own, parts: [part] }, key);
    expect((await world.verify()).printed).toContain('was not made by the owner');
    await forge({ ...base, holder: null, parts: [], mac: null }, Buffer.from('more'));
    expect((await world.verify()).printed).toContain('more bytes');
    await forge({ ...base, holder: null, parts: [{ ...part, name: '../x' }] }, key);
    expect((await world.verify()).printed).toContain('a form that this version does not know');
    await forge({ ...base, version: 2, holder: null, parts: [] }, Buffer.alloc(0));
    expect((await world.verify()).printed).toContain('a form that this version does not know');
  });
});
