// The archive of spends on disk: locks across processes, one change at a time, and what is left after retention.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { bigintToHex32, parseEvmAddress, type SpendManifest } from '@pool/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import vectors from '../../../../../vectors/spend.json' with { type: 'json' };
import { eraseExpiredSpends } from '../../archive/erase-spends.ts';
import type { ArchivedSpend } from '../../archive/spend-archive.ts';
import type { SpendState } from '../../archive/spend-state.ts';
import { openSpendArchive, type SpendArchiveFile } from './spend-archive.ts';

let directory: string;
let path: string;
const opened: SpendArchiveFile[] = [];

/** As another process opens it: with a connection of its own. */
function connect(): SpendArchiveFile {
  const archive = openSpendArchive(path);
  opened.push(archive);
  return archive;
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'pool-spends-'));
  path = join(directory, 'spends.sqlite');
});

afterEach(() => {
  for (const archive of opened.splice(0)) {
    archive.close();
  }
  rmSync(directory, { recursive: true });
});

const [vector] = vectors.spends;

function createSpend(outRoot: bigint, inputs: readonly bigint[]): ArchivedSpend {
  return {
    version: 1,
    operation: 'transfer',
    chain: 'anvil',
    chainId: 31337,
    pool: parseEvmAddress('0x5fbdb2315678afecb367f032d93f642f64180aa3'),
    outRoot: bigintToHex32(outRoot),
    inputNullifiers: inputs.map(bigintToHex32),
    deadline: 1_800_000_000,
    changeAmount: '10',
    createdAtMs: 1_000,
    secrets: {
      manifest: Reflect.apply((manifest: SpendManifest) => manifest, undefined, [vector?.manifest]),
      seed: bigintToHex32(0xa11ce5eedn),
    },
    state: { kind: 'archived' },
  };
}

const released: SpendState = {
  kind: 'released',
  signature: { rSig: bigintToHex32(5n), s: bigintToHex32(6n), parity: 1 },
};

describe('the archive of spends', () => {
  it('is readable for its owner only', () => {
    connect();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('gives a spend back after the process has ended', async () => {
    const spend = createSpend(1n, [11n, 12n]);
    const first = connect();
    expect(await first.add(spend)).toBe(true);
    first.close();
    opened.pop();
    const second = connect();
    expect(await second.get(spend.outRoot)).toEqual(spend);
    expect(await second.listOpen()).toEqual([spend]);
    expect(await second.listLocked()).toEqual(new Set(spend.inputNullifiers));
  });

  it('locks each input for all processes, and stores nothing of a spend that comes second', async () => {
    const [one, other] = [connect(), connect()];
    const results = await Promise.all([
      one.add(createSpend(1n, [11n, 12n])),
      other.add(createSpend(2n, [12n, 13n])),
    ]);
    expect([...results].sort()).toEqual([false, true]);
    expect(await one.listOpen()).toHaveLength(1);
    expect((await other.listLocked()).has(bigintToHex32(13n))).toBe(results[1]);
  });

  it('shows a check what other processes have stored, and stores nothing that it refuses', async () => {
    const [one, other] = [connect(), connect()];
    await one.add(createSpend(1n, [11n]));
    await one.add({ ...createSpend(2n, [12n]), createdAtMs: 500, state: { kind: 'expired' } });
    await one.add({ ...createSpend(3n, [13n]), createdAtMs: 499, state: { kind: 'expired' } });
    const late = { ...createSpend(6n, [16n]), createdAtMs: 1, concludedAtMs: 500 };
    await one.add({ ...late, state: { kind: 'expired' } });
    const seen: string[] = [];
    await expect(
      other.add(createSpend(4n, [14n]), (listRecent) => {
        seen.push(...listRecent(500).map(({ outRoot }) => outRoot));
        throw new Error('refused');
      }),
    ).rejects.toThrow('refused');
    expect(seen).toEqual([bigintToHex32(6n), bigintToHex32(2n), bigintToHex32(1n)]);
    expect((await one.listRecent(500)).map(({ outRoot }) => outRoot)).toEqual(seen);
    expect(await one.get(bigintToHex32(4n))).toBeUndefined();
    expect(await one.add(createSpend(5n, [14n]))).toBe(true);
  });

  it('leaves out a spend that cannot be read, reports it once, and keeps its inputs locked', async () => {
    const [lost, open, decided] = [
      createSpend(1n, [11n]),
      createSpend(2n, [12n]),
      { ...createSpend(3n, [13n]), state: { kind: 'expired' } as const },
    ];
    const broken = { ...createSpend(4n, [14n]), state: { kind: 'expired' } as const };
    const before = connect();
    for (const spend of [lost, open, decided, broken]) {
      await before.add(spend);
    }
    const database = new DatabaseSync(path);
    database
      .prepare('UPDATE spends SET spend = ? WHERE out_root IN (?, ?)')
      .run('{"version":1,"outRoot":7}', lost.outRoot, broken.outRoot);
    // Before all others in both lists.
    database
      .prepare('UPDATE spends SET created_at_ms = 1 WHERE out_root IN (?, ?)')
      .run(lost.outRoot, broken.outRoot);
    database.close();

    const reported: string[] = [];
    const archive = openSpendArchive(path, (outRoot) => void reported.push(outRoot));
    opened.push(archive);
    expect(await archive.listOpen()).toEqual([open]);
    expect(await archive.listOpen()).toEqual([open]);
    expect(await archive.listErasable(2_000, 1)).toEqual([decided]);
    expect(reported).toEqual([lost.outRoot, broken.outRoot]);
    expect(await archive.listLocked()).toContain(lost.inputNullifiers[0]);
    expect(await archive.add(createSpend(5n, [11n]))).toBe(false);
    await expect(archive.get(lost.outRoot)).rejects.toThrow();
  });

  it.each<[string, SpendState, boolean]>([
    ['abandoned', { kind: 'abandoned', code: 'x' }, true],
    ['expired', { kind: 'expired' }, true],
    ['already-spent', { kind: 'already-spent' }, true],
    ['settled', { kind: 'settled', txHash: bigintToHex32(9n), blockNumber: 5 }, false],
    ['released', released, false],
  ])('gives the inputs of a spend that is %s free: %s', async (_, state, isFree) => {
    const archive = connect();
    const spend = createSpend(1n, [11n]);
    await archive.add(spend);
    await archive.change(spend.outRoot, (stored) => ({ ...stored, state }));
    expect(await archive.add(createSpend(2n, [11n]))).toBe(isFree);
  });

  it('changes a spend in one step, and not at all if the change throws', async () => {
    const [one, other] = [connect(), connect()];
    const { outRoot } = createSpend(1n, [11n]);
    await one.add(createSpend(1n, [11n]));
    await expect(
      one.change(outRoot, () => {
        throw new Error('not allowed');
      }),
    ).rejects.toThrow('not allowed');
    const stored = await other.change(outRoot, (spend) => ({ ...spend, state: released }));
    expect(stored.state).toEqual(released);
    expect((await one.get(outRoot))?.state).toEqual(released);
    await expect(one.change(bigintToHex32(99n), (spend) => spend)).rejects.toMatchObject({
      code: 'spend_unreadable',
    });
  });

  it('lists spends whose change is not kept, whatever their state, until they are marked', async () => {
    const archive = connect();
    const spend = createSpend(1n, [11n]);
    await archive.add(spend);
    await archive.change(spend.outRoot, (stored) => ({ ...stored, state: { kind: 'expired' } }));
    expect((await archive.listUnkept()).map(({ outRoot }) => outRoot)).toEqual([spend.outRoot]);
    await archive.change(spend.outRoot, (stored) => ({ ...stored, isChangeKept: true }));
    expect(await connect().listUnkept()).toEqual([]);
  });

  it('has neither seed nor amounts in the file after retention', async () => {
    const archive = connect();
    const spend = createSpend(1n, [11n]);
    await archive.add(spend);
    await archive.change(spend.outRoot, (stored) => ({ ...stored, state: { kind: 'expired' } }));
    expect(await eraseExpiredSpends(archive, 30, 31 * 86_400_000, () => true)).toBe(1);
    expect(await archive.listErasable(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
    archive.close();
    opened.pop();
    const bytes = readFileSync(path).toString('latin1');
    expect(bytes).toContain(spend.outRoot);
    expect(bytes).not.toContain('a11ce5eed');
    expect(bytes).not.toContain('encryptionPublicKey');
  });
});
