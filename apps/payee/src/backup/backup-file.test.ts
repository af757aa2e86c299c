// The file with which an account opens by a password is a backup: the agent's commands read it, and the agent of its key has the same W.
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Secret } from '@pool/core';
import { openAccount, type Seed } from '@pool/wallet/browser';
import { SigningKey } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBackupFile, openBackupFile } from './backup-file.ts';

const agent = resolve(import.meta.dirname, '../../../agent/src/main.ts');
const domain = 'pool.example';
const password = 'kelp otter tang\u00e9 lamp';

function createSeven(): Seed {
  return new Secret(new Uint8Array(32).fill(7));
}

describe('the file with a password', () => {
  let folder: string;
  let backup: Uint8Array;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pool-page-backup-'));
    writeFileSync(join(folder, 'passphrase'), `${password}\n`);
    writeFileSync(join(folder, 'source.env'), `DISBURSE_HOME=${folder}/home\n`);
    const nowMs = Date.UTC(2026, 10, 28);
    // The same text as another keyboard types it.
    const typed = password.normalize('NFD');
    backup = await createBackupFile({ seed: createSeven(), domain, password: typed, nowMs });
    writeFileSync(join(folder, 'page.age'), backup);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** `disburse-agent backup`. @returns what it prints */
  async function run(...args: readonly string[]): Promise<string> {
    const given = ['--conditions=@pool/source', agent, 'backup', ...args];
    const options = [...given, '--passphrase-file', 'passphrase'];
    const { stdout } = await promisify(execFile)(process.execPath, options, { cwd: folder });
    return stdout;
  }

  it('opens with its password, and is refused when it was changed', async () => {
    const opened = await openBackupFile(backup, password, domain);
    expect(opened.reveal()).toEqual(createSeven().reveal());
    const changed = Uint8Array.from(backup);
    changed[changed.length - 40] = (changed[changed.length - 40] ?? 0) ^ 1;
    for (const [bytes, given] of [
      [backup, `${password}.`],
      [changed, password],
      [new Uint8Array(0), password],
    ] as const) {
      await expect(openBackupFile(bytes, given, domain)).rejects.toMatchObject({
        code: 'account_not_opened',
      });
    }
  });

  it('is refused on the site of another platform, where P would be another', async () => {
    await expect(openBackupFile(backup, password, 'other.example')).rejects.toMatchObject({
      code: 'invalid_configuration',
    });
  });

  it('is a backup that the agent restores, and goes on from with the same W and P', async () => {
    const { walletPub, encryptionPublicKey } = await openAccount(createSeven(), domain);
    const verified = await run('verify', 'page.age');
    expect(verified).toContain(`W ${walletPub}`);
    expect(verified).toContain(`P ${encryptionPublicKey}`);
    const target = join(folder, 'restored');
    const restored = await run('restore', 'page.age', '--to', target, '--env-file', 'source.env');
    expect(restored).toContain(`DISBURSE_HOLDER_PRIVATE_KEY_FILE=${target}/holder.key`);
    expect(restored).toContain(`Write ${target}/agent.env,`);
    expect(readdirSync(target)).toContain('recovery-words.txt');
    const key = readFileSync(join(target, 'holder.key'), 'utf8').trim();
    expect(new SigningKey(key).compressedPublicKey).toBe(walletPub);

    // The agent of that key, whose own backups have no key and open no page.
    const settings = [
      `DISBURSE_HOME=${target}`,
      `DISBURSE_HOLDER_PRIVATE_KEY_FILE=${target}/holder.key`,
      `DISBURSE_HOLDER_VIEWING_KEY_FILE=${target}/viewing-key.json`,
    ];
    writeFileSync(join(folder, 'agent.env'), settings.join('\n'));
    const made = await run('create', '--out', 'agent.age', '--env-file', 'agent.env');
    expect(made).toContain(`W ${walletPub}\nP ${encryptionPublicKey}`);
    const file = readFileSync(join(folder, 'agent.age'));
    await expect(openBackupFile(file, password, domain)).rejects.toMatchObject({
      code: 'invalid_account_file',
      message: expect.stringContaining('it is the backup of an agent') as string,
    });
  });
});
