// `disburse-agent backup restore`: what it brings back, what it refuses, and that a killed command leaves nothing half.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { exitCodes } from '@pool/pay-run';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  openPayRunLedger,
  payRunLedgerPath,
} from '../../../../../packages/pay-run/src/ledger/pay-run-ledger.ts';
import { openingsKeyPath } from '../../../../../packages/wallet/src/node/store/openings-store.ts';
import {
  assertSpendsKnown,
  restoredWaitMs,
} from '../../../../../packages/wallet/src/node/store/restored-state.ts';
import {
  type BackupWorld,
  backupEmployerId,
  createBackupWorld,
  earlier,
  escrow,
  otherWallet,
  wallet,
} from '../../fixtures/backup-world.ts';

const script = fileURLToPath(new URL('../../main.ts', import.meta.url));

let world: BackupWorld;
beforeEach(async () => {
  world = await createBackupWorld();
});
afterEach(() => world.remove());

describe('backup restore', () => {
  it('brings every store back, readable by its owner only, and says what to do next', async () => {
    world.configure({ DISBURSE_HOLDER_EARLIER_VIEWING_KEYS: earlier.viewingKey });
    writeFileSync(openingsKeyPath(world.home), 'key of openings\n', { mode: 0o600 });
    writeFileSync(join(world.home, 'holder-notes-0a.archive'), 'sealed notes', { mode: 0o600 });
    await world.create();
    const { code, printed } = await world.restore();
    expect(code).toBe(exitCodes.ok);
    expect(statSync(world.target).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(world.target)) {
      expect([name, statSync(join(world.target, name)).mode & 0o777]).toEqual([name, 0o600]);
    }
    for (const name of ['agent.env', 'loopback.token', 'holder.key']) {
      expect(existsSync(join(world.target, name))).toBe(false);
    }
    const ledger = openPayRunLedger(payRunLedgerPath(world.target));
    expect(await ledger.read({ chain: 'anvil', token: 'USDC', payRun: 'may' })).toMatchObject({
      parts: [{ attempt: 2 }],
    });
    await ledger.close();
    expect(readFileSync(join(world.target, 'tenancy.json'), 'utf8')).toContain(backupEmployerId);
    expect(readFileSync(openingsKeyPath(world.target), 'utf8')).toBe('key of openings\n');
    expect(readFileSync(join(world.target, 'holder-notes-0a.archive'), 'utf8')).toBe(
      'sealed notes',
    );
    const settings = readFileSync(join(world.target, 'agent.env.restored'), 'utf8');
    expect(settings).toContain('DISBURSE_SEND_MAX_AMOUNT=1000');
    expect(settings).toContain('#DISBURSE_SEND_TOKEN_FILE=');
    const all = readdirSync(world.target).map((name) =>
      readFileSync(join(world.target, name), 'latin1'),
    );
    for (const secret of [wallet.privateKey.slice(2), 'canary']) {
      expect(all.join()).not.toContain(secret);
    }
    expect(printed).toContain('What to do now');
    expect(printed).toContain('The spend key is not in a backup');

    // The restored files are the configuration of the same holder.
    writeFileSync(
      world.source,
      [
        `DISBURSE_HOME=${world.target}`,
        `DISBURSE_HOLDER_PRIVATE_KEY=${wallet.privateKey}`,
        `DISBURSE_HOLDER_VIEWING_KEY_FILE=${join(world.target, 'viewing-key.json')}`,
        `DISBURSE_HOLDER_EARLIER_VIEWING_KEYS_FILE=${join(world.target, 'earlier-viewing-keys.json')}`,
        `DISBURSE_HOLDER_ENCRYPTION_PUBKEY=${escrow.encryptionPublicKey}`,
      ].join('\n'),
    );
    const again = join(world.directory, 'again.age');
    const second = await world.run([
      ...['create', '--out', again, '--encrypt-to', world.recipient, '--env-file', world.source],
    ]);
    expect(second.printed).toContain(`earlier P ${earlier.encryptionPublicKey}`);
  });

  it('lets no transfer begin while one that the backup does not know may land', async () => {
    await world.create();
    const before = Date.now();
    await world.restore();
    const until = before + restoredWaitMs;
    expect(() => assertSpendsKnown(world.target, Date.now())).toThrow(
      expect.objectContaining({ code: 'restored_recently', status: 503 }),
    );
    expect(() => assertSpendsKnown(world.target, until - 1_000)).toThrow();
    expect(() => assertSpendsKnown(world.target, until + 60_000)).not.toThrow();
    expect(() => assertSpendsKnown(world.home, Date.now())).not.toThrow();
    writeFileSync(join(world.target, 'restored.json'), '{}');
    expect(() => assertSpendsKnown(world.target, until + 60_000)).toThrow('cannot be read');
  });

  it('refuses an older backup over a newer state', async () => {
    await world.create();
    mkdirSync(world.target);
    writeFileSync(join(world.target, 'spends.sqlite'), 'newer');
    const soon = new Date(Date.now() + 60_000);
    utimesSync(join(world.target, 'spends.sqlite'), soon, soon);
    const { code, printed } = await world.restore();
    expect(code).toBe(2);
    expect(printed).toContain('restore_refused');
    expect(printed).toContain('forget what it paid since');
    expect(readFileSync(join(world.target, 'spends.sqlite'), 'utf8')).toBe('newer');
  });

  it('refuses a world.directory that is not empty, and takes an empty one', async () => {
    await world.create();
    mkdirSync(world.target);
    writeFileSync(join(world.target, 'x'), '');
    const old = new Date(0);
    utimesSync(join(world.target, 'x'), old, old);
    expect((await world.restore()).printed).toContain('is not empty');
    rmSync(join(world.target, 'x'));
    expect((await world.restore()).code).toBe(exitCodes.ok);
  });

  it.each([
    ['another holder', { DISBURSE_HOLDER_PRIVATE_KEY: otherWallet.privateKey }],
    [
      'another encryption key',
      {
        DISBURSE_HOLDER_PRIVATE_KEY: '',
        DISBURSE_HOLDER_ENCRYPTION_PUBKEY: `0x${'a1'.repeat(32)}`,
      },
    ],
    ['another employer', { DISBURSE_EMPLOYER_ID: '11111111-1111-4111-8111-111111111111' }],
  ])('refuses the backup of %s', async (_title, changes) => {
    await world.create();
    world.configure(changes);
    const { code, printed } = await world.restore();
    expect(code).toBe(2);
    expect(printed).toContain('restore_refused');
    expect(existsSync(world.target)).toBe(false);
    expect(readdirSync(world.directory).filter((name) => name.includes('restoring'))).toEqual([]);
  });

  it('leaves nothing of a damaged backup', async () => {
    await world.create();
    const whole = readFileSync(world.file);
    writeFileSync(world.file, whole.subarray(0, whole.length - 1));
    expect((await world.restore()).printed).toContain('restore_refused');
    expect(existsSync(world.target)).toBe(false);
    expect(readdirSync(world.directory).filter((name) => name.includes('restoring'))).toEqual([]);
  });
});

describe('a command that is killed', () => {
  /** Runs a command that kills itself after the file operation that makes an entry of that name and size in the folder. */
  async function runUntil(
    args: readonly string[],
    folder: string,
    { name, bytes = 0 }: { name: RegExp; bytes?: number },
  ): Promise<void> {
    const watch = `
      import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const folder = ${JSON.stringify(`${folder}/`)};
      const { readdirSync, statSync } = fs;
      const isThere = (name) => ${String(name)}.test(name) && statSync(folder + name).size >= ${bytes};
      for (const call of ['mkdirSync', 'openSync', 'writeSync', 'writeFileSync', 'chmodSync']) {
        const work = fs[call];
        fs[call] = (...given) => {
          const result = work(...given);
          if (readdirSync(folder, { recursive: true }).some(isThere)) process.kill(process.pid, 'SIGKILL');
          return result;
        };
      }
      syncBuiltinESMExports();`;
    const child = spawn(
      process.execPath,
      [
        ...['--conditions=@pool/source', '--disable-warning=ExperimentalWarning'],
        ...[`--import=data:text/javascript,${encodeURIComponent(watch)}`, script, ...args],
      ],
      { stdio: 'ignore' },
    );
    expect(await once(child, 'close')).toEqual([null, 'SIGKILL']);
  }

  beforeEach(() => {
    // Large enough that the commands can be killed in the middle.
    const database = new DatabaseSync(join(world.home, 'large.sqlite'));
    database.exec('CREATE TABLE filler (content BLOB)');
    const insert = database.prepare('INSERT INTO filler VALUES (?)');
    for (let row = 0; row < 20; row += 1) {
      insert.run(randomBytes(1024 * 1024));
    }
    database.close();
  });

  it('while it writes a backup leaves no file of that name, and nothing readable after the next backup', async () => {
    const args = ['backup', 'create', '--out', world.file, '--encrypt-to', world.recipient];
    await runUntil([...args, '--env-file', world.source], world.directory, {
      name: /\.tmp$/,
      bytes: 1024 * 1024,
    });
    expect(existsSync(world.file)).toBe(false);
    const left = readdirSync(world.directory).find((name) => name.endsWith('.tmp')) ?? '';
    expect(readFileSync(join(world.directory, left)).includes('SQLite format')).toBe(false);
    expect(readdirSync(world.home).filter((name) => name.startsWith('.backup-'))).toEqual([]);
    expect((await world.create()).code).toBe(exitCodes.ok);
    expect((await world.verify()).code).toBe(exitCodes.ok);
  });

  it('while it takes a snapshot leaves a folder that the next backup removes', async () => {
    const args = ['backup', 'create', '--out', world.file, '--encrypt-to', world.recipient];
    await runUntil([...args, '--env-file', world.source], world.home, {
      name: /^\.backup-.*\/./,
    });
    const stale = (): readonly string[] =>
      readdirSync(world.home).filter((name) => name.startsWith('.backup-'));
    expect(stale()).toHaveLength(1);
    expect(statSync(join(world.home, stale()[0] ?? '')).mode & 0o777).toBe(0o700);
    expect((await world.create()).code).toBe(exitCodes.ok);
    expect(stale()).toEqual([]);
  });

  it('while it restores leaves no world.directory of that name, and the next restore removes the rest', async () => {
    await world.create();
    const args = [
      'backup',
      'restore',
      world.file,
      '--identity',
      world.identity,
      '--to',
      world.target,
    ];
    await runUntil([...args, '--env-file', world.source], world.directory, {
      name: /^restored\.restoring-.*\/./,
    });
    const staged = (): string | undefined =>
      readdirSync(world.directory).find((name) => name.startsWith('restored.restoring-'));
    expect(existsSync(world.target)).toBe(false);
    expect(statSync(join(world.directory, staged() ?? '')).mode & 0o777).toBe(0o700);
    expect((await world.restore()).code).toBe(exitCodes.ok);
    expect(staged()).toBeUndefined();
    expect(existsSync(join(world.target, 'large.sqlite'))).toBe(true);
  });
});
